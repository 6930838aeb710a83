//! Tests that the strict reader uses constant memory, as counted by the allocator.

use crate::own_process::in_own_process;
use std::io::{self, Read};

use peak_alloc::PeakAlloc;
use strict_json::{ReadOptions, read_document, read_lines, read_records};

/// Returns a reader of `head`, of about `bytes` bytes of repeated `body`, and of `tail`, without storing them all.
fn repeated(head: &str, body: &str, bytes: usize, tail: &str) -> impl Read {
    struct Repeat {
        block: Vec<u8>,
        left: usize,
        at: usize,
    }
    impl Read for Repeat {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.at == self.block.len() {
                self.left = self.left.saturating_sub(1);
                self.at = 0;
            }
            if self.left == 0 {
                return Ok(0);
            }
            let read = (&self.block[self.at..]).read(buffer)?;
            self.at += read;
            Ok(read)
        }
    }
    let block = body.repeat(65_536 / body.len() + 1).into_bytes();
    let repeat = Repeat { left: bytes / block.len() + 1, block, at: 0 };
    io::Cursor::new(head.to_owned()).chain(repeat).chain(io::Cursor::new(tail.to_owned()))
}

/// A reader of the bytes that a function writes into the buffer.
struct Generate<F>(F);

impl<F: FnMut(&mut [u8]) -> usize> Read for Generate<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok((self.0)(buffer))
    }
}

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn memory_does_not_grow_with_the_input() {
    in_own_process("memory::memory_does_not_grow_with_the_input", || {
        const BYTES: usize = 64 << 20;
        let before = MEMORY.current_usage();
        let options = ReadOptions::default();
        for (head, body, tail) in [
            ("[\"", "a long string with \\u00e9scapes and é ", "\"]"),
            ("[1", ",{\"a\":[1,2.5,null,true],\"b\":\"text\"}", "]"),
            ("[", "12345678901234567890", "]"),
            ("{\"", "a long key ", "\":1}"),
            ("[", " \r\n\t", "1]"),
        ] {
            let summary = read_document(repeated(head, body, BYTES, tail), &options, &mut ()).unwrap();
            assert!(summary.bytes > BYTES as u64 && !summary.rejected(), "{:?}", summary.problems);
        }
        let summary =
            read_lines(repeated("", "{\"a\":1,\"b\":[\"x\"]}\n", BYTES, ""), &options, &mut ()).unwrap();
        assert!(
            summary.records == summary.complete && summary.records > 1_000_000 && summary.problems.is_empty()
        );
        // A line of 64 MiB among small ones exceeds the budget, so its value is not built.
        let long = repeated("{}\n{\"a\":[0", ",\"element\"", BYTES, "]}\n{}\n");
        let mut built = Vec::new();
        read_records(long, &options, 1 << 20, |record| built.push(record.value.is_some())).unwrap();
        assert_eq!(built, [true, false, true]);
        // Text that is not JSON, on many lines and on one line.
        for body in ["no JSON\n", "no JSON ", "\0\0\0\0"] {
            let summary = read_lines(repeated("", body, BYTES, ""), &options, &mut ()).unwrap();
            assert!(summary.rejected() && summary.bytes > BYTES as u64);
        }
        let grown = MEMORY.peak_usage() - before;
        assert!(grown < 8 << 20, "{grown} bytes more than before");
        // Of two million different keys in one object, a limited number is compared.
        let mut key = 0..2_000_000;
        let mut left = Vec::new();
        let members = Generate(|buffer: &mut [u8]| {
            if left.is_empty() {
                left = key.next().map_or(Vec::new(), |key| format!("\"key {key}\":0,").into_bytes());
            }
            let length = left.len().min(buffer.len());
            buffer[..length].copy_from_slice(&left[..length]);
            left.drain(..length);
            length
        });
        let object =
            io::Cursor::new("{").chain(io::BufReader::new(members)).chain(io::Cursor::new("\"\":0}"));
        let summary = read_document(object, &options, &mut ()).unwrap();
        assert!(summary.problems.is_empty() && summary.unchecked_keys > 1_000_000, "{summary:?}");
        let grown = MEMORY.peak_usage() - before;
        assert!(grown < 32 << 20, "{grown} bytes more than before");
    });
}
