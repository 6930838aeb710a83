//! Chunks of lines: they are merged in order, the rest is complete, and failures do not hang.

use agentnative_contract::fold_chunks;
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use strict_json::{Chunk, Position};

const LINES: usize = 400_000;

fn lines() -> String {
    (0..LINES).map(|nth| format!("{nth}\n")).collect()
}

/// Merged text, number of examined bytes, and the rest with its position.
type Folded = (String, usize, Option<(String, Position)>);

/// Folds the chunks of a text and concatenates the merged ones.
fn fold(
    text: &str,
    threads: usize,
    examine: impl Fn(&str) -> bool + Sync,
    merge: impl Fn(&str) -> bool,
) -> io::Result<Folded> {
    let mut merged = String::new();
    let examine = |examined: &mut usize, chunk: &Chunk| {
        let text = String::from_utf8(chunk.bytes.clone()).unwrap();
        *examined += text.len();
        (!chunk.is_partial_line && examine(&text)).then_some(text)
    };
    let merge = |chunk: &Chunk, text: String| {
        assert_eq!((chunk.position.offset, chunk.bytes.len()), (merged.len() as u64, text.len()));
        merged.push_str(&text);
        merge(&text)
    };
    let (states, rest) = fold_chunks(text.as_bytes(), threads, || 0, examine, merge)?;
    let rest = rest.map(|mut rest| {
        let mut text = String::new();
        rest.reader.read_to_string(&mut text).unwrap();
        (text, rest.base)
    });
    Ok((merged, states.into_iter().sum(), rest))
}

#[test]
fn chunks_are_merged_in_order() {
    let text = lines();
    for threads in [0, 1, 2, 5] {
        let folded = fold(&text, threads, |_| true, |_| true).unwrap();
        assert_eq!(folded, (text.clone(), text.len(), None), "{threads}");
    }
    assert_eq!(fold("", 2, |_| true, |_| true).unwrap(), (String::new(), 0, None));
}

#[test]
fn the_unmerged_rest_is_complete() {
    let long = format!("{}\n", "x".repeat(17 << 20));
    let text = lines() + &long + &lines();
    for threads in [1, 3] {
        let (merged, _, rest) = fold(&text, threads, |_| true, |_| true).unwrap();
        let (rest, base) = rest.unwrap();
        assert!(merged + &rest == text && rest.starts_with(&long));
        assert_eq!((base.line, base.column), (LINES as u64 + 1, 1));
        let contains_marker = |text: &str| text.contains("\n150000\n");
        let (merged, _, rest) = fold(&text, threads, |text| !contains_marker(text), |_| true).unwrap();
        assert!(!contains_marker(&merged) && merged + &rest.unwrap().0 == text);
        let (merged, ..) = fold(&text, threads, |_| true, |text| !contains_marker(text)).unwrap();
        assert!(contains_marker(&merged) && merged.len() < text.len() / 2);
    }
}

#[test]
fn a_failing_thread_or_reader_is_an_error() {
    let text = lines();
    let failed = fold(&text, 3, |text| !text.contains("\n150000\n") || panic!("a test"), |_| true);
    assert_eq!(failed.unwrap_err().to_string(), "a reader thread failed");
    let merge = || fold(&text, 3, |_| true, |text| !text.contains("\n150000\n") || panic!("a test"));
    assert!(catch_unwind(AssertUnwindSafe(merge)).is_err());
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    for threads in [1, 3] {
        let reader = text.as_bytes().chain(Broken);
        let failed = fold_chunks(reader, threads, || (), |(), _| Some(()), |_, ()| true);
        assert_eq!(failed.map(drop).unwrap_err().to_string(), "broken");
    }
}
