//! Scans streams once: problems, shape, and validation by a contract.

use agentnative_contract::{
    Contract, Framing, RunExit, Settings, Validation, Verdict, fold_chunks, thread_count,
};
use agentnative_core::model::{CheckId, OutputFormat};
use agentnative_core::run::Bytes;
use agentnative_core::targets::{CommandPage, TargetNames};
use agentnative_diff::shape::{Shape, ShapeBuilder};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};
use strict_json::{
    Chunk, Problem, ProblemKind, ProblemSeverity, ReadOptions, ReadSummary, read_document, read_lines,
    read_lines_in_memory,
};
use xxhash_rust::xxh3::xxh3_128;

/// Maximum number of violations of a contract that are kept per kind; the others are counted.
const MAX_VIOLATIONS: usize = 1000;

pub struct Scan {
    /// Problems and number of records.
    pub summary: ReadSummary,
    /// Merged shape of the document or of all records.
    pub shape: Shape,
    /// True if the line of the first structural problem contains control bytes after the problem.
    controls_follow: bool,
    /// Error message if the stream could not be read.
    pub unreadable: Option<String>,
}

impl Scan {
    fn read(bytes: &Bytes, format: OutputFormat) -> io::Result<Self> {
        let threads = thread_count(bytes.len(), None);
        if format == OutputFormat::Jsonl
            && threads > 1
            && let Some((summary, shape)) = scan_chunks(bytes, threads)?
        {
            return Ok(Self { summary, shape, controls_follow: false, unreadable: None });
        }
        let options = ReadOptions::default();
        let mut sink = ShapeBuilder::for_values();
        let summary = match format {
            OutputFormat::Jsonl => read_lines(bytes.reader(), &options, &mut sink)?,
            OutputFormat::Json | OutputFormat::Text => read_document(bytes.reader(), &options, &mut sink)?,
        };
        let controls_follow = match summary.first_of_severity(ProblemSeverity::Structural) {
            Some(problem) if matches!(problem.kind, ProblemKind::Syntax | ProblemKind::Trailing) => {
                controls_follow(bytes, problem.position.offset)?
            }
            _ => false,
        };
        Ok(Self { summary, shape: sink.finish(), controls_follow, unreadable: None })
    }

    /// Returns the first problem that makes the stream invalid as a document or as JSON Lines.
    pub fn first_structural_problem(&self) -> Option<&Problem> {
        self.problems().find(|problem| problem.kind.severity() == ProblemSeverity::Structural)
    }

    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.summary.problems.iter()
    }

    /// Returns the first problem if its cause is control bytes, which a terminal interprets. Text around these bytes,
    /// as in a progress line, does not change the cause.
    pub fn control_byte_problem(&self) -> Option<&Problem> {
        let first = self.problems().find(|problem| {
            is_control(problem.kind) || problem.kind.severity() == ProblemSeverity::Structural
        })?;
        (is_control(first.kind) || self.controls_follow).then_some(first)
    }
}

/// Scans JSON Lines with several threads. Returns `None` if the lines have to be read sequentially, because there is a
/// problem to report or a line is too long.
fn scan_chunks(bytes: &Bytes, threads: usize) -> io::Result<Option<(ReadSummary, Shape)>> {
    let examine = |builder: &mut ShapeBuilder, chunk: &Chunk| {
        let summary = || read_lines_in_memory(&chunk.bytes, &ReadOptions::default(), builder);
        (!chunk.is_partial_line).then(summary).filter(|summary| summary.problems.is_empty())
    };
    let mut all = ReadSummary::default();
    let merge = |_: &Chunk, part: ReadSummary| {
        all.bytes += part.bytes;
        all.records += part.records;
        all.complete += part.complete;
        true
    };
    let (states, rest) = fold_chunks(bytes.reader(), threads, ShapeBuilder::for_values, examine, merge)?;
    let mut shape = Shape::default();
    states.into_iter().for_each(|builder| shape.merge(builder.finish()));
    Ok(rest.is_none().then_some((all, shape)))
}

/// Validates the stdout of a run against a contract. `exit` contains the exit code and stderr of the run, about which
/// the contract may have rules.
fn validate(
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
        Settings { framing, max_errors: MAX_VIOLATIONS, exit, threads: thread_count(bytes.len(), None) };
    Validation::new(contract, settings).validate(bytes.reader(), &mut |_| ())
}

/// Returns true if the rest of the line from `offset` on contains bytes that a terminal interprets.
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

/// Cache of results that are computed from streams, so that each is computed once.
struct ResultCache<K, T>(Mutex<HashMap<K, CachedResult<T>>>);

/// A result, with the stream from which it is computed. The stream is kept because the keys contain its address, which
/// must not be reused.
type CachedResult<T> = (Bytes, Arc<T>);

