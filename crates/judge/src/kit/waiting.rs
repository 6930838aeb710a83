//! Runs that did not end by themselves: what they waited for.

use crate::context::RunView;
use crate::verdict::{Assertion, inconclusive};
use agentnative_core::catalogue::Derived;
use agentnative_core::model::{OutputFormat, Stream, Variant};
use agentnative_core::run::{Bytes, End, HOSTILE_ENVIRONMENTS, Waiting};
use strict_json::sanitize;

/// A run that did not end by itself: whether that is how pagers and filters behave.
pub fn waiting(run: &RunView) -> Assertion {
    if shows_pages(run) {
        return Ok(());
    }
    // Reading standard input to its end is what filters do: only a question is held against it.
    if run.variant() == Variant::OpenStdin {
        return match question(run) {
            Some((stream, line)) => {
                let detail = "the command asks a question on stdin and waits for the answer; expected no question in JSON mode";
                run.failed_at_line("asks", stream, line, detail)
            }
            // A call that has to be confirmed, and is not, reads no data: it asks.
            None if ends_otherwise(run) && !run.probe.is(Derived::Unconfirmed) => Ok(()),
            None => waits(run),
        };
    }
    waits(run)
}

/// Whether it shows its text page by page, as is meant for people on a terminal: it has begun to show what it
/// prints otherwise, and waits in the middle of that or with the prompt of a pager. What waits before it has
/// shown anything, or with a question behind all, is no pager.
pub fn shows_pages(run: &RunView) -> bool {
    if !run.variant().has_terminal_out() || run.format() != OutputFormat::Text {
        return false;
    }
    let text =
        |run: &RunView, stream| sanitize::plain(run.lines(stream).unwrap_or_default().join("\n").as_bytes());
    let Some(plain) = run.plain().ok().filter(|plain| plain.exit().is_some()) else { return false };
    let (whole, screen) = (text(&plain, Stream::Stdout), text(run, Stream::Stdout));
    let lines = whole.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_shown = |line: &str| screen.lines().any(|shown| shown.contains(line));
    let is_cut = lines.clone().next_back().is_some_and(|last| !is_shown(last));
    let asks = || {
        [&screen, &text(run, Stream::Stderr)]
            .into_iter()
            .any(|text| text.lines().next_back().is_some_and(is_pager_prompt))
    };
    lines.clone().any(is_shown) && (is_cut || asks())
}

/// The prompts of `less` and `more`, and those made after them.
fn is_pager_prompt(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    line == ":"
        || line.ends_with("(end)")
        || line.contains("-more-")
        || line.contains("-- more --")
        || line.starts_with("lines ")
}

/// Whether the same call ended by itself with a null input, so that the wait is for input.
fn ends_otherwise(run: &RunView) -> bool {
    let plain = run.context.plain(run.probe, run.format());
    plain.is_none_or(|plain| matches!(plain.observation.end, End::Exited(_) | End::Signaled(_)))
}

/// The line of an unanswered question: output whose last line was not ended when the wait began.
fn question(run: &RunView) -> Option<(Stream, usize)> {
    [Stream::Stderr, Stream::Stdout].into_iter().find_map(|stream| {
        let bytes = run.bytes(stream);
        if bytes.is_empty() || last_byte(bytes) == Some(b'\n') {
            return None;
        }
        let lines = run.lines(stream)?;
        Some((stream, lines.len().saturating_sub(1)))
    })
}

fn last_byte(bytes: &Bytes) -> Option<u8> {
    let mut byte = [0];
    let read = bytes.read_at(bytes.len().checked_sub(1)?, &mut byte).ok()?;
    (read == 1).then_some(byte[0])
}

fn waits(run: &RunView) -> Assertion {
    let doing = match run.observation.waiting {
        Some(Waiting::Stdin) => "it was reading stdin",
        Some(Waiting::Terminal) => "it was reading the terminal",
        Some(Waiting::Busy) => "it was using the CPU",
        Some(Waiting::Stopped) => "it was stopped",
        Some(Waiting::Asleep) | None => "it was asleep",
    };
    if run.observation.end == End::Waited {
        let detail = format!("the command waits for input that never comes: {doing}");
        return run.failed_at_last_line("waits", detail);
    }
    let limit = run.probe.timeout.as_secs_f64();
    // Debug output takes time: a run that still works shows no hang where the plain run ends.
    let environment = HOSTILE_ENVIRONMENTS.get(usize::from(run.observation.key.nth)).map(|(name, _)| *name);
    let is_slowed = run.variant() == Variant::HostileEnv
        && environment == Some("debug")
        && run.observation.waiting == Some(Waiting::Busy);
    if is_slowed && run.plain().is_ok_and(|plain| plain.exit().is_some()) {
        return inconclusive(format!(
            "{} was still working after {limit} s, and its plain run ends: raise its `timeout`",
            run.label()
        ));
    }
    let alone = if run.observation.alone { ", in parallel and again alone" } else { "" };
    let detail = format!(
        "the command did not end within {limit} s{alone}: {doing} (if it needs more time, raise its `timeout`)"
    );
    run.failed_at_last_line("hangs", detail)
}
