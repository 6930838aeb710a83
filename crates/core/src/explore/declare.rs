//! Declares the selected explored calls in a generated configuration.

use super::samples::SAMPLES;
use super::values::NAME;
use crate::config::{EffectConfig, FormatFlag, ProbeConfig, STALLED_PLACEHOLDER, Workspace};
use crate::model::{CallGroup, CallOutcome, ExploredOrigin, OutputFormat};
use crate::probe::{Probe, Recording, has_placeholder};
use crate::run::Observation;
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum length of the excerpt of a message, in bytes.
const MAX_MESSAGE: u64 = 200;

/// The explored calls that a configuration declares.
#[derive(Debug, Default)]
pub struct DeclaredCalls {
    /// The calls, with their exit codes, formats and workspaces as they were observed.
    pub probes: Vec<ProbeConfig>,
    /// What was observed of each call, by the name of its probe.
    pub observed: BTreeMap<String, String>,
    /// The exit code of most invalid calls.
    pub usage: Option<i32>,
}

impl DeclaredCalls {
    /// Selects the calls of a recording that a configuration can declare: those that were kept and need no file that
    /// only exploration has. `workspace` is the folder of the calls as the configuration names it; `None` if they were
    /// made in a folder with samples.
    pub fn of(recording: &Recording, workspace: Option<&Path>) -> Self {
        let mut declared = Self { usage: usage(recording), ..Self::default() };
        for probe in recording.probes.iter().filter(|probe| is_declarable(probe, workspace.is_some())) {
            let key = probe.plain_run(OutputFormat::Text);
            let seen = recording.observations.iter().find(|seen| seen.key == key);
            let config = config(probe, workspace);
            declared.observed.insert(config.name.clone(), observed(probe, seen));
            declared.probes.push(config);
        }
        declared
    }
}

fn is_declarable(probe: &Probe, has_workspace: bool) -> bool {
    let Some(origin) = probe.explored.as_ref().filter(|origin| origin.is_kept && probe.is_source()) else {
        return false;
    };
    let names_sample = |arg: &String| {
        arg.contains(NAME) && !has_workspace && SAMPLES.iter().any(|sample| arg.contains(sample.name))
    };
    let is_made_up =
        |arg: &String| arg.contains(STALLED_PLACEHOLDER) || has_placeholder(arg) || names_sample(arg);
    origin.group < CallGroup::Formats
        && matches!(origin.outcome, CallOutcome::Succeeded | CallOutcome::Refused)
        && !probe.call.args.iter().any(is_made_up)
}

fn config(probe: &Probe, workspace: Option<&Path>) -> ProbeConfig {
    let mut config = ProbeConfig::new(probe.name.clone(), probe.call.args.clone());
    config.exit = probe.exit.unwrap_or_default();
    config.formats.clone_from(&probe.formats);
    config.call.format_flags.clone_from(&probe.call.format_flags);
    config.call.stdin.clone_from(&probe.call.stdin);
    config.call.list.clone_from(&probe.call.list);
    config.call.workspace =
        Some(workspace.map_or(Workspace::Empty, |folder| Workspace::Copy(folder.to_owned())));
    config.call.format_flags.retain(|_, flag| *flag != FormatFlag::Unspecified);
    config.effect = probe.effect.as_ref().map(|_| EffectConfig {
        destructive: false,
        idempotent: None,
        formats_declared: true,
    });
    config
}

/// Describes how a call ended.
fn observed(probe: &Probe, seen: Option<&Observation>) -> String {
    let message = seen.map(|seen| seen.stderr.bytes.first(MAX_MESSAGE).to_vec()).unwrap_or_default();
    let message = String::from_utf8_lossy(&message);
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match (probe.exit, &probe.effect) {
        (Some(0), Some(_)) => "succeeded and changed its workspace: confirm that it is meant to".to_owned(),
        (Some(0), None) => "succeeded and changed nothing".to_owned(),
        (code, _) => format!("exited with {}: {line}", code.unwrap_or_default()),
    }
}

/// Returns the exit code of most calls with an unknown option; `None` without such calls.
fn usage(recording: &Recording) -> Option<i32> {
    let mut counts: BTreeMap<i32, usize> = BTreeMap::new();
    for probe in recording.probes.iter().filter(|probe| probe.is_source()) {
        let is_invalid = |origin: &&ExploredOrigin| {
            origin.group == CallGroup::Invalid && origin.outcome == CallOutcome::Invalid
        };
        if let (Some(_), Some(code)) = (probe.explored.as_ref().filter(is_invalid), probe.exit) {
            *counts.entry(code).or_default() += 1;
        }
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(code, _)| code)
}