impl<K: Eq + Hash, T> ResultCache<K, T> {
    /// Returns the cached result for `key`; calls `compute` if there is none yet. Only clones of a stream have the same
    /// key.
    fn get_or_compute(&self, bytes: &Bytes, key: K, compute: impl FnOnce() -> T) -> Arc<T> {
        let cache = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, result)) = cache().get(&key) {
            return Arc::clone(result);
        }
        let result = Arc::new(compute());
        cache().insert(key, (bytes.clone(), Arc::clone(&result)));
        result
    }
}

impl<K, T> Default for ResultCache<K, T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// Identity of a stream, which only its clones share, and the format as which the stream is read.
type StreamKey = ((usize, u64), OutputFormat);

/// Key of a validation: the stream, the name of the contract, the exit code, and the length and a hash of stderr.
type ContractKey = (StreamKey, String, Option<i32>, (usize, u128));

/// Key of the help page of a command: the stream, and the words of the command.
type PageKey = ((usize, u64), Vec<String>);

/// Cache of the scans of streams, which are computed on first use, and a list of the checks that were given up because
/// they cost too much. Clones share both.
#[derive(Clone, Default)]
pub struct Scans {
    scans: Arc<ResultCache<StreamKey, Scan>>,
    verdicts: Arc<ResultCache<ContractKey, io::Result<Verdict>>>,
    root_pages: Arc<ResultCache<(usize, u64), (CommandPage, TargetNames)>>,
    pages: Arc<ResultCache<PageKey, CommandPage>>,
    given_up: Arc<Mutex<BTreeMap<CheckId, String>>>,
}

impl Scans {
    /// Returns the scan of `bytes`, read as `format`. It is computed on the first call.
    pub(super) fn scan(&self, bytes: &Bytes, format: OutputFormat) -> Arc<Scan> {
        self.scans.get_or_compute(bytes, (bytes.identity(), format), || {
            Scan::read(bytes, format).unwrap_or_else(|error| Scan {
                summary: ReadSummary::default(),
                shape: Shape::default(),
                controls_follow: false,
                unreadable: Some(error.to_string()),
            })
        })
    }

    /// Returns the result of validating the stdout of a run against a contract. It is computed on the first call.
    /// `exit` contains the exit code and stderr of the run.
    pub(super) fn verdict(
        &self,
        contract: &Contract,
        bytes: &Bytes,
        format: OutputFormat,
        exit: RunExit<'_>,
    ) -> Arc<io::Result<Verdict>> {
        let stderr = exit.stderr.unwrap_or_default();
        let stderr_key = (stderr.len(), xxh3_128(stderr));
        let key = ((bytes.identity(), format), contract.name().to_owned(), exit.code, stderr_key);
        self.verdicts.get_or_compute(bytes, key, || validate(contract, bytes, format, exit))
    }

    /// Returns the parsed help page of the target and its names. They are computed on the first call.
    pub(super) fn root_page(
        &self,
        bytes: &Bytes,
        parse: impl FnOnce() -> (CommandPage, TargetNames),
    ) -> Arc<(CommandPage, TargetNames)> {
        self.root_pages.get_or_compute(bytes, bytes.identity(), parse)
    }

    /// Returns the parsed help page of a command. It is computed on the first call.
    pub(super) fn page(
        &self,
        bytes: &Bytes,
        command: &[String],
        parse: impl FnOnce() -> CommandPage,
    ) -> Arc<CommandPage> {
        self.pages.get_or_compute(bytes, (bytes.identity(), command.to_vec()), parse)
    }

    /// Returns why a check was given up; `None` if it was not given up.
    pub fn given_up(&self, check: CheckId) -> Option<String> {
        self.given_up.lock().unwrap_or_else(PoisonError::into_inner).get(&check).cloned()
    }

    /// Returns whether any check was given up.
    pub fn has_given_up(&self) -> bool {
        !self.given_up.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Marks a check as given up because it costs too much. `why` is the message for the user.
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
    fn lines_are_scanned_in_chunks_unless_there_is_a_problem() {
        let line =
            |nth: u64| format!("{{\"type\":\"t{}\",\"n{}\":{nth},\"a\":[{{}}]}}\n", nth % 3, nth % 5000);
        let text: String = (0..50_000).map(line).collect();
        let mut builder = ShapeBuilder::for_values();
        let expected = read_lines(text.as_bytes(), &ReadOptions::default(), &mut builder).unwrap();
        let whole = builder.finish();
        for threads in [1, 3] {
            let (summary, shape) = scan_chunks(&lines(&text), threads).unwrap().unwrap();
            assert_eq!((summary, shape.total_count()), (expected.clone(), whole.total_count()));
            assert_eq!(shape.kinds(), whole.kinds());
            assert!(differences(&shape, &whole).is_empty());
        }
        let long = format!("{{\"a\":\"{}\"}}\n", "x".repeat(17 << 20));
        for more in ["{\"a\":1,\"a\":2}\n", "\n", "{\"a\":\n", "{}", &long] {
            assert!(scan_chunks(&lines(&format!("{text}{more}{text}")), 2).unwrap().is_none(), "{more}");
        }
    }
}
