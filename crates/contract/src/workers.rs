//! Threads that share one piece of work, the results of which are taken in order.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc::channel;
use std::thread::{self, Builder};

/// The stack of a thread: as much as documents and schemas nest.
const STACK: usize = 16 << 20;

/// A thread that came to no result.
pub fn failed() -> io::Error {
    io::Error::other("a reader thread failed")
}

/// Has so many threads do the work, by this thread alone for fewer than two, or where no other can be had. They deliver
/// results with their numbers, from 0, of which `take` gets one after the other. Returns what each thread returns.
///
/// # Errors
/// The first one of the work; or a thread panics.
pub fn in_order<S: Send, T: Send>(
    threads: usize,
    work: impl Fn(&mut dyn FnMut(usize, T)) -> io::Result<S> + Sync,
    take: impl FnMut(T),
) -> io::Result<Vec<S>> {
    let work = &work;
    // Where `take` panics, it is dropped before the threads are waited for.
    thread::scope(move |scope| {
        let (mut take, mut waiting, mut next) = (take, BTreeMap::new(), 0);
        let mut deliver = |number, result| {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&next) {
                next += 1;
                take(result);
            }
        };
        let (sender, results) = channel();
        let start = |_| {
            let sender = sender.clone();
            let work = move || work(&mut |number, result| drop(sender.send((number, result))));
            Builder::new().stack_size(STACK).spawn_scoped(scope, work).ok()
        };
        let others = if threads < 2 { 0 } else { threads };
        let workers: Vec<_> = (0..others).map_while(start).collect();
        if workers.is_empty() {
            return Ok(vec![work(&mut deliver)?]);
        }
        drop(sender);
        results.into_iter().for_each(|(number, result)| deliver(number, result));
        workers.into_iter().map(|worker| worker.join().map_err(|_| failed())?).collect()
    })
}
