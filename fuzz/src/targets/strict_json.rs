//! The strict reader, compared with serde_json: both accept the same documents and parse the same values.
//!
//! Two differences are deliberate: serde_json accepts duplicate keys, and it rejects numbers beyond binary64. The depth
//! is limited to that of serde_json, which is less than that of the strict reader.

use super::chunked_reader::ChunkedReader;
use super::events::Events;
use crate::{Target, corpus};
use serde_json::Value;
use strict_json::{ProblemKind, ReadOptions, Span, find_span, locate, read_document, read_value};

pub const TARGET: Target = Target {
    name: "strict-json",
    run,
    seeds: || corpus::texts(&["contracts", "examples", "fixtures"], &[".json"]),
    words: &["\"a\": 1", "\"a\": \"\\ud800\\udc00\"", "\"\\u0061\": []", "\"\\q\""],
};

/// Maximum depth that serde_json parses.
const MAX_DEPTH: usize = 127;
/// Maximum length of a number that becomes a value.
const MAX_NUMBER_LENGTH: usize = 4 << 10;
/// Maximum length of a key; longer keys are truncated.
const MAX_KEY_LENGTH: usize = 16 << 10;

fn run(bytes: &[u8]) {
    let options = ReadOptions { max_depth: MAX_DEPTH, ..ReadOptions::default() };
    let mut whole = Events::default();
    let summary = read_document(bytes, &options, &mut whole).expect("memory can be read");
    for problem in &summary.problems {
        assert_eq!(
            problem.position,
            locate(bytes, problem.position.offset).expect("memory can be read"),
            "{problem:?}"
        );
        assert!(problem.message.bytes().all(|byte| (b' '..0x7f).contains(&byte)), "{problem:?}");
    }
    let sizes = [1, 2, 1 + bytes.len() % 61];
    let mut pieces = Events::default();
    let again =
        read_document(ChunkedReader::new(bytes, &sizes), &options, &mut pieces).expect("memory can be read");
    assert!(summary == again && whole == pieces, "{:?}\n{:?}", summary.problems, again.problems);

    let ours = !summary
        .problems
        .iter()
        .any(|problem| problem.kind.rejects() && problem.kind != ProblemKind::DuplicateKey);
    let theirs = serde_json::from_slice::<Value>(bytes);
    let differs = summary.count(ProblemKind::Overflow) > 0;
    assert!(ours == theirs.is_ok() || differs, "{:?} {:?}", summary.problems, theirs.err());
    let (true, Ok(expected)) = (ours, theirs) else { return };
    let value = read_value(bytes, &options, u64::MAX).expect("memory can be read").value;
    let has_long_number =
        bytes.split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > MAX_NUMBER_LENGTH / 2);
    let has_long_key = has_long_key(&expected);
    assert!(has_long_number || has_long_key || value.as_ref() == Some(&expected), "{value:?}\n{expected}");
    if summary.count(ProblemKind::DuplicateKey) == 0 && !has_long_key {
        assert_spans(bytes, &expected, String::new(), &mut 40);
    }
}

/// Returns whether a key is longer than [`MAX_KEY_LENGTH`].
fn has_long_key(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_long_key),
        Value::Object(members) => {
            members.iter().any(|(key, member)| key.len() > MAX_KEY_LENGTH || has_long_key(member))
        }
        _ => false,
    }
}

/// Asserts that the span of each value contains that value, for at most `remaining` values.
fn assert_spans(bytes: &[u8], value: &Value, pointer: String, remaining: &mut usize) {
    if *remaining == 0 {
        return;
    }
    *remaining -= 1;
    let found = find_span(bytes, &pointer).expect("memory can be read");
    let Span { start, end } = found.unwrap_or_else(|| panic!("nothing at {pointer}"));
    let text = &bytes[start as usize..end as usize];
    assert_eq!(serde_json::from_slice::<Value>(text).ok().as_ref(), Some(value), "{pointer}");
    match value {
        Value::Array(elements) => {
            for (index, element) in elements.iter().enumerate() {
                assert_spans(bytes, element, format!("{pointer}/{index}"), remaining);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                assert_spans(
                    bytes,
                    member,
                    format!("{pointer}/{}", strict_json::escape_token(key)),
                    remaining,
                );
            }
        }
        _ => {}
    }
}
