//! Finds where in a call a target accepts the format flag: `mycli --output json list` or `mycli list --output json`.
//! Makes trial calls of the declared probes that do not specify the position.
//!
//! If neither the configuration nor the help names a format, a position is tried only if an unknown format value is
//! harmless there: the argument after the flag might name a file.

use super::format_flag::is_harmless;
use super::runs_so_far::{PhaseResult, RunsSoFar, ended_as_declared, join_all};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::{CommonOption, FORMAT_PLACEHOLDER};
use agentnative_core::model::{Case, OutputFormat, ProbeId};
use agentnative_core::probe::{self, Effect, FlagPosition, Probe, TargetProfile};
use agentnative_core::run::{Observation, RunEnd, RunKey};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// Length of the output prefix that is searched for JSON, in bytes.
const HEAD_LENGTH: u64 = 4096;

/// The flag positions that were found, as changes of probes and runs.
#[derive(Default)]
pub(super) struct Positions {
    /// Probes for the calls that the target rejects: with the flag after the arguments, though it accepts the flag
    /// elsewhere.
    pub rejected: Vec<Probe>,
    /// The key under which each trial run is recorded; `None` for a trial run that is dropped.
    pub renamed: BTreeMap<RunKey, Option<RunKey>>,
    /// Notes for the report on where the target accepts the flag.
    pub notes: Vec<String>,
}

/// A flag position in which a probe prints JSON. With the flag after its arguments, the probe fails.
struct FoundPosition {
    position: FlagPosition,
    format: OutputFormat,
    /// The probe with the flag in this position.
    placed: Probe,
}

/// Makes trial calls of the declared probes, and of the same probes without a format flag.
struct Trials<'a> {
    profile: &'a TargetProfile,
    so_far: &'a RunsSoFar,
    without_format: Vec<Probe>,
}

/// Finds the flag position of each declared probe that prints data, fails with the format flag after its arguments, and
/// succeeds without the flag. Inserts a placeholder into the arguments of the probe at that position.
pub(super) fn find(
    declared: &mut [Probe],
    profile: &TargetProfile,
    timeout: Duration,
    so_far: &RunsSoFar,
) -> PhaseResult<Positions> {
    let without_format =
        probe::derive_calls(&BTreeSet::from([DerivedKind::NoFormat]), declared, profile, timeout);
    let trials = Trials { profile, so_far, without_format };
    let found = join_all(declared.iter().map(|probe| trials.search(probe)))?;
    let mut positions = Positions::default();
    // A probe without a position of its own (not tried, or failing in every call) uses the position of the others if
    // these agree. A call in which both positions are the same gives no evidence.
    let first = found.iter().flatten().next().map(|found| found.position);
    let works_after_arguments = |probe: &Probe, found: &Option<FoundPosition>, position| {
        let is_accepted = trials.first_run(probe).is_some_and(|seen| ended_as_declared(probe, seen));
        is_accepted && found.is_none() && with_position(probe, position, profile).is_some()
    };
    let common = first.filter(|position| {
        !declared.iter().zip(&found).any(|(probe, found)| works_after_arguments(probe, found, *position))
    });
    for (probe, found) in declared.iter_mut().zip(found) {
        match (found, common) {
            (Some(found), _) => positions.accept(probe, found, profile),
            (None, Some(position)) => {
                let ended = trials.first_run(probe);
                let is_undetermined = ended.is_none_or(|seen| ended_unexpectedly(probe, seen));
                let Some(placed) = with_position(probe, position, profile).filter(|_| is_undetermined) else {
                    continue;
                };
                positions.renamed.extend(ended.map(|seen| (seen.key.clone(), None)));
                *probe = placed;
            }
            (None, None) => {}
        }
    }
    ControlFlow::Continue(positions)
}

