//! Threads that share one piece of work.

use std::io;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// Starts `count` threads with a stack of so many bytes, each with a copy of the work.
pub fn start<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    count: usize,
    stack_size: usize,
    work: impl Fn() -> io::Result<T> + Clone + Send + 'scope,
) -> io::Result<Vec<ScopedJoinHandle<'scope, io::Result<T>>>> {
    let start = |_| Builder::new().stack_size(stack_size).spawn_scoped(scope, work.clone());
    let started: io::Result<_> = (0..count).map(start).collect();
    started.map_err(|error| io::Error::other(format!("cannot start a thread: {error}")))
}

/// What a thread came to; a panic in it is an error.
pub fn join<T>(worker: ScopedJoinHandle<'_, io::Result<T>>) -> io::Result<T> {
    worker.join().map_err(|_| io::Error::other("a reader thread failed"))?
}
