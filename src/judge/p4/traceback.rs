//! What a runtime prints when nobody caught an error.

use crate::catalogue::Derived;
use crate::judge::context::CheckContext;
use crate::judge::p2::NO_FAILURE;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Judgement, Unmet, inconclusive};
use crate::model::{CheckId, Stream, Variant};
use crate::run::End;

/// `p4-no-traceback`
pub fn no_traceback(context: &CheckContext) -> Judgement {
    let wrong = [Derived::IgnoredFlag, Derived::InvalidFormat, Derived::InvalidValue]
        .into_iter()
        .flat_map(|kind| context.derived(kind));
    let runs = context.failures().chain(wrong).flat_map(|probe| context.runs_of(probe));
    // A call that reads its input to the end has not failed while that is open.
    let waits = |run: &RunView| {
        run.variant() == Variant::OpenStdin && matches!(run.observation.end, End::Waited | End::TimedOut)
    };
    let assertions = runs.filter(|run| !waits(run)).map(|run| caught(&run));
    // Why a call fails that should succeed, another check reports.
    let data = context.data_probes().flat_map(|probe| context.runs_under(probe, Variant::Plain));
    let failed = data.filter(|run| run.exit() != run.probe.exit).filter_map(|run| {
        let is_traceback = matches!(caught(&run), Err(Unmet::Failed(_)));
        let what = || run.blocked_by(CheckId::P2ExitSuccess, format!("{} ends in a traceback", run.label()));
        is_traceback.then(|| inconclusive(what()))
    });
    // Wrong calls show how arguments are read, and nothing of how the target's own work fails.
    let declared = context.declared().any(|probe| !probe.gives_data());
    let not_shown = (!declared).then(|| inconclusive(NO_FAILURE));
    Judgement::of(assertions.chain(failed).chain(not_shown), NO_FAILURE)
}

fn caught(run: &RunView) -> Assertion {
    let Some(lines) = run.lines(Stream::Stderr) else {
        return inconclusive(format!("stderr of {} is too large to read", run.label()));
    };
    let found = (0..lines.len()).find_map(|at| Some((at, runtime(&lines[at], &lines[at + 1..])?)));
    match found {
        Some((at, runtime)) => {
            let detail = format!("{runtime} reports an error that the program does not handle");
            run.failed_at_line("traceback", Stream::Stderr, at, detail)
        }
        None => {
            run.exited()?;
            Ok(())
        }
    }
}

/// The runtime that begins to report an error in this line, told by its frames or its place in the code.
fn runtime(line: &str, below: &[String]) -> Option<&'static str> {
    let next = |holds: &dyn Fn(&str) -> bool| below.iter().take(MANY).any(|line| holds(line));
    let frame = |line: &str| line.trim_start().strip_prefix("at ").map(str::to_owned);
    let starts = |begin: &str| line.starts_with(begin);
    let crashed = |begin: &str, holds: &dyn Fn(&str) -> bool| starts(begin) && next(holds);
    if crashed("Traceback (most recent call last)", &|line| line.starts_with("  File \"")) {
        Some("Python")
    } else if starts("thread '") && line.contains("' panicked at ")
        || starts("thread '") && rust_with_id(line)
    {
        Some("Rust")
    } else if (starts("panic: ") || starts("fatal error: "))
        && next(&|line| line.starts_with("goroutine ") && line.ends_with("]:"))
    {
        Some("Go")
    } else if crashed("Exception in thread \"", &|line| {
        frame(line)
            .is_some_and(|frame| frame.contains(".java:") || frame.contains("(") && frame.ends_with(')'))
    }) {
        Some("Java")
    } else if crashed("Unhandled exception. ", &|line| frame(line).is_some_and(|frame| frame.contains('('))) {
        Some(".NET")
    } else if crashed("PHP Fatal error:  Uncaught ", &|line| line.starts_with("Stack trace:")) {
        Some("PHP")
    } else if is_ruby(line) {
        Some("Ruby")
    } else if line.starts_with(|first: char| !first.is_whitespace())
        && below.first().and_then(|line| frame(line)).is_some_and(|frame| has_place(&frame))
        && line.contains("Error")
    {
        Some("Node.js")
    } else {
        None
    }
}

/// So many lines below are looked at for frames.
const MANY: usize = 40;

/// `thread 'main' (123) panicked at src/main.rs:2:5:`, as of Rust 1.91.
fn rust_with_id(line: &str) -> bool {
    let rest = line.rsplit_once("' (").map(|(_, rest)| rest);
    rest.and_then(|rest| rest.split_once(") panicked at "))
        .is_some_and(|(id, _)| id.bytes().all(|byte| byte.is_ascii_digit()))
}

/// `tool.rb:3:in 'Object#main': no such file (RuntimeError)`
fn is_ruby(line: &str) -> bool {
    let Some((file, rest)) = line.split_once(".rb:") else { return false };
    let number = rest.split(':').next().unwrap_or_default();
    let in_method = rest[number.len()..].starts_with(":in '") || rest[number.len()..].starts_with(":in `");
    !file.contains(' ') && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) && in_method
}

/// `run (/srv/tool.js:3:9)`
fn has_place(frame: &str) -> bool {
    let mut parts = frame.trim_end_matches(')').rsplit(':');
    let mut number =
        || parts.next().is_some_and(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    number() && number()
}
