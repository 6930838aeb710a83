//! The renderer of `github`: annotations as workflow commands of GitHub Actions.

use super::coverage;
use super::problem::{DisplaySeverity, ReportedProblem, problems, shorten_to_line, undecided};
use super::view::ReportView;
use agentnative_contract::error::Result;
use strict_json::sanitize;

/// Number of annotations of each kind that GitHub shows per step.
const MAX_ANNOTATIONS: usize = 10;
/// Maximum length of a title, in characters.
const MAX_TITLE: usize = 200;

/// Renders one line per annotation, errors first.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let all: Vec<ReportedProblem<'_>> =
        view.judged.iter().flat_map(|judged| problems(view, judged)).collect();
    let mut out = String::new();
    for (severity, kind) in [
        (DisplaySeverity::Error, "error"),
        (DisplaySeverity::Warning, "warning"),
        (DisplaySeverity::Waived, "notice"),
    ] {
        let mut lines = Vec::new();
        if severity == DisplaySeverity::Waived {
            lines.extend(coverage_lines(view));
        }
        // Lists the first problem of each check before further ones, so that the limit hides as few checks as
        // possible.
        let of: Vec<_> = all.iter().filter(|problem| problem.severity == severity).collect();
        let is_first = |at: usize| at == 0 || !std::ptr::eq(of[at].result, of[at - 1].result);
        let (first, further): (Vec<usize>, Vec<usize>) = (0..of.len()).partition(|at| is_first(*at));
        lines.extend(first.iter().map(|at| annotation(view, kind, of[*at])));
        if severity == DisplaySeverity::Error {
            lines.extend(unverified_lines(view));
        }
        lines.extend(further.iter().map(|at| annotation(view, kind, of[*at])));
        let more = lines.len().saturating_sub(MAX_ANNOTATIONS);
        if more > 0 {
            lines.truncate(MAX_ANNOTATIONS - 1);
            let text = format!("{} more of this kind are in the report of this step", more + 1);
            lines.push(command(kind, &[("title", "agentnative".to_owned())], &text));
        }
        out.extend(lines);
    }
    Ok(out)
}

/// Returns one line per explored target with its commands and options.
fn coverage_lines<'v>(view: &'v ReportView<'v>) -> impl Iterator<Item = String> + 'v {
    let reports = view.judged.iter().map(|judged| &judged.report);
    reports.filter_map(|report| {
        let title = title(&report.target.name, "explored");
        Some(command("notice", &[("title", title)], &coverage::summary(report.coverage.as_ref()?)))
    })
}

/// Returns one line per target with its unverified checks, if `--strict` makes them fail.
fn unverified_lines<'v>(view: &'v ReportView<'v>) -> impl Iterator<Item = String> + 'v {
    view.judged.iter().filter_map(move |judged| {
        let open = undecided(view, &judged.report);
        let ids: Vec<&str> = open.iter().map(|result| result.id.as_str()).collect();
        let title = title(&judged.report.target.name, "unverified");
        (!ids.is_empty())
            .then(|| command("error", &[("title", title)], &format!("unverified: {}", ids.join(", "))))
    })
}

fn annotation(view: &ReportView<'_>, kind: &str, problem: &ReportedProblem<'_>) -> String {
    let mut properties = Vec::new();
    if let (Some(file), Some(evidence)) = (problem.file(view), problem.evidence) {
        properties.push(("file", file));
        let places = [
            ("line", evidence.line),
            ("endLine", evidence.end_line),
            ("col", evidence.column),
            ("endColumn", evidence.end_column),
        ];
        // GitHub ignores columns of a range of several lines.
        let lines = evidence.end_line.is_some_and(|end| Some(end) != evidence.line);
        let places = places.into_iter().filter(|(name, _)| !lines || name.to_lowercase().ends_with("line"));
        properties.extend(places.filter_map(|(name, value)| Some((name, value?.to_string()))));
    }
    properties.push(("title", title(&problem.report.target.name, problem.result.id.as_str())));
    command(kind, &properties, &problem.lines())
}

/// Formats the title of an annotation: `mycli: p2-output-json`.
fn title(target: &str, what: &str) -> String {
    sanitize::sanitize_capped(format!("{}: {what}", shorten_to_line(target)), MAX_TITLE)
}

/// Formats a workflow command, such as `::error title=mycli::message`, and a line feed.
fn command(kind: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", escape_property(value))).collect();
    format!("::{kind} {}::{}\n", properties.join(","), escape_message(message))
}

/// Escapes the message of a workflow command, which may have several lines.
fn escape_message(text: &str) -> String {
    // A line that looks like a command has no effect here, but may have one where the message is shown.
    let text = sanitize::escape_commands(&sanitize::sanitize_text(text)).into_owned();
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property of a workflow command.
fn escape_property(text: &str) -> String {
    escape_message(&sanitize::sanitize_line(text)).replace(':', "%3A").replace(',', "%2C")
}
