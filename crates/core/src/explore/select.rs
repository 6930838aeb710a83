//! Selects the probes from the calls that were tried.

use super::accepted::{Accepted, MAX_DOCUMENT, absent_formats, accepted_formats, target_formats};
use super::planner::{Planner, Tried};
use crate::config::{CommonOption, FormatFlag, FormatFlags, ListConfig};
use crate::model::{CallGroup, CallOutcome, Exploration, ExploredOrigin, OutputFormat};
use crate::probe::{Effect, Probe, UNKNOWN_FLAG};
use crate::run::{RunEnd, RunKey};
use crate::targets::Interface;
use agentnative_contract::{counted, is_schema};
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum numbers of calls that run under all conditions: of those that succeed, which need about 25 runs each, and of
/// those that fail, which need about 7.
const MAX_KEPT_SUCCESSES: usize = 8;
const MAX_KEPT_FAILURES: usize = 4;
/// Number of successful calls that are kept of a target with few commands.
const MIN_KEPT_SUCCESSES: usize = 4;

/// The result of exploration.
#[derive(Debug, Default)]
pub struct Explored {
    /// The explored probes, with the calls that were only tried, and calls that are derived from them.
    pub probes: Vec<Probe>,
    /// The key under which a trial run is recorded; `None` for a run that is dropped.
    pub renamed: BTreeMap<RunKey, Option<RunKey>>,
    /// The commands that were called.
    pub commands: Vec<Vec<String>>,
    /// What the help pages show in the place of a command, such as a file, if anything.
    pub argument_for_command: Option<String>,
    /// The format flags of the target, if the explored calls show them.
    pub formats: Option<FormatFlags>,
    /// Arguments of the call that prints the schema of the output.
    pub schema: Option<Vec<String>>,
    /// What was found and tried.
    pub exploration: Exploration,
}

/// Returns the probes and what was found, after all groups were tried.
pub(super) fn select(planner: Planner<'_, '_>) -> Explored {
    let accepted: Vec<Vec<Accepted>> =
        planner.tried.iter().map(|tried| accepted_formats(&planner, tried)).collect();
    let exploration = exploration(&planner);
    let formats = target_formats(&accepted, &exploration.absent_formats);
    let schema = schema(&planner);
    let mut renamed: BTreeMap<RunKey, Option<RunKey>> =
        planner.tree.other_runs.iter().map(|key| (key.clone(), None)).collect();
    let mut probes: Vec<Probe> = Vec::new();
    for (tried, own) in planner.tried.iter().zip(&accepted).filter(|(tried, _)| tried.seen.is_some()) {
        let mut probe = final_probe(&planner, tried);
        if tried.outcome == CallOutcome::Unexplained && !own.is_empty() {
            // The exit code of such a call is a result, like that of a linter that found problems.
            probe.call.result = true;
            probe.explored.iter_mut().for_each(|origin| origin.outcome = CallOutcome::Succeeded);
        }
        match tried.outcome {
            CallOutcome::Invalid | CallOutcome::Refused if probe.is_source() => {
                add_format_of_base(&planner, &accepted, tried, &mut probe);
            }
            _ => add_formats(own, &mut probe, &mut renamed),
        }
        if tried.outcome == CallOutcome::Succeeded && probe.is_source() {
            probe.effect = tried.seen.filter(|seen| seen.changed_workspace()).map(|_| effect(&probe));
        }
        probes.push(probe);
    }
    let is_run_of_base =
        |probe: &Probe| renamed.get(&probe.plain_run(OutputFormat::Text)).is_some_and(Option::is_some);
    probes.retain(|probe| !is_run_of_base(probe));
    keep(&mut probes);
    // A derived call has the origin of its source.
    let origins: BTreeMap<String, ExploredOrigin> = probes
        .iter()
        .filter(|probe| probe.is_source())
        .filter_map(|probe| Some((probe.name.clone(), probe.explored.clone()?)))
        .collect();
    for probe in &mut probes {
        if let Some(origin) = probe.source().and_then(|name| origins.get(name)) {
            probe.explored = Some(origin.clone());
        }
    }
    let commands = planner.callable().map(|at| planner.command(at).leaf.words.clone());
    Explored {
        commands: commands.filter(|words| !words.is_empty()).collect(),
        argument_for_command: planner.tree.argument_for_command.clone(),
        probes,
        renamed,
        formats,
        schema,
        exploration,
    }
}

