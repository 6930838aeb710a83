//! Strict reading of a stream, once: its problems and its shape.

use crate::judge::shape::Shape;
use crate::judge::shape_sink::ShapeSink;
use crate::model::{CheckId, OutputFormat};
use crate::run::Bytes;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use strict_json::{Class, Problem, ProblemKind, Summary};

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
    fn of(bytes: &Bytes, format: OutputFormat) -> std::io::Result<Self> {
        let options = strict_json::ReadOptions::default();
        let mut sink = ShapeSink::default();
        let summary = match format {
            OutputFormat::Jsonl => strict_json::read_lines(bytes.reader(), &options, &mut sink)?,
            OutputFormat::Json | OutputFormat::Text => {
                strict_json::read_document(bytes.reader(), &options, &mut sink)?
            }
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

/// Whether the line that starts at `offset` holds bytes that a terminal acts on.
fn controls_follow(bytes: &Bytes, offset: u64) -> std::io::Result<bool> {
    let mut window = [0; 1024];
    let n = bytes.read_at(offset, &mut window)?;
    let end = memchr::memchr(b'\n', &window[..n]).unwrap_or(n);
    let line = window[..end].strip_suffix(b"\r").unwrap_or(&window[..end]);
    Ok(line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t'))
}

fn is_control(kind: ProblemKind) -> bool {
    matches!(kind, ProblemKind::Control | ProblemKind::Nul | ProblemKind::BareCr)
}

/// A stream by its place, and how it is read.
type Key = ((usize, u64), OutputFormat);

/// What is known of a recording from judging it, for judging it again: scans by stream, each made when it is first
/// asked for, and the checks that cost too much. A clone shares them.
#[derive(Clone, Default)]
pub struct Scans {
    kept: Arc<Mutex<HashMap<Key, Kept>>>,
    given_up: Arc<Mutex<BTreeMap<CheckId, String>>>,
}

/// A scan, with the stream, whose place is its own as long as it is there.
type Kept = (Bytes, Arc<Scan>);

impl Scans {
    /// The scan of these bytes, read as `format` says. Streams with the same backing share one.
    pub(super) fn of(&self, bytes: &Bytes, format: OutputFormat) -> Arc<Scan> {
        let key = (bytes.place(), format);
        if let Some((_, scan)) = self.kept().get(&key) {
            return Arc::clone(scan);
        }
        let scan = Scan::of(bytes, format).unwrap_or_else(|error| Scan {
            summary: Summary::default(),
            shape: Shape::default(),
            controls_follow: false,
            unreadable: Some(error.to_string()),
        });
        let scan = Arc::new(scan);
        self.kept().insert(key, (bytes.clone(), Arc::clone(&scan)));
        scan
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Key, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
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
        write!(f, "Scans({})", self.kept().len())
    }
}
