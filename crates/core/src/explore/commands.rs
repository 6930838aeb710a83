//! Looks for a call of each command that works: as it is, from an example, with values for its arguments.

use super::formats::format_flags;
use super::planner::{Planner, Tried};
use super::settings::Calls;
use super::tree::ExploredCommand;
use super::trial::Trial;
use super::values::{MAX_VALUES, ValueKind, argument_kind};
use crate::model::{CallGroup, CallOutcome};
use crate::probe::insert_last;
use crate::targets::{Argument, CliOption, Example, META_ARGUMENTS};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Maximum number of examples that are called of one command.
const MAX_EXAMPLES_OF_COMMAND: usize = 3;
/// Maximum number of examples that are called.
const MAX_EXAMPLES: usize = 100;
/// Maximum length of an example in words, and of its words in bytes.
const MAX_WORDS: usize = 64;
const MAX_WORD: usize = 4096;

/// Number of options with which each command of a target with few commands is called.
const MAX_FLAGS: usize = 6;

/// Names of the option that answers questions with yes.
const CONFIRM: [&str; 3] = ["--yes", "-y", "--assume-yes"];

/// Makes the calls of the groups [`CallGroup::Commands`], [`CallGroup::Examples`] and [`CallGroup::Arguments`].
pub(super) fn call_commands(planner: &mut Planner<'_, '_>) -> ControlFlow<Calls> {
    for at in planner.callable() {
        let leaf = &planner.command(at).leaf;
        if leaf.required_args.is_empty() {
            planner.call(Trial::new(at, CallGroup::Commands, leaf.args(&|_| String::new())));
        }
    }
    for trial in examples(planner) {
        planner.call(trial);
    }
    for round in 0..MAX_VALUES {
        for at in planner.callable() {
            call_with_values(planner, at, round);
        }
    }
    planner.finish_group()?;
    for at in planner.callable() {
        confirm(planner, at);
        call_with_optional_argument(planner, at);
    }
    planner.finish_group()?;
    if planner.has_few_commands() {
        for at in planner.callable() {
            call_with_flags(planner, at);
        }
    }
    planner.finish_group()
}

/// Returns the examples of the commands, round by round: the first of each command, then the second.
fn examples(planner: &Planner<'_, '_>) -> Vec<Trial> {
    let tree = planner.tree;
    let lines = planner.settings.documents.iter().flat_map(|text| text.lines());
    // A manual page begins with a line such as `tool - describes itself in a sentence`.
    let is_title = |example: &Example| example.args.len() > 2 && example.args[0] == "-";
    let of_documents = lines.filter_map(|line| Example::from_code_line(0, line, &tree.names));
    let of_documents = of_documents.filter(|example| !is_title(example));
    let pages = tree.groups.iter().map(|(_, page)| page);
    let pages = pages.chain(tree.commands.iter().map(|command| &command.page));
    let examples = pages.flat_map(|page| page.examples.iter().cloned()).chain(of_documents);
    let mut found: BTreeMap<usize, Vec<Vec<String>>> = BTreeMap::new();
    for example in examples.filter(is_callable) {
        if let Some(at) = tree.command_of(&example.args) {
            let args = without_format_flag(example.args, &tree.commands[at]);
            let of_command = found.entry(at).or_default();
            for args in [planner.settings.with_existing_files(&args), args] {
                if of_command.len() < MAX_EXAMPLES_OF_COMMAND && !of_command.contains(&args) {
                    of_command.push(args);
                }
            }
        }
    }
    let round = |nth: usize| {
        let of_round = found.iter().filter_map(move |(at, calls)| Some((*at, calls.get(nth)?.clone())));
        of_round.map(|(at, args)| Trial::new(at, CallGroup::Examples, args))
    };
    (0..MAX_EXAMPLES_OF_COMMAND).flat_map(round).take(MAX_EXAMPLES).collect()
}

/// Removes the format flag of a command from the arguments of an example, with any value: the call is made in each
/// format.
fn without_format_flag(mut args: Vec<String>, command: &ExploredCommand) -> Vec<String> {
    let listed =
        command.leaf.formats.iter().flat_map(|formats| [&formats.json, &formats.jsonl, &formats.text]);
    for flag_args in listed.flatten() {
        let Some(flag) = flag_args.first() else { continue };
        let joined = format!("{flag}=");
        args.retain(|arg| !arg.starts_with(&joined));
        if let Some(at) = args.iter().position(|arg| arg == flag) {
            args.drain(at..args.len().min(at + flag_args.len()));
        }
    }
    args
}

/// Returns whether an example can be called as it is: a shell would not change its words.
fn is_callable(example: &Example) -> bool {
    let is_plain = |arg: &String| {
        arg.len() <= MAX_WORD
            && !arg.contains(['$', '`', '*', '\0', '{'])
            && !arg.starts_with('~')
            && !META_ARGUMENTS.contains(&arg.as_str())
    };
    example.is_complete() && example.args.len() <= MAX_WORDS && example.args.iter().all(is_plain)
}

