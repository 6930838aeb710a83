//! The data of the HTML template.

use super::hex::{self, Marked};
use super::matrix::Matrix;
use super::timeline::Timeline;
use crate::check::{Judged, Observation, Recording, run_event};
use crate::output::view::ReportView;
use crate::output::{command, coverage};
use crate::report::{Report, ReportSummary, RunEvent};
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::{CheckResult, Evidence, OutputFormat, Status, Stream, condition_name};
use serde::Serialize;
use std::collections::BTreeSet;
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
    /// Counts of verdicts of all targets, the most important first.
    counts: VerdictCounts,
    /// Levels that the filter of the page offers; `probes` and `formats` are further filters.
    levels: BTreeSet<&'static str>,
    probes: BTreeSet<&'a str>,
    formats: BTreeSet<&'static str>,
}

/// Names of verdicts with their counts.
type VerdictCounts = Vec<(&'static str, usize)>;

#[derive(Debug, Serialize)]
struct TargetView<'a> {
    report: &'a Report,
    name: &'a str,
    command: String,
    verdict: &'static str,
    /// How the verdict affects the exit code: `good`, `open` or `bad`.
    tone: &'static str,
    elapsed_ms: Option<u128>,
    counts: VerdictCounts,
    /// Number, title and counts of verdicts of each principle; empty if there is only one principle.
    principles: Vec<(u8, &'static str, VerdictCounts)>,
    /// What the exploration found and tried, in one line; `None` if the target was not explored.
    explored: Option<String>,
    /// How many commands were called, such as `2 of 3 commands`; `None` if the target was not explored.
    commands: Option<String>,
    notes: Vec<String>,
    groups: Vec<Group<'a>>,
    matrix: Option<Matrix>,
    timeline: Option<Timeline>,
    runs: Vec<RunView>,
}

/// The results of a target that have the same verdict.
#[derive(Debug, Serialize)]
struct Group<'a> {
    status: &'static str,
    results: Vec<VerdictView<'a>>,
}

/// A result with its explanation.
#[derive(Debug, Serialize)]
struct VerdictView<'a> {
    /// Index of the result in the report.
    nth: usize,
    help: &'a str,
    what: &'a str,
    why: &'a str,
    fix: &'a str,
    /// URL of the documentation page of the check; `None` if `docs` of the result is not a URL.
    docs: Option<&'a str>,
    /// IDs of the checks that this verdict depends on. The second member is the index of the check's result in the
    /// report; `None` if the report does not contain it.
    blocked: Vec<(&'static str, Option<usize>)>,
    faults: Vec<Fault<'a>>,
    probes: BTreeSet<&'a str>,
    formats: BTreeSet<&'static str>,
}

/// One place of a problem.
#[derive(Debug, Serialize)]
struct Fault<'a> {
    detail: &'a str,
    /// Description of the kind of problem.
    kind: Option<&'a str>,
    command: Option<String>,
    place: String,
    /// Index of the run in the list of runs, if the page shows it.
    run: Option<usize>,
    excerpt: Option<Marked>,
    hex: Vec<hex::HexRow>,
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
        let verdicts = view.judged.iter().flat_map(|judged| &judged.report.results);
        let results = || targets.iter().flat_map(|target| &target.groups).flat_map(|group| &group.results);
        let summary: ReportSummary = view.judged.iter().map(|judged| judged.report.summary).sum();
        Self {
            version: env!("CARGO_PKG_VERSION"),
            explored: targets.iter().any(|target| target.explored.is_some()),
            counts: counts(&summary),
            levels: verdicts.map(|result| result.level.name()).collect(),
            probes: results().flat_map(|result| result.probes.iter().copied()).collect(),
            formats: results().flat_map(|result| result.formats.iter().copied()).collect(),
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
        let verdicts = || report.results.iter().enumerate();
        let group = |status: Status| Group {
            status: status.name(),
            results: verdicts()
                .filter(|(_, result)| result.status == status)
                .map(|(nth, result)| VerdictView::of(view, judged, observations, nth, result))
                .collect(),
        };
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
        let principles = report.by_principle().into_iter();
        let principles: Vec<_> = principles
            .map(|(principle, summary)| (principle, principle_title(principle), counts(&summary)))
            .collect();
        Self {
            report,
            name: &report.target.name,
            command: command::short_command_line(report, view.folder, &report.target.command.join(" ")),
            verdict: report.verdict(),
            tone: match report.exit_code(view.strict) {
                0 if report.verified => "good",
                0 => "open",
                _ => "bad",
            },
            elapsed_ms: judged.elapsed.map(|elapsed| elapsed.as_millis()),
            counts: counts(&report.summary),
            principles: if principles.len() > 1 { principles } else { Vec::new() },
            explored: report.coverage.as_ref().map(coverage::summary),
            commands: report.coverage.as_ref().map(coverage::commands),
            notes: coverage::notes(report).collect(),
            groups: STATUS_ORDER.into_iter().map(group).filter(|group| !group.results.is_empty()).collect(),
            matrix: Matrix::of(judged),
            timeline,
            runs,
        }
    }
}

