//! The data of the HTML template.

use super::hex::{self, Marked};
use super::matrix::Matrix;
use super::timeline::Timeline;
use crate::check::{Judged, Observation, Recording, run_event};
use crate::output::root_cause::{SameKindProblems, by_kind, by_root_cause, list_other_places, what_is_wrong};
use crate::output::view::ReportView;
use crate::output::{command, coverage};
use crate::report::{Report, ReportSummary, RunEvent, Undecided};
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::{
    CheckResult, Evidence, OutputFormat, Status, Stream, Variant, condition_name, condition_phrase,
};
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

/// Approximate limit of the shown output of all runs, in bytes.
const MAX_TOTAL_OUTPUT: u64 = 8 << 20;
/// Minimum and maximum number of bytes that are shown of one stream.
const STREAM_LIMITS: [u64; 2] = [256, 8 << 10];

/// Verdicts, the most important first.
const STATUS_ORDER: [Status; 6] =
    [Status::Fail, Status::Warn, Status::Unverified, Status::Waived, Status::Pass, Status::NotApplicable];

/// The root of the template data.
#[derive(Debug, Serialize)]
pub(super) struct HtmlPage<'a> {
    /// Version of the program that rendered the page.
    version: &'static str,
    targets: Vec<TargetView<'a>>,
    /// Whether any target was explored.
    explored: bool,
}

/// Names of verdicts with their counts.
type VerdictCounts = Vec<(&'static str, usize)>;

#[derive(Debug, Serialize)]
struct TargetView<'a> {
    report: &'a Report,
    name: &'a str,
    command: String,
    /// The folder of the project; `None` if it is the current folder, or the target has no project.
    project: Option<String>,
    verdict: &'static str,
    /// How the verdict affects the exit code: `good`, `open` or `bad`.
    tone: &'static str,
    /// Counts of verdicts in words, as in the text report.
    headline: String,
    /// Number of checks that apply to the target and have a verdict, and number of checks that apply.
    decided: [usize; 2],
    elapsed_ms: Option<u128>,
    counts: VerdictCounts,
    /// Empty if there is only one principle.
    principles: Vec<PrincipleView>,
    /// What the exploration found and tried, in one line; `None` if the target was not explored.
    explored: Option<String>,
    /// How many commands were called, such as `2 of 3 commands`; `None` if the target was not explored.
    commands: Option<String>,
    notes: Vec<String>,
    /// Failures, then warnings.
    problems: Vec<Problem<'a>>,
    undecided: Vec<UndecidedView<'a>>,
    /// All checks, the most important verdicts first.
    results: Vec<VerdictView<'a>>,
    /// Levels that the filter offers; `probes` and `formats` are further filters.
    levels: BTreeSet<&'static str>,
    probes: BTreeSet<&'a str>,
    formats: BTreeSet<&'static str>,
    matrix: Option<Matrix>,
    timeline: Option<Timeline>,
    runs: Vec<RunView>,
}

/// The verdicts of a principle.
#[derive(Debug, Serialize)]
struct PrincipleView {
    number: u8,
    title: &'static str,
    /// Counts of verdicts in words.
    counts: String,
    /// The parts of a bar, each with its verdict, start and width in percent. Checks that do not apply have no part.
    bar: Vec<(&'static str, f64, f64)>,
}

/// Failed checks with one root cause.
#[derive(Debug, Serialize)]
struct Problem<'a> {
    status: &'static str,
    checks: Vec<CheckLink<'a>>,
    /// One fault for each kind of problem.
    faults: Vec<Fault<'a>>,
    helps: Vec<&'a str>,
}

/// The ID of a check, with the index of its result in the report.
#[derive(Debug, Serialize)]
struct CheckLink<'a> {
    id: &'a str,
    nth: usize,
}

/// Unverified checks with the same reason.
#[derive(Debug, Serialize)]
struct UndecidedView<'a> {
    checks: Vec<CheckLink<'a>>,
    reason: String,
}

