//! What to run.

use crate::model::{Condition, OutputFormat, ProbeId, Variant, combination_of, parts};
use agentnative_helper::Job;
use serde::{Deserialize, Serialize};
use strict_json::sanitize;

/// The identity of a run: probe × format × variant, and which one of several alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// The probe.
    pub probe: ProbeId,
    /// The format asked for.
    pub format: OutputFormat,
    /// The condition it is run under.
    pub variant: Variant,
    /// The n-th repetition (`repeat`) or the n-th [environment](Variant::environments), from 0.
    pub nth: u8,
}

impl RunKey {
    /// The plain run of a probe in a format.
    pub const fn plain(probe: ProbeId, format: OutputFormat) -> Self {
        Self { probe, format, variant: Variant::Plain, nth: 0 }
    }

    /// The same call under another condition.
    #[must_use]
    pub fn under(&self, (variant, nth): Condition) -> Self {
        Self { variant, nth, ..self.clone() }
    }

    /// The runs that this one stands for; none for one under a single condition.
    pub fn parts(&self) -> Option<Vec<Self>> {
        let parts = parts(self.variant, self.nth)?;
        Some(parts.iter().map(|part| self.under(*part)).collect())
    }

    /// The run that stands for this one as well, if there can be one.
    pub fn combination(&self) -> Option<Self> {
        combination_of(self.variant, self.nth).map(|whole| self.under(whole))
    }
}

/// One execution to make.
#[derive(Debug, Clone)]
pub struct RunSpec {
    /// What names it.
    pub key: RunKey,
    /// What the helper has to do, under the variant of the key.
    pub job: Job,
}

impl RunSpec {
    /// The program and its arguments as they are shown: what is not UTF-8 is spelt out.
    pub(super) fn argv(&self) -> Vec<String> {
        let program = std::iter::once(self.job.program.as_os_str());
        let words = program.chain(self.job.args.iter().map(|arg| arg.as_os_str()));
        words.map(|word| sanitize::lossless(word.as_encoded_bytes()).into_owned()).collect()
    }
}