fn exploration(planner: &Planner<'_, '_>) -> Exploration {
    let tree = planner.tree;
    let mut notes = tree.notes.clone();
    if tree.commands.iter().all(|command| command.text.trim().is_empty()) {
        notes.push("the target has no help page that can be read".to_owned());
    }
    let unmade = planner.tried.iter().filter(|tried| tried.seen.is_none()).count();
    if planner.has_given_up() {
        notes.push("the target did not end in any of its first calls, so it was not called again".to_owned());
    } else if unmade > 0 && planner.made() == planner.settings.max_calls {
        notes.push(format!(
            "{} more were not made: the limit is {}",
            counted(unmade, "call"),
            planner.settings.max_calls
        ));
    }
    Exploration {
        absent_formats: absent_formats(planner),
        absent_features: super::features::absent(planner),
        commands: tree.commands.iter().map(|command| command.found.clone()).collect(),
        budget: planner.settings.max_calls,
        made: planner.made(),
        incomplete: None,
        notes,
    }
}

/// Returns the probe of a call that was tried, with its expectations as they were seen, in text.
fn final_probe(planner: &Planner<'_, '_>, tried: &Tried<'_>) -> Probe {
    let mut probe = tried.probe.clone();
    if let Some(origin) = &mut probe.explored {
        origin.outcome = tried.outcome;
    }
    if !probe.is_source() {
        return probe;
    }
    let has_known_end = matches!(
        tried.outcome,
        CallOutcome::Succeeded
            | CallOutcome::Invalid
            | CallOutcome::Refused
            | CallOutcome::NotReachable
            | CallOutcome::Unexplained
            | CallOutcome::Silent
    );
    probe.exit = match tried.seen.map(|seen| &seen.end) {
        Some(RunEnd::Exited(code)) if has_known_end => Some(*code),
        _ => None,
    };
    let command = planner.command(tried.trial.command);
    for option in CommonOption::ALL {
        let flag = listed_spelling(option, &command.page.interface, &probe.call.args);
        probe.call.flags.insert(option, flag.map_or(FormatFlag::Unspecified, FormatFlag::Given));
    }
    for format in [OutputFormat::Json, OutputFormat::Jsonl] {
        probe.call.format_flags.insert(format, FormatFlag::Unspecified);
    }
    probe
}

/// Returns the effect of a call that changes its workspace.
fn effect(probe: &Probe) -> Effect {
    Effect {
        unconfirmed: None,
        idempotent: false,
        not_idempotent: false,
        formats: probe.formats.clone(),
        dry_run_exit: Some(0),
    }
}

/// Adds to a call that fails the JSON format in which another call of its command succeeded. `accepted` are the formats
/// of all calls.
fn add_format_of_base(
    planner: &Planner<'_, '_>,
    accepted: &[Vec<Accepted>],
    tried: &Tried<'_>,
    probe: &mut Probe,
) {
    // A call that was refused because of its format flag is not called with another one. Behind an option without its
    // value, the flag would be the value.
    let lacks_value = tried.trial.invalid.as_ref().is_some_and(|word| {
        word.starts_with('-') && word != UNKNOWN_FLAG && tried.trial.args.last() == Some(word)
    });
    if tried.trial.group == CallGroup::Formats || lacks_value {
        return;
    }
    let of_command =
        planner.tried.iter().zip(accepted).filter(|(base, _)| base.trial.command == tried.trial.command);
    let json = of_command.flat_map(|(_, formats)| formats).find(|found| found.format == OutputFormat::Json);
    let has_flag =
        |found: &Accepted| found.flag_args.first().is_some_and(|flag| tried.trial.args.contains(flag));
    if let Some(found) = json.filter(|found| !has_flag(found)) {
        probe.call.format_flags.insert(OutputFormat::Json, FormatFlag::Given(found.flag_args.clone()));
        probe.formats.push(OutputFormat::Json);
    }
}

/// Adds the formats in which a call succeeded to its probe, and their runs to `renamed`.
fn add_formats(accepted: &[Accepted], probe: &mut Probe, renamed: &mut BTreeMap<RunKey, Option<RunKey>>) {
    for found in accepted {
        if probe.formats.contains(&found.format) {
            continue;
        }
        probe.call.format_flags.insert(found.format, FormatFlag::Given(found.flag_args.clone()));
        probe.formats.push(found.format);
        renamed.insert(found.run.clone(), Some(probe.plain_run(found.format)));
        if found.format == OutputFormat::Json {
            probe.call.list = found.list.clone().map(|items| ListConfig { items, max: None });
        }
    }
    probe.formats.sort_unstable();
}

