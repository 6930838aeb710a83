//! A call that exploration tries, and its probe.

use super::samples::Sample;
use crate::config::{CallConfig, FormatFlag, Workspace};
use crate::model::{CallGroup, CallOutcome, ExploredOrigin, OutputFormat, ProbeId};
use crate::probe::Probe;
use std::collections::BTreeMap;
use std::time::Duration;
use strict_json::sanitize;

/// Time limit of a call that is tried.
pub(super) const TIMEOUT: Duration = Duration::from_secs(5);

/// A call that exploration tries.
#[derive(Debug, Clone)]
pub(super) struct Trial {
    /// Index of the command in the tree.
    pub command: usize,
    pub group: CallGroup,
    pub args: Vec<String>,
    /// The sample that the call reads from stdin.
    pub stdin: Option<&'static Sample>,
    /// The word that makes the call invalid, such as an unknown option.
    pub invalid: Option<String>,
    /// Documented values of the option that gets an invalid one.
    pub values: Vec<String>,
}

impl Trial {
    pub fn new(command: usize, group: CallGroup, args: Vec<String>) -> Self {
        Self { command, group, args, stdin: None, invalid: None, values: Vec::new() }
    }

    /// Returns the trial of an invalid call. `invalid` is its wrong word; `None` if a word is missing.
    pub fn invalid(command: usize, args: Vec<String>, invalid: Option<&str>) -> Self {
        Self { invalid: invalid.map(str::to_owned), ..Self::new(command, CallGroup::Invalid, args) }
    }

    pub fn with_stdin(self, sample: &'static Sample) -> Self {
        Self { stdin: Some(sample), ..self }
    }

    pub fn id(&self) -> ProbeId {
        let stdin = self.stdin.map(|sample| sample.name.to_owned());
        ProbeId::Explored { explored: self.args.clone(), stdin }
    }

    /// Returns the name of the call in reports.
    pub fn name(&self) -> String {
        let words: Vec<&str> = self.args.iter().map(String::as_str).collect();
        let call = shlex::try_join(words.iter().copied()).unwrap_or_else(|_| words.join(" "));
        let call = sanitize::sanitize_line(if call.is_empty() { "no arguments" } else { &call });
        self.stdin.map_or_else(|| call.clone(), |sample| format!("{call} < {}", sample.name))
    }

    /// Returns the probe of the call without a format flag. `name` is unique among the probes.
    pub fn probe(&self, name: String, words: &[String], only_reads: bool, workspace: &Workspace) -> Probe {
        let call = CallConfig {
            args: self.args.clone(),
            stdin: self.stdin.map(|sample| sample.text.as_bytes().to_vec()),
            format_flags: BTreeMap::from([(OutputFormat::Text, FormatFlag::Given(Vec::new()))]),
            workspace: Some(workspace.clone()),
            ..CallConfig::default()
        };
        Probe {
            asks_format: true,
            explored: Some(ExploredOrigin {
                command: words.to_vec(),
                group: self.group,
                outcome: CallOutcome::NotMade,
                is_kept: false,
                only_reads,
                invalid: self.invalid.clone(),
                values: self.values.clone(),
            }),
            ..text_probe(self.id(), name, call)
        }
    }
}

/// Returns a probe that runs in text, without an expected exit code.
pub(super) fn text_probe(id: ProbeId, name: String, call: CallConfig) -> Probe {
    Probe {
        id,
        name,
        call,
        asks_format: false,
        exit: None,
        formats: vec![OutputFormat::Text],
        flag_position: None,
        effect: None,
        timeout: TIMEOUT,
        writes: false,
        explored: None,
    }
}
