//! The renderer of `github`: annotations as workflow commands of GitHub Actions.

use super::finding::{Finding, Weight, findings, short, undecided};
use super::view::View;
use agentnative_contract::error::Result;
use strict_json::sanitize;

/// GitHub shows so many annotations of each kind for a step.
const MAX_ANNOTATIONS: usize = 10;
/// A longer title is cut, in characters.
const MAX_TITLE: usize = 200;

/// A line for each annotation, errors first.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let all: Vec<Finding<'_>> = view.judged.iter().flat_map(|judged| findings(view, judged)).collect();
    let mut out = String::new();
    for (weight, kind) in [(Weight::Error, "error"), (Weight::Warning, "warning"), (Weight::Waived, "notice")]
    {
        let mut lines = Vec::new();
        // One of each check before the second of any: the cap is to hide as few checks as it can.
        let of: Vec<_> = all.iter().filter(|finding| finding.weight == weight).collect();
        let begins = |at: usize| at == 0 || !std::ptr::eq(of[at].result, of[at - 1].result);
        let (first, further): (Vec<usize>, Vec<usize>) = (0..of.len()).partition(|at| begins(*at));
        lines.extend(first.iter().map(|at| annotation(view, kind, of[*at])));
        if weight == Weight::Error {
            lines.extend(open(view));
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

/// With `--strict`, that checks are unverified: one line for each target.
fn open<'v>(view: &'v View<'v>) -> impl Iterator<Item = String> + 'v {
    view.judged.iter().filter_map(move |judged| {
        let open = undecided(view, &judged.report);
        let ids: Vec<&str> = open.iter().map(|result| result.id.as_str()).collect();
        let title = title(&judged.report.target.name, "unverified");
        (!ids.is_empty())
            .then(|| command("error", &[("title", title)], &format!("unverified: {}", ids.join(", "))))
    })
}

fn annotation(view: &View<'_>, kind: &str, finding: &Finding<'_>) -> String {
    let mut properties = Vec::new();
    if let (Some(file), Some(evidence)) = (finding.file(view), finding.evidence) {
        properties.push(("file", file));
        let places = [
            ("line", evidence.line),
            ("endLine", evidence.end_line),
            ("col", evidence.column),
            ("endColumn", evidence.end_column),
        ];
        // Columns have a meaning within one line only.
        let lines = evidence.end_line.is_some_and(|end| Some(end) != evidence.line);
        let places = places.into_iter().filter(|(name, _)| !lines || name.to_lowercase().ends_with("line"));
        properties.extend(places.filter_map(|(name, value)| Some((name, value?.to_string()))));
    }
    properties.push(("title", title(&finding.report.target.name, finding.result.id.as_str())));
    command(kind, &properties, &finding.lines())
}

/// The title of an annotation.
fn title(target: &str, what: &str) -> String {
    sanitize::capped(format!("{}: {what}", short(target)), MAX_TITLE)
}

/// A workflow command and a line feed.
fn command(kind: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", property(value))).collect();
    format!("::{kind} {}::{}\n", properties.join(","), data(message))
}

/// The message of a workflow command; it may have several lines.
fn data(text: &str) -> String {
    // A line that looks like a command is none in here, but may be where it is shown.
    let text = sanitize::break_commands(&sanitize::text(text)).into_owned();
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property of a workflow command.
fn property(text: &str) -> String {
    data(&sanitize::line(text)).replace(':', "%3A").replace(',', "%2C")
}