/// A result with its explanation.
#[derive(Debug, Serialize)]
struct VerdictView<'a> {
    /// Index of the result in the report.
    nth: usize,
    /// Index of the problem that shows the evidence; `None` if the check neither failed nor warned.
    problem: Option<usize>,
    what: &'a str,
    why: &'a str,
    fix: &'a str,
    /// URL of the documentation page of the check; `None` if `docs` of the result is not a URL.
    docs: Option<&'a str>,
    /// IDs of the checks that this verdict depends on. The second member is the index of the check's result in the
    /// report; `None` if the report does not contain it.
    blocked: Vec<(&'static str, Option<usize>)>,
    /// Accepted faults, by kind.
    faults: Vec<Fault<'a>>,
    probes: BTreeSet<&'a str>,
    formats: BTreeSet<&'static str>,
}

/// A kind of problem of a check, with its first place in full.
#[derive(Debug, Serialize)]
struct Fault<'a> {
    what: String,
    detail: &'a str,
    command: Option<String>,
    /// The condition of the run in words, as far as the command does not show it.
    condition: Option<String>,
    place: String,
    /// Index of the run in the list of runs, if the page shows it.
    run: Option<usize>,
    excerpt: Option<Marked>,
    hex: Vec<hex::HexRow>,
    /// Summary of the other places.
    also: Option<String>,
    /// The other places, each with the index of its run.
    others: Vec<(String, Option<usize>)>,
    /// Number of further places that the report does not contain.
    left_out: usize,
}

/// A run with its output.
#[derive(Debug, Serialize)]
struct RunView {
    #[serde(flatten)]
    event: RunEvent,
    condition: String,
    /// How the run ended, in words.
    end: String,
    /// `zero` for exit code 0, `other` for another, `force` if the run did not exit by itself.
    state: &'static str,
    started_ms: Option<u128>,
    streams: Vec<Output>,
}

/// The output of a run on a stream.
#[derive(Debug, Serialize)]
struct Output {
    name: &'static str,
    text: String,
    /// Number of bytes that are not shown.
    left_out: u64,
}

impl<'a> HtmlPage<'a> {
    /// Creates the page of these reports.
    pub fn of(view: &ReportView<'a>) -> Self {
        let shown: Vec<Vec<(&str, &Observation)>> = view.judged.iter().map(shown_runs).collect();
        let [min, max] = STREAM_LIMITS;
        let runs = shown.iter().map(Vec::len).sum::<usize>() as u64;
        let stream = (MAX_TOTAL_OUTPUT / (2 * runs).max(1)).clamp(min, max);
        let targets = view.judged.iter().zip(&shown);
        let targets: Vec<TargetView<'a>> =
            targets.map(|(judged, shown)| TargetView::of(view, judged, shown, stream)).collect();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            explored: targets.iter().any(|target| target.explored.is_some()),
            targets,
        }
    }
}

/// Returns the runs that the page shows, with the names of their probes. A run of an explored call that was only tried
/// is shown if a problem refers to the call.
fn shown_runs(judged: &Judged) -> Vec<(&str, &Observation)> {
    let mut hidden = judged.tried_calls();
    for evidence in judged.report.results.iter().flat_map(|result| &result.evidence) {
        hidden.remove(evidence.probe.as_deref().unwrap_or_default());
    }
    let runs = judged.recording.iter().flat_map(Recording::named_observations);
    runs.filter(|(probe, _)| !hidden.contains(probe)).collect()
}

