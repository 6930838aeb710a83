//! The problems of a report with place, severity and key, as the machine-readable formats report them.

use super::command;
use super::view::ReportView;
use crate::check::Judged;
use crate::report::Report;
use agentnative_core::model::{CheckResult, Evidence, Level, Status};
use agentnative_judge::Fault;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use strict_json::sanitize;
use xxhash_rust::xxh3::xxh3_64;

/// Maximum length of a text from a target, in characters.
const MAX_TEXT: usize = 1000;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DisplaySeverity {
    /// The problem makes the command fail.
    Error,
    /// A SHOULD requirement is not met.
    Warning,
    /// A waiver accepts the problem.
    Waived,
}

/// One problem of one target. Runs of a probe in one format that show the same kind of problem are merged; each place
/// in code is a separate problem.
pub(super) struct ReportedProblem<'a> {
    /// The report of the target.
    pub report: &'a Report,
    /// The result of the check that found the problem.
    pub result: &'a CheckResult,
    pub severity: DisplaySeverity,
    /// The first evidence of the problem; `None` if the check recorded none.
    pub evidence: Option<&'a Evidence>,
    /// The command line of the run that shows the problem, ready to paste in the current folder.
    pub command: Option<String>,
    /// Number of further runs that show the problem.
    pub more: usize,
    /// The help line for the argument parser and the language of the target.
    pub help: &'a str,
    /// A key that is unique in the report and does not depend on line numbers.
    pub key: String,
}

/// Returns the problems of a report, in the order of its checks.
pub(super) fn problems<'a>(view: &ReportView<'_>, judged: &'a Judged) -> Vec<ReportedProblem<'a>> {
    let report = &judged.report;
    let toolkit = judged.toolkit();
    let mut seen = BTreeMap::new();
    let mut problems = Vec::new();
    for result in &report.results {
        let Some(severity) = severity(report, result) else { continue };
        let places = result.evidence.iter().map(Some);
        for evidence in places.chain(result.evidence.is_empty().then_some(None)) {
            let fault = Fault::from_evidence(
                &report.target.name,
                result.id,
                result.layer,
                evidence.unwrap_or(&Evidence::default()),
            );
            let is_in_code = fault.counts_each_occurrence();
            let key = fault.key();
            let same_problem: &mut Vec<usize> = seen.entry(fault).or_default();
            if let Some(first) = same_problem.first().filter(|_| !is_in_code) {
                let first: &mut ReportedProblem<'_> = &mut problems[*first];
                first.more += 1;
                continue;
            }
            let key = format!("{:016x}", xxh3_64(format!("{key}\0{}", same_problem.len()).as_bytes()));
            same_problem.push(problems.len());
            let help = result.id.check().help.for_toolkit(toolkit);
            let command = evidence.and_then(|evidence| command::shell_command(report, view.folder, evidence));
            let command = command.map(|command| shorten_to_line(&command));
            problems.push(ReportedProblem {
                report,
                result,
                severity,
                evidence,
                command,
                more: 0,
                help,
                key,
            });
        }
    }
    problems
}

/// Returns the severity of the problems that a check found; `None` if it found none.
fn severity(report: &Report, result: &CheckResult) -> Option<DisplaySeverity> {
    match result.status {
        Status::Fail => Some(DisplaySeverity::Error),
        Status::Warn if report.deny.contains(&Level::Should) => Some(DisplaySeverity::Error),
        Status::Warn => Some(DisplaySeverity::Warning),
        // A check that only depends on a waived one has no problem of its own.
        Status::Waived if !result.blocked_by.is_empty() => None,
        Status::Waived => Some(DisplaySeverity::Waived),
        Status::Pass | Status::Unverified | Status::NotApplicable => None,
    }
}

/// Returns the URL of the page that explains the check, if there is one.
pub(super) fn page(result: &CheckResult) -> Option<&str> {
    // A report that was read from a file may contain anything.
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/%?#=&+".contains(&byte);
    let is_address = |docs: &&str| docs.starts_with("https://") || docs.starts_with("http://");
    Some(result.docs.as_str()).filter(is_address).filter(|docs| docs.bytes().all(is_allowed))
}

