//! What to run.

use crate::model::{OutputFormat, Variant};
use agentnative_helper::Job;
use serde::{Deserialize, Serialize};
use strict_json::sanitize;

/// What names a run: probe × format × variant, and which one of several alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunKey {
    /// Name of the probe.
    pub probe: String,
    /// The format asked for.
    pub format: OutputFormat,
    /// The condition it is run under.
    pub variant: Variant,
    /// The n-th repetition (`repeat`) or the n-th environment (`hostile-env`), from 0; else 0.
    pub nth: u8,
}

impl RunKey {
    /// The plain run of a probe in a format.
    pub fn plain(probe: impl Into<String>, format: OutputFormat) -> Self {
        Self { probe: probe.into(), format, variant: Variant::Plain, nth: 0 }
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
