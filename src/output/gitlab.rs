//! The renderer of `gitlab`: a Code Quality report for GitLab merge requests.

use super::problem::{DisplaySeverity, ReportedProblem, problems, shorten_to_line};
use super::view::ReportView;
use agentnative_contract::error::Result;
use agentnative_output::to_string;
use serde_json::{Value, json};

/// Renders an array of issues and a line feed.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let problems = view.judged.iter().flat_map(|judged| problems(view, judged));
    let issues: Vec<Value> = problems.map(|problem| issue(view, &problem)).collect();
    Ok(to_string(&issues)? + "\n")
}

fn issue(view: &ReportView<'_>, problem: &ReportedProblem<'_>) -> Value {
    let severity = match problem.severity {
        DisplaySeverity::Error => "critical",
        DisplaySeverity::Warning => "minor",
        DisplaySeverity::Waived => "info",
    };
    let evidence = problem.evidence;
    // An issue requires a file: without a source file, it is the program.
    let (path, line) = match problem.file(view) {
        Some(file) => (file, evidence.and_then(|evidence| evidence.line).unwrap_or(1)),
        None => (program(view, problem), 1),
    };
    let end = evidence.filter(|evidence| evidence.file.is_some()).and_then(|evidence| evidence.end_line);
    let command = problem.command.as_ref().map_or_else(String::new, |command| format!(" ({command})"));
    json!({
        "type": "issue",
        "check_name": problem.result.id,
        "description": format!("{}: {}{command}", problem.result.id, problem.message()),
        "categories": ["Compatibility"],
        "severity": severity,
        "fingerprint": problem.key,
        "location": { "path": shorten_to_line(&path), "lines": { "begin": line, "end": end.unwrap_or(line) } },
    })
}

/// Returns the program if it is in the repository, else the name of the target.
fn program(view: &ReportView<'_>, problem: &ReportedProblem<'_>) -> String {
    let inside = problem.program(view).filter(|path| !path.starts_with('/'));
    inside.unwrap_or_else(|| problem.report.target.name.clone())
}
