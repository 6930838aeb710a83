//! Checks of the data on stdout: strict JSON, interoperable numbers, the final newline, and the time when records
//! arrive.

use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::{OutputFormat, Stream, Variant};
use std::time::Duration;
use strict_json::{ProblemKind, ProblemSeverity};

/// Judges `p2-json-strict` or `p2-json-interop`: the JSON of plain runs has no problem of the given severity.
pub fn judge_problem_severity(context: &CheckContext, severity: ProblemSeverity) -> Judgement {
    let plain = context.data_runs().filter(|run| run.variant() == Variant::Plain);
    let assertions = plain.flat_map(|run| well_formed(&run, |kind| kind.severity() == severity));
    Judgement::from_assertions(assertions, declare_success("json or jsonl"))
}

/// Judges `p2-jsonl-newline`: the last record ends with a newline.
pub fn newline(context: &CheckContext) -> Judgement {
    let lines = context
        .data_runs()
        .filter(|run| run.variant() == Variant::Plain && run.format() == OutputFormat::Jsonl);
    let assertions = lines.flat_map(|run| well_formed(&run, |kind| kind == ProblemKind::NoFinalNewline));
    Judgement::from_assertions(assertions, declare_success("jsonl"))
}

/// Judges the JSON of a run: returns a failure for the first problem of each kind for which `bad` returns true, or one
/// pass. Inconclusive if the data cannot be parsed.
fn well_formed(run: &RunView, bad: impl Fn(ProblemKind) -> bool) -> Vec<Assertion> {
    let scan = match run.parsed() {
        Ok(scan) => scan,
        Err(reason) => return vec![inconclusive(reason)],
    };
    let mut kinds = Vec::new();
    let mut found = Vec::new();
    for problem in scan.problems().filter(|problem| bad(problem.kind)) {
        if kinds.contains(&problem.kind) {
            continue;
        }
        kinds.push(problem.kind);
        let mut detail = problem.message.clone();
        if !problem.pointer.is_empty() {
            detail.push_str(&format!(" (at {})", problem.pointer));
        }
        found.push(run.failed_at(problem.kind.name(), Stream::Stdout, problem.position, detail));
    }
    if found.is_empty() && scan.summary.unchecked_keys > 0 {
        return vec![inconclusive(format!("{} has an object with too many keys to compare", run.label()))];
    }
    if found.is_empty() { vec![Ok(())] } else { found }
}

/// Minimum time between the first and the last record of a stream on a terminal. In a shorter stream, buffering cannot
/// be detected.
const MIN_SPREAD: Duration = Duration::from_millis(150);

/// Judges `p2-jsonl-prompt`: streamed records arrive as they are produced, not at exit.
///
/// Many programs write line by line to a terminal, but in blocks to a pipe. The run on a terminal shows when records
/// are produced. The run with a pipe shows whether they arrive at that time.
pub fn prompt(context: &CheckContext) -> Judgement {
    let streams = || context.data_probes().filter(|probe| probe.call.stream);
    if streams().next().is_none() {
        return Judgement::NotApplicable("no probe declares `stream = true`".into());
    }
    let in_jsonl = streams().filter(|probe| probe.formats.contains(&OutputFormat::Jsonl));
    let assertions = in_jsonl.map(|probe| -> Assertion {
        let runs = (
            context.plain_run(probe, OutputFormat::Jsonl),
            context.find_run_under(probe, OutputFormat::Jsonl, Variant::Tty),
        );
        let (Some(pipe), Some(terminal)) = runs else {
            return inconclusive(format!("{} was not run on a pipe and on a terminal", probe.name));
        };
        pipe.usable()?;
        terminal.usable()?;
        let (held_back, made) = (stdout_time_span(&pipe), stdout_time_span(&terminal));
        if made.max(held_back) < MIN_SPREAD {
            return inconclusive(format!(
                "the records of {} also arrive together on a terminal, which does not show when they are produced",
                probe.name
            ));
        }
        // Withheld processors may separate the records on the terminal, and join them on the pipe.
        let is_buffered = |pipe_withheld, terminal_withheld| {
            (held_back + pipe_withheld) * 4 < made.saturating_sub(terminal_withheld)
        };
        if is_buffered(Duration::ZERO, Duration::ZERO) {
            if !is_buffered(pipe.processor_wait(), terminal.processor_wait()) {
                pipe.had_enough_time()?;
                terminal.had_enough_time()?;
                return inconclusive(format!("the load of the machine delayed the records of {}", probe.name));
            }
            let (within, over) = (held_back.as_millis(), made.as_millis());
            let detail = format!(
                "through a pipe, all records arrive within {within} ms at the end; on a terminal, over {over} ms: \
                 the output is buffered"
            );
            return pipe.failed_at_start("held-back", Stream::Stdout, detail);
        }
        Ok(())
    });
    Judgement::from_assertions(assertions, declare_success("jsonl"))
}

/// Returns the time between the arrivals of the first and the last bytes on stdout.
fn stdout_time_span(run: &RunView) -> Duration {
    let chunks = &run.observation.stdout.chunks;
    match (chunks.first(), chunks.last()) {
        (Some(first), Some(last)) => last.at.saturating_sub(first.at),
        _ => Duration::ZERO,
    }
}
