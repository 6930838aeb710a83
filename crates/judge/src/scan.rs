//! Reading of a stream, once: its problems and its shape, and how it keeps a contract.

use agentnative_contract::{
    Contract, Framing, RunExit, Settings, Validation, Verdict, fold_chunks, threads_for,
};
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_core::run::Bytes;
use agentnative_diff::shape::{Shape, ShapeBuilder};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};
use strict_json::{
    Chunk, Class, Problem, ProblemKind, ReadOptions, Summary, read_document, read_lines, read_lines_at_hand,
};
use xxhash_rust::xxh3::xxh3_128;

/// As many violations of a contract are told apart, of each kind; the others are counted.
const MAX_VIOLATIONS: usize = 1000;

pub struct Scan {
    /// The problems, and how many records.
    pub summary: Summary,
    /// The merged shape of the document, or of all records.
    pub shape: Shape,
    /// The line of the first structural problem holds control bytes as well.
    controls_follow: bool,
    /// Why the stream could not be read back.
    pub unreadable: Option<String>,
}

impl Scan {
    fn of(bytes: &Bytes, format: OutputFormat) -> io::Result<Self> {
        let threads = threads_for(bytes.len(), None);
        if format == OutputFormat::Jsonl
            && threads > 1
            && let Some((summary, shape)) = in_chunks(bytes, threads)?
        {
            return Ok(Self { summary, shape, controls_follow: false, unreadable: None });
        }
        let options = ReadOptions::default();
        let mut sink = ShapeBuilder::for_values();
        let summary = match format {
            OutputFormat::Jsonl => read_lines(bytes.reader(), &options, &mut sink)?,
            OutputFormat::Json | OutputFormat::Text => read_document(bytes.reader(), &options, &mut sink)?,
        };
        let controls_follow = match summary.first(Class::Structural) {
            Some(problem) if matches!(problem.kind, ProblemKind::Syntax | ProblemKind::Trailing) => {
                controls_follow(bytes, problem.at.offset)?
            }
            _ => false,
        };
        Ok(Self { summary, shape: sink.finish(), controls_follow, unreadable: None })
    }

    /// The first problem that makes the stream no document, or no JSON lines, at all.
    pub fn structural(&self) -> Option<&Problem> {
        self.problems().find(|problem| problem.kind.class() == Class::Structural)
    }

    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.summary.problems.iter()
    }

    /// The first problem, when it comes of control bytes: what a terminal would act on. Words around
    /// them, such as those of a progress line, do not make it another cause.
    pub fn control(&self) -> Option<&Problem> {
        let first = self
            .problems()
            .find(|problem| is_control(problem.kind) || problem.kind.class() == Class::Structural)?;
        (is_control(first.kind) || self.controls_follow).then_some(first)
    }
}

/// Lines and their shape, read by several threads; none where they have to be read one after the other: there is
/// something to report, or a line is too long.
fn in_chunks(bytes: &Bytes, threads: usize) -> io::Result<Option<(Summary, Shape)>> {
    let examine = |builder: &mut ShapeBuilder, chunk: &Chunk| {
        let summary = || read_lines_at_hand(&chunk.bytes, &ReadOptions::default(), builder);
        (!chunk.cut).then(summary).filter(|summary| summary.problems.is_empty())
    };
    let mut all = Summary::default();
    let merge = |_: &Chunk, part: Summary| {
        all.bytes += part.bytes;
        all.records += part.records;
        all.whole += part.whole;
        true
    };
    let (states, rest) = fold_chunks(bytes.reader(), threads, ShapeBuilder::for_values, examine, merge)?;
    let mut shape = Shape::default();
    states.into_iter().for_each(|builder| shape.join(builder.finish()));
    Ok(rest.is_none().then_some((all, shape)))
}

/// How the output of a run that ended so keeps a contract.
fn validated(
    contract: &Contract,
    bytes: &Bytes,
    format: OutputFormat,
    exit: RunExit<'_>,
) -> io::Result<Verdict> {
    let framing = match format {
        OutputFormat::Jsonl => Framing::Lines,
        _ if bytes.is_empty() => return Ok(contract.validator().finish(&exit).into()),
        _ if contract.framing() == Framing::Array => Framing::Array,
        _ => Framing::Document,
    };
    let settings =
        Settings { framing, max_errors: MAX_VIOLATIONS, exit, threads: threads_for(bytes.len(), None) };
    Validation::new(contract, settings).input(bytes.reader(), &mut |_| ())
}

