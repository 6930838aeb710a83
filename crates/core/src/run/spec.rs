//! The key and the specification of a run.

use crate::model::{Condition, OutputFormat, ProbeId, Variant, combined_conditions, single_conditions};
use agentnative_helper::Job;
use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use strict_json::sanitize;

/// The identity of a run: probe, format, variant, and the index of the repetition or environment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The identity of the probe that is run.
    pub probe: ProbeId,
    /// The format that the run requests.
    pub format: OutputFormat,
    /// The condition of the run, such as a terminal or a closed pipe.
    pub variant: Variant,
    /// Index of the repetition (`repeat`) or of the [environment](Variant::environments) of the variant, from 0.
    pub nth: u8,
}

impl RunKey {
    /// Returns the key of the run of a probe in a format without a special condition.
    pub const fn plain_run_key(probe: ProbeId, format: OutputFormat) -> Self {
        Self { probe, format, variant: Variant::Plain, nth: 0 }
    }

    /// Returns the key of the same call in the same format under another condition.
    #[must_use]
    pub fn with_condition(&self, (variant, nth): Condition) -> Self {
        Self { variant, nth, ..self.clone() }
    }

    /// Returns the keys of the runs that a run under a combined condition replaces; `None` if the condition is not a
    /// combined one.
    pub fn replaced_run_keys(&self) -> Option<Vec<Self>> {
        let parts = single_conditions(self.variant, self.nth)?;
        Some(parts.iter().map(|part| self.with_condition(*part)).collect())
    }

    /// Returns the keys of the runs under combined conditions that can replace this run.
    pub fn combinations(&self) -> impl Iterator<Item = Self> {
        combined_conditions((self.variant, self.nth)).map(|combined| self.with_condition(combined))
    }
}

/// A run to execute.
#[derive(Debug, Clone)]
pub struct RunSpec {
    /// The key of the run.
    pub key: RunKey,
    /// The job that the helper executes under the condition of the key.
    pub job: Job,
}

impl RunSpec {
    /// Returns the program and its arguments as text for reports. Bytes that are not UTF-8 are escaped, and long
    /// arguments of a call that was not declared are shortened.
    pub(super) fn argv(&self) -> Vec<String> {
        let program = std::iter::once(self.job.program.as_os_str());
        let words = program.chain(self.job.args.iter().map(|arg| arg.as_os_str()));
        let text = |word: &OsStr| sanitize::lossless(word.as_encoded_bytes()).into_owned();
        let is_long = |word: &OsStr| self.job.undeclared && word.len() > MAX_WORD;
        words
            .map(|word| if is_long(word) { shortened(&text(word), word.len()) } else { text(word) })
            .collect()
    }
}

/// Maximum length of an argument that is not shortened, in bytes.
const MAX_WORD: usize = 1024;

/// Returns the beginning of a long word with its length, such as `aaaa… (65536 bytes)`.
fn shortened(word: &str, length: usize) -> String {
    let beginning: String = word.chars().take(16).collect();
    format!("{beginning}… ({length} bytes)")
}
