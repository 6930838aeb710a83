//! The observation of a run, and its form in a recording.

use super::{Area, Captured, RunKey};
use crate::model::Stream;
use agentnative_helper::Outcome;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;

/// The record of one run: its key, its arguments and its outcome. `C` is the type of its streams: captured bytes, or
/// their form in a recording.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "RawObservation<C>", bound(deserialize = "C: Deserialize<'de>"))]
pub struct Observation<C = Captured> {
    /// The key, which identifies the run.
    #[serde(rename = "run")]
    pub key: RunKey,
    /// The program and the arguments; empty in a recording that is older than this field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// Whether the run ended unexpectedly and could not be repeated in a copy of its start folder, because the copy
    /// failed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncopied: bool,
    /// The outcome of the run.
    #[serde(flatten)]
    pub outcome: Outcome<C>,
}

/// An observation as a line of a recording. It collects unknown fields itself, since serde cannot reject them in a
/// struct with flattened fields.
#[derive(Deserialize)]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
struct RawObservation<C> {
    run: RunKey,
    #[serde(default)]
    argv: Vec<String>,
    #[serde(default)]
    uncopied: bool,
    #[serde(flatten)]
    outcome: Outcome<C>,
    #[serde(flatten)]
    unknown: BTreeMap<String, IgnoredAny>,
}

impl<C> TryFrom<RawObservation<C>> for Observation<C> {
    type Error = String;

    fn try_from(raw: RawObservation<C>) -> Result<Self, String> {
        match raw.unknown.into_keys().next() {
            Some(field) => Err(format!("unknown field `{field}`")),
            None => Ok(Self { key: raw.run, argv: raw.argv, uncopied: raw.uncopied, outcome: raw.outcome }),
        }
    }
}

impl<C> Deref for Observation<C> {
    type Target = Outcome<C>;

    fn deref(&self) -> &Outcome<C> {
        &self.outcome
    }
}

/// Length of the start of stderr that is searched, in bytes.
const MAX_SEARCHED: u64 = 1 << 20;

/// Words in a message about a file that cannot be read.
const MISSING_FILE: [&str; 7] = [
    "no such file",
    "file not found",
    "cannot open",
    "can't open",
    "could not open",
    "failed to load",
    "unable to open",
];

impl Observation {
    /// Returns the command line, quoted for a shell; `None` if it is unknown or contains NUL.
    pub fn command_line(&self) -> Option<String> {
        shlex::try_join(self.argv.iter().map(String::as_str)).ok().filter(|line| !line.is_empty())
    }

    /// Returns the help page that the run printed: the first `max` bytes of stdout, or of stderr if stdout is empty.
    pub fn help_page(&self, max: u64) -> Vec<u8> {
        let page = self.stdout.bytes.first(max);
        if page.trim_ascii().is_empty() { self.stderr.bytes.first(max) } else { page }
    }

    /// Returns whether the run is known to have changed files in its workspace.
    pub fn changed_workspace(&self) -> bool {
        let mut changes = self.changes.iter().flat_map(|changes| &changes.list);
        changes.any(|change| change.area == Area::Workspace)
    }

    /// Returns the lines on stderr that contain `word`.
    fn messages_about(&self, word: &str) -> Vec<String> {
        let text = self.stderr.bytes.first(MAX_SEARCHED);
        let text = String::from_utf8_lossy(&text);
        text.lines().filter(|line| line.contains(word)).map(str::to_owned).collect()
    }

    /// Returns whether a line on stderr contains `word`.
    pub fn names(&self, word: &str) -> bool {
        !self.messages_about(word).is_empty()
    }

    /// Returns whether a line on stderr reports that the file `name` cannot be read: the target took this word for the
    /// name of a file.
    pub fn reports_missing_file(&self, name: &str) -> bool {
        self.messages_about(name).iter().any(|line| {
            let lower = line.to_lowercase();
            MISSING_FILE.iter().any(|words| lower.contains(words))
        })
    }
}

impl<C> Observation<C> {
    /// Converts both streams of the run with `convert`, stdout first.
    pub(super) fn map_streams<D, E>(
        self,
        mut convert: impl FnMut(Stream, C) -> Result<D, E>,
    ) -> Result<Observation<D>, E> {
        let stream = |is_stdout| if is_stdout { Stream::Stdout } else { Stream::Stderr };
        let Self { key, argv, uncopied, outcome } = self;
        let outcome = outcome.map_streams(|is_stdout, captured| convert(stream(is_stdout), captured))?;
        Ok(Observation { key, argv, uncopied, outcome })
    }
}
