//! Checks of how runs end: by themselves, without leaving processes behind, even if the consumer closes the pipe.

use crate::context::{CheckContext, FormatSupport, RunView};
use crate::kit::{declare_success, judge_hang};
use crate::traceback;
use crate::verdict::{Assertion, Judgement, inconclusive};
use agentnative_core::model::{CheckId, OutputFormat, Stream, Variant};
use agentnative_core::run::{Leftover, RunEnd};

/// Judges `p2-completes`: every run ends by itself, without a prompt and without leaving processes behind.
pub fn completes(context: &CheckContext) -> Judgement {
    let is_judged = |run: &RunView| run.variant() != Variant::ClosedPipe && !run.probe.has_special_end();
    let assertions = context.runs().filter(is_judged).map(|run| judge_run_end(&run));
    let nothing_declared = context.data_probes().next().is_none();
    let undecided = nothing_declared
        .then(|| inconclusive(format!("no successful command was run: {}", declare_success(""))));
    Judgement::from_assertions(assertions.chain(undecided), declare_success(""))
}

fn judge_run_end(run: &RunView) -> Assertion {
    // A daemon in its own session that holds no output of the command does not block the caller.
    let is_at_fault = |left: &Leftover| !left.detached || left.survives;
    if run.observation.held_open || run.observation.left_behind.iter().any(is_at_fault) {
        // A process that cannot be killed would still exist with more time.
        if !run.observation.left_behind.iter().any(|left| left.survives) {
            run.had_enough_time()?;
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
    let owner = run.context.check_reporting_wait();
    match &run.observation.end {
        // No configuration declares how long an explored call may take: only a condition that makes it hang is a fault.
        RunEnd::TimedOut | RunEnd::Waited
            if run.probe.explored.is_some() && run.plain().is_ok_and(|plain| plain.did_not_end()) =>
        {
            inconclusive(format!("{} did not end", run.label()))
        }
        RunEnd::TimedOut | RunEnd::Waited if run.waits_for_input() && owner != CheckId::P2Completes => {
            match judge_hang(run) {
                Ok(()) => Ok(()),
                Err(_) => inconclusive(run.blocked_by(owner, format!("{} waits for input", run.label()))),
            }
        }
        RunEnd::TimedOut | RunEnd::Waited => judge_hang(run),
        RunEnd::Exited(_) | RunEnd::Signaled(_) => Ok(()),
        _ => Err(run.why_unusable().unwrap_or_default().into()),
    }
}

/// Beginnings of lines in which a language runtime reports an error while the process exits. They include the first
/// line of a traceback, since a closed pipe may cut off the others.
const EXIT_ERRORS: [&str; 4] = [
    "Exception ignored ",
    "Traceback (most recent call last):",
    "terminate called after ",
    "throw er; // Unhandled 'error' event",
];

/// Returns the index of the first line of a crash: a traceback, or an error that a language runtime reports at exit.
/// Ignores lines that also occur in `plain`, the stderr of the plain run.
fn crash(lines: &[String], plain: &[String]) -> Option<usize> {
    let new: Vec<String> =
        lines.iter().map(|line| if plain.contains(line) { String::new() } else { line.clone() }).collect();
    let is_crash = |line: &String| EXIT_ERRORS.iter().any(|begin| line.trim_start().starts_with(begin));
    let traceback = traceback::find(&new).map(|found| found.line);
    traceback.into_iter().chain(new.iter().position(is_crash)).min()
}

/// Judges `p2-broken-pipe`: a consumer that closes the pipe early causes no traceback, panic or hang.
pub fn broken_pipe(context: &CheckContext) -> Judgement {
    let assertions =
        context.runs().filter(|run| run.variant() == Variant::ClosedPipe).map(|run| judge_closed_pipe(&run));
    // A rejected format is only run plainly.
    let rejected = OutputFormat::ALL.into_iter().filter_map(|format| match context.format_support(format) {
        FormatSupport::No(run) => Some(inconclusive(run.format_rejected())),
        _ => None,
    });
    Judgement::from_assertions(assertions.chain(rejected), declare_success(""))
}

fn judge_closed_pipe(run: &RunView) -> Assertion {
    let plain = run.plain()?;
    plain.usable()?;
    match run.observation.end {
        RunEnd::TimedOut | RunEnd::Waited => {
            let detail = "the command does not end after its output pipe is closed";
            return run.failed_at_last_line("hangs", detail);
        }
        RunEnd::Signaled(signal) if signal != SIGPIPE => {
            let detail = format!("the closed output pipe kills the command with signal {signal}");
            return run.failed_at_last_line("signal", detail);
        }
        RunEnd::Exited(_) | RunEnd::Signaled(_) => {}
        _ => return Err(run.why_unusable().unwrap_or_default().into()),
    }
    let (Some(lines), Some(plain_lines)) = (run.lines(Stream::Stderr), plain.lines(Stream::Stderr)) else {
        return inconclusive(format!("the output of {} is too large to search", run.label()));
    };
    // Messages that the plain run prints as well are not about the closed pipe.
    match crash(&lines, &plain_lines) {
        Some(line) => {
            let detail = "the closed output pipe crashes the command; expected a quiet exit";
            run.failed_at_line("crashes", Stream::Stderr, line, detail)
        }
        None => Ok(()),
    }
}

const SIGPIPE: i32 = 13;
