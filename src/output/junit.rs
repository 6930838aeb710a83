//! The renderer of `junit`: JUnit XML with a suite for each target and a case for each check, for CI and
//! dashboards of tests.

use super::finding::{Finding, Weight, findings, short, undecided};
use super::view::View;
use crate::check::Judged;
use agentnative_contract::error::Result;
use agentnative_core::model::{CheckResult, Status};
use agentnative_output::gate;

/// So many faults of a check are told at most.
const MAX_FAULTS: usize = 100;

/// The document and a line feed.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let suites: Vec<Suite> = view.judged.iter().map(|judged| suite(view, judged)).collect();
    let sum = |count: fn(&Suite) -> usize| suites.iter().map(count).sum();
    let total = Suite {
        tests: sum(|suite| suite.tests),
        failures: sum(|suite| suite.failures),
        skipped: sum(|suite| suite.skipped),
        seconds: suites.iter().map(|suite| suite.seconds).sum(),
        xml: String::new(),
    };
    let suites: String = suites.into_iter().map(|suite| suite.xml).collect();
    let counts = total.counts();
    let document = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"agentnative\" {counts}>\n{suites}</testsuites>\n"
    );
    Ok(gate(&document, false))
}

/// The suite of a target, with what the outer element counts.
struct Suite {
    tests: usize,
    failures: usize,
    skipped: usize,
    seconds: f64,
    xml: String,
}

impl Suite {
    fn counts(&self) -> String {
        let Self { tests, failures, skipped, seconds, .. } = self;
        format!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" time=\"{seconds:.3}\""
        )
    }
}

fn suite(view: &View<'_>, judged: &Judged) -> Suite {
    let report = &judged.report;
    let findings = findings(view, judged);
    let strict = undecided(view, report);
    let mut suite = Suite {
        tests: report.results.len(),
        failures: 0,
        skipped: 0,
        seconds: judged.elapsed.map_or(0.0, |elapsed| elapsed.as_secs_f64()),
        xml: String::new(),
    };
    let name = escape(&short(&report.target.name));
    let mut cases = String::new();
    for result in &report.results {
        let of = findings.iter().filter(|finding| finding.result.id == result.id).collect::<Vec<_>>();
        let body = if strict.iter().any(|open| open.id == result.id) {
            suite.failures += 1;
            failure(view, result, &[])
        } else {
            case(view, result, &of, &mut suite)
        };
        // Without the runs it is not known.
        let time = judged
            .duration(result.id)
            .map_or_else(String::new, |time| format!(" time=\"{:.3}\"", time.as_secs_f64()));
        let id = result.id;
        cases.push_str(&match body.as_str() {
            "" => format!("    <testcase name=\"{id}\" classname=\"{name}\"{time}/>\n"),
            body => {
                format!("    <testcase name=\"{id}\" classname=\"{name}\"{time}>\n{body}    </testcase>\n")
            }
        });
    }
    let notes = match &report.notes[..] {
        [] => String::new(),
        notes => {
            let notes = notes.iter().map(|note| short(note)).collect::<Vec<_>>().join("\n");
            format!("    <system-out>{}</system-out>\n", escape(&notes))
        }
    };
    let counts = suite.counts();
    // A time without its zone is what all schemas of JUnit take.
    let time = report.time.as_deref().map(|time| escape(&short(time.trim_end_matches('Z'))));
    let time = time.map_or_else(String::new, |time| format!(" timestamp=\"{time}\""));
    suite.xml = format!("  <testsuite name=\"{name}\" {counts}{time}>\n{cases}{notes}  </testsuite>\n");
    suite
}

/// What a case holds beside its name. JUnit knows no warnings: one is a case that passed, with output.
fn case(view: &View<'_>, result: &CheckResult, findings: &[&Finding<'_>], suite: &mut Suite) -> String {
    let status = result.status.name();
    match result.status {
        _ if findings.iter().any(|finding| finding.weight == Weight::Error) => {
            suite.failures += 1;
            failure(view, result, findings)
        }
        Status::Pass => String::new(),
        Status::Fail | Status::Warn => {
            format!(
                "      <system-out>{}</system-out>\n",
                escape(&format!("{status}: {}", texts(view, result, findings)))
            )
        }
        Status::Unverified | Status::NotApplicable | Status::Waived => {
            suite.skipped += 1;
            let message = short(&result.message);
            // The message of a waived check begins with the word.
            let text = if message.starts_with(status) { message } else { format!("{status}: {message}") };
            format!("      <skipped message=\"{}\"/>\n", escape(&text))
        }
    }
}

fn failure(view: &View<'_>, result: &CheckResult, findings: &[&Finding<'_>]) -> String {
    let status = result.status.name();
    let message = escape(&short(result.text()));
    let text = escape(&texts(view, result, findings));
    format!("      <failure message=\"{message}\" type=\"{status}\">{text}</failure>\n")
}

/// The requirement, and each fault.
fn texts(view: &View<'_>, result: &CheckResult, findings: &[&Finding<'_>]) -> String {
    let mut texts = vec![short(&result.title)];
    texts.extend(findings.iter().take(MAX_FAULTS).map(|finding| {
        let line = finding.evidence.and_then(|evidence| evidence.line).unwrap_or(1);
        let file = finding.file(view).map_or_else(String::new, |file| format!("{}:{line}: ", short(&file)));
        format!("{file}{}", finding.lines())
    }));
    texts.extend(
        findings.len().checked_sub(MAX_FAULTS).filter(|more| *more > 0).map(|more| format!("{more} more")),
    );
    texts.join("\n\n")
}

/// Text for an element or an attribute of XML 1.0: what has a meaning there as an entity, and what may not
/// stand in a document spelt out.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&apos;"),
            '\u{fffe}' | '\u{ffff}' => out.push_str(&format!("\\u{{{:x}}}", u32::from(c))),
            c => out.push(c),
        }
    }
    out
}
