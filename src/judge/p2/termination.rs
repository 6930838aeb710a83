//! How runs end: by themselves, asking nothing, leaving nothing, also when their reader goes away.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Judgement, inconclusive};
use crate::model::{Stream, Variant};
use crate::run::{Bytes, End, Waiting};

/// `p2-completes`
pub fn completes(context: &CheckContext) -> Judgement {
    let assertions = context.runs().filter(|run| run.variant() != Variant::ClosedPipe).map(|run| ended(&run));
    let nothing_declared = context.data_probes().next().is_none();
    let open = nothing_declared
        .then(|| inconclusive(format!("no command that does something was run: {}", declare_success(""))));
    Judgement::of(assertions.chain(open), declare_success(""))
}

fn ended(run: &RunView) -> Assertion {
    if !run.observation.left_behind.is_empty() || run.observation.held_open {
        let names: Vec<String> = run
            .observation
            .left_behind
            .iter()
            .map(|process| strict_json::sanitize::line(&process.name))
            .collect();
        let what = if run.observation.held_open { ", and its output was held open" } else { "" };
        let detail = if names.is_empty() {
            "a process that it left behind held its output open after it had ended".to_owned()
        } else {
            format!(
                "left processes behind ({}){what}: a caller that reads to the end waits for them",
                names.join(", ")
            )
        };
        return run.failed("left-behind", detail);
    }
    match &run.observation.end {
        End::TimedOut | End::Waited => hung(run),
        End::Exited(_) | End::Signaled(_) => Ok(()),
        _ => Err(run.unusable().unwrap_or_default().into()),
    }
}

fn hung(run: &RunView) -> Assertion {
    // Reading standard input to its end is what filters do: only a question is held against it.
    if run.variant() == Variant::OpenStdin {
        return match question(run) {
            Some((stream, line)) => {
                let detail =
                    "asks on standard input and waits for an answer: expected no question in a JSON mode";
                run.failed_at_line("asks", stream, line, detail)
            }
            None if ends_otherwise(run) => Ok(()),
            None => waits(run),
        };
    }
    waits(run)
}

/// Points at the last thing it said.
fn stuck(run: &RunView, kind: &str, detail: String) -> Assertion {
    let stream = if run.bytes(Stream::Stderr).is_empty() { Stream::Stdout } else { Stream::Stderr };
    match run.lines(stream).map(|lines| lines.len()) {
        Some(lines) if lines > 0 => run.failed_at_line(kind, stream, lines - 1, detail),
        _ => run.failed(kind, detail),
    }
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
        Some(Waiting::Stdin) => "it was reading standard input",
        Some(Waiting::Terminal) => "it was reading the terminal",
        Some(Waiting::Busy) => "it was using the processor",
        Some(Waiting::Stopped) => "it had been stopped",
        Some(Waiting::Asleep) | None => "it was asleep",
    };
    if run.observation.end == End::Waited {
        return stuck(run, "waits", format!("waits for input that never comes: {doing}"));
    }
    let limit = run.probe.timeout.as_secs_f64();
    let detail = format!(
        "did not end within {limit} s: {doing} (a command that takes longer needs a `timeout` of its own)"
    );
    stuck(run, "hangs", detail)
}

/// Words of a program that fell over, as the common runtimes print them.
const CRASHES: [&str; 8] = [
    "Traceback (most recent call last)",
    "Exception ignored in",
    "BrokenPipeError",
    "panicked",
    "goroutine ",
    "Unhandled 'error' event",
    "Exception in thread",
    "    at ",
];

/// `p2-broken-pipe`
pub fn broken_pipe(context: &CheckContext) -> Judgement {
    let assertions =
        context.runs().filter(|run| run.variant() == Variant::ClosedPipe).map(|run| closed(&run));
    Judgement::of(assertions, declare_success(""))
}

fn closed(run: &RunView) -> Assertion {
    run.plain()?.usable()?;
    match run.observation.end {
        End::TimedOut | End::Waited => {
            return stuck(run, "hangs", "does not end when its reader has gone".into());
        }
        End::Signaled(signal) if signal != SIGPIPE => {
            return stuck(run, "signal", format!("dies of signal {signal} when its reader has gone"));
        }
        End::Exited(_) | End::Signaled(_) => {}
        _ => return Err(run.unusable().unwrap_or_default().into()),
    }
    let Some(lines) = run.lines(Stream::Stderr) else {
        return inconclusive(format!("{} prints too much to be looked through", run.label()));
    };
    match lines.iter().position(|line| CRASHES.iter().any(|crash| line.contains(crash))) {
        Some(line) => {
            let detail = "falls over when its reader has gone: expected a quiet end";
            run.failed_at_line("crashes", Stream::Stderr, line, detail)
        }
        None => Ok(()),
    }
}

const SIGPIPE: i32 = 13;
