//! The formats in which the calls that were tried print.

use super::formats::{format_flags, in_format, unlisted_flags};
use super::planner::{Planner, Tried};
use crate::config::{FormatFlag, FormatFlags};
use crate::model::{CallGroup, CallOutcome, OutputFormat};
use crate::run::{Observation, RunKey};
use serde_json::Value;
use std::collections::BTreeMap;
use strict_json::escape_token;

/// Maximum length of a document that is parsed, in bytes.
pub(super) const MAX_DOCUMENT: u64 = 8 << 20;
/// Maximum depth of the list in a document.
const MAX_LIST_DEPTH: usize = 3;

/// A format that a call was accepted in.
pub(super) struct Accepted {
    pub format: OutputFormat,
    pub flag_args: Vec<String>,
    pub run: RunKey,
    /// Pointer to the only array of objects in the document.
    pub list: Option<String>,
}

/// Returns the formats in which a variation of a call ended like the call itself. A call that was refused has none.
pub(super) fn accepted_formats(planner: &Planner<'_, '_>, base: &Tried<'_>) -> Vec<Accepted> {
    let can_print =
        matches!(base.outcome, CallOutcome::Succeeded | CallOutcome::Silent | CallOutcome::Unexplained);
    if !can_print || base.trial.group > CallGroup::Arguments {
        return Vec::new();
    }
    let command = planner.command(base.trial.command);
    let is_own = command.leaf.flag_position.is_none();
    let of_command = planner
        .tried
        .iter()
        .filter(|tried| tried.trial.group == CallGroup::Formats && tried.trial.command == base.trial.command);
    let fields = of_command.filter_map(|tried| {
        let at = tried.trial.args.iter().position(|arg| arg == "--json")?;
        Some(vec!["--json".to_owned(), tried.trial.args.get(at + 1)?.clone()])
    });
    let listed = format_flags(command).into_iter().chain(fields).map(|flag_args| (flag_args, is_own));
    let unlisted = unlisted_flags(planner, base.trial.command).into_iter();
    let accepted = |(flag_args, is_listed): (Vec<String>, bool)| {
        let tried = call_in_format(planner, base, &flag_args)?;
        let seen = tried.seen.filter(|seen| base.seen.is_some_and(|base| seen.end == base.end))?;
        if !is_listed && prints_the_same(base, tried) {
            return None;
        }
        // A failure is a result only if it prints its data in this format.
        let is_listed = is_listed
            && base.outcome != CallOutcome::Unexplained
            && (!seen.changed_workspace() || selects_output(planner, &flag_args));
        let (format, list) = format_of(seen, &flag_args, is_listed)?;
        Some(Accepted { format, flag_args, run: tried.probe.plain_run(OutputFormat::Text), list })
    };
    listed.chain(unlisted.map(|(_, flag_args)| (flag_args, false))).filter_map(accepted).collect()
}

/// Returns the call of `base` with a format flag, if it was requested.
fn call_in_format<'p, 'r>(
    planner: &'p Planner<'_, 'r>,
    base: &Tried<'_>,
    flag_args: &[String],
) -> Option<&'p Tried<'r>> {
    let id = in_format(&base.trial, flag_args).id();
    planner.tried.iter().find(|tried| tried.probe.id == id)
}

/// Returns whether a call printed the format of this flag. Else it may be the format of a file that a command writes.
fn selects_output(planner: &Planner<'_, '_>, flag_args: &[String]) -> bool {
    planner.tried.iter().filter(|tried| tried.trial.group == CallGroup::Formats).any(|tried| {
        tried.trial.args.windows(flag_args.len()).any(|words| words == flag_args)
            && tried.seen.is_some_and(|seen| format_of(seen, flag_args, false).is_some())
    })
}

/// Returns the format that a run printed, and the pointer of its list. A run that prints no JSON counts as one in the
/// format of its flag if the page of its command lists the flag, which then has no effect. Else returns `None`.
fn format_of(
    seen: &Observation,
    flag_args: &[String],
    is_listed: bool,
) -> Option<(OutputFormat, Option<String>)> {
    let names_lines = |arg: &String| ["jsonl", "ndjson", "stream-json"].iter().any(|name| arg.contains(name));
    let bytes = seen.stdout.bytes.first(MAX_DOCUMENT);
    let mut lines =
        bytes.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty()).peekable();
    let has_lines = lines.peek().is_some();
    let is_object = |line: &[u8]| serde_json::from_slice::<Value>(line).is_ok_and(|value| value.is_object());
    let are_objects = has_lines && lines.clone().all(is_object);
    if flag_args.iter().any(names_lines) {
        return (are_objects || is_listed).then_some((OutputFormat::Jsonl, None));
    }
    if let Ok(document) = serde_json::from_slice::<Value>(&bytes) {
        return Some((OutputFormat::Json, only_list(&document, String::new(), 0)));
    }
    if are_objects {
        return Some((OutputFormat::Jsonl, None));
    }
    let begins = lines.any(begins_document);
    (is_listed || begins).then_some((OutputFormat::Json, None))
}

