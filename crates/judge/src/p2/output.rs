//! Checks of formats: the target accepts the format flags, and stdout contains only data.

use super::parity;
use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{self, declare_success, display_exit};
use crate::verdict::{Assertion, Finding, Judgement, Unmet, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::config::FormatFlag;
use agentnative_core::model::{CheckId, OutputFormat, Stream, Variant};
use agentnative_core::probe::{FlagPosition, Probe, UNKNOWN_FORMAT};
use strict_json::{Problem, ProblemKind};

/// Judges `p2-output-format`: `--output` accepts `text`, `json` and `jsonl`, defaults to `text`, and rejects any other
/// value.
pub fn format(context: &CheckContext) -> Judgement {
    let (mut assertions, mut undecided) = (Vec::new(), Vec::new());
    for format in OutputFormat::ALL {
        match context.format_support(format) {
            FormatSupport::Unknown if context.is_family() => undecided.push(format.name()),
            _ if !context.is_family() && is_format_lacking(context, format) => {
                assertions.push(absent_format(context, format));
            }
            FormatSupport::Yes => assertions.push(Ok(())),
            FormatSupport::No(run) => assertions.push(judge_rejection(&run)),
            FormatSupport::Unknown => match context.judge_without_formats(&[format]) {
                Some(Judgement::Unverified(reasons)) => {
                    assertions.extend(reasons.into_iter().map(inconclusive))
                }
                _ => undecided.push(format.name()),
            },
        }
    }
    let unasked: Vec<&str> = context.probes_without_format().map(|probe| probe.name.as_str()).collect();
    if !unasked.is_empty() {
        assertions.push(inconclusive(format!(
            "{} was not run with a format: neither the help nor the configuration shows that `--output` selects one, and in an empty folder the call with `--output {UNKNOWN_FORMAT}` did not end as expected, or wrote a file; declare formats.json, formats.jsonl and formats.text under [target]",
            unasked.join(", ")
        )));
    } else if !undecided.is_empty() {
        assertions.push(inconclusive(format!(
            "no declared probe succeeded in {}: {}",
            undecided.join(", "),
            declare_success("")
        )));
    }
    // Formats that other probes accept.
    let accepted = OutputFormat::ALL
        .into_iter()
        .filter(|format| matches!(context.format_support(*format), FormatSupport::Yes));
    let rejected_by_probes = accepted.flat_map(|format| {
        context
            .data_probes()
            .filter_map(move |probe| Some(judge_rejection(&context.rejected_run(probe, format)?)))
    });
    let default = context.data_probes().filter_map(|probe| {
        let without_format = context.derived_from(DerivedKind::NoFormat, probe).next()?;
        let without_format = context.plain_run(without_format, OutputFormat::Text)?;
        let text = context.plain_run(probe, OutputFormat::Text);
        let judged = match context.profile.conventions.default_format {
            OutputFormat::Text => judge_default(without_format, text?),
            other => {
                let other = other.name();
                let detail =
                    format!("the configuration has `default_format = \"{other}\"`: make text the default, then remove the key");
                without_format.failed_at_start("default-differs", Stream::Stdout, detail)
            }
        };
        Some(match (judged, text) {
            (Err(failed @ Unmet::Failed(_)), Some(text)) => judge_default_without_file(without_format, text, failed),
            (judged, _) => judged,
        })
    });
    let elsewhere = context.data_probes().filter_map(|probe| {
        let place = probe.flag_position?;
        let rejected = context.derived_from(DerivedKind::Refused, probe).next()?;
        Some(judge_position(context.runs_of(rejected).next()?, place))
    });
    let invalid = context
        .derived_probes(DerivedKind::InvalidFormat)
        .filter_map(|probe| context.plain_run(probe, OutputFormat::Text))
        // If the probe was not run with a format, the empty folder may be the cause of a failure.
        .filter(|run| {
            run.exit() == Some(0) || !context.source_of(run.probe).is_some_and(Probe::omits_format_flag)
        })
        .flat_map(|run| judge_invalid_format(&run));
    Judgement::from_assertions(
        assertions.into_iter().chain(rejected_by_probes).chain(elsewhere).chain(default).chain(invalid),
        declare_success(""),
    )
}

/// Returns the finding about a format that the target does not have: exploration saw its flag rejected or ignored, or
/// the configuration declares it.
fn absent_format(context: &CheckContext, format: OutputFormat) -> Assertion {
    let name = format.name();
    if let Some(run) = kit::absent_format(context, format) {
        let detail = format!("no help page lists a {name} format, and `{}` selects none", run.probe.name);
        return run.failed_at_reason("refused", Stream::Stderr, detail);
    }
    let remedy = format!("add {name} to the target, then remove the key");
    let mut finding = Finding::lacking(&format!("formats.{name}"), &remedy);
    finding.evidence.format = Some(format);
    Err(finding.into())
}

/// True if the configuration declares that the format does not exist, for the target or for each probe with data.
fn is_format_lacking(context: &CheckContext, format: OutputFormat) -> bool {
    let declares_lacking = |probe: &Probe| probe.call.format_flags.get(&format) == Some(&FormatFlag::Absent);
    let mut probes = context.data_probes().peekable();
    context.profile.lacks(format) || probes.peek().is_some() && probes.all(declares_lacking)
}

/// Judges a format flag that is rejected after the arguments but accepted at `place`. Passes if it is accepted in front
/// of them and the help lists it as a global option.
fn judge_position(rejected: RunView, place: FlagPosition) -> Assertion {
    if place == FlagPosition::Front && rejected.context.profile.global_format {
        return Ok(());
    }
    let spelling = rejected.probe.format_args(rejected.format(), rejected.context.profile).join(" ");
    let detail = format!(
        "`{spelling}` is rejected after the arguments (exit code {}) but accepted {}, which the help does not show",
        display_exit(rejected.exit()),
        place.description()
    );
    rejected.failed_at_reason("elsewhere", Stream::Stderr, detail)
}

fn judge_rejection(run: &RunView) -> Assertion {
    let spelling = run.probe.format_args(run.format(), run.context.profile).join(" ");
    let detail = format!(
        "`{spelling}` is rejected: exit code {}, but {} without it (`\"{{format}}\"` in the `args` of a probe sets its position)",
        display_exit(run.exit()),
        display_exit(run.probe.exit)
    );
    run.failed_at_reason("refused", Stream::Stderr, detail)
}

/// Passes if the call without a format flag has the same exit code and output as the call in text.
fn judge_default(without_format: RunView, text: RunView) -> Assertion {
    text.usable()?;
    match without_format.exited()? {
        exit if Some(exit) == text.exit() => {}
        exit => {
            let with = display_exit(text.exit());
            let detail = format!(
                "without a format flag, the command exits with {exit}, expected {with} as with that of `text`"
            );
            return without_format.failed_at_reason("default-differs", Stream::Stderr, detail);
        }
    }
    let (Some(without), Some(with)) =
        (without_format.normalized_lines(Stream::Stdout), text.normalized_lines(Stream::Stdout))
    else {
        return inconclusive(format!("the output of {} is too large to compare", text.label()));
    };
    let Some(line) = first_difference(&without, &with) else { return Ok(()) };
    let again = without_format.context.repeated_runs(text.probe, OutputFormat::Text)?;
    if again.iter().any(|again| again.normalized_lines(Stream::Stdout).is_none_or(|again| again != with)) {
        return inconclusive(format!("the text output of {} changes from run to run", text.label()));
    }
    let detail = "without a format flag, the output differs from that of `text`, first in this line";
    without_format.failed_at_line("default-differs", Stream::Stdout, line, detail)
}

/// Judges the default without the configuration file, which may select another format. Returns `failed`, the failure
/// with the file, if that does not change it.
fn judge_default_without_file(without_format: RunView, text: RunView, failed: Unmet) -> Assertion {
    match kit::without_config_file(&without_format, &text)? {
        Some([without_format, text]) if judge_default(without_format, text).is_ok() => Ok(()),
        _ => Err(failed),
    }
}

fn first_difference(a: &[String], b: &[String]) -> Option<usize> {
    if a == b {
        return None;
    }
    Some(a.iter().zip(b).take_while(|(a, b)| a == b).count())
}

fn judge_invalid_format(run: &RunView) -> Vec<Assertion> {
    let usage = run.context.profile.conventions.usage;
    let ignored = run.context.source_of(run.probe).and_then(|probe| probe.exit);
    let exit = match run.exited() {
        Ok(exit) => exit,
        Err(reason) => return vec![inconclusive(reason)],
    };
    let mut found = Vec::new();
    match exit {
        exit if exit == 0 || Some(exit) == ignored && !run.bytes(Stream::Stdout).is_empty() => {
            let detail = match run.observation.wrote {
                true => "an invalid format is treated as a file name; expected a usage error",
                false => "an invalid format is accepted; expected a usage error",
            };
            return vec![run.failed_at_start("invalid-accepted", Stream::Stdout, detail)];
        }
        // `p2-exit-usage` judges a target without that code.
        exit if exit != usage && super::exits::has_usage_code(run.context) => {
            let detail =
                format!("an invalid format exits with {exit}, expected {usage}, the code for usage errors");
            found.push(run.failed_at_reason("invalid-exit-code", Stream::Stderr, detail));
        }
        _ => {}
    }
    if !run.observation.stdout.bytes.is_empty() {
        let detail = "an invalid format is rejected with text on stdout; expected no output on stdout";
        found.push(run.failed_at_start("invalid-on-stdout", Stream::Stdout, detail));
    }
    if found.is_empty() { vec![Ok(())] } else { found }
}

/// Judges `p2-output-json` or `p2-output-jsonl`: stdout is valid in `format`. Judges all runs of a call, since
/// repetitions reveal intermittent faults.
pub fn judge_json_syntax(context: &CheckContext, format: OutputFormat) -> Judgement {
    // If the plain run has a fault, a file or a slow consumer shows nothing new.
    let is_new = |run: &RunView| {
        let plainly = |plain: RunView| plain.scan().first_structural_problem().is_some();
        matches!(run.variant(), Variant::Plain | Variant::Repeat) || !run.plain().is_ok_and(plainly)
    };
    let runs =
        context.data_runs().filter(|run| run.format() == format && run.expects_plain_stdout()).filter(is_new);
    let what = match format {
        OutputFormat::Jsonl => "stdout is not JSON Lines",
        OutputFormat::Json | OutputFormat::Text => "stdout is not one JSON document",
    };
    let assertions = runs.map(|run| -> Assertion {
        run.usable()?;
        if run.is_truncated() {
            return Err(run.truncation_reason().into());
        }
        let scan = run.scan();
        if scan.control_byte_problem().is_some() {
            let what = format!("{} contains control bytes", run.label());
            return Err(run.blocked_by(CheckId::P2OutputPure, what).into());
        }
        match scan.first_structural_problem() {
            None => Ok(()),
            Some(_) if run.bytes(Stream::Stdout).is_empty() && is_on_stderr(&run) => {
                let detail = "the JSON document is on stderr; expected it on stdout";
                run.failed_at_start("on-stderr", Stream::Stderr, detail)
            }
            Some(problem) => fail_at_problem(&run, problem.kind.name(), what, problem),
        }
    });
    let judgement = Judgement::from_assertions(assertions, declare_success(format.name()));
    match has_no_item(context, format) {
        true => judgement.with_note("no run printed an item: each list is empty"),
        false => judgement,
    }
}

/// True if output in `format` contains lists, and all of them are empty.
fn has_no_item(context: &CheckContext, format: OutputFormat) -> bool {
    let runs = context.data_probes().filter_map(|probe| context.plain_run(probe, format));
    let scans: Vec<_> = runs.map(|run| run.scan()).collect();
    match format {
        OutputFormat::Jsonl => !scans.is_empty() && scans.iter().all(|scan| scan.shape.count() == 0),
        _ => {
            let lists = || scans.iter().flat_map(|scan| parity::lists(&scan.shape));
            lists().next().is_some() && lists().all(|(_, list)| list.element_count() == 0)
        }
    }
}

/// True if stderr contains exactly one JSON object or array, and nothing else.
fn is_on_stderr(run: &RunView) -> bool {
    let value = run.value(Stream::Stderr);
    run.scan_as_document(Stream::Stderr).first_structural_problem().is_none()
        && value.is_some_and(|value| value.is_object() || value.is_array())
}

/// Judges `p2-output-pure`: json and jsonl contain data only, on a terminal and in any environment.
pub fn judge_output_purity(context: &CheckContext) -> Judgement {
    let assertions = context.data_runs().flat_map(|run| match run.variant() {
        Variant::Plain => vec![judge_plain(&run)],
        // Another check judges rare locales.
        variant if variant.has_rare_locale(run.observation.key.nth) => Vec::new(),
        Variant::Tty | Variant::HostileEnv | Variant::UsedHome => {
            unless_by_chance(&run, judge_condition(&run))
        }
        _ if run.expects_plain_stdout() => judge_repetition(&run).into_iter().collect(),
        _ => Vec::new(),
    });
    Judgement::from_assertions(assertions, declare_success("json or jsonl"))
}

/// Returns `assertion`, unless repetitions of the plain call show the same fault. The fault then occurs by chance and
/// not because of the condition of `run`, and another check reports it. If the call was not repeated, also requests
/// repetitions.
fn unless_by_chance(run: &RunView, assertion: Assertion) -> Vec<Assertion> {
    if !matches!(&assertion, Err(Unmet::Failed(finding)) if finding.evidence.kind == "not-data") {
        return vec![assertion];
    }
    match run.context.repeated_runs(run.probe, run.format()) {
        Ok(again) => match again.iter().find(|again| again.scan().first_structural_problem().is_some()) {
            Some(again) => vec![Err(again.not_parsed().into())],
            None => vec![assertion],
        },
        Err(reason) => vec![assertion, inconclusive(reason)],
    }
}

fn judge_plain(run: &RunView) -> Assertion {
    run.usable()?;
    let scan = run.scan();
    if let Some(problem) = scan.control_byte_problem() {
        let what = "stdout contains control bytes";
        return fail_at_problem(run, control_finding_kind(problem.kind), what, problem);
    }
    match scan.first_structural_problem() {
        None => Ok(()),
        Some(_) => Err(run.not_parsed().into()),
    }
}

/// Fails if stdout of a repetition contains control bytes that the plain run does not print. `None` otherwise.
fn judge_repetition(run: &RunView) -> Option<Assertion> {
    let plainly = |plain: RunView| plain.scan().control_byte_problem().is_some();
    if run.why_unusable().is_some() || run.plain().is_ok_and(plainly) {
        return None; // Another check, or the plain run, already reports it.
    }
    let scan = run.scan();
    scan.control_byte_problem().map(|problem| {
        fail_at_problem(run, control_finding_kind(problem.kind), "stdout contains control bytes", problem)
    })
}

/// Passes if stdout contains only data under the condition of `run`, such as on a terminal. Does not judge a call whose
/// plain run has faults already.
fn judge_condition(run: &RunView) -> Assertion {
    let plain = run.plain()?;
    plain.usable()?;
    run.usable()?;
    let before = plain.scan();
    if before.control_byte_problem().is_some() {
        return Ok(()); // The plain run already reports it.
    }
    if before.first_structural_problem().is_some() {
        return Err(plain.not_parsed().into());
    }
    let scan = run.scan();
    if let Some(problem) = scan.control_byte_problem() {
        return fail_at_problem(run, control_finding_kind(problem.kind), &more_than_data(run), problem);
    }
    match scan.first_structural_problem() {
        None => Ok(()),
        Some(problem) if problem.kind == ProblemKind::Truncated && run.is_truncated() => {
            let elsewhere =
                run.context.runs_with_same_stdout(run.probe, run.format()).any(|same| same.is_truncated());
            match elsewhere {
                true => Err(run.truncation_reason().into()),
                false => fail_at_problem(
                    run,
                    "not-data",
                    &format!("under {}, stdout is truncated", run.condition()),
                    problem,
                ),
            }
        }
        Some(problem) => fail_at_problem(run, "not-data", &more_than_data(run), problem),
    }
}

/// Returns the name under which a report shows a control byte on stdout: that of NUL, that of a lone CR, or a common
/// one for all others.
fn control_finding_kind(kind: ProblemKind) -> &'static str {
    match kind {
        ProblemKind::Nul | ProblemKind::BareCr => kind.name(),
        _ => ProblemKind::Control.name(),
    }
}

fn more_than_data(run: &RunView) -> String {
    format!("under {}, stdout contains more than data", run.condition())
}

/// Fails at a problem in stdout. `requirement` begins the message, such as "stdout is not one JSON document".
fn fail_at_problem(run: &RunView, kind: &str, requirement: &str, problem: &Problem) -> Assertion {
    let message = format!("{requirement}: {}", problem.message);
    let evidence = run.evidence_at(Stream::Stdout, problem.position, problem.message.clone());
    Err(Finding { message, ..Finding::new(kind, evidence) }.into())
}
