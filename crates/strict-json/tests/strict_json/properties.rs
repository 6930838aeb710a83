//! Properties of the strict reader for arbitrary bytes, in arbitrary pieces.

use crate::chunked_reader::ChunkedReader;
use crate::events::Events;
use proptest::prelude::*;
use serde_json::{Value, json};
use strict_json::{
    ProblemKind::*, ReadOptions, ReadSummary, find_span, locate, read_document, read_lines, read_value,
};

fn document(bytes: impl AsRef<[u8]>) -> ReadSummary {
    read_document(bytes.as_ref(), &ReadOptions::default(), &mut ()).unwrap()
}

fn lines(bytes: impl AsRef<[u8]>) -> ReadSummary {
    read_lines(bytes.as_ref(), &ReadOptions::default(), &mut ()).unwrap()
}

/// Returns the summary and events of a document and of JSON Lines, with the bytes in pieces of these sizes.
fn read_both(bytes: &[u8], sizes: &[usize]) -> [(ReadSummary, Vec<String>); 2] {
    let pieces = || ChunkedReader::new(bytes, sizes);
    let options = ReadOptions::default();
    let (mut document_events, mut line_events) = (Events::default(), Events::default());
    let document = read_document(pieces(), &options, &mut document_events).unwrap();
    let lines = read_lines(pieces(), &options, &mut line_events).unwrap();
    [(document, document_events.0), (lines, line_events.0)]
}

#[test]
fn events_of_long_values_do_not_depend_on_the_pieces() {
    let text = "é\\n😀x".repeat(30_000);
    let key = "ké\\t".repeat(10_000);
    let number = "1".repeat(200_000);
    let json = format!("{{\"{key}\":\"{text}\",\"{key}\":[{number},0.{number},true,{number}e-1]}}\n");
    let whole = read_both(json.as_bytes(), &[usize::MAX]);
    assert_eq!(whole, read_both(json.as_bytes(), &[1]));
    assert_eq!(whole, read_both(json.as_bytes(), &[4096, 7, 65536, 1]));
    let summary = &whole[0].0;
    assert_eq!(summary.count(DuplicateKey), 1);
    assert_eq!((summary.count(IntegerRange), summary.count(Overflow)), (0, 2));
    let pointer = &summary.problems[0].pointer;
    assert!(pointer.len() < 1030 && pointer.starts_with("/ké\tké") && pointer.ends_with('…'));
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-(1i64 << 53) + 1..1 << 53).prop_map(Value::from),
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
        "\\PC*|[\\x00-\\x7f]*".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
            prop::collection::btree_map("[a-c/~é\"\n]{0,3}", inner, 0..8)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Generates pieces of JSON and of invalid JSON.
fn piece() -> impl Strategy<Value = &'static [u8]> {
    let pieces: &[&[u8]] = &[
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\"",
        b"\"a\"",
        b"\"b\":",
        b"\"a\":1",
        b"\\",
        b"\\u",
        b"\\ud800",
        b"\\udc00",
        b"00e9",
        b"\n",
        b"\r",
        b" ",
        b"0",
        b"-",
        b"1",
        b".",
        b"e",
        b"1e400",
        b"12345678901234567",
        b"true",
        b"fal",
        b"se",
        b"null",
        b"NaN",
        b"-inf",
        b"\xc3\xa9",
        b"\xef\xbf\xbe",
        b"\xff",
        b"\xe2\x82",
        b"\xef\xbb\xbf",
        b"\0",
        b"\x1b",
        b"{}\n",
        b"{\"k\":[1,2]}\n",
        b"x",
    ];
    prop::sample::select(pieces.to_vec())
}