impl Positions {
    /// Moves the format flag of a probe to the position that was found. The trial run with that position becomes the
    /// run of the probe. The rejected run, with the flag after the arguments, becomes the run of an additional probe.
    fn accept(&mut self, probe: &mut Probe, found: FoundPosition, profile: &TargetProfile) {
        let FoundPosition { position, format, placed } = found;
        let rejected = Probe {
            id: ProbeId::derived(DerivedKind::Refused, Some(probe.name.clone())),
            name: format!("{}, format after the arguments", probe.name),
            formats: vec![format],
            ..probe.clone()
        };
        self.renamed.insert(probe.plain_run(format), Some(rejected.plain_run(format)));
        self.renamed.insert(trial(&placed, position).plain_run(format), Some(probe.plain_run(format)));
        let after_arguments = ProbeId::derived(DerivedKind::InvalidFormat, Some(probe.name.clone()));
        let after_arguments = RunKey::plain_run_key(after_arguments, OutputFormat::Text);
        let question =
            RunKey::plain_run_key(trial_id(DerivedKind::InvalidFormat, probe, position), OutputFormat::Text);
        self.renamed.insert(after_arguments.clone(), None);
        self.renamed.insert(question, Some(after_arguments));
        self.rejected.push(rejected);
        if self.notes.is_empty() {
            let call = strict_json::sanitize::sanitize_line(placed.args_in(format, profile).join(" "));
            self.notes.push(format!(
                "the format flag is accepted {}, as in `{call}`, but rejected after the arguments",
                position.description()
            ));
        }
        *probe = placed;
    }
}

impl Trials<'_> {
    /// Returns the run of a probe with the format flag after its arguments, if it was made.
    fn first_run(&self, probe: &Probe) -> Option<&Observation> {
        let key = probe.plain_run(format_to_try(probe, self.profile)?);
        self.so_far.all().iter().find(|seen| seen.key == key)
    }

    /// Tries the flag positions of a probe, if the target rejects the flag after the arguments. `None` if the flag is
    /// accepted there, or no position works.
    fn search(&self, probe: &Probe) -> PhaseResult<Option<FoundPosition>> {
        let none = ControlFlow::Continue(None);
        let Some(format) = format_to_try(probe, self.profile) else { return none };
        if self.so_far.plain_run(probe, format)?.is_none_or(|seen| !ended_unexpectedly(probe, seen)) {
            return none;
        }
        let is_of_probe = |call: &&Probe| call.source() == Some(&probe.name);
        let Some(without_format) = self.without_format.iter().find(is_of_probe) else { return none };
        let accepted = self.so_far.plain_run(without_format, OutputFormat::Text)?;
        let Some(accepted) = accepted.filter(|seen| ended_as_declared(probe, seen)) else { return none };
        for position in [FlagPosition::Front, FlagPosition::AfterFirst] {
            let Some(placed) = with_position(probe, position, self.profile) else { continue };
            if !is_named(probe, format, self.profile) && !self.is_harmless(&placed, position)? {
                continue;
            }
            let tried = self.so_far.plain_run(&trial(&placed, position), format)?;
            if tried.is_some_and(|tried| ended_as_declared(probe, tried) && prints_json(tried, accepted)) {
                return ControlFlow::Continue(Some(FoundPosition { position, format, placed }));
            }
        }
        none
    }

    /// Calls the probe `placed` with an unknown format value. Returns whether the run shows that the flag in this
    /// position does not name a file.
    fn is_harmless(&self, placed: &Probe, position: FlagPosition) -> PhaseResult<bool> {
        let questions = probe::format_flag_calls(std::slice::from_ref(placed), self.profile);
        let Some(question) = questions.into_iter().next() else { return ControlFlow::Continue(false) };
        let question = Probe { id: trial_id(DerivedKind::InvalidFormat, placed, position), ..question };
        let answer = self.so_far.plain_run(&question, OutputFormat::Text)?;
        ControlFlow::Continue(answer.is_some_and(|seen| is_harmless(seen, placed)))
    }
}

