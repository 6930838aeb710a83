//! The renderer of `junit`: JUnit XML with one suite per target and one case per check, for CI and test dashboards.

use super::coverage;
use super::problem::{DisplaySeverity, ReportedProblem, problems, shorten_to_line, undecided};
use super::view::ReportView;
use crate::check::Judged;
use agentnative_contract::error::Result;
use agentnative_core::model::{CheckResult, Status};
use agentnative_output::sanitize_output;

/// Maximum number of problems of a check that are listed.
const MAX_PROBLEMS: usize = 100;

/// Renders the document and a line feed.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
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
    Ok(sanitize_output(&document, false))
}

/// The XML of one target's test suite. The counts are also summed for the root element.
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

fn suite(view: &ReportView<'_>, judged: &Judged) -> Suite {
    let report = &judged.report;
    let problems = problems(view, judged);
    let strict = undecided(view, report);
    let mut suite = Suite {
        tests: report.results.len(),
        failures: 0,
        skipped: 0,
        seconds: judged.elapsed.map_or(0.0, |elapsed| elapsed.as_secs_f64()),
        xml: String::new(),
    };
    let name = escape(&shorten_to_line(&report.target.name));
    let mut cases = String::new();
    for result in &report.results {
        let of = problems.iter().filter(|problem| problem.result.id == result.id).collect::<Vec<_>>();
        let body = if strict.iter().any(|open| open.id == result.id) {
            suite.failures += 1;
            failure(view, result, &[])
        } else {
            case_body(view, result, &of, &mut suite)
        };
        // The duration is unknown without the runs.
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
    let explored =
        report.coverage.iter().map(|coverage| format!("explored: {}", coverage::summary(coverage)));
    let notes = explored.chain(coverage::notes(report));
    let notes = match &notes.map(|note| shorten_to_line(&note)).collect::<Vec<_>>()[..] {
        [] => String::new(),
        notes => format!("    <system-out>{}</system-out>\n", escape(&notes.join("\n"))),
    };
    let counts = suite.counts();
    // All JUnit schemas accept a time without a zone.
    let time = report.time.as_deref().map(|time| escape(&shorten_to_line(time.trim_end_matches('Z'))));
    let time = time.map_or_else(String::new, |time| format!(" timestamp=\"{time}\""));
    suite.xml = format!("  <testsuite name=\"{name}\" {counts}{time}>\n{cases}{notes}  </testsuite>\n");
    suite
}

/// Returns the XML inside a test case, and adds its result to the counts of `suite`. JUnit has no warnings: a warning
/// is a passed case with output.
fn case_body(
    view: &ReportView<'_>,
    result: &CheckResult,
    problems: &[&ReportedProblem<'_>],
    suite: &mut Suite,
) -> String {
    let status = result.status.name();
    match result.status {
        _ if problems.iter().any(|problem| problem.severity == DisplaySeverity::Error) => {
            suite.failures += 1;
            failure(view, result, problems)
        }
        Status::Pass => String::new(),
        Status::Fail | Status::Warn => {
            format!(
                "      <system-out>{}</system-out>\n",
                escape(&format!("{status}: {}", describe(view, result, problems)))
            )
        }
        Status::Unverified | Status::NotApplicable | Status::Waived => {
            suite.skipped += 1;
            let message = shorten_to_line(&result.message);
            // The message of a waived check begins with its status.
            let text = if message.starts_with(status) { message } else { format!("{status}: {message}") };
            format!("      <skipped message=\"{}\"/>\n", escape(&text))
        }
    }
}

fn failure(view: &ReportView<'_>, result: &CheckResult, problems: &[&ReportedProblem<'_>]) -> String {
    let status = result.status.name();
    let message = escape(&shorten_to_line(result.text()));
    let text = escape(&describe(view, result, problems));
    format!("      <failure message=\"{message}\" type=\"{status}\">{text}</failure>\n")
}

/// Returns a text with the requirement of a check, followed by its problems.
fn describe(view: &ReportView<'_>, result: &CheckResult, problems: &[&ReportedProblem<'_>]) -> String {
    let mut describe = vec![shorten_to_line(&result.title)];
    describe.extend(problems.iter().take(MAX_PROBLEMS).map(|problem| {
        let line = problem.evidence.and_then(|evidence| evidence.line).unwrap_or(1);
        let file = problem
            .file(view)
            .map_or_else(String::new, |file| format!("{}:{line}: ", shorten_to_line(&file)));
        format!("{file}{}", problem.lines())
    }));
    describe.extend(
        problems.len().checked_sub(MAX_PROBLEMS).filter(|more| *more > 0).map(|more| format!("{more} more")),
    );
    describe.join("\n\n")
}

/// Escapes text for an element or an attribute of XML 1.0. Characters that XML does not allow become `\u{…}`.
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