impl<'a> TargetView<'a> {
    fn of(
        view: &ReportView<'a>,
        judged: &'a Judged,
        observations: &[(&str, &Observation)],
        stream: u64,
    ) -> Self {
        let report = &judged.report;
        let of_status = |status: Status| report.results.iter().filter(move |result| result.status == status);
        let failed: Vec<&CheckResult> = of_status(Status::Fail).chain(of_status(Status::Warn)).collect();
        let causes = by_root_cause(&failed);
        let faults = |group: &[&'a CheckResult]| -> Vec<Fault<'a>> {
            let fault = |kind: &SameKindProblems<'a>| Fault::of(view, judged, observations, group[0], kind);
            by_kind(group).iter().map(fault).collect()
        };
        let problems = causes.iter().map(|group| Problem::of(judged, group, faults(group))).collect();
        let results: Vec<VerdictView<'a>> = STATUS_ORDER
            .into_iter()
            .flat_map(of_status)
            .map(|result| {
                let contains = |group: &Vec<&CheckResult>| group.iter().any(|one| one.id == result.id);
                let problem = causes.iter().position(contains);
                let faults = if problem.is_none() { faults(&[result]) } else { Vec::new() };
                VerdictView::of(report, result, problem, faults)
            })
            .collect();
        let run = |(probe, seen): &(&str, &Observation)| {
            let mut run = RunView::of(probe, seen, stream);
            run.event.argv =
                run.event.argv.map(|line| command::short_command_line(report, view.folder, &line));
            run
        };
        let runs: Vec<RunView> = observations.iter().map(run).collect();
        let timed: Vec<(Option<Duration>, &RunEvent)> =
            observations.iter().zip(&runs).map(|((_, seen), run)| (seen.started, &run.event)).collect();
        let timeline = Timeline::of(&timed);
        let principles: Vec<PrincipleView> = report
            .by_principle()
            .iter()
            .map(|(number, summary)| PrincipleView::of(*number, summary))
            .collect();
        let applicable = report.results.len() - of_status(Status::NotApplicable).count();
        Self {
            report,
            name: &report.target.name,
            command: command::short_command_line(report, view.folder, &report.target.command.join(" ")),
            project: report.target.project.as_deref().and_then(|project| short_folder(view.folder, project)),
            verdict: report.verdict(),
            tone: match report.exit_code(view.strict) {
                0 if report.verified => "good",
                0 => "open",
                _ => "bad",
            },
            headline: report.counts().join(", "),
            decided: [applicable - of_status(Status::Unverified).count(), applicable],
            elapsed_ms: judged.elapsed.map(|elapsed| elapsed.as_millis()),
            counts: counts(&report.summary),
            principles: if principles.len() > 1 { principles } else { Vec::new() },
            explored: report.coverage.as_ref().map(coverage::summary),
            commands: report.coverage.as_ref().map(coverage::commands),
            notes: coverage::notes(report).collect(),
            problems,
            undecided: undecided(report),
            levels: report.results.iter().map(|result| result.level.name()).collect(),
            probes: results.iter().flat_map(|result| result.probes.iter().copied()).collect(),
            formats: results.iter().flat_map(|result| result.formats.iter().copied()).collect(),
            results,
            matrix: Matrix::of(judged),
            timeline,
            runs,
        }
    }
}

/// Returns the IDs of these results, with their indices in the report.
fn links<'a>(report: &'a Report, results: &[&'a CheckResult]) -> Vec<CheckLink<'a>> {
    let nth = |id| report.results.iter().position(|result| result.id == id).unwrap_or_default();
    results.iter().map(|result| CheckLink { id: result.id.as_str(), nth: nth(result.id) }).collect()
}

/// Returns the unverified checks by reason, those that other checks block last.
fn undecided(report: &Report) -> Vec<UndecidedView<'_>> {
    let Undecided { waiting, causes, reasons } = report.undecided();
    let causes: Vec<&str> = causes.iter().map(|id| id.as_str()).collect();
    let blocked = (!waiting.is_empty()).then(|| (format!("blocked by {}", causes.join(", ")), waiting));
    let all = reasons.into_iter().chain(blocked);
    all.map(|(reason, results)| UndecidedView { checks: links(report, &results), reason }).collect()
}

impl<'a> Problem<'a> {
    fn of(judged: &'a Judged, group: &[&'a CheckResult], faults: Vec<Fault<'a>>) -> Self {
        let toolkit = judged.toolkit();
        let mut helps: Vec<&str> =
            group.iter().map(|result| result.id.check().help.for_toolkit(toolkit)).collect();
        helps.dedup();
        Self { status: group[0].status.name(), checks: links(&judged.report, group), faults, helps }
    }
}

