//! JSON Lines: the same result for any chunks of the bytes, each problem at its location, and each line the same as a
//! separate document.

use super::chunked_reader::ChunkedReader;
use super::events::Events;
use super::tape_printer::read_three_ways;
use crate::{Target, corpus};
use serde_json::Value;
use strict_json::{ReadOptions, locate, read_document, read_lines, read_records};

pub const TARGET: Target = Target {
    name: "json-lines",
    run,
    seeds: || corpus::texts(&["contracts", "examples", "fixtures"], &[".jsonl", ".stdout"]),
    words: &["\"a\": 1", "{}", "{\n}", "data: {}", "event: a", ": a", "id:"],
};

fn run(bytes: &[u8]) {
    for event_stream in [false, true] {
        let options = ReadOptions { event_stream, max_depth: 127, ..ReadOptions::default() };
        let mut whole = Events::default();
        let summary = read_lines(bytes, &options, &mut whole).expect("memory can be read");
        for problem in &summary.problems {
            assert_eq!(
                problem.position,
                locate(bytes, problem.position.offset).expect("memory can be read"),
                "{problem:?}"
            );
        }
        let sizes = [1, 3, 1 + bytes.len() % 67];
        let mut pieces = Events::default();
        let again =
            read_lines(ChunkedReader::new(bytes, &sizes), &options, &mut pieces).expect("memory can be read");
        assert!(summary == again && whole == pieces, "{:?}\n{:?}", summary.problems, again.problems);
        assert_eq!(summary.bytes, bytes.len() as u64);
        let [by_events, at_once, at_hand] = read_three_ways(bytes, &sizes, &options);
        assert_eq!(by_events, at_once);
        assert_eq!(by_events, at_hand);

        let each = |mut record: strict_json::Record| {
            let start = record.offset as usize;
            let lines = bytes[..start].iter().filter(|byte| **byte == b'\n').count() as u64;
            assert_eq!(record.line, lines + 1);
            let first = serde_json::Deserializer::from_slice(&bytes[start..]).into_iter::<Value>().next();
            if let (Some(Ok(expected)), Some(value)) = (first, record.value.take()) {
                assert_eq!(value, expected);
            }
        };
        read_records(bytes, &options, u64::MAX, each).expect("memory can be read");
        if event_stream {
            continue;
        }
        let accepts = |line: &[u8]| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let object = line.iter().find(|byte| !b" \t\r".contains(byte)) == Some(&b'{');
            object && read_document(line, &options, &mut ()).is_ok_and(|read| !read.rejected())
        };
        let all = bytes.split_inclusive(|byte| *byte == b'\n').all(accepts);
        assert_eq!(!summary.rejected(), all, "{:?}", summary.problems);
    }
}