impl<'a> VerdictView<'a> {
    fn of(
        view: &ReportView<'_>,
        judged: &'a Judged,
        observations: &[(&str, &Observation)],
        nth: usize,
        result: &'a CheckResult,
    ) -> Self {
        let check = result.id.check();
        let toolkit = judged.toolkit();
        let blocked = result.blocked_by.iter().map(|cause| {
            let place = judged.report.results.iter().position(|other| other.id == cause.id);
            (cause.id.as_str(), place)
        });
        let named = result.blocked_by.iter().map(|cause| (&cause.probe, cause.format));
        let named = named.chain(result.evidence.iter().map(|evidence| (&evidence.probe, evidence.format)));
        let (probes, formats): (Vec<_>, Vec<_>) = named.unzip();
        let is_address = |docs: &&str| docs.starts_with("https://") || docs.starts_with("http://");
        Self {
            nth,
            help: check.help.for_toolkit(toolkit),
            what: &check.what,
            why: &check.why,
            fix: &check.fix,
            docs: Some(result.docs.as_str()).filter(is_address),
            blocked: blocked.collect::<BTreeSet<_>>().into_iter().collect(),
            faults: result
                .evidence
                .iter()
                .map(|evidence| {
                    let command = command::shell_command(&judged.report, view.folder, evidence);
                    Fault::of(observations, result, evidence, command)
                })
                .collect(),
            probes: probes.into_iter().filter_map(Option::as_deref).collect(),
            formats: formats.into_iter().flatten().map(OutputFormat::name).collect(),
        }
    }
}

impl<'a> Fault<'a> {
    fn of(
        observations: &[(&str, &Observation)],
        result: &'a CheckResult,
        evidence: &'a Evidence,
        command: Option<String>,
    ) -> Self {
        let kinds = &result.id.check().kinds;
        let is_same_run = |(probe, seen): &(&str, &Observation)| {
            (Some(*probe), Some(seen.key.format), Some(seen.key.variant), Some(seen.key.nth))
                == (
                    evidence.probe.as_deref(),
                    evidence.format,
                    evidence.variant,
                    Some(evidence.nth.unwrap_or(0)),
                )
        };
        let run = observations.iter().position(is_same_run);
        Self {
            detail: &evidence.detail,
            kind: kinds.get(&evidence.kind).map(String::as_str),
            command,
            place: place(evidence),
            run,
            excerpt: evidence.excerpt.as_deref().map(|text| split_at_caret(text, evidence.caret)),
            hex: run.and_then(|run| hex_rows(observations[run].1, evidence)).unwrap_or_default(),
        }
    }
}

/// Describes the place of the evidence: `list · json · stdout · line 3, column 5`.
fn place(evidence: &Evidence) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(evidence.probe.clone());
    words.extend(evidence.format.map(|format| format.name().to_owned()));
    words.extend(evidence.variant.map(|variant| condition_name(variant, evidence.nth.unwrap_or(0))));
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
