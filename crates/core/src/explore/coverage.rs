//! The coverage of an exploration: what its calls reached of the commands and options on the help pages.

use crate::model::{
    CallCounts, CallGroup, CallOutcome, CommandCounts, CommandCoverage, Exploration, ExplorationCoverage,
    ExploredOrigin, FoundCommand, MissedCommand, OptionCounts,
};
use crate::probe::{Probe, Recording, TargetProfile};
use std::collections::{BTreeMap, BTreeSet};

/// The outcomes of calls, the best first. An invalid call shows less about its command than any other call that ended.
const BEST_FIRST: [CallOutcome; 9] = [
    CallOutcome::Succeeded,
    CallOutcome::Refused,
    CallOutcome::Silent,
    CallOutcome::NotReachable,
    CallOutcome::Unexplained,
    CallOutcome::Invalid,
    CallOutcome::Accepted,
    CallOutcome::TimedOut,
    CallOutcome::Died,
];

/// An explored call, or a call that is derived from one.
type Call<'r> = (&'r Probe, &'r ExploredOrigin);

/// Returns the coverage of the exploration of a target; `None` if the target was not explored.
pub fn exploration_coverage(recording: &Recording) -> Option<ExplorationCoverage> {
    let exploration = recording.exploration.as_ref()?;
    let mut calls: BTreeMap<&[String], Vec<Call<'_>>> = BTreeMap::new();
    for probe in &recording.probes {
        let origin = probe.explored.as_ref().filter(|origin| origin.outcome != CallOutcome::NotMade);
        if let Some(origin) = origin {
            calls.entry(&origin.command).or_default().push((probe, origin));
        }
    }
    let explored = || calls.values().flatten().filter(|(probe, _)| probe.is_source());
    let mut coverage = ExplorationCoverage {
        incomplete: exploration.incomplete.clone(),
        commands: CommandCounts { found: exploration.commands.len(), ..CommandCounts::default() },
        calls: call_counts(exploration, explored().map(|(_, origin)| origin.outcome)),
        kept: explored().filter(|(_, origin)| origin.is_kept).count(),
        notes: exploration.notes.clone(),
        ..ExplorationCoverage::default()
    };
    let mut reached = 0;
    for found in &exploration.commands {
        let of = calls.get(&*found.words).map(Vec::as_slice).filter(|_| !found.is_unknown);
        let covered = of.and_then(|of| command_coverage(found, of, &recording.profile));
        coverage.options.found += found.options.len();
        coverage.commands.unknown += usize::from(found.is_unknown);
        match covered {
            Some(covered) => {
                let has = |outcome| covered.outcome == outcome;
                coverage.commands.called += 1;
                coverage.commands.succeeded += usize::from(has(CallOutcome::Succeeded));
                reached += usize::from(has(CallOutcome::Succeeded) || has(CallOutcome::Refused));
                coverage.options.tried += covered.options.tried;
                coverage.by_command.push(covered);
            }
            None => coverage.not_reached.push(missed_command(found)),
        }
    }
    coverage.sufficient = reached > 0 && 2 * reached >= coverage.commands.found;
    Some(coverage)
}

/// Counts calls by their outcomes.
fn call_counts(exploration: &Exploration, outcomes: impl Iterator<Item = CallOutcome>) -> CallCounts {
    let Exploration { made, budget, .. } = *exploration;
    let mut counts = CallCounts { made, budget, ..CallCounts::default() };
    for outcome in outcomes {
        *match outcome {
            CallOutcome::Succeeded => &mut counts.succeeded,
            CallOutcome::Invalid => &mut counts.invalid,
            CallOutcome::Refused => &mut counts.refused,
            CallOutcome::NotReachable => &mut counts.not_reachable,
            CallOutcome::TimedOut => &mut counts.timed_out,
            _ => &mut counts.other,
        } += 1;
    }
    counts
}

/// Returns what these calls, all of one command, tried; `None` if none of them is an explored call.
fn command_coverage(
    found: &FoundCommand,
    calls: &[Call<'_>],
    profile: &TargetProfile,
) -> Option<CommandCoverage> {
    let explored = || calls.iter().filter(|(probe, _)| probe.is_source());
    let rank =
        |outcome: &CallOutcome| BEST_FIRST.iter().position(|one| one == outcome).unwrap_or(BEST_FIRST.len());
    let outcome = explored().map(|(_, origin)| origin.outcome).min_by_key(rank)?;
    // A derived call, such as one with `--dry-run`, tries an option as well.
    let args = calls.iter().flat_map(|(probe, _)| {
        probe
            .formats
            .iter()
            .flat_map(|format| probe.args_in(*format, profile).into_iter().take_while(|arg| arg != "--"))
    });
    let args: BTreeSet<String> = args.collect();
    let is_tried = |names: &&Vec<String>| {
        names.iter().any(|name| {
            args.iter().any(|arg| {
                arg.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
            })
        })
    };
    let formats: BTreeSet<_> = explored().flat_map(|(probe, _)| probe.formats.iter().copied()).collect();
    let mut groups: BTreeSet<_> = explored().map(|(_, origin)| origin.group).collect();
    // An accepted call in a further format became a format of the call that it repeats.
    groups.extend(formats.iter().any(|format| format.is_json()).then_some(CallGroup::Formats));
    Some(CommandCoverage {
        command: found.words.join(" "),
        calls: explored().count(),
        outcome,
        options: OptionCounts {
            found: found.options.len(),
            tried: found.options.iter().filter(is_tried).count(),
        },
        formats: formats.into_iter().collect(),
        groups: groups.into_iter().collect(),
    })
}

/// Returns why a command was not called.
fn missed_command(found: &FoundCommand) -> MissedCommand {
    let unknown =
        || found.is_unknown.then(|| "the help lists it, but the target rejects it as unknown".to_owned());
    let reason = found.not_called.clone().or_else(unknown);
    MissedCommand {
        command: found.words.join(" "),
        reason: reason.unwrap_or_else(|| "no call of it was made".to_owned()),
    }
}