/// Returns the path of a folder relative to the current folder; its name if it is elsewhere. `None` if it is the
/// current folder.
fn short_folder(current: Option<&Path>, folder: &str) -> Option<String> {
    let path = Path::new(folder);
    let relative = current.and_then(|current| path.strip_prefix(current).ok());
    let shown = relative.or_else(|| path.file_name().map(Path::new)).unwrap_or(path);
    Some(shown.display().to_string()).filter(|shown| !shown.is_empty())
}

impl PrincipleView {
    fn of(number: u8, summary: &ReportSummary) -> Self {
        let decided = ReportSummary { not_applicable: 0, ..*summary };
        let total: usize = counts(&decided).iter().map(|(_, count)| count).sum();
        let percent = |count: usize| count as f64 * 100.0 / total.max(1) as f64;
        let bar = counts(&decided).into_iter().scan(0, |before, (status, count)| {
            let part = (status, percent(*before), percent(count));
            *before += count;
            Some(part)
        });
        let words = if total > 0 { decided.counts() } else { summary.counts() };
        Self { number, title: principle_title(number), counts: words.join(", "), bar: bar.collect() }
    }
}

impl<'a> VerdictView<'a> {
    fn of(
        report: &'a Report,
        result: &'a CheckResult,
        problem: Option<usize>,
        faults: Vec<Fault<'a>>,
    ) -> Self {
        let check = result.id.check();
        let position = |id| report.results.iter().position(|other| other.id == id);
        let blocked = result.blocked_by.iter().map(|cause| (cause.id.as_str(), position(cause.id)));
        let named = result.blocked_by.iter().map(|cause| (&cause.probe, cause.format));
        let named = named.chain(result.evidence.iter().map(|evidence| (&evidence.probe, evidence.format)));
        let (probes, formats): (Vec<_>, Vec<_>) = named.unzip();
        let is_address = |docs: &&str| docs.starts_with("https://") || docs.starts_with("http://");
        Self {
            nth: position(result.id).unwrap_or_default(),
            problem,
            what: &check.what,
            why: &check.why,
            fix: &check.fix,
            docs: Some(result.docs.as_str()).filter(is_address),
            blocked: blocked.collect::<BTreeSet<_>>().into_iter().collect(),
            faults,
            probes: probes.into_iter().filter_map(Option::as_deref).collect(),
            formats: formats.into_iter().flatten().map(OutputFormat::name).collect(),
        }
    }
}

impl<'a> Fault<'a> {
    fn of(
        view: &ReportView<'_>,
        judged: &Judged,
        observations: &[(&str, &Observation)],
        result: &'a CheckResult,
        kind: &SameKindProblems<'a>,
    ) -> Self {
        let evidence = kind.shown;
        let command = command::shell_command(&judged.report, view.folder, evidence);
        let run = run_of(observations, evidence);
        let words = evidence.variant.filter(|variant| *variant != Variant::HostileEnv);
        let nth = evidence.nth.unwrap_or_default();
        Self {
            what: what_is_wrong(result, evidence),
            detail: &evidence.detail,
            condition: words.and_then(|variant| condition_phrase(variant, nth, evidence.format)),
            place: if command.is_some() { position(evidence) } else { place(evidence) },
            command,
            run,
            excerpt: evidence.excerpt.as_deref().map(|text| split_at_caret(text, evidence.caret)),
            hex: run.and_then(|run| hex_rows(observations[run].1, evidence)).unwrap_or_default(),
            also: list_other_places(kind, result.evidence_left_out),
            others: kind.others.iter().map(|other| (place(other), run_of(observations, other))).collect(),
            left_out: result.evidence_left_out,
        }
    }
}

/// Returns the index of the run that shows the evidence; `None` if it is not among these runs.
fn run_of(observations: &[(&str, &Observation)], evidence: &Evidence) -> Option<usize> {
    let shown =
        (evidence.probe.as_deref(), evidence.format, evidence.variant, Some(evidence.nth.unwrap_or(0)));
    observations.iter().position(|(probe, seen)| {
        (Some(*probe), Some(seen.key.format), Some(seen.key.variant), Some(seen.key.nth)) == shown
    })
}

