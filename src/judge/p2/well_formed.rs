//! The data itself: strict JSON, interoperable numbers, the last newline, when records arrive.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::scan::Scan;
use crate::judge::verdict::{Assertion, Finding, Judgement};
use crate::model::{OutputFormat, Stream, Variant};
use std::time::Duration;
use strict_json::{Class, Problem, ProblemKind};

/// `p2-json-strict`
pub fn strict(context: &CheckContext) -> Judgement {
    without(context, |kind| kind.class() == Class::Strict)
}

/// `p2-json-interop`
pub fn interop(context: &CheckContext) -> Judgement {
    without(context, |kind| kind.class() == Class::Interop)
}

/// Plain runs have no problem of some kinds.
fn without(context: &CheckContext, bad: fn(ProblemKind) -> bool) -> Judgement {
    let plain = context.data_runs().filter(|run| run.variant() == Variant::Plain);
    Judgement::of(
        plain.map(|run| {
            well_formed(&run, |scan| {
                scan.problems().find(|problem| bad(problem.kind)).map(|problem| at(&run, problem))
            })
        }),
        declare_success("json or jsonl"),
    )
}

/// `p2-jsonl-newline`
pub fn newline(context: &CheckContext) -> Judgement {
    let lines = context
        .data_runs()
        .filter(|run| run.variant() == Variant::Plain && run.format() == OutputFormat::Jsonl);
    Judgement::of(
        lines.map(|run| {
            well_formed(&run, |scan| {
                let missing = scan.problems().find(|problem| problem.kind == ProblemKind::NoFinalNewline);
                missing.map(|problem| at(&run, problem))
            })
        }),
        declare_success("jsonl"),
    )
}

/// A run whose data can be parsed; `fault` gives what is wrong with it.
fn well_formed(run: &RunView, fault: impl FnOnce(&Scan) -> Option<Finding>) -> Assertion {
    let scan = match run.parsed() {
        Ok(scan) => scan,
        Err(reason) => return Assertion::Inconclusive(reason),
    };
    if let Some(finding) = fault(&scan) {
        return Assertion::Failed(finding);
    }
    if scan.summary.keys_unchecked > 0 {
        return Assertion::inconclusive(format!(
            "{} has an object with too many keys to compare them all",
            run.label()
        ));
    }
    Assertion::Passed
}

fn at(run: &RunView, problem: &Problem) -> Finding {
    let mut detail = problem.message.clone();
    if !problem.pointer.is_empty() {
        detail.push_str(&format!(" (at {})", problem.pointer));
    }
    Finding::new(run.evidence_at(Stream::Stdout, problem.at, detail))
}

/// Records that come closer together than this, on a terminal, are no stream that could be held back.
const SPREAD: Duration = Duration::from_millis(150);

/// `p2-jsonl-prompt`
///
/// Programs write line by line to a terminal, and many in blocks to a pipe. So the terminal shows when
/// records are made, and the pipe whether they arrive then.
pub fn prompt(context: &CheckContext) -> Judgement {
    let mut streams = context
        .successes()
        .filter(|probe| probe.stream && probe.formats.contains(&OutputFormat::Jsonl))
        .peekable();
    if streams.peek().is_none() {
        return Judgement::NotApplicable("no probe says `stream = true`".into());
    }
    let assertions = streams.map(|probe| {
        let runs = (
            context.plain(probe, OutputFormat::Jsonl),
            context.run(probe, OutputFormat::Jsonl, Variant::Tty, 0),
        );
        let (Some(pipe), Some(terminal)) = runs else {
            return Assertion::inconclusive(format!("{} was not run on a pipe and on a terminal", probe.name));
        };
        if let Some(reason) = pipe.unusable().or_else(|| terminal.unusable()) {
            return Assertion::Inconclusive(reason);
        }
        let (held_back, made) = (spread(&pipe), spread(&terminal));
        if made.max(held_back) < SPREAD {
            return Assertion::inconclusive(format!(
                "the records of {} come at once on a terminal as well: nothing tells when they are made",
                probe.name
            ));
        }
        if held_back * 4 < made {
            return pipe.failed_at_start(Stream::Stdout, format!(
                "on a pipe all records arrive within {} ms at the end, on a terminal over {} ms: they are held back in a buffer",
                held_back.as_millis(),
                made.as_millis()
            ));
        }
        Assertion::Passed
    });
    Judgement::of(assertions, declare_success("jsonl"))
}

/// From the first arrival to the last.
fn spread(run: &RunView) -> Duration {
    let chunks = &run.observation.stdout.chunks;
    match (chunks.first(), chunks.last()) {
        (Some(first), Some(last)) => last.at.saturating_sub(first.at),
        _ => Duration::ZERO,
    }
}