/// Returns the arguments that spell a common option, if a page lists it. A call with one of `args` that asks for more or
/// less output has no option for the opposite.
fn listed_spelling(option: CommonOption, page: &Interface, args: &[String]) -> Option<Vec<String>> {
    const AMOUNTS: [&str; 4] = ["--debug", "--quiet", "--silent", "--verbose"];
    let is_amount = matches!(option, CommonOption::Quiet | CommonOption::Verbose);
    if is_amount && args.iter().any(|arg| AMOUNTS.contains(&arg.as_str())) {
        return None;
    }
    let names: &[&str] = match option {
        CommonOption::Quiet => &["--quiet", "--silent"],
        CommonOption::Limit => &["--limit"],
        CommonOption::NoInput => &["--no-input", "--non-interactive", "--no-interactive"],
        CommonOption::NoPager => &["--no-pager"],
        CommonOption::DryRun => &["--dry-run"],
        CommonOption::Confirm => &["--yes"],
        CommonOption::Timeout => &["--timeout"],
        CommonOption::Verbose => &["--verbose"],
    };
    let value = match option {
        CommonOption::Limit => Some("{n}"),
        CommonOption::Timeout => Some("{seconds}"),
        _ => None,
    };
    let listed = |name: &&&str| {
        page.options.iter().any(|listed| listed.is_called(name) && listed.value.is_some() == value.is_some())
    };
    let name = names.iter().find(listed)?;
    Some(std::iter::once(*name).chain(value).map(str::to_owned).collect())
}

/// Returns the arguments of the call that printed a JSON Schema.
fn schema(planner: &Planner<'_, '_>) -> Option<Vec<String>> {
    let args = planner.tree.schema.as_ref()?;
    let tried = planner.tried.iter().find(|tried| tried.trial.args == *args)?;
    let bytes = tried.seen?.stdout.bytes.first(MAX_DOCUMENT);
    let document: Value = serde_json::from_slice(&bytes).ok()?;
    is_schema(&document).then(|| args.clone())
}

/// Marks the probes that run under all conditions: those that cover most commands, formats and ways to end.
fn keep(probes: &mut [Probe]) {
    let mut features: Vec<BTreeSet<String>> = probes.iter().map(features).collect();
    add_places(probes, &mut features);
    keep_best(probes, &features, MAX_KEPT_SUCCESSES, |outcome| outcome == CallOutcome::Succeeded);
    keep_best(probes, &features, MAX_KEPT_FAILURES, |outcome| outcome != CallOutcome::Succeeded);
}

/// Adds a feature to the first successful calls of each command: of one command if there are many commands, of more if
/// there are few, since a verdict needs several calls.
fn add_places(probes: &[Probe], features: &mut [BTreeSet<String>]) {
    let mut of_command: BTreeMap<&[String], Vec<usize>> = BTreeMap::new();
    for (at, probe) in
        probes.iter().enumerate().filter(|(_, probe)| probe.has_outcome(CallOutcome::Succeeded))
    {
        if let Some(origin) = probe.explored.as_ref().filter(|_| probe.is_source()) {
            of_command.entry(&origin.command).or_default().push(at);
        }
    }
    let places = MIN_KEPT_SUCCESSES.div_ceil(of_command.len().max(1));
    for (command, calls) in of_command {
        for (nth, at) in calls.into_iter().take(places).enumerate() {
            features[at].insert(format!("call {nth} of {}", command.join(" ")));
        }
    }
}

/// Marks up to `max` of the probes with such an outcome: again and again the one with most new features.
fn keep_best(
    probes: &mut [Probe],
    features: &[BTreeSet<String>],
    max: usize,
    is_wanted: impl Fn(CallOutcome) -> bool,
) {
    let mut seen = BTreeSet::new();
    for _ in 0..max {
        let candidates = (0..probes.len()).filter_map(|at| {
            let origin = probes[at].explored.as_ref()?;
            let new = features[at].difference(&seen).count();
            (is_wanted(origin.outcome) && new > 0).then_some((new, Reverse(at)))
        });
        let Some((_, Reverse(at))) = candidates.max() else { break };
        if let Some(origin) = &mut probes[at].explored {
            origin.is_kept = true;
        }
        seen.extend(features[at].iter().cloned());
    }
}

/// Returns what a probe covers; empty for a call that cannot be kept.
fn features(probe: &Probe) -> BTreeSet<String> {
    let Some(origin) = probe.explored.as_ref().filter(|_| probe.is_source()) else { return BTreeSet::new() };
    let outcome = match origin.outcome {
        outcome @ (CallOutcome::Succeeded | CallOutcome::Invalid | CallOutcome::Refused) => outcome,
        _ => return BTreeSet::new(),
    };
    let top = origin.command.first().map_or("", String::as_str);
    let mut features = BTreeSet::from([
        format!("outcome {top} {outcome:?}"),
        format!("end {outcome:?} {:?}", probe.exit),
        format!("formats {outcome:?} {:?}", probe.formats),
    ]);
    let properties = [
        ("list", probe.call.list.is_some()),
        ("effect", probe.effect.is_some()),
        ("stdin", probe.call.stdin.is_some()),
        ("limit", probe.call.flags.get(&CommonOption::Limit).is_some_and(|flag| flag.args().is_some())),
    ];
    features.extend(properties.into_iter().filter(|(_, has)| *has).map(|(name, _)| name.to_owned()));
    features
}
