//! What a run gave, and how a recording has it.

use super::{Captured, RunKey};
use crate::model::Stream;
use agentnative_helper::Outcome;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Deref;

/// A run and its outcome. Its streams are bytes, or what a recording has for them.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Line<C>", bound(deserialize = "C: Deserialize<'de>"))]
pub struct Observation<C = Captured> {
    /// Which run it was.
    #[serde(rename = "run")]
    pub key: RunKey,
    /// The program and its arguments; empty in a recording that is older than this field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub argv: Vec<String>,
    /// As it ended otherwise than declared, it should have been repeated in a copy of its start folder, which could not be
    /// made.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncopied: bool,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome<C>,
}

/// An observation as a line of a recording. Serde does not refuse unknown fields where others are flattened.
#[derive(Deserialize)]
#[serde(bound(deserialize = "C: Deserialize<'de>"))]
struct Line<C> {
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

impl<C> TryFrom<Line<C>> for Observation<C> {
    type Error = String;

    fn try_from(line: Line<C>) -> Result<Self, String> {
        match line.unknown.into_keys().next() {
            Some(field) => Err(format!("unknown field `{field}`")),
            None => {
                Ok(Self { key: line.run, argv: line.argv, uncopied: line.uncopied, outcome: line.outcome })
            }
        }
    }
}

impl<C> Deref for Observation<C> {
    type Target = Outcome<C>;

    fn deref(&self) -> &Outcome<C> {
        &self.outcome
    }
}

impl Observation {
    /// The command line, quoted so that a shell takes it as it was run.
    pub fn command_line(&self) -> Option<String> {
        shlex::try_join(self.argv.iter().map(String::as_str)).ok().filter(|line| !line.is_empty())
    }
}

impl<C> Observation<C> {
    /// The same with its streams in another form: standard output first.
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
