//! The renderer of `sarif`: a SARIF 2.1.0 log with one run per target, for code scanning.

use super::coverage;
use super::problem::{DisplaySeverity, ReportedProblem, page, problems, shorten_to_line, undecided};
use super::view::ReportView;
use crate::check::Judged;
use agentnative_contract::error::Result;
use agentnative_core::model::{CheckId, CheckResult, Level, Status};
use agentnative_output::to_string;
use serde_json::{Value, json};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Renders the log and a line feed.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let runs: Vec<Value> = view.judged.iter().map(|judged| run(view, judged)).collect();
    Ok(to_string(&json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": runs }))? + "\n")
}

/// Returns the SARIF run of a target: its checks are the rules, its problems the results. Undecided checks and notes
/// are notifications, since they are not problems.
fn run(view: &ReportView<'_>, judged: &Judged) -> Value {
    let report = &judged.report;
    let rules: Vec<CheckId> = report.results.iter().map(|result| result.id).collect();
    let results: Vec<Value> =
        problems(view, judged).iter().map(|problem| result(view, &rules, problem)).collect();
    let strict: Vec<CheckId> = undecided(view, report).iter().map(|result| result.id).collect();
    // A check that depends on a waived one is as undecided as any other.
    let is_open = |result: &&CheckResult| match result.status {
        Status::Waived => !result.blocked_by.is_empty(),
        status => status == Status::Unverified,
    };
    let open = report.results.iter().filter(is_open).map(|result| {
        let level = if strict.contains(&result.id) { "error" } else { "note" };
        let text = match result.status {
            Status::Waived => shorten_to_line(&result.message),
            _ => format!("unverified: {}", shorten_to_line(&result.message)),
        };
        json!({
            "message": { "text": escape_message(&text) },
            "level": level,
            "associatedRule": { "id": result.id, "index": index(&rules, result.id) },
        })
    });
    let notes = coverage::notes(report).map(
        |note| json!({ "message": { "text": escape_message(&shorten_to_line(&note)) }, "level": "warning" }),
    );
    let ended = judged.recording.as_ref().and_then(|recording| recording.ended.as_ref());
    let invocation = without_nulls(json!({
        "executionSuccessful": !report.interrupted,
        "toolExecutionNotifications": open.chain(notes).collect::<Vec<_>>(),
        "startTimeUtc": report.time,
        "endTimeUtc": ended,
    }));
    let name = shorten_to_line(&report.target.name);
    let mut properties = json!({
        "target": report.target.command.iter().map(|word| shorten_to_line(word)).collect::<Vec<_>>(),
        "conformant": report.conformant,
        "verified": report.verified,
        "runs": report.runs,
        "config": report.config,
        "edition": report.edition,
        "summary": report.summary,
    });
    if let Some(coverage) = &report.coverage {
        properties["coverage"] = json!(coverage);
    }
    json!({
        "tool": { "driver": {
            "name": "agentnative",
            "version": report.version,
            "semanticVersion": report.version,
            "rules": report.results.iter().map(rule).collect::<Vec<_>>(),
        } },
        "automationDetails": { "id": format!("agentnative/{name}/") },
        "columnKind": "unicodeCodePoints",
        "invocations": [invocation],
        "results": results,
        "properties": properties,
    })
}

/// Returns the SARIF rule for a check, with its help and, if `docs` is a URL, the help page.
fn rule(result: &CheckResult) -> Value {
    let check = result.id.check();
    let level = match check.level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May => "note",
    };
    let help = format!("{}\n\n{}\n\n{}", check.what, check.why, check.fix);
    let markdown = format!("{}\n\n**Why:** {}\n\n**Fix:** {}", check.what, check.why, check.fix);
    without_nulls(json!({
        "id": check.id,
        "shortDescription": { "text": check.title },
        "fullDescription": { "text": check.what },
        "help": { "text": help, "markdown": markdown },
        "defaultConfiguration": { "level": level },
        "properties": {
            "tags": [format!("principle-{}", check.principle), check.layer],
            "level": check.level,
        },
        "helpUri": page(result),
    }))
}

