//! How runs end: by themselves, asking nothing, leaving nothing, also when their reader goes away.

use super::declare_success;
use crate::catalogue::Derived;
use crate::judge::context::{Accepted, CheckContext};
use crate::judge::run_view::RunView;
use crate::judge::traceback;
use crate::judge::verdict::{Assertion, Judgement, inconclusive};
use crate::model::{CheckId, OutputFormat, Stream, Variant};
use crate::run::{Bytes, End, HOSTILE_ENVIRONMENTS, Leftover, Waiting};
use strict_json::sanitize;

/// `p2-completes`
pub fn completes(context: &CheckContext) -> Judgement {
    let own = |run: &RunView| run.variant() != Variant::ClosedPipe && !run.probe.is_cut_short();
    let assertions = context.runs().filter(own).map(|run| ended(&run));
    let nothing_declared = context.data_probes().next().is_none();
    let open = nothing_declared
        .then(|| inconclusive(format!("no successful command was run: {}", declare_success(""))));
    Judgement::of(assertions.chain(open), declare_success(""))
}

fn ended(run: &RunView) -> Assertion {
    // A daemon in a session of its own that holds no output of the command does not block its caller.
    let is_at_fault = |left: &Leftover| !left.detached || left.survives;
    if run.observation.held_open || run.observation.left_behind.iter().any(is_at_fault) {
        // What cannot be ended would still be there with more time.
        if !run.observation.left_behind.iter().any(|left| left.survives) {
            run.had_its_time()?;
        }
        let names = run.left_behind();
        let what = if run.observation.held_open { " that keep its output open" } else { "" };
        let detail = if names.is_empty() {
            "a process that the command left behind keeps its output open".to_owned()
        } else {
            format!(
                "the command left processes behind{what} ({names}); a caller that reads to the end of the output waits for them"
            )
        };
        return run.failed("left-behind", detail);
    }
    let owner = run.context.tells_of_waiting();
    match &run.observation.end {
        End::TimedOut | End::Waited if run.waits_for_input() && owner != CheckId::P2Completes => {
            match waiting(run) {
                Ok(()) => Ok(()),
                Err(_) => inconclusive(run.blocked_by(owner, format!("{} waits for input", run.label()))),
            }
        }
        End::TimedOut | End::Waited => waiting(run),
        End::Exited(_) | End::Signaled(_) => Ok(()),
        _ => Err(run.unusable().unwrap_or_default().into()),
    }
}

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

/// How the lines begin in which a runtime reports an error while it ends; a traceback may be cut behind its first line.
const ENDS_BADLY: [&str; 4] = [
    "Exception ignored ",
    "Traceback (most recent call last):",
    "terminate called after ",
    "throw er; // Unhandled 'error' event",
];

/// Returns the first line of a crash: a traceback, or what a runtime reports while it ends. Lines of the plain run are
/// none.
fn crash(lines: &[String], plain: &[String]) -> Option<usize> {
    let new: Vec<String> =
        lines.iter().map(|line| if plain.contains(line) { String::new() } else { line.clone() }).collect();
    let is_crash = |line: &String| ENDS_BADLY.iter().any(|begin| line.trim_start().starts_with(begin));
    let traceback = traceback::find(&new).map(|found| found.line);
    traceback.into_iter().chain(new.iter().position(is_crash)).min()
}

/// `p2-broken-pipe`
pub fn broken_pipe(context: &CheckContext) -> Judgement {
    let assertions =
        context.runs().filter(|run| run.variant() == Variant::ClosedPipe).map(|run| closed(&run));
    // A format that is rejected is requested plainly only.
    let rejected = OutputFormat::ALL.into_iter().filter_map(|format| match context.accepted(format) {
        Accepted::No(run) => Some(inconclusive(run.refused_format())),
        _ => None,
    });
    Judgement::of(assertions.chain(rejected), declare_success(""))
}

fn closed(run: &RunView) -> Assertion {
    let plain = run.plain()?;
    plain.usable()?;
    match run.observation.end {
        End::TimedOut | End::Waited => {
            let detail = "the command does not end after its output pipe is closed";
            return run.failed_at_last_line("hangs", detail);
        }
        End::Signaled(signal) if signal != SIGPIPE => {
            let detail = format!("the closed output pipe kills the command with signal {signal}");
            return run.failed_at_last_line("signal", detail);
        }
        End::Exited(_) | End::Signaled(_) => {}
        _ => return Err(run.unusable().unwrap_or_default().into()),
    }
    let (Some(lines), Some(otherwise)) = (run.lines(Stream::Stderr), plain.lines(Stream::Stderr)) else {
        return inconclusive(format!("the output of {} is too large to search", run.label()));
    };
    // What it says to a reader that stays as well is not about the one that went.
    match crash(&lines, &otherwise) {
        Some(line) => {
            let detail = "the closed output pipe makes the command crash; expected a quiet end";
            run.failed_at_line("crashes", Stream::Stderr, line, detail)
        }
        None => Ok(()),
    }
}

const SIGPIPE: i32 = 13;
