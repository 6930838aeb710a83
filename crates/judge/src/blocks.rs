//! Reads a long stream of JSON lines in blocks, by several threads, as long as the order of its lines does not matter.

use super::shape::Shape;
use super::shape_sink::ShapeSink;
use agentnative_core::run::Bytes;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, Builder};
use std::{io, iter};
use strict_json::{ReadOptions, Summary, read_lines_at_hand};

/// A block has the lines that begin in so many bytes: they stay in the cache of a processor while they are read.
pub const BLOCK: usize = 256 << 10;
/// A line that goes on behind its block for more bytes than this is too long.
const LONG: usize = 8 << 20;
/// So many bytes behind a block are read first to find the end of its last line.
const SOME_MORE: usize = 4 << 10;

/// The lines as a whole, and their shape; none where they have to be read one after the other: there is something to
/// report, or more than is kept, or a line is too long.
pub fn read(bytes: &Bytes, block: usize, threads: usize) -> io::Result<Option<(Summary, Shape)>> {
    let next = AtomicU64::new(0);
    let work = || {
        let read = read_some(bytes, block, &next);
        if !matches!(read, Ok(Some(_))) {
            next.store(bytes.len(), Ordering::Relaxed);
        }
        read
    };
    let parts: Vec<_> = thread::scope(|scope| {
        // Where there are no more threads, this one does the work alone.
        let started = (1..threads).map_while(|_| Builder::new().spawn_scoped(scope, work).ok());
        let started: Vec<_> = started.collect();
        let failed = |_| Err(io::Error::other("a reader thread failed"));
        let own = work();
        let others = started.into_iter().map(|thread| thread.join().unwrap_or_else(failed));
        iter::once(own).chain(others).collect()
    });
    let parts: Option<Vec<_>> = parts.into_iter().collect::<io::Result<_>>()?;
    let all = parts
        .into_iter()
        .flatten()
        .reduce(|(all, shape), (part, more)| (sum(all, &part), shape.merged(more)));
    Ok(all.filter(|(_, shape)| shape.is_complete()))
}

/// Of parts in which there is nothing to report.
fn sum(mut all: Summary, part: &Summary) -> Summary {
    all.bytes += part.bytes;
    all.records += part.records;
    all.whole += part.whole;
    all
}

/// Reads one of the blocks that are left after the other.
fn read_some(bytes: &Bytes, block: usize, next: &AtomicU64) -> io::Result<Option<(Summary, Shape)>> {
    let (mut all, mut sink, mut buffer) = (Summary::default(), ShapeSink::default(), Vec::new());
    loop {
        let start = next.fetch_add(block as u64, Ordering::Relaxed);
        if start >= bytes.len() {
            return Ok(Some((all, sink.finish())));
        }
        let Some(lines) = lines(bytes, start, block, &mut buffer)? else { return Ok(None) };
        let read = read_lines_at_hand(lines, &ReadOptions::default(), &mut sink);
        if !read.problems.is_empty() {
            return Ok(None);
        }
        all = sum(all, &read);
    }
}

/// The lines that begin in a block; none where the last of them is too long.
fn lines<'b>(
    bytes: &Bytes,
    start: u64,
    block: usize,
    buffer: &'b mut Vec<u8>,
) -> io::Result<Option<&'b [u8]>> {
    // A line begins behind the newline before it.
    let before = usize::from(start > 0);
    let mut wanted = before + block;
    buffer.clear();
    fill(bytes, start - before as u64, wanted, buffer)?;
    let first = if before == 0 { Some(0) } else { memchr::memchr(b'\n', buffer).map(|newline| newline + 1) };
    let Some(first) = first else { return Ok(Some(&[])) };
    let (mut searched, mut more) = (wanted - 1, SOME_MORE);
    loop {
        if let Some(newline) = memchr::memchr(b'\n', &buffer[searched.min(buffer.len())..]) {
            buffer.truncate(searched + newline + 1);
            break;
        }
        if buffer.len() < wanted {
            break;
        }
        if buffer.len() > before + block + LONG {
            return Ok(None);
        }
        (searched, wanted, more) = (wanted, wanted + more, 2 * more);
        fill(bytes, start - before as u64, wanted, buffer)?;
    }
    Ok(Some(&buffer[first.min(buffer.len())..]))
}

/// Reads on from this offset until the buffer has so many bytes, or to the end.
fn fill(bytes: &Bytes, from: u64, wanted: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    let mut filled = buffer.len();
    buffer.resize(wanted, 0);
    while filled < wanted {
        match bytes.read_at(from + filled as u64, &mut buffer[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    buffer.truncate(filled);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use strict_json::read_lines;

    /// Lines as the sequential reader has them.
    fn in_order(text: &str) -> (Summary, Shape) {
        let mut sink = ShapeSink::default();
        let summary = read_lines(text.as_bytes(), &ReadOptions::default(), &mut sink).unwrap();
        (summary, sink.finish())
    }

    fn in_blocks(text: &str, block: usize, threads: usize) -> Option<(Summary, Shape)> {
        read(&Bytes::from(text.as_bytes().to_vec()), block, threads).unwrap()
    }

    fn record() -> impl Strategy<Value = String> {
        let value =
            prop_oneof!["[0-9]", "\"[a-c]{0,9}\"", "\\[(1|\\{\"a\":\"b\"\\})\\]", Just("null".to_owned())];
        let key = prop_oneof![3 => "[a-d]", 1 => Just("type".to_owned())];
        prop::collection::btree_map(key, value, 0..4).prop_map(|members| {
            let members: Vec<_> = members.iter().map(|(key, value)| format!("\"{key}\":{value}")).collect();
            format!("{{{}}}\n", members.join(","))
        })
    }

    proptest! {
        #[test]
        fn blocks_are_read_as_the_whole_is(
            records in prop::collection::vec(record(), 1..40),
            block in 1usize..200,
            threads in 1usize..4,
        ) {
            let text = records.concat();
            let read = in_blocks(&text, block, threads).unwrap();
            prop_assert_eq!(format!("{read:?}"), format!("{:?}", in_order(&text)));
        }
    }

    #[test]
    fn lines_whose_order_matters_are_not_read_in_blocks() {
        let lines = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
        let same = lines(500, &|_| "{\"a\":1}\n".to_owned());
        assert!(in_blocks(&same, 64, 2).is_some());
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(2 * LONG));
        for more in ["{\"a\":1,\"a\":2}\n", "\n", "{\"a\":\n", "{}", &long] {
            assert!(in_blocks(&format!("{same}{more}"), 64, 2).is_none(), "{more}");
        }
        // Each block has few keys and kinds, and all together have more than are kept.
        let keys = lines(5000, &|nth| format!("{{\"m\":{{\"k{nth}\":1}}}}\n"));
        assert!(in_blocks(&keys, 64, 2).is_none());
        let kinds = lines(2000, &|nth| format!("{{\"k{nth}\":1}}\n"));
        assert!(in_blocks(&kinds, 64, 2).is_none());
    }
}
