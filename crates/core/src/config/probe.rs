//! Parses the `[[probe]]` tables of the configuration.

use super::path::workspace;
use super::section::Section;
use super::{
    CallConfig, EffectConfig, FormatFlag, ProbeConfig, ValidationContext, common_flags, contract, formats,
};
use crate::files::{self, MAX_DATA_BYTES};
use crate::model::OutputFormat;
use agentnative_contract::spanned_toml::{Span, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A probe, with the table that it was parsed from.
pub(super) struct ParsedProbe<'a> {
    pub(super) probe: ProbeConfig,
    pub(super) section: Section<'a>,
    /// Position of the key `exit`, or of the table if it has no such key; `None` if the exit code is invalid.
    pub(super) exit: Option<Span>,
}

pub(super) fn parse_all<'a>(
    file: &mut Section<'a>,
    root: &Path,
    known: &ValidationContext<'_>,
) -> Vec<ParsedProbe<'a>> {
    file.take_sections("probe").into_iter().map(|section| parse(section, root, known)).collect()
}

fn parse<'a>(mut section: Section<'a>, root: &Path, known: &ValidationContext<'_>) -> ParsedProbe<'a> {
    let exit = match section.has("exit") {
        true => section.get("exit").map(|value| value.span),
        false => Some(section.span.clone()),
    };
    let code = exit.as_ref().map(|_| section.value("exit").unwrap_or(0));
    check_remedy(&section, code);
    check_combinations(&section);
    let effect = effect(&section, code);
    let dry_run_exit = common_flags::take_dry_run_exit(&mut section);
    let (formats, format_flags) =
        take_formats(&mut section).unwrap_or_else(|| (OutputFormat::ALL.to_vec(), BTreeMap::new()));
    let contract = contract::parse(&section, root, known);
    let stdin = stdin(&section, root);
    let cwd = section.get("cwd").and_then(|value| existing_folder(&value, root));
    let workspace = section.get("workspace").and_then(|value| workspace(&value, root));
    let interrupt = section.section("interrupt").and_then(|table| table.value("after"));
    for key in ["contract", "stdin", "cwd", "workspace", "interrupt"] {
        section.take(key);
    }
    let probe = section.applied_to(ProbeConfig::new("", Vec::new()));
    let call = CallConfig { contract, format_flags, stdin, cwd, workspace, interrupt, ..probe.call };
    ParsedProbe { probe: ProbeConfig { call, formats, dry_run_exit, effect, ..probe }, section, exit }
}

/// Reports keys of a probe that exclude or require each other.
fn check_combinations(section: &Section<'_>) {
    const USE_WORKSPACE: &str = "expected `workspace` with a folder to copy, or `true` for an empty one";
    let is = |key: &str| section.value(key).unwrap_or(false);
    let fault = |key: &str, message: &str| section.get(key).and_then(|value| value.report::<()>(message));
    if section.has("workspace") {
        if is("writes") {
            fault(
                "writes",
                "`writes` and `workspace` cannot be combined: a run can always write to its workspace",
            );
        }
        if section.has("cwd") {
            fault("workspace", "`workspace` and `cwd` cannot be combined: a run starts in its workspace");
        }
        return;
    }
    if section.value("setup").is_some_and(|calls: Vec<Vec<String>>| !calls.is_empty()) {
        fault("setup", "`setup` requires a workspace; expected `workspace` as well");
    }
    fault("interrupt", &format!("`interrupt` requires a workspace; {USE_WORKSPACE}"));
    if let Some(key) = ["changes", "destructive"].into_iter().find(|key| is(key)) {
        fault(key, &format!("`{key}` requires a workspace; {USE_WORKSPACE}"));
    }
}

/// Parses the keys `changes`, `destructive` and `idempotent` of a probe; reports contradictions. Returns `None` for a
/// probe that changes nothing.
fn effect(section: &Section<'_>, exit: Option<i32>) -> Option<EffectConfig> {
    let changes: Option<bool> = section.value("changes");
    let destructive = section.value("destructive").unwrap_or(false);
    let idempotent = section.value("idempotent");
    if let (true, Some(false), Some(value)) = (destructive, changes, section.get("changes")) {
        return value.report("`changes` is false and `destructive` is true; expected only one of the two");
    }
    let has_effect = changes == Some(true) || destructive;
    if let (Some(true), Some(value)) = (idempotent, section.get("idempotent")) {
        if !has_effect {
            return value.report("`idempotent` is true, but the probe declares no change; expected `changes = true` or `destructive = true` as well");
        }
        if let Some(code) = exit.filter(|code| *code != 0) {
            value.report::<()>(&format!(
                "`idempotent` is true and `exit` is {code}; expected a call that exits with 0"
            ));
        }
    }
    let formats_declared = section.has("formats");
    has_effect.then_some(EffectConfig { destructive, idempotent, formats_declared })
}

/// Reports the key `remedy` of a probe that is expected to succeed.
fn check_remedy(section: &Section<'_>, exit: Option<i32>) {
    if let Some(value) = section.get("remedy")
        && (exit == Some(0) || section.value("result") == Some(true))
    {
        value.report::<()>("`remedy` requires a call that fails, but the probe succeeds; expected `exit` with the code of its failure");
    }
}

/// Removes the key `formats` of a probe from its section. Returns the formats in the order text, JSON, JSON Lines, and
/// the format flags that the key declares.
fn take_formats(
    section: &mut Section<'_>,
) -> Option<(Vec<OutputFormat>, BTreeMap<OutputFormat, FormatFlag>)> {
    if section.section("formats").is_none() {
        let mut formats: Vec<OutputFormat> = serde_json::from_value(section.take("formats")?).ok()?;
        formats.sort_unstable();
        formats.dedup();
        return Some((formats, BTreeMap::new()));
    }
    let mut format_flags = formats::take(section)?;
    // A call that prints JSON without a format flag has no other format, unless another one is declared.
    let is_unconditional = |format| format_flags.get(&format) == Some(&FormatFlag::Given(Vec::new()));
    if is_unconditional(OutputFormat::Json) || is_unconditional(OutputFormat::Jsonl) {
        OutputFormat::ALL.into_iter().for_each(|format| {
            format_flags.entry(format).or_insert(FormatFlag::Absent);
        });
    }
    let lacks = |format: &OutputFormat| format_flags.get(format) == Some(&FormatFlag::Absent);
    Some((OutputFormat::ALL.into_iter().filter(|format| !lacks(format)).collect(), format_flags))
}

/// Returns the bytes that the key `stdin` declares: its text, or the contents of the file that it names.
fn stdin(section: &Section<'_>, root: &Path) -> Option<Vec<u8>> {
    let Some(table) = section.section("stdin") else { return section.value("stdin").map(String::into_bytes) };
    let (value, name) = (table.get("file")?, table.value::<String>("file")?);
    let path = root.join(&name);
    match files::read(&path, MAX_DATA_BYTES) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            value.report(&format!("cannot read `{name}`: {error}; expected a file at {}", path.display()))
        }
    }
}

fn existing_folder(value: &Value<'_>, root: &Path) -> Option<PathBuf> {
    let name = value.inner.as_str()?;
    let path = root.join(name);
    if path.is_dir() {
        return Some(path);
    }
    value.report(&format!("no such folder: `{name}`; expected it at {}", path.display()))
}
