//! Calls each command with invalid input, and with values that a language model may invent.

use super::planner::Planner;
use super::settings::Calls;
use super::settings::ExploreSettings;
use super::tree::ExploredCommand;
use super::trial::Trial;
use super::values::{ValueKind, argument_kind, kind_of};
use crate::catalogue::DerivedKind;
use crate::config::{FORMAT_PLACEHOLDER, TargetConfig};
use crate::model::{CallGroup, CallOutcome};
use crate::probe::{
    CONTROL_PLACEHOLDER, LONG_PLACEHOLDER, Probe, SURROGATE_PLACEHOLDER, TargetProfile, UNKNOWN_COMMAND,
    UNKNOWN_FLAG, UNKNOWN_VALUE, derive_calls, insert_last,
};
use crate::targets::{Argument, CliOption};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// Maximum number of options of one command that are called with an invalid value or none.
const MAX_OPTIONS: usize = 6;
/// An argument that no command expects.
const UNEXPECTED: &str = "agentnative-unexpected-argument";

/// Values that a language model may invent. The last one follows `--`.
const INVENTED: [&str; 8] = [
    "",
    "../../agentnative-example",
    "a?b=c#d",
    "%2e%2e%2f",
    CONTROL_PLACEHOLDER,
    SURROGATE_PLACEHOLDER,
    LONG_PLACEHOLDER,
    "--agentnative-example",
];

/// Makes the calls of the groups [`CallGroup::Invalid`], [`CallGroup::Hallucinated`] and [`CallGroup::Options`].
pub(super) fn call_with_invalid_input(planner: &mut Planner<'_, '_>) -> ControlFlow<Calls> {
    let bases = planner.bases();
    for (at, base) in &bases {
        call_with_unknown_option(planner, *at, base);
    }
    for at in planner.callable() {
        let base = bases.get(&at);
        for trial in with_wrong_arguments(planner.settings, planner.command(at), at, base) {
            planner.call(trial);
        }
    }
    for (words, page) in planner.tree.groups.iter().filter(|(words, _)| !words.is_empty()) {
        let at = planner.callable().find(|at| planner.command(*at).leaf.words.starts_with(words));
        if let Some(at) = at.filter(|_| page.lists_all_commands()) {
            let args = [&words[..], &[UNKNOWN_COMMAND.to_owned()]].concat();
            planner.call(Trial::invalid(at, args, Some(UNKNOWN_COMMAND)));
        }
    }
    for round in 0..MAX_OPTIONS {
        for (at, base) in &bases {
            if let Some(trial) = with_wrong_option(planner.command(*at), *at, base, round) {
                planner.call(trial);
            }
        }
    }
    for value in INVENTED {
        for at in planner.callable() {
            if let Some(args) =
                with_invented_value(planner.settings, planner.command(at), bases.get(&at), value)
            {
                planner.call(Trial::new(at, CallGroup::Hallucinated, args));
            }
        }
    }
    if let Some(args) = planner.tree.schema.clone()
        && let Some(at) = planner.callable().next()
    {
        planner.call(Trial::new(at, CallGroup::Options, args));
    }
    planner.finish_group()
}

/// Calls a command with an unknown option. A call that succeeded without it is derived as for a declared probe.
fn call_with_unknown_option(planner: &mut Planner<'_, '_>, at: usize, base: &Trial) {
    if planner.command(at).page.forwards_arguments() {
        return;
    }
    let args = insert_last(&base.args, &[UNKNOWN_FLAG.to_owned()]);
    let trial = Trial { stdin: base.stdin, ..Trial::invalid(at, args, Some(UNKNOWN_FLAG)) };
    let tried = planner.base(at);
    match tried.filter(|tried| tried.outcome == CallOutcome::Succeeded).map(|tried| tried.probe.clone()) {
        Some(probe) => {
            for call in unknown_option_calls(probe) {
                planner.run(trial.clone(), call);
            }
        }
        None => planner.call(trial),
    }
}

/// Returns the calls with an unknown option that are derived from an explored probe that succeeded.
fn unknown_option_calls(probe: Probe) -> Vec<Probe> {
    let (timeout, source) = (probe.timeout, Probe { exit: Some(0), ..probe });
    let profile = TargetProfile::from_config(&TargetConfig::default());
    let calls = derive_calls(&BTreeSet::from([DerivedKind::IgnoredFlag]), &[source], &profile, timeout);
    calls.into_iter().filter(|call| call.source().is_some()).collect()
}

