//! What the renderers for machines share: the faults of a report, each with its place, its weight and its key.

use super::command;
use super::view::View;
use crate::check::Judged;
use crate::report::Report;
use agentnative_core::model::{CheckResult, Evidence, Level, Status};
use agentnative_judge::Fault;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use strict_json::sanitize;
use xxhash_rust::xxh3::xxh3_64;

/// A longer text of a target is cut, in characters.
const MAX_TEXT: usize = 1000;

/// How much a fault weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Weight {
    /// It makes the command fail.
    Error,
    /// An unmet SHOULD.
    Warning,
    /// A waiver accepts it.
    Waived,
}

/// One fault of one target. Runs of a probe in one format that show the same kind of fault are one; each
/// place in the code is one.
pub(super) struct Finding<'a> {
    /// The target.
    pub report: &'a Report,
    /// The verdict that it belongs to.
    pub result: &'a CheckResult,
    /// Its weight.
    pub weight: Weight,
    /// Where it was seen first.
    pub evidence: Option<&'a Evidence>,
    /// The command line that shows it, ready to paste in the current folder.
    pub command: Option<String>,
    /// The number of further runs that show it.
    pub more: usize,
    /// The line of help, for the argument parser and the language of the target.
    pub help: &'a str,
    /// Differs from those of all other faults of the report, and stays when lines move.
    pub key: String,
}

/// The faults of a report, in its order.
pub(super) fn findings<'a>(view: &View<'_>, judged: &'a Judged) -> Vec<Finding<'a>> {
    let report = &judged.report;
    let toolkit = judged.toolkit();
    let mut seen = BTreeMap::new();
    let mut findings = Vec::new();
    for result in &report.results {
        let Some(weight) = weight(report, result) else { continue };
        let places = result.evidence.iter().map(Some);
        for evidence in places.chain(result.evidence.is_empty().then_some(None)) {
            let fault = Fault::of(
                &report.target.name,
                result.id,
                result.layer,
                evidence.unwrap_or(&Evidence::default()),
            );
            let of_code = fault.is_of_code();
            let key = fault.key();
            let alike: &mut Vec<usize> = seen.entry(fault).or_default();
            if let Some(first) = alike.first().filter(|_| !of_code) {
                let first: &mut Finding<'_> = &mut findings[*first];
                first.more += 1;
                continue;
            }
            let key = format!("{:016x}", xxh3_64(format!("{key}\0{}", alike.len()).as_bytes()));
            alike.push(findings.len());
            let help = result.id.check().help.of(toolkit);
            let command = evidence.and_then(|evidence| command::to_paste(report, view.folder, evidence));
            let command = command.map(|command| short(&command));
            findings.push(Finding { report, result, weight, evidence, command, more: 0, help, key });
        }
    }
    findings
}

/// The weight of what a check found, if it found a fault.
fn weight(report: &Report, result: &CheckResult) -> Option<Weight> {
    match result.status {
        Status::Fail => Some(Weight::Error),
        Status::Warn if report.deny.contains(&Level::Should) => Some(Weight::Error),
        Status::Warn => Some(Weight::Warning),
        // What only waits for one that is waived has no fault of its own.
        Status::Waived if !result.blocked_by.is_empty() => None,
        Status::Waived => Some(Weight::Waived),
        Status::Pass | Status::Unverified | Status::NotApplicable => None,
    }
}

/// The address of the page that explains the check of a verdict, if there is one.
pub(super) fn page(result: &CheckResult) -> Option<&str> {
    // A report that was read may hold anything.
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/%?#=&+".contains(&byte);
    let is_address = |docs: &&str| docs.starts_with("https://") || docs.starts_with("http://");
    Some(result.docs.as_str()).filter(is_address).filter(|docs| docs.bytes().all(is_plain))
}

/// The MUSTs of a report that are unverified, where that makes the command fail.
pub(super) fn undecided<'a>(view: &View<'_>, report: &'a Report) -> Vec<&'a CheckResult> {
    if view.strict { report.open_musts().collect() } else { Vec::new() }
}

impl<'a> Finding<'a> {
    /// What is wrong, in a line: of one with a waiver also the reason for that.
    pub fn message(&self) -> String {
        let result = self.result;
        let detail = self.evidence.map(|evidence| evidence.detail.as_str()).filter(|text| !text.is_empty());
        let text = match (self.weight, detail) {
            (Weight::Waived, _) | (_, None) if !result.message.is_empty() => &result.message,
            (_, Some(detail)) => detail,
            (_, None) => &result.title,
        };
        short(text)
    }

    /// The place in the output of the run, in words.
    pub fn place(&self) -> Option<String> {
        let evidence = self.evidence?;
        let stream = evidence.stream?.name();
        Some(match (evidence.line, evidence.column) {
            (Some(line), Some(column)) => format!("{stream}, line {line}, column {column}"),
            (Some(line), None) => format!("{stream}, line {line}"),
            _ => stream.to_owned(),
        })
    }

    /// What is wrong, the command that shows it and what to do: a line each.
    pub fn lines(&self) -> String {
        let mut lines = vec![self.message()];
        if let Some(command) = &self.command {
            let place = self.place().map_or_else(String::new, |place| format!(" ({place})"));
            lines.push(format!("Command: {command}{place}"));
        }
        if let Some(excerpt) = self.evidence.and_then(|evidence| evidence.excerpt.as_deref()) {
            lines.push(format!("Seen: {}", short(excerpt.trim())));
        }
        if self.more > 0 {
            lines.push(format!("Further runs with this fault: {}", self.more));
        }
        lines.push(format!("Help: {}", self.help));
        lines.join("\n")
    }

    /// The file of the code that it is in, below the repository where it can be.
    pub fn file(&self, view: &View<'_>) -> Option<String> {
        let file = self.evidence?.file.as_deref().filter(|file| *file != ".")?;
        let project = Path::new(self.report.target.project.as_deref().unwrap_or_default());
        let path = project.join(file);
        Some(below(&path, view).unwrap_or_else(|| plain(&path)))
    }

    /// The program of the target: below the repository, else its absolute path.
    pub fn program(&self, view: &View<'_>) -> Option<String> {
        let program = Path::new(self.report.target.command.first()?);
        Some(below(program, view).unwrap_or_else(|| plain(program)))
    }
}

/// A path relative to the repository, if it is in there.
fn below(path: &Path, view: &View<'_>) -> Option<String> {
    let root = view.root.or(view.folder)?;
    let path = plain(&view.folder.unwrap_or(root).join(path));
    Path::new(&path).strip_prefix(plain(root)).ok()?.to_str().map(str::to_owned)
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> String {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if out.file_name().is_some() => drop(out.pop()),
            other => out.push(other),
        }
    }
    out.display().to_string()
}

/// Text of a target in one safe line of limited length.
pub(super) fn short(text: &str) -> String {
    // Of long text only the beginning is looked at.
    let head: String = text.chars().take(4 * MAX_TEXT).collect();
    let lines = head.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    sanitize::break_commands(&sanitize::capped(line, MAX_TEXT)).into_owned()
}
