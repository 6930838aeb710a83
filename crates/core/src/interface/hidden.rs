//! Finds options and values that the help no longer lists and the target still accepts.
//!
//! Each is tried in two calls, before and after an unknown flag: a target that rejects only the unknown flag in both
//! accepts the option. Some parsers report only the first or the last unknown flag. Such calls are made only if the
//! target fails with the unknown flag alone.

use super::call::{InterfaceCall, call_with_unknown_flag, fails, key, output, rejection};
use super::hidden_commands;
use crate::explore::FindRun;
use crate::model::ProbeId;
use crate::probe::{UNKNOWN_FLAG, UNKNOWN_VALUE};
use crate::run::Observation;
use agentnative_diff::interface::{
    OptionInterface, ProgramInterface, VanishedOption, is_short, vanished_options,
};
use std::ops::ControlFlow;

/// Maximum number of options that are tried.
const MAX_TRIES: usize = 300;

/// Requests the calls which show whether the target accepts commands and options that `reference`, an older interface,
/// has and the help no longer lists.
pub fn try_vanished<'r>(
    reference: &ProgramInterface,
    interface: &ProgramInterface,
    find: &FindRun<'r>,
) -> ControlFlow<Vec<InterfaceCall>> {
    let mut vanished = vanished_options(reference, interface);
    vanished.truncate(MAX_TRIES);
    let of_commands = hidden_commands::calls(reference, interface);
    if vanished.is_empty() && of_commands.is_empty() {
        return ControlFlow::Continue(());
    }
    let root = vec![UNKNOWN_FLAG.to_owned()];
    let Some(seen) = find(&key(&root)) else { return ControlFlow::Break(vec![root]) };
    if !seen.is_some_and(fails) {
        return ControlFlow::Continue(());
    }
    let calls = vanished.iter().flat_map(|option| {
        let values = required_values(interface, &option.command);
        let tried = tried_call(option, &values);
        let control = option.value.as_ref().map(|_| {
            let unknown = VanishedOption { value: Some(UNKNOWN_VALUE.to_owned()), ..option.clone() };
            tried_call(&unknown, &values)
        });
        [call(&option.command, &[], &values), behind_flag(&tried), tried].into_iter().chain(control)
    });
    let mut needed: Vec<InterfaceCall> =
        calls.chain(of_commands).filter(|args| find(&key(args)).is_none()).collect();
    needed.sort();
    needed.dedup();
    if needed.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(needed) }
}

/// Adds the options to an interface that runs with an unknown flag accept. `ids` are the identities of the probes of
/// these runs.
#[must_use]
pub(super) fn with_hidden_options<'r>(
    mut interface: ProgramInterface,
    ids: impl Iterator<Item = &'r ProbeId>,
    find: &FindRun<'r>,
) -> ProgramInterface {
    for args in ids.filter_map(call_with_unknown_flag) {
        let Some(at) = args.iter().position(|arg| arg.starts_with('-') && arg != UNKNOWN_FLAG) else {
            continue;
        };
        let Some(flag) = args.iter().position(|arg| arg == UNKNOWN_FLAG).filter(|flag| at < *flag) else {
            continue;
        };
        let (words, option) = (&args[..at], args[at].split('=').next().unwrap_or_default());
        let alone = [words, &args[flag..]].concat();
        let seen = |args: &InterfaceCall| find(&key(args)).flatten();
        let (Some(alone), Some(with)) = (seen(&alone), seen(args)) else { continue };
        let Some(command) = interface.commands.get_mut(&words.join(" ")) else { continue };
        let Some(behind) = seen(&behind_flag(args)) else { continue };
        let orders = [with, behind];
        if !orders.iter().all(|with| is_accepted(option, alone, with)) {
            let is_named = orders.iter().any(|with| names_option(option, alone, with));
            // An option that succeeds took the unknown flag for its value.
            let is_known = orders.iter().any(|with| is_about_value(option, with)) || !fails(with);
            if fails(alone) && (!is_named || is_known) {
                command.unclear.insert(option.to_owned());
            }
            continue;
        }
        let listed =
            command.options.iter_mut().find(|(key, other)| other.names(key).any(|name| name == option));
        let Some((_, listed)) = listed else {
            let hidden = OptionInterface { hidden: true, ..OptionInterface::default() };
            command.options.insert(option.to_owned(), hidden);
            continue;
        };
        let mut control = args.clone();
        control[at] = format!("{option}={UNKNOWN_VALUE}");
        // A parser that rejects the unknown flag before it reads values shows nothing.
        let is_checked = || seen(&control).is_some_and(|control| !is_accepted(option, alone, control));
        let checks_values = listed.value.is_none() || is_checked();
        if let Some((_, value)) = args[at].split_once('=').filter(|_| checks_values) {
            listed.hidden_values.insert(value.to_owned());
        }
    }
    interface
}

