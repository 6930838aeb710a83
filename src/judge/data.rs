//! The data itself: strict JSON, interoperable numbers, the last newline, when records arrive.

use super::case::{Case, Seen};
use super::verdict::{Finding, Judgement, Look};
use super::{DECLARE_DATA, DECLARE_JSONL};
use crate::report::{OutputFormat, Stream, Variant};
use std::time::Duration;
use strict_json::{Class, Problem, ProblemKind};

/// `p2-json-strict`
pub fn strict(case: &Case) -> Judgement {
    without(case, |kind| kind.class() == Class::Strict)
}

/// `p2-json-interop`
pub fn interop(case: &Case) -> Judgement {
    without(case, |kind| kind.class() == Class::Interop)
}

/// Plain runs have no problem of some kinds.
fn without(case: &Case, bad: fn(ProblemKind) -> bool) -> Judgement {
    let plain = case.data().filter(|seen| seen.variant() == Variant::Plain);
    Judgement::of(
        plain.map(|seen| {
            on_data(&seen, |scan| {
                scan.problems().find(|problem| bad(problem.kind)).map(|problem| at(&seen, problem))
            })
        }),
        DECLARE_DATA,
    )
}

/// `p2-jsonl-newline`
pub fn newline(case: &Case) -> Judgement {
    let lines =
        case.data().filter(|seen| seen.variant() == Variant::Plain && seen.format() == OutputFormat::Jsonl);
    Judgement::of(
        lines.map(|seen| {
            on_data(&seen, |scan| {
                let missing = scan.problems().find(|problem| problem.kind == ProblemKind::NoFinalNewline);
                missing.map(|problem| at(&seen, problem))
            })
        }),
        DECLARE_JSONL,
    )
}

/// Looks at a run that is data; `fault` gives what is wrong with it.
fn on_data(seen: &Seen, fault: impl FnOnce(&super::scan::Scan) -> Option<Finding>) -> Look {
    if let Some(reason) = seen.unusable() {
        return Look::Unknown(reason);
    }
    let scan = seen.scan();
    if scan.structural().is_some() {
        return Look::Unknown(seen.not_data());
    }
    if let Some(finding) = fault(&scan) {
        return Look::Broken(finding);
    }
    if scan.summary.keys_unchecked > 0 {
        return Look::Unknown(format!(
            "{} has an object with too many keys to compare them all",
            seen.label()
        ));
    }
    Look::Held
}

fn at(seen: &Seen, problem: &Problem) -> Finding {
    let mut detail = problem.message.clone();
    if !problem.pointer.is_empty() {
        detail.push_str(&format!(" (at {})", problem.pointer));
    }
    Finding::new(seen.at(Stream::Stdout, problem.at, detail))
}

/// Records that come closer together than this, on a terminal, are no stream that could be held back.
const SPREAD: Duration = Duration::from_millis(150);

/// `p2-jsonl-prompt`
///
/// Programs write line by line to a terminal, and many in blocks to a pipe. So the terminal shows when
/// records are made, and the pipe whether they arrive then.
pub fn prompt(case: &Case) -> Judgement {
    let mut streams = case
        .successes()
        .filter(|probe| probe.stream && probe.formats.contains(&OutputFormat::Jsonl))
        .peekable();
    if streams.peek().is_none() {
        return Judgement::NotApplicable("no probe says `stream = true`".into());
    }
    let looks = streams.map(|probe| {
        let runs = (
            case.plain(probe, OutputFormat::Jsonl),
            case.seen(probe, OutputFormat::Jsonl, Variant::Tty, 0),
        );
        let (Some(pipe), Some(terminal)) = runs else {
            return Look::Unknown(format!("{} was not run on a pipe and on a terminal", probe.name));
        };
        if let Some(reason) = pipe.unusable().or_else(|| terminal.unusable()) {
            return Look::Unknown(reason);
        }
        let (held_back, made) = (spread(&pipe), spread(&terminal));
        if made.max(held_back) < SPREAD {
            return Look::Unknown(format!(
                "the records of {} come at once on a terminal as well: nothing tells when they are made",
                probe.name
            ));
        }
        if held_back * 4 < made {
            return pipe.broken_at_start(Stream::Stdout, format!(
                "on a pipe all records arrive within {} ms at the end, on a terminal over {} ms: they are held back in a buffer",
                held_back.as_millis(),
                made.as_millis()
            ));
        }
        Look::Held
    });
    Judgement::of(looks, DECLARE_JSONL)
}

/// From the first arrival to the last.
fn spread(seen: &Seen) -> Duration {
    let chunks = &seen.run.stdout.chunks;
    match (chunks.first(), chunks.last()) {
        (Some(first), Some(last)) => last.at.saturating_sub(first.at),
        _ => Duration::ZERO,
    }
}