/// Whether the line that starts at `offset` holds bytes that a terminal acts on.
fn controls_follow(bytes: &Bytes, offset: u64) -> io::Result<bool> {
    let mut window = [0; 1024];
    let n = bytes.read_at(offset, &mut window)?;
    let end = memchr::memchr(b'\n', &window[..n]).unwrap_or(n);
    let line = window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]);
    Ok(line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t'))
}

fn is_control(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::Control | ProblemKind::Nul | ProblemKind::BareCr)
}

/// What was made of streams, each once.
struct Once<K, T>(Mutex<HashMap<K, Kept<T>>>);

/// What was made of a stream, with the stream: its place is its own as long as it is there.
type Kept<T> = (Bytes, Arc<T>);

impl<K: Eq + Hash, T> Once<K, T> {
    /// What `make` gives, or gave before for this stream and this key. Streams with the same backing are one.
    fn of(&self, bytes: &Bytes, key: K, make: impl FnOnce() -> T) -> Arc<T> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, made)) = kept().get(&key) {
            return Arc::clone(made);
        }
        let made = Arc::new(make());
        kept().insert(key, (bytes.clone(), Arc::clone(&made)));
        made
    }
}

impl<K, T> Default for Once<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// A stream by its place, and how it is read.
type Key = ((usize, u64), OutputFormat);

/// What an output is held to: a contract, and how its run ended, with the length and a hash of what it said on stderr.
type ContractKey = (Key, String, Option<i32>, (usize, u128));

/// What is known of a recording from judging it, for judging it again: what was read of its streams, each when it is
/// first asked for, and the checks that cost too much. A clone shares them.
#[derive(Clone, Default)]
pub struct Scans {
    scans: Arc<Once<Key, Scan>>,
    verdicts: Arc<Once<ContractKey, io::Result<Verdict>>>,
    given_up: Arc<Mutex<BTreeMap<CheckId, String>>>,
}

impl Scans {
    /// The scan of these bytes, read as `format` says.
    pub(super) fn of(&self, bytes: &Bytes, format: OutputFormat) -> Arc<Scan> {
        self.scans.of(bytes, (bytes.place(), format), || {
            Scan::of(bytes, format).unwrap_or_else(|error| Scan {
                summary: Summary::default(),
                shape: Shape::default(),
                controls_follow: false,
                unreadable: Some(error.to_string()),
            })
        })
    }

    /// How these bytes, which a run printed that ended so, keep a contract.
    pub(super) fn held_to(
        &self,
        contract: &Contract,
        bytes: &Bytes,
        format: OutputFormat,
        exit: RunExit<'_>,
    ) -> Arc<io::Result<Verdict>> {
        let stderr = exit.stderr.unwrap_or_default();
        let said = (stderr.len(), xxh3_128(stderr));
        let key = ((bytes.place(), format), contract.name().to_owned(), exit.exit, said);
        self.verdicts.of(bytes, key, || validated(contract, bytes, format, exit))
    }

    /// Why a check is not judged again, if it is not.
    pub fn given_up(&self, check: CheckId) -> Option<String> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).get(&check).cloned()
    }

    /// Whether judging some check costs too much.
    pub fn has_given_up(&self) -> bool {
        !self.given_up.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Judging this check costs too much.
    pub fn give_up(&self, check: CheckId, why: String) {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).insert(check, why);
    }
}

impl fmt::Debug for Scans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scans")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::differences;

    fn lines(text: &str) -> Bytes {
        Bytes::from(text.as_bytes().to_vec())
    }

    #[test]
    fn lines_are_read_in_chunks_unless_there_is_something_to_report() {
        let line =
            |nth: u64| format!("{{\"type\":\"t{}\",\"n{}\":{nth},\"a\":[{{}}]}}\n", nth % 3, nth % 5000);
        let text: String = (0..50_000).map(line).collect();
        let mut builder = ShapeBuilder::for_values();
        let expected = read_lines(text.as_bytes(), &ReadOptions::default(), &mut builder).unwrap();
        let whole = builder.finish();
        for threads in [1, 3] {
            let (summary, shape) = in_chunks(&lines(&text), threads).unwrap().unwrap();
            assert_eq!((summary, shape.size()), (expected.clone(), whole.size()));
            assert_eq!(shape.kinds(), whole.kinds());
            assert!(differences(&shape, &whole).is_empty());
        }
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(17 << 20));
        for more in ["{\"a\":1,\"a\":2}\n", "\n", "{\"a\":\n", "{}", &long] {
            assert!(in_chunks(&lines(&format!("{text}{more}{text}")), 2).unwrap().is_none(), "{more}");
        }
    }
}