/// Returns whether a run with an option and the unknown flag rejects only the flag, as the run with the flag `alone` does:
/// no further line names the option, except a usage.
fn is_accepted(option: &str, alone: &Observation, with: &Observation) -> bool {
    rejection(alone).is_some_and(|line| rejection(with) == Some(line)) && !names_option(option, alone, with)
}

/// Returns whether a run with an option names it in a line that the run without it does not print, except in a usage.
fn names_option(option: &str, alone: &Observation, with: &Observation) -> bool {
    let known = output(alone);
    let with = output(with);
    let bare = option.trim_start_matches('-');
    let mut lines = with
        .lines()
        .filter(|line| line.contains(bare) && !line.trim_start().to_lowercase().starts_with("usage"));
    lines.any(|line| !known.lines().any(|other| other == line))
}

/// Returns whether a run complains that an option has no value, or an invalid one: then the target knows the option.
fn is_about_value(option: &str, with: &Observation) -> bool {
    const MISSING: [&str; 5] = ["require", "needs", "missing", "expected one argument", "expected at least"];
    const INVALID: [&str; 3] = ["invalid value", "invalid argument \"", "invalid choice"];
    let bare = option.trim_start_matches('-');
    let has = |line: &str, phrases: &[&str]| phrases.iter().any(|phrase| line.contains(phrase));
    output(with).lines().filter(|line| line.contains(bare)).any(|line| {
        let line = line.to_lowercase();
        has(&line, &MISSING) && has(&line, &["argument", "value", "parameter"])
            || has(&line, &INVALID)
            || line.contains(&format!("invalid {bare}"))
    })
}

/// Returns a value for each required argument of a command. Some parsers complain about a missing argument before they
/// reject an unknown flag.
fn required_values(interface: &ProgramInterface, command: &str) -> Vec<String> {
    let arguments = interface.commands.get(command).and_then(|command| command.arguments.as_ref());
    let required = arguments.into_iter().flatten().filter(|argument| argument.required);
    required
        .map(|argument| argument.values.first().map_or(UNKNOWN_VALUE, String::as_str).to_owned())
        .collect()
}

/// Returns the call of a command with these arguments, an unknown flag and these values.
fn call(command: &str, args: &[String], values: &[String]) -> InterfaceCall {
    let words = command.split_whitespace().map(str::to_owned);
    let rest = [args, &[UNKNOWN_FLAG.to_owned()], values].concat();
    words.chain(rest).collect()
}

/// Returns the same call as `tried`, with the option behind the unknown flag.
fn behind_flag(tried: &InterfaceCall) -> InterfaceCall {
    let option = tried.iter().position(|arg| arg.starts_with('-')).unwrap_or_default();
    let flag = tried.iter().position(|arg| arg == UNKNOWN_FLAG).unwrap_or(tried.len() - 1);
    [&tried[..option], &tried[flag..=flag], &tried[option..flag], &tried[flag + 1..]].concat()
}

/// Returns the call that tries an option, with the vanished value or with one that it probably accepts.
fn tried_call(
    VanishedOption { command, name, option, value }: &VanishedOption,
    values: &[String],
) -> InterfaceCall {
    let needed = option.value.as_ref().filter(|_| !option.value_optional).map(|_| option.any_value());
    let value = value.as_deref().or(needed);
    let args = match value {
        None => vec![name.clone()],
        Some(value) if is_short(name) => vec![name.clone(), value.to_owned()],
        Some(value) => vec![format!("{name}={value}")],
    };
    call(command, &args, values)
}
