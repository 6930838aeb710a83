//! JSON lines in chunks of whole lines: several threads examine them, and what they make of them is merged in order.

use super::workers::{failed, in_order};
use std::cell::RefCell;
use std::io::{self, Chain, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use strict_json::{Chunk, LineChunker, Position};

/// The end of an input.
pub struct Rest<R> {
    /// Its bytes.
    pub reader: Chain<Cursor<Vec<u8>>, R>,
    /// Its position in the input.
    pub base: Position,
}

/// What the threads take chunks from.
struct Source<R> {
    chunker: LineChunker<R>,
    /// The buffers that go round: their number bounds what is read ahead.
    spare: Receiver<Vec<u8>>,
    /// The number of the next chunk.
    number: usize,
}

impl<R: Read> Source<R> {
    /// The next chunk with its number; none at the end, and when there are no more buffers.
    fn next(&mut self) -> io::Result<Option<(usize, Chunk)>> {
        let Ok(buffer) = self.spare.recv() else { return Ok(None) };
        let chunk = self.chunker.next(buffer)?.map(|chunk| (self.number, chunk));
        self.number += 1;
        Ok(chunk)
    }
}

/// Has each chunk of the lines examined by one of so many threads, each of which has a state, and merges what it makes of
/// them in order, by this thread. The reading ends with a chunk of which nothing is made, or where `merge` returns
/// false. Memory is bounded by the number of threads.
///
/// Returns the states, and the end of the input from the first chunk on that was read and not merged.
///
/// # Errors
/// When the reader fails, or a thread panics.
pub fn fold_chunks<R: Read + Send, S: Send, T: Send>(
    reader: R,
    threads: usize,
    state: impl Fn() -> S + Sync,
    examine: impl Fn(&mut S, &Chunk) -> Option<T> + Sync,
    mut merge: impl FnMut(&Chunk, T) -> bool,
) -> io::Result<(Vec<S>, Option<Rest<R>>)> {
    let (spare_in, spare) = channel();
    for _ in 0..if threads < 2 { 1 } else { threads + 2 } {
        let _ = spare_in.send(Vec::new());
    }
    let source = Mutex::new(Source { chunker: LineChunker::new(reader), spare, number: 0 });
    let next = || source.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |deliver: &mut dyn FnMut(usize, (Chunk, Option<T>))| {
        let mut state = state();
        while let Some((number, chunk)) = next()? {
            let made = catch_unwind(AssertUnwindSafe(|| examine(&mut state, &chunk)));
            let panicked = made.is_err();
            // What is delivered by no thread would be waited for.
            deliver(number, (chunk, made.unwrap_or_default()));
            if panicked {
                return Err(failed());
            }
        }
        Ok(state)
    };
    // Without a sender of buffers the threads come to their end.
    let (left, mut spare_in) = (RefCell::new(Vec::new()), Some(spare_in));
    let left_in = &left;
    let take = move |(chunk, made): (Chunk, Option<T>)| {
        let merged = made.filter(|_| spare_in.is_some()).map(|made| merge(&chunk, made));
        match &spare_in {
            Some(spare) if merged == Some(true) => drop(spare.send(chunk.bytes)),
            _ => {
                spare_in = None;
                left_in.borrow_mut().extend(merged.is_none().then_some(chunk));
            }
        }
    };
    let states = in_order(threads, work, take)?;
    let Source { chunker, .. } = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    let left = left.into_inner();
    let base = left.first().map(|chunk| chunk.base);
    let read = left.into_iter().flat_map(|chunk| chunk.bytes).chain(chunker.rest);
    let rest = base.map(|base| Rest { reader: Cursor::new(read.collect()).chain(chunker.reader), base });
    Ok((states, rest))
}