/// Generates bytes that are nearly JSON: random pieces, records with a few errors, and random bytes.
pub fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let record = (value(), any::<bool>()).prop_map(|(value, pretty)| {
        let record = json!({"r": value});
        let text =
            if pretty { serde_json::to_string_pretty(&record) } else { serde_json::to_string(&record) };
        text.unwrap() + "\n"
    });
    let error = (any::<prop::sample::Index>(), 0usize..4, piece());
    let faulty = (prop::collection::vec(record, 1..4), prop::collection::vec(error, 0..3));
    let faulty = faulty.prop_map(|(records, errors)| {
        let mut bytes = records.concat().into_bytes();
        for (index, remove, piece) in errors {
            let start = index.index(bytes.len() + 1);
            let end = bytes.len().min(start + remove);
            bytes.splice(start..end, piece.iter().copied());
        }
        bytes
    });
    prop_oneof![
        4 => prop::collection::vec(piece(), 0..24).prop_map(|pieces| pieces.concat()),
        4 => faulty,
        1 => prop::collection::vec(any::<u8>(), 0..64),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn serialized_values_are_accepted_and_rebuilt(value in value()) {
        for text in [serde_json::to_string(&value).unwrap(), serde_json::to_string_pretty(&value).unwrap()] {
            let read = read_value(text.as_bytes(), &ReadOptions::default(), 1 << 20).unwrap();
            prop_assert!(!read.summary.rejected(), "{:?}", read.summary.problems);
            let again: Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(read.value, Some(again));
        }
        let line = format!("{{\"v\":{value}}}\n");
        prop_assert!(!lines(line.repeat(3)).rejected());
    }

    #[test]
    fn results_do_not_depend_on_the_pieces(bytes in nearly_json(), sizes in prop::collection::vec(1usize..9, 1..6)) {
        let whole = read_both(&bytes, &[usize::MAX]);
        prop_assert_eq!(&whole, &read_both(&bytes, &[1]));
        prop_assert_eq!(&whole, &read_both(&bytes, &sizes));
        for (summary, _) in &whole {
            for problem in &summary.problems {
                prop_assert_eq!(problem.position, locate(&bytes[..], problem.position.offset).unwrap());
                prop_assert!(problem.message.bytes().all(|byte| (b' '..0x7f).contains(&byte)));
            }
        }
    }

    #[test]
    fn reader_agrees_with_serde_json(bytes in nearly_json()) {
        let summary = document(&bytes);
        let serde_json_accepts = serde_json::from_slice::<Value>(&bytes).is_ok();
        // Unlike the reader, serde_json accepts duplicate keys and rejects numbers that overflow.
        let differs = |kind| kind == DuplicateKey || kind == Overflow;
        let accepted = !summary.problems.iter().any(|p| p.kind.rejects() && !differs(p.kind));
        prop_assert!(accepted == serde_json_accepts || summary.count(Overflow) > 0, "{:?}", summary.problems);
    }

    #[test]
    fn lines_are_accepted_if_each_line_is_an_object(bytes in nearly_json()) {
        let all_objects = bytes.split_inclusive(|byte| *byte == b'\n').all(|line| {
            let line = line.strip_suffix(b"\n").unwrap_or(line);
            let object = line.iter().find(|byte| !b" \t\r".contains(byte)) == Some(&b'{');
            object && !document(line).rejected()
        });
        prop_assert_eq!(!lines(&bytes).rejected(), all_objects, "{:?}", lines(&bytes).problems);
    }

    #[test]
    fn find_span_returns_the_value_of_the_pointer(value in value()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        let mut pointers = vec![String::new()];
        while let Some(pointer) = pointers.pop() {
            let inner = value.pointer(&pointer).unwrap();
            let span = find_span(text.as_bytes(), &pointer).unwrap().unwrap();
            let bytes = &text[usize::try_from(span.start).unwrap()..usize::try_from(span.end).unwrap()];
            prop_assert_eq!(&serde_json::from_str::<Value>(bytes).unwrap(), &serde_json::from_str::<Value>(&inner.to_string()).unwrap());
            match inner {
                Value::Array(elements) => pointers.extend((0..elements.len()).map(|i| format!("{pointer}/{i}"))),
                Value::Object(members) => pointers.extend(
                    members.keys().map(|key| format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))),
                ),
                _ => {}
            }
        }
    }
}
