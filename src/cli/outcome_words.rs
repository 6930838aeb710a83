//! Formats an outcome in words.

use agentnative_contract::error::{Error, ErrorKind};
use agentnative_outcome::{Quantity, RunOutcome, Unrecognised};
use agentnative_output::Tone;

/// Returns the error for a stream of no known agent.
pub(super) fn unrecognised(error: &Unrecognised) -> Error {
    let error = Error::new(ErrorKind::Unrecognised, error.to_string());
    error.hint("name the agent with --from if it printed nothing")
}

/// Returns the word for the result of a run, and its tone.
pub(super) fn verdict(outcome: &RunOutcome) -> (&'static str, Tone) {
    if outcome.success { ("success", Tone::Success) } else { ("failure", Tone::Error) }
}

/// Returns the known facts about a run in words: model, duration, tokens, cost, session ID.
pub(super) fn facts(outcome: &RunOutcome) -> Vec<String> {
    let metrics = outcome.metrics.clone().unwrap_or_default();
    let facts = [
        metrics.model_name,
        metrics.duration_ms.map(duration),
        metrics.tokens_used.map(|Quantity(tokens)| format!("{tokens} tokens")),
        metrics.cost.map(|Quantity(cost)| format!("${cost}")),
        outcome.session_id.clone(),
    ];
    facts.into_iter().flatten().collect()
}

/// Formats milliseconds with a suitable unit.
pub(super) fn duration(Quantity(milliseconds): Quantity) -> String {
    match milliseconds / 1000.0 {
        seconds if seconds < 1.0 => format!("{milliseconds} ms"),
        seconds if seconds < 60.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), (seconds % 60.0).floor()),
    }
}
