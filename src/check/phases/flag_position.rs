//! Where a target accepts the format option: found by trial for the declared probes that do not say.
//!
//! Where neither the configuration nor the help names a format, a position is tried only if a value that no tool
//! takes does no harm there: what follows the flag might name a file.

use super::format_flag::is_harmless;
use super::runs_so_far::{RunsSoFar, Step, ended_as_declared, join};
use agentnative_core::catalogue::Derived;
use agentnative_core::config::{FORMAT_PLACE, Flag};
use agentnative_core::model::{Case, OutputFormat, ProbeId};
use agentnative_core::probe::{self, Effect, Place, Probe, TargetProfile};
use agentnative_core::run::{End, Observation, RunKey};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// The part of an output that shows whether it is JSON, in bytes.
const HEAD: u64 = 4096;

/// The positions that were found.
#[derive(Default)]
pub(super) struct Positions {
    /// The calls that are rejected with the format option after the arguments, though it is accepted elsewhere.
    pub refused: Vec<Probe>,
    /// What a trial run is from now on; `None` for one that is not used any further.
    pub renamed: BTreeMap<RunKey, Option<RunKey>>,
    /// Which position was found, for the reader.
    pub notes: Vec<String>,
}

/// A position in which a probe prints JSON, though it fails with the option after its arguments.
struct Found {
    position: Place,
    format: OutputFormat,
    /// The probe with the option there.
    placed: Probe,
}

/// The trials for the declared probes.
struct Trials<'a> {
    profile: &'a TargetProfile,
    so_far: &'a RunsSoFar,
    /// The calls without a format.
    bare: Vec<Probe>,
}

/// Finds the position for each declared probe that prints data, fails with the format option after its arguments, and
/// works without it; and marks it in the arguments of the probe.
pub(super) fn find(
    declared: &mut [Probe],
    profile: &TargetProfile,
    timeout: Duration,
    so_far: &RunsSoFar,
) -> Step<Positions> {
    let bare = probe::derived(&BTreeSet::from([Derived::NoFormat]), declared, profile, timeout);
    let trials = Trials { profile, so_far, bare };
    let found = join(declared.iter().map(|probe| trials.search(probe)))?;
    let mut positions = Positions::default();
    // The probes that show no position, since they were not tried or end otherwise than declared in any call, are
    // called as those that show one, if these agree. A call in which that is the same position says nothing.
    let first = found.iter().flatten().next().map(|found| found.position);
    let stayed = |probe: &Probe, found: &Option<Found>, position| {
        let is_accepted = trials.first_run(probe).is_some_and(|seen| ended_as_declared(probe, seen));
        is_accepted && found.is_none() && placed(probe, position, profile).is_some()
    };
    let common = first.filter(|position| {
        !declared.iter().zip(&found).any(|(probe, found)| stayed(probe, found, *position))
    });
    for (probe, found) in declared.iter_mut().zip(found) {
        match (found, common) {
            (Some(found), _) => positions.accept(probe, found, profile),
            (None, Some(position)) => {
                let ended = trials.first_run(probe);
                let open = ended.is_none_or(|seen| ended_otherwise(probe, seen));
                let Some(placed) = placed(probe, position, profile).filter(|_| open) else { continue };
                positions.renamed.extend(ended.map(|seen| (seen.key.clone(), None)));
                *probe = placed;
            }
            (None, None) => {}
        }
    }
    ControlFlow::Continue(positions)
}

impl Positions {
    /// Calls a probe in the position that was found. The run that was rejected is kept as that of another probe, and
    /// the one that was accepted is the run of this one.
    fn accept(&mut self, probe: &mut Probe, found: Found, profile: &TargetProfile) {
        let Found { position, format, placed } = found;
        let refused = Probe {
            id: ProbeId::derived(Derived::Refused, Some(probe.name.clone())),
            name: format!("{}, format after the arguments", probe.name),
            formats: vec![format],
            ..probe.clone()
        };
        self.renamed.insert(probe.plain(format), Some(refused.plain(format)));
        self.renamed.insert(candidate(&placed, position).plain(format), Some(probe.plain(format)));
        let behind = ProbeId::derived(Derived::InvalidFormat, Some(probe.name.clone()));
        let behind = RunKey::plain(behind, OutputFormat::Text);
        let question = RunKey::plain(trial_id(Derived::InvalidFormat, probe, position), OutputFormat::Text);
        self.renamed.insert(behind.clone(), None);
        self.renamed.insert(question, Some(behind));
        self.refused.push(refused);
        if self.notes.is_empty() {
            let call = strict_json::sanitize::line(placed.args_in(format, profile).join(" "));
            self.notes.push(format!(
                "the format option is accepted {}, as in `{call}`, and rejected after the arguments",
                position.words()
            ));
        }
        *probe = placed;
    }
}

