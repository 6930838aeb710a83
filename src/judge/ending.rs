//! How runs end: by themselves, asking nothing, leaving nothing, also when their reader goes away.

use super::DECLARE;
use super::case::{Case, Seen};
use super::verdict::{Finding, Judgement, Look};
use crate::report::{Stream, Variant};
use crate::run::{Bytes, End, Waiting};

/// `p2-completes`
pub fn completes(case: &Case) -> Judgement {
    let looks = case.all().filter(|seen| seen.variant() != Variant::ClosedPipe).map(|seen| ended(&seen));
    let nothing_declared = case.successes().next().is_none();
    let open =
        nothing_declared.then(|| Look::Unknown(format!("no command that does something was run: {DECLARE}")));
    Judgement::of(looks.chain(open), DECLARE)
}

fn ended(seen: &Seen) -> Look {
    if !seen.run.left_behind.is_empty() || seen.run.held_open {
        let names: Vec<String> =
            seen.run.left_behind.iter().map(|process| strict_json::sanitize::line(&process.name)).collect();
        let what = if seen.run.held_open { ", and its output was held open" } else { "" };
        let detail = if names.is_empty() {
            "a process that it left behind held its output open after it had ended".to_owned()
        } else {
            format!(
                "left processes behind ({}){what}: a caller that reads to the end waits for them",
                names.join(", ")
            )
        };
        return seen.broken(detail);
    }
    match &seen.run.end {
        End::TimedOut | End::Waited => hung(seen),
        End::Exited(_) | End::Signaled(_) => Look::Held,
        _ => Look::Unknown(seen.unusable().unwrap_or_default()),
    }
}

fn hung(seen: &Seen) -> Look {
    // Reading standard input to its end is what filters do: only a question is held against it.
    if seen.variant() == Variant::OpenStdin {
        return match question(seen) {
            Some((stream, line)) => {
                let detail =
                    "asks on standard input and waits for an answer: expected no question in a JSON mode";
                Look::Broken(Finding::new(seen.at_line(stream, line, detail)))
            }
            None if ends_otherwise(seen) => Look::Held,
            None => stuck(seen, waits(seen)),
        };
    }
    stuck(seen, waits(seen))
}

/// Points at the last thing it said.
fn stuck(seen: &Seen, detail: String) -> Look {
    let stream = if seen.bytes(Stream::Stderr).is_empty() { Stream::Stdout } else { Stream::Stderr };
    match seen.lines(stream).map(|lines| lines.len()) {
        Some(lines) if lines > 0 => Look::Broken(Finding::new(seen.at_line(stream, lines - 1, detail))),
        _ => seen.broken(detail),
    }
}

/// Whether the same call ended by itself with a null input, so that the wait is for input.
fn ends_otherwise(seen: &Seen) -> bool {
    let plain = seen.case.plain(seen.probe, seen.format());
    plain.is_none_or(|plain| matches!(plain.run.end, End::Exited(_) | End::Signaled(_)))
}

/// The line of an unanswered question: output whose last line was not ended when the wait began.
fn question(seen: &Seen) -> Option<(Stream, usize)> {
    [Stream::Stderr, Stream::Stdout].into_iter().find_map(|stream| {
        let bytes = seen.bytes(stream);
        if bytes.is_empty() || last_byte(bytes) == Some(b'\n') {
            return None;
        }
        let lines = seen.lines(stream)?;
        Some((stream, lines.len().saturating_sub(1)))
    })
}

fn last_byte(bytes: &Bytes) -> Option<u8> {
    let mut byte = [0];
    let read = bytes.read_at(bytes.len().checked_sub(1)?, &mut byte).ok()?;
    (read == 1).then_some(byte[0])
}

fn waits(seen: &Seen) -> String {
    let doing = match seen.run.waiting {
        Some(Waiting::Stdin) => "it was reading standard input",
        Some(Waiting::Terminal) => "it was reading the terminal",
        Some(Waiting::Busy) => "it was using the processor",
        Some(Waiting::Stopped) => "it had been stopped",
        Some(Waiting::Asleep) | None => "it was asleep",
    };
    if seen.run.end == End::Waited {
        return format!("waits for input that never comes: {doing}");
    }
    let limit = seen.probe.timeout.as_secs_f64();
    format!(
        "did not end within {limit} s: {doing} (a command that takes longer needs a `timeout` of its own)"
    )
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
pub fn broken_pipe(case: &Case) -> Judgement {
    let looks = case.all().filter(|seen| seen.variant() == Variant::ClosedPipe).map(|seen| closed(&seen));
    Judgement::of(looks, DECLARE)
}

fn closed(seen: &Seen) -> Look {
    let Some(plain) = seen.case.plain(seen.probe, seen.format()) else {
        return Look::Unknown(format!("{} has no plain run to be compared with", seen.label()));
    };
    if let Some(reason) = plain.unusable() {
        return Look::Unknown(reason);
    }
    match seen.run.end {
        End::TimedOut | End::Waited => {
            return stuck(seen, "does not end when its reader has gone".into());
        }
        End::Signaled(signal) if signal != SIGPIPE => {
            return stuck(seen, format!("dies of signal {signal} when its reader has gone"));
        }
        End::Exited(_) | End::Signaled(_) => {}
        _ => return Look::Unknown(seen.unusable().unwrap_or_default()),
    }
    let Some(lines) = seen.lines(Stream::Stderr) else {
        return Look::Unknown(format!("{} prints too much to be looked through", seen.label()));
    };
    match lines.iter().position(|line| CRASHES.iter().any(|crash| line.contains(crash))) {
        Some(line) => {
            let detail = "falls over when its reader has gone: expected a quiet end";
            Look::Broken(Finding::new(seen.at_line(Stream::Stderr, line, detail)))
        }
        None => Look::Held,
    }
}

const SIGPIPE: i32 = 13;