/// Returns the ID of the trial call of `probe` with the flag in this position.
fn trial_id(kind: DerivedKind, probe: &Probe, position: FlagPosition) -> ProbeId {
    ProbeId::Derived { kind, source: Some(probe.name.clone()), case: Case::words([position.description()]) }
}

/// Returns the trial call of the probe `placed`, whose flag is in this position: the same probe with an ID of its own.
fn trial(placed: &Probe, position: FlagPosition) -> Probe {
    Probe { id: trial_id(DerivedKind::Refused, placed, position), ..placed.clone() }
}

/// Returns whether a run exited with another exit code than its probe declares.
fn ended_unexpectedly(probe: &Probe, seen: &Observation) -> bool {
    matches!(seen.end, RunEnd::Exited(_)) && !ended_as_declared(probe, seen)
}

/// Returns the format with which the flag position of a probe is searched: `json`, else `jsonl`. `None` if the probe
/// specifies the position, or neither format can be requested.
fn format_to_try(probe: &Probe, profile: &TargetProfile) -> Option<OutputFormat> {
    let has_free_position = probe.prints_data()
        && !probe.call.args.is_empty()
        && !probe.call.args.iter().any(|arg| arg == FORMAT_PLACEHOLDER);
    let is_usable = |format: OutputFormat| {
        probe.formats.contains(&format)
            && !probe.format_args(format, profile).is_empty()
            && (is_named(probe, format, profile)
                || probe.has_unverified_format_flag(profile) && probe.call.workspace.is_none())
    };
    [OutputFormat::Json, OutputFormat::Jsonl]
        .into_iter()
        .find(|format| has_free_position && is_usable(*format))
}

/// Returns whether the configuration or the help names this format.
fn is_named(probe: &Probe, format: OutputFormat, profile: &TargetProfile) -> bool {
    profile.known_formats.contains(&format) || probe.call.format_flags.contains_key(&format)
}

/// Returns the probe with the format flag in this position; `None` if the position is the end of the arguments, or the
/// probe already specifies a position.
fn with_position(probe: &Probe, position: FlagPosition, profile: &TargetProfile) -> Option<Probe> {
    if probe.call.args.iter().any(|arg| arg == FORMAT_PLACEHOLDER) {
        return None;
    }
    let index = match position {
        FlagPosition::Front => 0,
        FlagPosition::AfterFirst => probe.call.args.iter().position(|arg| !arg.starts_with('-'))? + 1,
    };
    (index < probe.call.args.len()).then(|| {
        let marked =
            |args: &[String]| [&args[..index], &[FORMAT_PLACEHOLDER.to_owned()], &args[index..]].concat();
        let mut placed =
            Probe { flag_position: Some(position), ..probe.clone().with_args(marked(&probe.call.args)) };
        if let Some(unconfirmed) = probe.effect.as_ref().and_then(|effect| effect.unconfirmed.as_ref())
            && index <= unconfirmed.len()
        {
            // The confirmation flag goes to the same position.
            let unconfirmed = marked(unconfirmed);
            let confirm = probe.common_option(CommonOption::Confirm, profile).args().unwrap_or_default();
            placed.call.args = probe::insert_option(&unconfirmed, confirm, &placed, profile);
            placed.effect = placed.effect.map(|effect| Effect { unconfirmed: Some(unconfirmed), ..effect });
        }
        placed
    })
}

/// Returns whether the run `seen` printed JSON. `without` is the run without the format flag: a target that ignores the
/// flag prints the same in both runs.
fn prints_json(seen: &Observation, without: &Observation) -> bool {
    let head = |seen: &Observation| seen.stdout.bytes.first(HEAD_LENGTH);
    let is_json = |text: &[u8]| text.trim_ascii_start().first().is_some_and(|byte| b"{[".contains(byte));
    let seen_head = head(seen);
    // Another check reports text before the document.
    is_json(&seen_head) || seen_head != head(without) && seen_head.split(|byte| *byte == b'\n').any(is_json)
}