/// Describes the run and the place of the evidence: `list · json · plain · stdout · line 3, column 5`.
fn place(evidence: &Evidence) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(evidence.probe.clone());
    words.extend(evidence.format.map(|format| format.name().to_owned()));
    words.extend(evidence.variant.map(|variant| condition_name(variant, evidence.nth.unwrap_or(0))));
    words.extend(Some(position(evidence)).filter(|position| !position.is_empty()));
    words.join(" · ")
}

/// Describes the place of the evidence in its file or in the output of its run.
fn position(evidence: &Evidence) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(evidence.file.clone());
    words.extend(evidence.stream.map(|stream| stream.name().to_owned()));
    words.extend(evidence.line.map(|line| match evidence.column {
        Some(column) => format!("line {line}, column {column}"),
        None => format!("line {line}"),
    }));
    words.extend(evidence.offset.map(|offset| format!("byte {offset}")));
    words.join(" · ")
}

/// Splits the text into the parts before, at and after the character with index `caret`. Without a caret, no part is
/// marked.
fn split_at_caret(text: &str, caret: Option<usize>) -> Marked {
    let at = caret.and_then(|caret| text.char_indices().nth(caret));
    match (at, caret) {
        (Some((at, c)), _) => {
            let (before, rest) = text.split_at(at);
            let (mark, after) = rest.split_at(escape_length(rest).unwrap_or(c.len_utf8()));
            Marked { before: before.into(), mark: mark.into(), after: after.into() }
        }
        // After the last character.
        (None, Some(_)) => Marked { before: text.into(), mark: "␊".into(), after: String::new() },
        (None, None) => Marked { before: text.into(), ..Marked::default() },
    }
}

/// Returns the length in bytes of the escape sequence (`\x1b`, `\u{2028}`) at the start of sanitized text; `None` if
/// there is none.
fn escape_length(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('\\')?;
    match rest.strip_prefix("u{") {
        Some(digits) => Some("\\u{}".len() + digits.find('}')?),
        None => {
            rest.starts_with('x').then_some("\\x1b".len()).filter(|length| text.is_char_boundary(*length))
        }
    }
}

/// Returns a hex dump of the bytes around the evidence; `None` if the evidence has no offset in a stream.
fn hex_rows(seen: &Observation, evidence: &Evidence) -> Option<Vec<hex::HexRow>> {
    let captured = match evidence.stream? {
        Stream::Stdout => &seen.stdout,
        Stream::Stderr => &seen.stderr,
    };
    let fault = evidence.offset?;
    let (start, length) = hex::shown_range(fault);
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let read = captured.bytes.read_at(start, &mut bytes).ok()?;
    Some(hex::rows(&bytes[..read], start, fault))
}

impl RunView {
    fn of(probe: &str, seen: &Observation, max: u64) -> Self {
        let event = run_event(probe, seen);
        let (end, state) = match (event.exit, event.signal) {
            (Some(0), _) => ("exit 0".to_owned(), "zero"),
            (Some(code), _) => (format!("exit {code}"), "other"),
            (None, Some(signal)) => (format!("signal {signal}"), "force"),
            (None, None) => (event.ended.name().to_owned(), "force"),
        };
        let output = |stream: Stream| {
            let bytes = match stream {
                Stream::Stdout => &seen.stdout.bytes,
                Stream::Stderr => &seen.stderr.bytes,
            };
            let mut head = vec![0; usize::try_from(max.min(bytes.len())).unwrap_or_default()];
            let read = bytes.read_at(0, &mut head).unwrap_or_default();
            head.truncate(read);
            let text = strict_json::sanitize::sanitize_text(&head);
            Output { name: stream.name(), text, left_out: bytes.len() - read as u64 }
        };
        Self {
            condition: condition_name(event.variant, event.nth),
            end,
            state,
            started_ms: seen.started.map(|started| started.as_millis()),
            streams: [Stream::Stdout, Stream::Stderr].map(output).into(),
            event,
        }
    }
}

/// Returns the verdicts with a count above 0.
fn counts(summary: &ReportSummary) -> VerdictCounts {
    let counts = STATUS_ORDER.into_iter().map(|status| (status.name(), summary.count_of(status)));
    counts.filter(|(_, number)| *number > 0).collect()
}
