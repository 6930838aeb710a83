//! The strict reader, held to serde_json: both accept the same documents and read the same values.
//!
//! They differ on purpose where serde_json takes a key that comes twice, and refuses a number beyond binary64. Depth
//! is limited to what serde_json reads, which is less than our limit.

use super::events::Events;
use super::pieces::Pieces;
use crate::{Target, corpus};
use serde_json::Value;
use strict_json::{ProblemKind, ReadOptions, Span, find_span, locate, read_document, read_value};

/// See the file.
pub const TARGET: Target = Target {
    name: "strict-json",
    run,
    seeds: || corpus::texts(&["contracts", "examples", "fixtures"], &[".json"]),
    words: &["\"a\": 1", "\"a\": \"\\ud800\\udc00\"", "\"\\u0061\": []", "\"\\q\""],
};

/// The levels that serde_json reads.
const DEPTH: usize = 127;
/// A longer number is not built.
const LONG_NUMBER: usize = 4 << 10;
/// A longer key is cut.
const LONG_KEY: usize = 16 << 10;

fn run(bytes: &[u8]) {
    let options = ReadOptions { max_depth: DEPTH, ..ReadOptions::default() };
    let mut whole = Events::default();
    let summary = read_document(bytes, &options, &mut whole).expect("memory can be read");
    for problem in &summary.problems {
        assert_eq!(problem.at, locate(bytes, problem.at.offset).expect("memory can be read"), "{problem:?}");
        assert!(problem.message.bytes().all(|byte| (b' '..0x7f).contains(&byte)), "{problem:?}");
    }
    let sizes = [1, 2, 1 + bytes.len() % 61];
    let mut pieces = Events::default();
    let again = read_document(Pieces::new(bytes, &sizes), &options, &mut pieces).expect("memory can be read");
    assert!(summary == again && whole == pieces, "{:?}\n{:?}", summary.problems, again.problems);

    let ours = !summary
        .problems
        .iter()
        .any(|problem| problem.kind.rejects() && problem.kind != ProblemKind::DuplicateKey);
    let theirs = serde_json::from_slice::<Value>(bytes);
    let differs = summary.count(ProblemKind::Overflow) > 0;
    assert!(ours == theirs.is_ok() || differs, "{:?} {:?}", summary.problems, theirs.err());
    let (true, Ok(expected)) = (ours, theirs) else { return };
    let read = read_value(bytes, &options, u64::MAX).expect("memory can be read").value;
    let long = bytes.split(|byte| !byte.is_ascii_digit()).any(|digits| digits.len() > LONG_NUMBER / 2);
    let has_long_key = has_long_key(&expected);
    assert!(long || has_long_key || read.as_ref() == Some(&expected), "{read:?}\n{expected}");
    if summary.count(ProblemKind::DuplicateKey) == 0 && !has_long_key {
        hold_spans(bytes, &expected, String::new(), &mut 40);
    }
}

/// Whether a key is so long that it is cut.
fn has_long_key(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_long_key),
        Value::Object(members) => {
            members.iter().any(|(key, member)| key.len() > LONG_KEY || has_long_key(member))
        }
        _ => false,
    }
}

/// The span of each value holds that value, for the first so many.
fn hold_spans(bytes: &[u8], value: &Value, pointer: String, left: &mut usize) {
    if *left == 0 {
        return;
    }
    *left -= 1;
    let found = find_span(bytes, &pointer).expect("memory can be read");
    let Span { start, end } = found.unwrap_or_else(|| panic!("nothing at {pointer}"));
    let text = &bytes[start as usize..end as usize];
    assert_eq!(serde_json::from_slice::<Value>(text).ok().as_ref(), Some(value), "{pointer}");
    match value {
        Value::Array(elements) => {
            for (nth, element) in elements.iter().enumerate() {
                hold_spans(bytes, element, format!("{pointer}/{nth}"), left);
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                hold_spans(bytes, member, format!("{pointer}/{}", strict_json::escape_token(key)), left);
            }
        }
        _ => {}
    }
}
