//! Runs work on several threads and delivers the results in order.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::channel;
use std::thread::{self, Builder};

/// Stack size of a worker thread, in bytes; enough for the maximum nesting of documents and schemas.
const STACK_BYTES: usize = 16 << 20;

/// Creates the error for a thread that panicked.
pub fn thread_failed() -> io::Error {
    io::Error::other("a reader thread failed")
}

/// Runs `work` on `threads` threads. Runs it on the calling thread if `threads` is less than two or no thread can be
/// started. `work` delivers results with consecutive numbers from 0; `take` receives them in this order. Returns the
/// return value of `work` on each thread.
///
/// # Errors
/// The first error of `work`; or a thread panics.
pub fn run_in_order<S: Send, T: Send>(
    threads: usize,
    work: impl Fn(&mut dyn FnMut(usize, T)) -> io::Result<S> + Sync,
    take: impl FnMut(T),
) -> io::Result<Vec<S>> {
    let work = &work;
    // If `take` panics, it is dropped before the threads are joined.
    thread::scope(move |scope| {
        let (mut take, mut pending, mut next) = (take, BTreeMap::new(), 0);
        let mut deliver = |number, result| {
            pending.insert(number, result);
            while let Some(result) = pending.remove(&next) {
                next += 1;
                take(result);
            }
        };
        let (sender, results) = channel();
        let spawn_worker = |_| {
            let sender = sender.clone();
            let work = move || work(&mut |number, result| drop(sender.send((number, result))));
            Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, work).ok()
        };
        let thread_count = if threads < 2 { 0 } else { threads };
        let workers: Vec<_> = (0..thread_count).map_while(spawn_worker).collect();
        if workers.is_empty() {
            return Ok(vec![work(&mut deliver)?]);
        }
        drop(sender);
        results.into_iter().for_each(|(number, result)| deliver(number, result));
        workers.into_iter().map(|worker| worker.join().map_err(|_| thread_failed())?).collect()
    })
}