/// Returns calls of a command with a required positional argument less, and with an argument more than its usage has.
fn with_wrong_arguments(
    settings: &ExploreSettings<'_>,
    command: &ExploredCommand,
    at: usize,
    base: Option<&Trial>,
) -> Vec<Trial> {
    let leaf = &command.leaf;
    let mut trials = Vec::new();
    let positional = leaf.required_args.iter().filter(|(_, argument)| argument.option.is_none()).count();
    if positional > 0 && !command.reads_stdin() {
        let mut fewer = leaf.clone();
        let last = fewer.required_args.iter().rposition(|(_, argument)| argument.option.is_none());
        last.map(|last| fewer.required_args.remove(last));
        let args = fewer.args(&|argument| settings.value(argument, command));
        trials.push(Trial::invalid(at, args, None));
    }
    if let Some(base) =
        base.filter(|base| base.group != CallGroup::Examples && command.page.has_closed_usage(positional))
    {
        let args = [&base.args[..], &[UNEXPECTED.to_owned()]].concat();
        trials.push(Trial { stdin: base.stdin, ..Trial::invalid(at, args, Some(UNEXPECTED)) });
    }
    trials
}

/// Returns the call of `base` with an invalid value of option number `nth` of the command, or without its value if any
/// value may be valid.
fn with_wrong_option(command: &ExploredCommand, at: usize, base: &Trial, nth: usize) -> Option<Trial> {
    const NUMBERS: [ValueKind; 2] = [ValueKind::Number, ValueKind::Date];
    let options = &command.page.interface.options;
    let has_value = |option: &&CliOption| option.value.is_some() && !option.longest_name().is_empty();
    let option = options.iter().filter(has_value).nth(nth)?;
    let name = option.longest_name().to_owned();
    let is_number =
        option.value.as_ref().and_then(|value| kind_of(value)).is_some_and(|kind| NUMBERS.contains(&kind));
    let is_checked = !option.values.is_empty() || is_number;
    if base.args.contains(&name) {
        return None;
    }
    if is_checked {
        let args = insert_last(&base.args, &[name, UNKNOWN_VALUE.to_owned()]);
        let trial = Trial::invalid(at, args, Some(UNKNOWN_VALUE));
        return Some(Trial { values: option.values.clone(), stdin: base.stdin, ..trial });
    }
    let may_lack_value =
        option.value.as_ref().is_some_and(|value| value.starts_with('[')) || option.has_optional_value();
    let is_free = !may_lack_value && !base.args.iter().any(|arg| arg == "--");
    is_free.then(|| {
        let args = [&base.args[..], std::slice::from_ref(&name)].concat();
        Trial { stdin: base.stdin, ..Trial::invalid(at, args, Some(&name)) }
    })
}

/// Returns a call with an invented value for one argument of the command: a positional argument, else an option with
/// any value.
fn with_invented_value(
    settings: &ExploreSettings<'_>,
    command: &ExploredCommand,
    base: Option<&Trial>,
    value: &str,
) -> Option<Vec<String>> {
    const TEXT: [ValueKind; 3] = [ValueKind::Name, ValueKind::File, ValueKind::Folder];
    let leaf = &command.leaf;
    let is_after_dashes = value.starts_with("--");
    let is_text = |argument: &&Argument| {
        let is_free = argument.choices.is_empty() && !argument.name.is_empty() && argument.option.is_none();
        is_free && TEXT.contains(&argument_kind(argument, &command.text))
    };
    if let Some(filled) = leaf.required_args.iter().map(|(_, argument)| argument).find(is_text) {
        let fill = |argument: &Argument| match argument == filled {
            true => value.to_owned(),
            false => settings.value(argument, command),
        };
        let args = leaf.args(&fill);
        if !is_after_dashes {
            return Some(args);
        }
        let index = args.iter().position(|arg| arg == value)?;
        return Some([&args[..index], &["--".to_owned()], &args[index..]].concat());
    }
    let base = base.filter(|_| !is_after_dashes)?;
    if leaf.optional_args.iter().any(|argument| is_text(&argument)) && base.group == CallGroup::Commands {
        return Some([&base.args[..], &[value.to_owned()]].concat());
    }
    let is_free = |option: &&CliOption| {
        let is_text = option.value.as_ref().is_some_and(|value| kind_of(value).is_none());
        is_text && option.values.is_empty() && !option.longest_name().is_empty()
    };
    let option = command.page.interface.options.iter().find(is_free)?;
    let args = insert_last(&base.args, &[option.longest_name().to_owned(), value.to_owned()]);
    Some(args.into_iter().filter(|arg| arg != FORMAT_PLACEHOLDER).collect())
}
