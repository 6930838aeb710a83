//! The renderer of `sarif`: a SARIF 2.1.0 log with a run for each target, for code scanning.

use super::finding::{Finding, Weight, findings, page, short, undecided};
use super::view::View;
use crate::check::Judged;
use agentnative_contract::error::Result;
use agentnative_core::model::{CheckId, CheckResult, Level, Status};
use agentnative_output::to_string;
use serde_json::{Value, json};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The log and a line feed.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let runs: Vec<Value> = view.judged.iter().map(|judged| run(view, judged)).collect();
    Ok(to_string(&json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": runs }))? + "\n")
}

/// The run of a target: its checks are the rules, its faults the results. What could not be decided, and the
/// notes, are notifications, since they are no faults.
fn run(view: &View<'_>, judged: &Judged) -> Value {
    let report = &judged.report;
    let rules: Vec<CheckId> = report.results.iter().map(|result| result.id).collect();
    let results: Vec<Value> =
        findings(view, judged).iter().map(|finding| result(view, &rules, finding)).collect();
    let strict: Vec<CheckId> = undecided(view, report).iter().map(|result| result.id).collect();
    // What waits for a check that is waived is as undecided as what waits for another one.
    let is_open = |result: &&CheckResult| match result.status {
        Status::Waived => !result.blocked_by.is_empty(),
        status => status == Status::Unverified,
    };
    let open = report.results.iter().filter(is_open).map(|result| {
        let level = if strict.contains(&result.id) { "error" } else { "note" };
        let text = match result.status {
            Status::Waived => short(&result.message),
            _ => format!("unverified: {}", short(&result.message)),
        };
        json!({
            "message": { "text": message(&text) },
            "level": level,
            "associatedRule": { "id": result.id, "index": index(&rules, result.id) },
        })
    });
    let notes = report
        .notes
        .iter()
        .map(|note| json!({ "message": { "text": message(&short(note)) }, "level": "warning" }));
    let ended = judged.recording.as_ref().and_then(|recording| recording.ended.as_ref());
    let invocation = known(json!({
        "executionSuccessful": !report.interrupted,
        "toolExecutionNotifications": open.chain(notes).collect::<Vec<_>>(),
        "startTimeUtc": report.time,
        "endTimeUtc": ended,
    }));
    let name = short(&report.target.name);
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
        "properties": {
            "target": report.target.command.iter().map(|word| short(word)).collect::<Vec<_>>(),
            "conformant": report.conformant,
            "verified": report.verified,
            "runs": report.runs,
            "config": report.config,
            "edition": report.edition,
            "summary": report.summary,
        },
    })
}

/// A check as a rule, with its help and, where `docs` is an address, that page.
fn rule(result: &CheckResult) -> Value {
    let check = result.id.check();
    let level = match check.level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::May => "note",
    };
    let help = format!("{}\n\n{}\n\n{}", check.what, check.why, check.fix);
    let markdown = format!("{}\n\n**Why:** {}\n\n**Fix:** {}", check.what, check.why, check.fix);
    known(json!({
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

/// A fault as a result.
fn result(view: &View<'_>, rules: &[CheckId], finding: &Finding<'_>) -> Value {
    let level = match finding.weight {
        Weight::Error => "error",
        Weight::Warning | Weight::Waived => "warning",
    };
    let mut fingerprints = json!({ "agentnative/v1": finding.key });
    let (location, properties) = if let Some(file) = finding.file(view) {
        let place = json!({ "artifactLocation": artifact(&file), "region": region(finding) });
        (json!({ "physicalLocation": place }), json!({}))
    } else {
        // Code scanning tells results by this one, and makes it of the line in the file; here is none.
        fingerprints["primaryLocationLineHash"] = format!("{}:1", finding.key).into();
        // Code scanning shows no result without a file.
        let program = finding.program(view).map(|program| json!({ "artifactLocation": artifact(&program) }));
        let location = json!({ "physicalLocation": program, "logicalLocations": [logical(finding)] });
        (known(location), of_run(finding))
    };
    let why = short(&finding.result.message);
    let suppression = json!([{ "kind": "external", "status": "accepted", "justification": why }]);
    known(json!({
        "ruleId": finding.result.id,
        "ruleIndex": index(rules, finding.result.id),
        "kind": "fail",
        "level": level,
        "message": { "text": message(&finding.lines()) },
        "locations": [location],
        "partialFingerprints": fingerprints,
        "occurrenceCount": finding.more + 1,
        "properties": properties,
        "suppressions": (finding.weight == Weight::Waived).then_some(suppression),
    }))
}

/// The probe, in the words of logical locations.
fn logical(finding: &Finding<'_>) -> Value {
    let name = short(&finding.report.target.name);
    let Some(probe) = finding.evidence.and_then(|evidence| evidence.probe.as_deref()) else {
        return json!({ "name": name, "fullyQualifiedName": name, "kind": "program" });
    };
    let probe = short(probe);
    json!({ "name": probe, "fullyQualifiedName": format!("{name}/{probe}"), "kind": "probe" })
}

/// What else is known of the run: its command line, and the place in its output.
fn of_run(finding: &Finding<'_>) -> Value {
    let Some(evidence) = finding.evidence else { return json!({}) };
    known(json!({
        "kind": short(&evidence.kind),
        "command": finding.command,
        "format": evidence.format,
        "variant": evidence.variant,
        "stream": evidence.stream,
        "offset": evidence.offset,
        "line": evidence.line,
        "column": evidence.column,
        "excerpt": evidence.excerpt.as_deref().map(short),
    }))
}

/// The span in a file.
fn region(finding: &Finding<'_>) -> Value {
    let Some(evidence) = finding.evidence else { return json!({}) };
    known(json!({
        "startLine": evidence.line.unwrap_or(1),
        "startColumn": evidence.column,
        "endLine": evidence.end_line,
        "endColumn": evidence.end_column,
    }))
}

/// Returns an object without its members that are null.
fn known(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.retain(|_, value| !value.is_null());
    }
    object
}

/// A file: relative to the root of the repository, or anywhere.
fn artifact(path: &str) -> Value {
    if path.starts_with('/') {
        return json!({ "uri": format!("file://{}", uri(path)) });
    }
    json!({ "uri": uri(path), "uriBaseId": "%SRCROOT%" })
}

/// The path of a URI: what has no meaning there as it is, all else as `%NN`.
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

/// Text in which nothing is a link (`[text](target)`) or a placeholder (`{0}`) to a SARIF viewer.
fn message(text: &str) -> String {
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
