//! The renderer of `gitlab`: a Code Quality report, as merge requests of GitLab show it.

use super::finding::{Finding, Weight, findings, short};
use super::view::View;
use agentnative_contract::error::Result;
use agentnative_output::to_string;
use serde_json::{Value, json};

/// An array of issues and a line feed.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let findings = view.judged.iter().flat_map(|judged| findings(view, judged));
    let issues: Vec<Value> = findings.map(|finding| issue(view, &finding)).collect();
    Ok(to_string(&issues)? + "\n")
}

fn issue(view: &View<'_>, finding: &Finding<'_>) -> Value {
    let severity = match finding.weight {
        Weight::Error => "critical",
        Weight::Warning => "minor",
        Weight::Waived => "info",
    };
    let evidence = finding.evidence;
    // An issue has a file. Where none of the code is known it is the program.
    let (path, line) = match finding.file(view) {
        Some(file) => (file, evidence.and_then(|evidence| evidence.line).unwrap_or(1)),
        None => (program(view, finding), 1),
    };
    let end = evidence.filter(|evidence| evidence.file.is_some()).and_then(|evidence| evidence.end_line);
    let command = finding.command.as_ref().map_or_else(String::new, |command| format!(" ({command})"));
    json!({
        "type": "issue",
        "check_name": finding.result.id,
        "description": format!("{}: {}{command}", finding.result.id, finding.message()),
        "categories": ["Compatibility"],
        "severity": severity,
        "fingerprint": finding.key,
        "location": { "path": short(&path), "lines": { "begin": line, "end": end.unwrap_or(line) } },
    })
}

/// The program, if it is in the repository, else the name of the target.
fn program(view: &View<'_>, finding: &Finding<'_>) -> String {
    let inside = finding.program(view).filter(|path| !path.starts_with('/'));
    inside.unwrap_or_else(|| finding.report.target.name.clone())
}
