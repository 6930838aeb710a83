//! Runs that did not end by themselves: what they waited for.

use crate::context::RunView;
use crate::verdict::{Assertion, inconclusive};
use agentnative_core::catalogue::DerivedKind;
use agentnative_core::model::{OutputFormat, Stream, Variant};
use agentnative_core::run::{Bytes, HOSTILE_ENVIRONMENTS, RunEnd, Waiting};
use strict_json::sanitize;

/// Judges a run that did not end by itself. It passes if it is a pager, or a filter that reads stdin to its end; other
/// runs fail.
pub fn judge_hang(run: &RunView) -> Assertion {
    if shows_pages(run) {
        return Ok(());
    }
    // Filters read stdin to its end, so only a question is a fault.
    if run.variant() == Variant::OpenStdin {
        return match question(run) {
            Some((stream, line)) => {
                let detail =
                    "the command asks a question on stdin and waits for the answer; expected no question";
                run.failed_at_line("asks", stream, line, detail)
            }
            // A call without its required confirmation reads no data: it asks.
            None if ends_with_empty_stdin(run) && !run.probe.is_kind(DerivedKind::Unconfirmed) => Ok(()),
            None => wait_failure(run),
        };
    }
    wait_failure(run)
}

/// True if a run on a terminal is a pager: it printed a part of the plain output, and waits in the middle of it or at
/// the prompt of a pager. A run that waits before any output, or at a question after all output, is no pager.
pub fn shows_pages(run: &RunView) -> bool {
    if !run.variant().has_terminal_out() || run.format() != OutputFormat::Text {
        return false;
    }
    let text = |run: &RunView, stream| {
        sanitize::strip_terminal_formatting(run.lines(stream).unwrap_or_default().join("\n").as_bytes())
    };
    let Some(plain) = run.plain().ok().filter(|plain| plain.exit().is_some()) else { return false };
    let (plain_text, screen) = (text(&plain, Stream::Stdout), text(run, Stream::Stdout));
    let lines = plain_text.lines().map(str::trim).filter(|line| !line.is_empty());
    let is_shown = |line: &str| screen.lines().any(|shown| shown.contains(line));
    let is_truncated = lines.clone().next_back().is_some_and(|last| !is_shown(last));
    let asks = || {
        [&screen, &text(run, Stream::Stderr)]
            .into_iter()
            .any(|text| text.lines().next_back().is_some_and(is_pager_prompt))
    };
    lines.clone().any(is_shown) && (is_truncated || asks())
}

/// True for the prompts of `less` and `more`, and of similar pagers.
fn is_pager_prompt(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    line == ":"
        || line.ends_with("(end)")
        || line.contains("-more-")
        || line.contains("-- more --")
        || line.starts_with("lines ")
}

/// True if the same call ended with an empty stdin. This run, whose stdin is open, then waits for input. Also true if
/// the call was not run with an empty stdin.
fn ends_with_empty_stdin(run: &RunView) -> bool {
    let plain = run.context.plain_run(run.probe, run.format());
    plain.is_none_or(|plain| matches!(plain.observation.end, RunEnd::Exited(_) | RunEnd::Signaled(_)))
}

/// Returns the stream and the line (from 0) of an unanswered question. It is the last line of a stream that does not
/// end in a newline.
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

/// True if the last line that a run printed is a question for a user, and not the prompt of a command line.
pub fn looks_like_question(run: &RunView) -> bool {
    let streams = Stream::ALL.into_iter().filter_map(|stream| run.lines(stream));
    let terminal = String::from_utf8_lossy(&run.observation.terminal).into_owned();
    let last = streams.filter_map(|mut lines| lines.pop()).chain([terminal]);
    let mut last = last.map(|line| line.to_lowercase());
    last.any(|line| ["?", "y/n", "yes/no", "password"].iter().any(|mark| line.contains(mark)))
}

fn last_byte(bytes: &Bytes) -> Option<u8> {
    let mut byte = [0];
    let read = bytes.read_at(bytes.len().checked_sub(1)?, &mut byte).ok()?;
    (read == 1).then_some(byte[0])
}

fn wait_failure(run: &RunView) -> Assertion {
    let doing = match run.observation.waiting {
        Some(Waiting::Stdin) => "it was reading stdin",
        Some(Waiting::Terminal) => "it was reading the terminal",
        Some(Waiting::Busy) => "it was using the CPU",
        Some(Waiting::Stopped) => "it was stopped",
        Some(Waiting::Asleep) | None => "it was asleep",
    };
    if run.observation.end == RunEnd::Waited {
        let detail = format!("the command waits for input: {doing}");
        return run.failed_at_last_line("waits", detail);
    }
    let limit = run.probe.timeout.as_secs_f64();
    // Debug output takes time: a run that still works is no hang if the plain run ends.
    let environment = HOSTILE_ENVIRONMENTS.get(usize::from(run.observation.key.nth)).map(|(name, _)| *name);
    let is_slowed = run.variant() == Variant::HostileEnv
        && environment == Some("debug")
        && run.observation.waiting == Some(Waiting::Busy);
    if is_slowed && run.plain().is_ok_and(|plain| plain.exit().is_some()) {
        return inconclusive(format!(
            "{} was still working after {limit} s, but its plain run ends: raise its `timeout`",
            run.label()
        ));
    }
    let alone = if run.observation.alone { ", in parallel and again alone" } else { "" };
    let detail = format!(
        "the command did not end within {limit} s{alone}: {doing} (if it needs more time, raise its `timeout`)"
    );
    run.failed_at_last_line("hangs", detail)
}
