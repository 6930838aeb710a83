//! Calls the commands that work in each format that their help lists.

use super::planner::{Planner, Tried};
use super::settings::Calls;
use super::tree::ExploredCommand;
use super::trial::Trial;
use crate::config::insert_format_flag;
use crate::model::{CallGroup, CallOutcome, OutputFormat};
use crate::run::Observation;
use std::ops::ControlFlow;

/// Maximum number of successful calls of a command that are called in other formats.
const MAX_BASES: usize = 2;
/// The same number for a target with few commands: a verdict needs several calls.
const MAX_BASES_OF_FEW: usize = 4;
/// Number of commands on which a format that no page lists is tried.
const MAX_GUESSES: usize = 2;
/// Maximum number of fields that a call requests, and the maximum length of their names.
const MAX_FIELDS: usize = 8;
const MAX_FIELD: usize = 40;
/// Length of the start of a stream that is searched for fields, in bytes.
const MAX_SEARCHED: u64 = 64 << 10;

/// Makes the calls of the group [`CallGroup::Formats`].
pub(super) fn call_in_formats(planner: &mut Planner<'_, '_>) -> ControlFlow<Calls> {
    let bases: Vec<(usize, Trial)> = bases(planner);
    for (at, base) in &bases {
        for flag_args in format_flags(planner.command(*at)) {
            planner.call(in_format(base, &flag_args));
        }
    }
    let mut commands: Vec<usize> = bases.iter().map(|(at, _)| *at).collect();
    commands.dedup();
    let guesses = if planner.has_few_commands() { MAX_BASES_OF_FEW } else { 1 };
    for at in commands.into_iter().take(MAX_GUESSES) {
        for (_, base) in bases.iter().filter(|(of, _)| *of == at).take(guesses) {
            for (_, flag_args) in unlisted_flags(planner, at) {
                planner.call(in_format(base, &flag_args));
            }
        }
    }
    planner.finish_group()?;
    for (at, base) in &bases {
        if let Some(flag_args) = fields_flag(planner, *at, base) {
            planner.call(in_format(base, &flag_args));
        }
    }
    planner.finish_group()
}

/// Returns the formats that no page lists, each with the arguments that would select it: like those of the other JSON
/// format of a command, else `--output FORMAT`.
pub(super) fn unlisted_flags(planner: &Planner<'_, '_>, at: usize) -> Vec<(OutputFormat, Vec<String>)> {
    let listed = format_flags(planner.command(at));
    let flag = |format: OutputFormat| {
        let other = if format == OutputFormat::Json { OutputFormat::Jsonl } else { OutputFormat::Json };
        let similar = listed.iter().find_map(|args| {
            let (last, first) = args.split_last()?;
            let last = format!("{}{}", last.strip_suffix(other.name())?, format.name());
            Some([first, &[last]].concat())
        });
        (format, similar.unwrap_or_else(|| vec!["--output".to_owned(), format.name().to_owned()]))
    };
    let is_open = |format: &OutputFormat| !planner.tree.listed_formats.contains(format);
    [OutputFormat::Json, OutputFormat::Jsonl].into_iter().filter(is_open).map(flag).collect()
}

/// Returns the call of `base` with a format flag.
pub(super) fn in_format(base: &Trial, flag_args: &[String]) -> Trial {
    let args = insert_format_flag(&base.args, flag_args);
    Trial { args, group: CallGroup::Formats, ..base.clone() }
}

/// Returns the first successful calls of each command, with the index of the command: without one, those that printed
/// nothing. For a target with few commands, or without such a call, also returns those that failed with output, such as
/// the problems that a linter found.
fn bases(planner: &Planner<'_, '_>) -> Vec<(usize, Trial)> {
    let few = planner.has_few_commands();
    let count = if few { MAX_BASES_OF_FEW } else { MAX_BASES };
    let of_command = |at| {
        let with = |outcome| {
            let trials = planner.base_trials(at).filter(move |tried| tried.outcome == outcome);
            trials.take(count).collect::<Vec<&Tried>>()
        };
        let mut bases = with(CallOutcome::Succeeded);
        if bases.is_empty() {
            bases = with(CallOutcome::Silent);
        }
        if few || bases.is_empty() {
            bases.extend(with(CallOutcome::Unexplained));
        }
        bases.into_iter().map(move |tried| (at, tried.trial.clone())).collect::<Vec<_>>()
    };
    planner.callable().flat_map(of_command).collect()
}

/// Returns the format flags of a command: those of its page, else of the page of a parent, and `--json` without its
/// value if it takes one.
pub(super) fn format_flags(command: &ExploredCommand) -> Vec<Vec<String>> {
    let listed = command.leaf.formats.iter().flat_map(|formats| [&formats.json, &formats.jsonl]);
    let mut flags: Vec<Vec<String>> = listed.flatten().cloned().collect();
    if flags.is_empty() && takes_fields(command) {
        flags.push(vec!["--json".to_owned()]);
    }
    flags
}

/// Returns whether the page of a command lists `--json` with a value, such as `--json FIELDS`.
fn takes_fields(command: &ExploredCommand) -> bool {
    let options = &command.page.interface.options;
    options.iter().any(|option| option.is_called("--json") && option.value.is_some())
}

/// Returns `--json` with the fields that a target lists in its message about the missing value; `None` if the call
/// without a value succeeded or the message lists none.
fn fields_flag(planner: &Planner<'_, '_>, at: usize, base: &Trial) -> Option<Vec<String>> {
    if !takes_fields(planner.command(at)) {
        return None;
    }
    let id = in_format(base, &["--json".to_owned()]).id();
    let is_refused = |tried: &&Tried| {
        tried.trial.id() == id && matches!(tried.outcome, CallOutcome::Refused | CallOutcome::Unexplained)
    };
    let refused = planner.tried.iter().find(is_refused)?;
    let fields = fields_in_message(refused.seen?);
    (!fields.is_empty()).then(|| vec!["--json".to_owned(), fields.join(",")])
}

/// Returns the first fields that a message lists: lines with a single indented name.
fn fields_in_message(seen: &Observation) -> Vec<String> {
    let text = seen.stderr.bytes.first(MAX_SEARCHED);
    let is_part = |char: char| char.is_alphanumeric() || "_-.".contains(char);
    let field = |line: &str| {
        let name = line.trim_start().trim_start_matches(['-', '*', ' ']).trim_end().trim_end_matches(',');
        let is_field = line.starts_with([' ', '\t'])
            && name.starts_with(char::is_alphabetic)
            && name.len() <= MAX_FIELD
            && name.chars().all(is_part);
        is_field.then(|| name.to_owned())
    };
    String::from_utf8_lossy(&text).lines().filter_map(field).take(MAX_FIELDS).collect()
}