/// Calls a command with values for its required arguments, and with a sample on stdin if it reads stdin. The file and the
/// sample are those with index `round`, if there are as many.
fn call_with_values(planner: &mut Planner<'_, '_>, at: usize, round: usize) {
    let command = planner.command(at);
    let leaf = &command.leaf;
    let mut is_new = round == 0;
    let mut values: BTreeMap<&str, String> = BTreeMap::new();
    for argument in leaf.args_without_choices() {
        let of_argument = values_of(planner, argument_kind(argument, &command.text), command);
        is_new |= of_argument.len() > round;
        if let Some(value) = of_argument.get(round.min(of_argument.len().saturating_sub(1))) {
            values.insert(&argument.name, value.clone());
        }
    }
    let value = |argument: &Argument| values.get(argument.name.as_str()).cloned().unwrap_or_default();
    if is_new && !leaf.required_args.is_empty() {
        planner.call(Trial::new(at, CallGroup::Arguments, leaf.args(&value)));
    }
    if let Some(sample) = command.samples().get(round).filter(|_| command.reads_stdin()) {
        let from_stdin = |argument: &Argument| match argument_kind(argument, &command.text) {
            ValueKind::File => "-".to_owned(),
            _ => value(argument),
        };
        let trial = Trial::new(at, CallGroup::Arguments, leaf.args(&from_stdin));
        planner.call(trial.with_stdin(sample));
    }
}

/// Returns the values to try for an argument of this kind: more if the target has few commands.
fn values_of(planner: &Planner<'_, '_>, kind: ValueKind, command: &ExploredCommand) -> Vec<String> {
    match planner.has_few_commands() {
        true => planner.settings.more_values(kind, command),
        false => planner.settings.values(kind, command),
    }
}

/// Calls a command that does not succeed without arguments with a value for its first optional argument, or with a file
/// if its usage shows no arguments but is not closed.
fn call_with_optional_argument(planner: &mut Planner<'_, '_>, at: usize) {
    let command = planner.command(at);
    let leaf = &command.leaf;
    let has_positional = leaf.required_args.iter().any(|(_, argument)| argument.option.is_none());
    let works = planner.base(at).is_some_and(|base| base.outcome == CallOutcome::Succeeded);
    if works || has_positional || command.page.has_closed_usage(0) {
        return;
    }
    let optional = leaf.optional_args.iter().find(|argument| argument.option.is_none());
    let kind = optional.map_or(ValueKind::File, |argument| argument_kind(argument, &command.text));
    let args = leaf.args(&|argument| planner.settings.value(argument, command));
    for value in values_of(planner, kind, command) {
        let args = [&args[..], &[value]].concat();
        planner.call(Trial::new(at, CallGroup::Arguments, args));
    }
}

/// Calls a command that prints data with each of its first options that take no value: a verdict needs several calls.
fn call_with_flags(planner: &mut Planner<'_, '_>, at: usize) {
    let command = planner.command(at);
    let works = |base: &&Tried| matches!(base.outcome, CallOutcome::Succeeded | CallOutcome::Unexplained);
    let Some(base) = planner.base(at).filter(works).map(|base| base.trial.clone()) else { return };
    let formats: Vec<String> = format_flags(command).concat();
    // With an option such as `--force-color`, escape sequences are no fault.
    let is_plain = |name: &str| {
        name.starts_with("--")
            && !name.contains("color")
            && !name.contains("colour")
            && !META_ARGUMENTS.contains(&name)
            && !formats.iter().any(|arg| arg == name)
    };
    let options = command.page.interface.options.iter().filter(|option| option.value.is_none());
    let names = options.map(CliOption::longest_name).filter(|name| is_plain(name));
    for name in names.take(MAX_FLAGS) {
        let args = insert_last(&base.args, &[name.to_owned()]);
        planner.call(Trial { stdin: base.stdin, ..Trial::new(at, CallGroup::Arguments, args) });
    }
}

/// Calls a command again that was refused, with the option of its page that answers questions with yes.
fn confirm(planner: &mut Planner<'_, '_>, at: usize) {
    let command = planner.command(at);
    let name = CONFIRM.iter().find(|name| command.page.interface.has_option(name));
    let base = planner.base(at).filter(|base| base.outcome == CallOutcome::Refused);
    let base = base.or_else(|| planner.base_trials(at).find(|tried| tried.outcome == CallOutcome::TimedOut));
    if let (Some(name), Some(base)) = (name, base) {
        let args = insert_last(&base.trial.args, &[(*name).to_owned()]);
        planner.call(Trial::new(at, CallGroup::Arguments, args));
    }
}