/// Returns whether a line begins a JSON object or array, and not a usage such as `[-h] [FILE]`.
fn begins_document(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let next = line.get(1..).and_then(|rest| rest.trim_ascii_start().first());
    match line.first() {
        Some(b'{') => matches!(next, None | Some(b'"' | b'}')),
        Some(b'[') => matches!(next, None | Some(b'"' | b'{' | b'[' | b']' | b'0'..=b'9')),
        _ => false,
    }
}

/// Returns the pointer of the array of objects in a document, if it has exactly one.
fn only_list(value: &Value, pointer: String, depth: usize) -> Option<String> {
    fn lists(value: &Value, pointer: String, depth: usize, found: &mut Vec<String>) {
        match value {
            Value::Array(items) if !items.is_empty() && items.iter().all(Value::is_object) => {
                found.push(pointer)
            }
            Value::Object(fields) if depth < MAX_LIST_DEPTH => {
                for (name, field) in fields {
                    lists(field, format!("{pointer}/{}", escape_token(name)), depth + 1, found);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    lists(value, pointer, depth, &mut found);
    (found.len() == 1).then(|| found.remove(0))
}

/// Returns the format flags of the target: those with which most calls were accepted. A format that no page lists and
/// that every tried call rejected is absent. `None` if nothing is known.
pub(super) fn target_formats(
    accepted: &[Vec<Accepted>],
    absent: &BTreeMap<OutputFormat, String>,
) -> Option<FormatFlags> {
    let mut counts: BTreeMap<(OutputFormat, &[String]), usize> = BTreeMap::new();
    for found in accepted.iter().flatten() {
        *counts.entry((found.format, &found.flag_args)).or_default() += 1;
    }
    let is_general =
        |flag_args: &[String]| flag_args.first().is_none_or(|flag| flag != "--json" || flag_args.len() == 1);
    let most = |format: OutputFormat| {
        let of_format = counts.iter().filter(|((of, args), _)| *of == format && is_general(args));
        of_format.max_by_key(|(_, count)| **count).map(|((_, args), _)| args.to_vec())
    };
    let flag = |format| match most(format) {
        Some(args) => FormatFlag::Given(args),
        None if absent.contains_key(&format) => FormatFlag::Absent,
        None => FormatFlag::Unspecified,
    };
    let (json, jsonl) = (flag(OutputFormat::Json), flag(OutputFormat::Jsonl));
    let is_known = json != FormatFlag::Unspecified || jsonl != FormatFlag::Unspecified;
    is_known.then(|| FormatFlags { text: FormatFlag::Given(Vec::new()), json, jsonl, assumed: false })
}

/// Returns the formats that no page lists and that all tried calls rejected or ignored, each with the name of one of
/// these calls.
pub(super) fn absent_formats(planner: &Planner<'_, '_>) -> BTreeMap<OutputFormat, String> {
    let mut tried: BTreeMap<OutputFormat, Vec<(&Tried<'_>, bool)>> = BTreeMap::new();
    for base in &planner.tried {
        for (format, flag_args) in unlisted_flags(planner, base.trial.command) {
            let call = call_in_format(planner, base, &flag_args);
            if let Some(call) = call.filter(|call| call.seen.is_some()) {
                tried.entry(format).or_default().push((call, has_no_format(base, call, &flag_args)));
            }
        }
    }
    tried.retain(|_, calls| planner.tree.notes.is_empty() && calls.iter().all(|(_, is_without)| *is_without));
    tried.into_iter().map(|(format, calls)| (format, calls[0].0.probe.name.clone())).collect()
}

/// Returns whether a call, which is `base` with a format flag, shows that the flag is rejected or ignored.
fn has_no_format(base: &Tried<'_>, call: &Tried<'_>, flag_args: &[String]) -> bool {
    let Some(seen) = call.seen else { return false };
    match (base.outcome, call.outcome) {
        (CallOutcome::Succeeded, CallOutcome::Refused | CallOutcome::Unexplained) => true,
        // What fails anyway may have failed for another reason.
        (CallOutcome::Unexplained, CallOutcome::Refused) => {
            flag_args.first().is_some_and(|flag| seen.names(flag))
        }
        (_, CallOutcome::Succeeded | CallOutcome::Silent) => {
            prints_the_same(base, call) || format_of(seen, flag_args, false).is_none()
        }
        _ => false,
    }
}

/// Returns whether two calls printed the same to stdout.
fn prints_the_same(a: &Tried<'_>, b: &Tried<'_>) -> bool {
    let stdout = |tried: &Tried<'_>| tried.seen.map(|seen| seen.stdout.bytes.first(MAX_DOCUMENT));
    stdout(a) == stdout(b)
}