/// Returns the SARIF result for a problem.
fn result(view: &ReportView<'_>, rules: &[CheckId], problem: &ReportedProblem<'_>) -> Value {
    let level = match problem.severity {
        DisplaySeverity::Error => "error",
        DisplaySeverity::Warning | DisplaySeverity::Waived => "warning",
    };
    let mut fingerprints = json!({ "agentnative/v1": problem.key });
    let (location, properties) = if let Some(file) = problem.file(view) {
        let place = json!({ "artifactLocation": artifact(&file), "region": region(problem) });
        (json!({ "physicalLocation": place }), json!({}))
    } else {
        // Code scanning identifies results by this fingerprint and computes it from the line in the file; here is no
        // file.
        fingerprints["primaryLocationLineHash"] = format!("{}:1", problem.key).into();
        // Code scanning does not show results without a file.
        let program = problem.program(view).map(|program| json!({ "artifactLocation": artifact(&program) }));
        let location =
            json!({ "physicalLocation": program, "logicalLocations": [logical_location(problem)] });
        (without_nulls(location), run_properties(problem))
    };
    let why = shorten_to_line(&problem.result.message);
    let suppression = json!([{ "kind": "external", "status": "accepted", "justification": why }]);
    without_nulls(json!({
        "ruleId": problem.result.id,
        "ruleIndex": index(rules, problem.result.id),
        "kind": "fail",
        "level": level,
        "message": { "text": escape_message(&problem.lines()) },
        "locations": [location],
        "partialFingerprints": fingerprints,
        "occurrenceCount": problem.more + 1,
        "properties": properties,
        "suppressions": (problem.severity == DisplaySeverity::Waived).then_some(suppression),
    }))
}

/// Returns the logical location of a problem in SARIF: its probe, else the target.
fn logical_location(problem: &ReportedProblem<'_>) -> Value {
    let name = shorten_to_line(&problem.report.target.name);
    let Some(probe) = problem.evidence.and_then(|evidence| evidence.probe.as_deref()) else {
        return json!({ "name": name, "fullyQualifiedName": name, "kind": "program" });
    };
    let probe = shorten_to_line(probe);
    json!({ "name": probe, "fullyQualifiedName": format!("{name}/{probe}"), "kind": "probe" })
}

/// Returns the SARIF properties of a problem in a run: its command line, and the place in its output.
fn run_properties(problem: &ReportedProblem<'_>) -> Value {
    let Some(evidence) = problem.evidence else { return json!({}) };
    without_nulls(json!({
        "kind": shorten_to_line(&evidence.kind),
        "command": problem.command,
        "format": evidence.format,
        "variant": evidence.variant,
        "stream": evidence.stream,
        "offset": evidence.offset,
        "line": evidence.line,
        "column": evidence.column,
        "excerpt": evidence.excerpt.as_deref().map(shorten_to_line),
    }))
}

/// Returns the SARIF region of a problem: its lines and columns in a file.
fn region(problem: &ReportedProblem<'_>) -> Value {
    let Some(evidence) = problem.evidence else { return json!({}) };
    without_nulls(json!({
        "startLine": evidence.line.unwrap_or(1),
        "startColumn": evidence.column,
        "endLine": evidence.end_line,
        "endColumn": evidence.end_column,
    }))
}

/// Returns an object without its members that are null.
fn without_nulls(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// Returns the SARIF location of a file: relative to the root of the repository, or absolute.
fn artifact(path: &str) -> Value {
    if path.starts_with('/') {
        return json!({ "uri": format!("file://{}", uri(path)) });
    }
    json!({ "uri": uri(path), "uriBaseId": "%SRCROOT%" })
}

/// Encodes the path of a URI: all bytes except unreserved characters and `/` as `%NN`.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into())
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}

fn index(rules: &[CheckId], id: CheckId) -> Option<usize> {
    rules.iter().position(|rule| *rule == id)
}

/// Escapes text so that a SARIF viewer finds neither links (`[text](target)`) nor placeholders (`{0}`) in it.
fn escape_message(text: &str) -> String {
    let text = text.replace("](", "] (");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = rest.find('{') {
        let (before, after) = rest.split_at(at);
        out.push_str(before);
        let digits = after[1..].len() - after[1..].trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let end = 1 + digits;
        if digits > 0 && after[end..].starts_with('}') {
            out.push_str(&format!("{{{}}}", &after[..=end]));
            rest = &after[end + 1..];
        } else {
            out.push('{');
            rest = &after[1..];
        }
    }
    out + rest
}