/// Returns the unverified MUST checks of a report if they make the command fail (`--strict`), else nothing.
pub(super) fn undecided<'a>(view: &ReportView<'_>, report: &'a Report) -> Vec<&'a CheckResult> {
    if view.strict { report.open_musts().collect() } else { Vec::new() }
}

impl<'a> ReportedProblem<'a> {
    /// Returns what is wrong, in one line; for a waived problem, the reason of the waiver.
    pub fn message(&self) -> String {
        let result = self.result;
        let detail = self.evidence.map(|evidence| evidence.detail.as_str()).filter(|text| !text.is_empty());
        let text = match (self.severity, detail) {
            (DisplaySeverity::Waived, _) | (_, None) if !result.message.is_empty() => &result.message,
            (_, Some(detail)) => detail,
            (_, None) => &result.title,
        };
        shorten_to_line(text)
    }

    /// Returns the place in the output of the run, in words: `stdout, line 3, column 5`.
    pub fn place(&self) -> Option<String> {
        let evidence = self.evidence?;
        let stream = evidence.stream?.name();
        Some(match (evidence.line, evidence.column) {
            (Some(line), Some(column)) => format!("{stream}, line {line}, column {column}"),
            (Some(line), None) => format!("{stream}, line {line}"),
            _ => stream.to_owned(),
        })
    }

    /// Returns lines with what is wrong, the command that shows it and what to do.
    pub fn lines(&self) -> String {
        let mut lines = vec![self.message()];
        if let Some(command) = &self.command {
            let place = self.place().map_or_else(String::new, |place| format!(" ({place})"));
            lines.push(format!("Command: {command}{place}"));
        }
        if let Some(excerpt) = self.evidence.and_then(|evidence| evidence.excerpt.as_deref()) {
            lines.push(format!("Output: {}", shorten_to_line(excerpt.trim())));
        }
        if self.more > 0 {
            lines.push(format!("Further runs with this problem: {}", self.more));
        }
        lines.push(format!("Help: {}", self.help));
        lines.join("\n")
    }

    /// Returns the source file of the problem, relative to the repository if possible.
    pub fn file(&self, view: &ReportView<'_>) -> Option<String> {
        let file = self.evidence?.file.as_deref().filter(|file| *file != ".")?;
        let project = Path::new(self.report.target.project.as_deref().unwrap_or_default());
        let path = project.join(file);
        Some(relative_to_root(&path, view).unwrap_or_else(|| normalized(&path)))
    }

    /// Returns the program of the target: relative to the repository, else absolute.
    pub fn program(&self, view: &ReportView<'_>) -> Option<String> {
        let program = Path::new(self.report.target.command.first()?);
        Some(relative_to_root(program, view).unwrap_or_else(|| normalized(program)))
    }
}

/// Returns a path relative to the root of the repository; `None` if the path is outside.
fn relative_to_root(path: &Path, view: &ReportView<'_>) -> Option<String> {
    let root = view.root.or(view.folder)?;
    let path = normalized(&view.folder.unwrap_or(root).join(path));
    Path::new(&path).strip_prefix(normalized(root)).ok()?.to_str().map(str::to_owned)
}

/// Removes `.` and `..` from a path without reading the file system.
fn normalized(path: &Path) -> String {
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

/// Sanitizes text of a target and shortens it to one line of limited length.
pub(super) fn shorten_to_line(text: &str) -> String {
    // Bounds the work for long text.
    let head: String = text.chars().take(4 * MAX_TEXT).collect();
    let lines = head.split(['\n', '\r']).map(str::trim).filter(|line| !line.is_empty());
    let line = lines.collect::<Vec<_>>().join(" ");
    sanitize::escape_commands(&sanitize::sanitize_capped(line, MAX_TEXT)).into_owned()
}
