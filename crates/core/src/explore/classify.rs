//! Decides how an explored call ended.

use super::trial::Trial;
use crate::model::{CallGroup, CallOutcome};
use crate::run::{Observation, RunEnd};

/// Length of the start of a stream that is compared or searched, in bytes.
const MAX_SEARCHED: u64 = 1 << 20;

/// Returns how a call ended. `base` is the end of the call that it varies if that call failed, and `page` the help page
/// of the command.
pub(super) fn classify(trial: &Trial, base: Option<&RunEnd>, seen: &Observation, page: &str) -> CallOutcome {
    let code = match &seen.end {
        RunEnd::Exited(code) => *code,
        RunEnd::NotStarted(..) | RunEnd::Interrupted => return CallOutcome::NotMade,
        RunEnd::TimedOut if misses_network(seen) => return CallOutcome::NotReachable,
        RunEnd::TimedOut | RunEnd::Waited => return CallOutcome::TimedOut,
        RunEnd::Signaled(_) | RunEnd::TooMuch(_) => return CallOutcome::Died,
    };
    let is_invalid = trial.group == CallGroup::Invalid;
    match (code, is_invalid) {
        (0, _) if is_invalid || trial.group == CallGroup::Hallucinated => CallOutcome::Accepted,
        (0, _) if prints_page(seen, page) => CallOutcome::Refused,
        (0, _) if prints(seen) || seen.changed_workspace() => CallOutcome::Succeeded,
        (0, _) => CallOutcome::Silent,
        _ if misses_network(seen) => CallOutcome::NotReachable,
        // A call that is refused anyway is probably refused for the same reason.
        (_, true) if base == Some(&seen.end) || base.is_some() && !names_invalid_word(trial, seen) => {
            CallOutcome::Refused
        }
        (_, true) if trial.invalid.as_ref().is_some_and(|word| seen.reports_missing_file(word)) => {
            CallOutcome::Refused
        }
        // The usage may be misread, so that the call lacks nothing and fails for another reason.
        (_, true) if trial.invalid.is_none() && !names_missing_argument(seen) => CallOutcome::Refused,
        (_, true) => CallOutcome::Invalid,
        _ if has_words(&seen.stderr.bytes.first(MAX_SEARCHED)) && seen.stdout.bytes.is_empty() => {
            CallOutcome::Refused
        }
        _ => CallOutcome::Unexplained,
    }
}

fn misses_network(seen: &Observation) -> bool {
    seen.missed_network || seen.connections.is_some_and(|count| count > 0)
}

fn prints(seen: &Observation) -> bool {
    !seen.stdout.bytes.is_empty() || has_words(&seen.stderr.bytes.first(MAX_SEARCHED))
}

/// Returns whether stdout is the help page of the command, apart from white space.
fn prints_page(seen: &Observation, page: &str) -> bool {
    let stdout = seen.stdout.bytes.first(MAX_SEARCHED);
    !page.trim().is_empty() && page.split_whitespace().eq(String::from_utf8_lossy(&stdout).split_whitespace())
}

fn names_invalid_word(trial: &Trial, seen: &Observation) -> bool {
    trial.invalid.as_ref().is_some_and(|word| seen.names(word.trim_start_matches('-')))
}

/// Words in a message about a missing argument.
const MISSING: [&str; 12] = [
    "argument", "at least", "expected", "few", "missing", "must", "need", "no ", "operand", "require",
    "specif", "usage",
];

fn names_missing_argument(seen: &Observation) -> bool {
    [&seen.stderr, &seen.stdout].into_iter().any(|stream| {
        let text = String::from_utf8_lossy(&stream.bytes.first(MAX_SEARCHED)).to_lowercase();
        MISSING.iter().any(|word| text.contains(word))
    })
}

fn has_words(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).chars().any(char::is_alphanumeric)
}
