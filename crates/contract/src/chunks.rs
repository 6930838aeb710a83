//! Splits JSON Lines into chunks of complete lines, which several threads examine. The results are merged in order.

use super::workers::{run_in_order, thread_failed};
use std::cell::RefCell;
use std::io::{self, Chain, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, PoisonError};
use strict_json::{Chunk, LineChunker, Position};

/// The part of an input that was not processed.
pub struct RemainingInput<R> {
    /// Reader of the remaining bytes.
    pub reader: Chain<Cursor<Vec<u8>>, R>,
    /// Position of the first remaining byte.
    pub base: Position,
}

/// The source of chunks, which several threads share.
struct ChunkSource<R> {
    chunker: LineChunker<R>,
    /// Reusable buffers. Their number limits how far ahead the input is read.
    free_buffers: Receiver<Vec<u8>>,
    /// Number of the next chunk, from 0.
    number: usize,
}

impl<R: Read> ChunkSource<R> {
    /// Returns the next chunk with its number; `None` at the end of the input or if reading was stopped.
    fn next(&mut self) -> io::Result<Option<(usize, Chunk)>> {
        let Ok(buffer) = self.free_buffers.recv() else { return Ok(None) };
        let chunk = self.chunker.next(buffer)?.map(|chunk| (self.number, chunk));
        self.number += 1;
        Ok(chunk)
    }
}

/// Splits an input into chunks of complete lines. `examine` processes them on `threads` threads, each with its own
/// state. `merge` receives the results in input order, on the calling thread. Reading stops at a chunk for which
/// `examine` returns `None`, or if `merge` returns false. Memory is bounded by the number of threads.
///
/// Returns the state of each thread, and the rest of the input from the first chunk that was read but not merged
/// (`None` if there is no such chunk).
///
/// # Errors
/// If the reader fails, or a thread panics.
pub fn fold_chunks<R: Read + Send, S: Send, T: Send>(
    reader: R,
    threads: usize,
    state: impl Fn() -> S + Sync,
    examine: impl Fn(&mut S, &Chunk) -> Option<T> + Sync,
    mut merge: impl FnMut(&Chunk, T) -> bool,
) -> io::Result<(Vec<S>, Option<RemainingInput<R>>)> {
    let (buffer_sender, free_buffers) = channel();
    for _ in 0..if threads < 2 { 1 } else { threads + 2 } {
        let _ = buffer_sender.send(Vec::new());
    }
    let source = Mutex::new(ChunkSource { chunker: LineChunker::new(reader), free_buffers, number: 0 });
    let next = || source.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work = |deliver: &mut dyn FnMut(usize, (Chunk, Option<T>))| {
        let mut state = state();
        while let Some((number, chunk)) = next()? {
            let result = catch_unwind(AssertUnwindSafe(|| examine(&mut state, &chunk)));
            let panicked = result.is_err();
            // Every chunk has to be delivered, because the receiver waits for its number.
            deliver(number, (chunk, result.unwrap_or_default()));
            if panicked {
                return Err(thread_failed());
            }
        }
        Ok(state)
    };
    // The threads stop when the sender of buffers is dropped.
    let (unmerged, mut buffer_sender) = (RefCell::new(Vec::new()), Some(buffer_sender));
    let unmerged_chunks = &unmerged;
    let take = move |(chunk, result): (Chunk, Option<T>)| {
        let merged = result.filter(|_| buffer_sender.is_some()).map(|result| merge(&chunk, result));
        match &buffer_sender {
            Some(sender) if merged == Some(true) => drop(sender.send(chunk.bytes)),
            _ => {
                buffer_sender = None;
                unmerged_chunks.borrow_mut().extend(merged.is_none().then_some(chunk));
            }
        }
    };
    let states = run_in_order(threads, work, take)?;
    let ChunkSource { chunker, .. } = source.into_inner().unwrap_or_else(PoisonError::into_inner);
    let unmerged = unmerged.into_inner();
    let base = unmerged.first().map(|chunk| chunk.position);
    let read: Vec<&[u8]> = unmerged.iter().map(|chunk| &chunk.bytes[..]).chain([&chunker.rest[..]]).collect();
    let rest =
        base.map(|base| RemainingInput { reader: Cursor::new(read.concat()).chain(chunker.reader), base });
    Ok((states, rest))
}