impl Trials<'_> {
    /// The run of a probe with the option after its arguments, if it was made.
    fn first_run(&self, probe: &Probe) -> Option<&Observation> {
        let key = probe.plain(format_to_try(probe, self.profile)?);
        self.so_far.all().iter().find(|seen| seen.key == key)
    }

    /// The position in which a probe accepts the option, if it rejects that after its arguments.
    fn search(&self, probe: &Probe) -> Step<Option<Found>> {
        let none = ControlFlow::Continue(None);
        let Some(format) = format_to_try(probe, self.profile) else { return none };
        if self.so_far.plain(probe, format)?.is_none_or(|seen| !ended_otherwise(probe, seen)) {
            return none;
        }
        let is_bare = |bare: &&Probe| bare.of() == Some(&probe.name);
        let Some(bare) = self.bare.iter().find(is_bare) else { return none };
        let works = self.so_far.plain(bare, OutputFormat::Text)?;
        let Some(works) = works.filter(|seen| ended_as_declared(probe, seen)) else { return none };
        for position in [Place::Front, Place::BehindFirst] {
            let Some(placed) = placed(probe, position, self.profile) else { continue };
            if !is_named(probe, format, self.profile) && !self.is_harmless(&placed, position)? {
                continue;
            }
            let tried = self.so_far.plain(&candidate(&placed, position), format)?;
            if tried.is_some_and(|tried| ended_as_declared(probe, tried) && prints_json(tried, works)) {
                return ControlFlow::Continue(Some(Found { position, format, placed }));
            }
        }
        none
    }

    /// Whether a format that no tool has does no harm in this position.
    fn is_harmless(&self, placed: &Probe, position: Place) -> Step<bool> {
        let questions = probe::questions(std::slice::from_ref(placed), self.profile);
        let Some(question) = questions.into_iter().next() else { return ControlFlow::Continue(false) };
        let question = Probe { id: trial_id(Derived::InvalidFormat, placed, position), ..question };
        let answer = self.so_far.plain(&question, OutputFormat::Text)?;
        ControlFlow::Continue(answer.is_some_and(|seen| is_harmless(seen, placed)))
    }
}

/// The identity of a trial of a probe in this position.
fn trial_id(kind: Derived, probe: &Probe, position: Place) -> ProbeId {
    ProbeId::Derived { kind, from: Some(probe.name.clone()), case: Case::words([position.words()]) }
}

/// The trial of a probe whose option is in this position.
fn candidate(placed: &Probe, position: Place) -> Probe {
    Probe { id: trial_id(Derived::Refused, placed, position), ..placed.clone() }
}

/// Whether a run ended by itself, otherwise than it is declared.
fn ended_otherwise(probe: &Probe, seen: &Observation) -> bool {
    matches!(seen.end, End::Exited(_)) && !ended_as_declared(probe, seen)
}

/// The format that shows where a probe's is taken.
fn format_to_try(probe: &Probe, profile: &TargetProfile) -> Option<OutputFormat> {
    let open = probe.gives_data()
        && !probe.call.args.is_empty()
        && !probe.call.args.iter().any(|arg| arg == FORMAT_PLACE);
    let is_asked = |format: OutputFormat| {
        probe.formats.contains(&format)
            && !probe.asking(format, profile).is_empty()
            && (is_named(probe, format, profile) || probe.is_open(profile) && probe.call.workspace.is_none())
    };
    [OutputFormat::Json, OutputFormat::Jsonl].into_iter().find(|format| open && is_asked(*format))
}

/// Whether the configuration or the help names this format.
fn is_named(probe: &Probe, format: OutputFormat, profile: &TargetProfile) -> bool {
    profile.known_formats.contains(&format) || probe.call.asking.contains_key(&format)
}

/// The probe with the format at this place; none where that is after all arguments, or it has one already.
fn placed(probe: &Probe, place: Place, profile: &TargetProfile) -> Option<Probe> {
    if probe.call.args.iter().any(|arg| arg == FORMAT_PLACE) {
        return None;
    }
    let at = match place {
        Place::Front => 0,
        Place::BehindFirst => probe.call.args.iter().position(|arg| !arg.starts_with('-'))? + 1,
    };
    (at < probe.call.args.len()).then(|| {
        let marked = |args: &[String]| [&args[..at], &[FORMAT_PLACE.to_owned()], &args[at..]].concat();
        let mut placed = Probe { place: Some(place), ..probe.clone().with_args(marked(&probe.call.args)) };
        if let Some(unconfirmed) = probe.effect.as_ref().and_then(|effect| effect.unconfirmed.as_ref())
            && at <= unconfirmed.len()
        {
            // The confirmation goes there as well.
            let unconfirmed = marked(unconfirmed);
            let confirm = probe.flag(Flag::Confirm, profile).args().unwrap_or_default();
            placed.call.args = probe::placed(&unconfirmed, confirm, &placed, profile);
            placed.effect = placed.effect.map(|effect| Effect { unconfirmed: Some(unconfirmed), ..effect });
        }
        placed
    })
}

/// Whether a call prints JSON: a call that ignores the flag prints something else, or what it prints without one.
fn prints_json(seen: &Observation, without: &Observation) -> bool {
    let head = |seen: &Observation| seen.stdout.bytes.first(HEAD);
    let is_json = |text: &[u8]| text.trim_ascii_start().first().is_some_and(|byte| b"{[".contains(byte));
    let head_of_seen = head(seen);
    // Prose before the document is the matter of another check.
    is_json(&head_of_seen)
        || head_of_seen != head(without) && head_of_seen.split(|byte| *byte == b'\n').any(is_json)
}
