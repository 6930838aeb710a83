//! An outcome in words.

use agentnative_outcome::{Quantity, RunOutcome};
use agentnative_output::Tone;

/// The word for how a run ended, and its tone.
pub(super) fn verdict(outcome: &RunOutcome) -> (&'static str, Tone) {
    if outcome.success { ("success", Tone::Good) } else { ("failure", Tone::Bad) }
}

/// Model, time, tokens, cost, session: what is known of them.
pub(super) fn facts(outcome: &RunOutcome) -> Vec<String> {
    let metrics = outcome.metrics.clone().unwrap_or_default();
    // Those of the whole run, where they are known.
    let all_tokens = metrics.input_tokens.zip(metrics.output_tokens);
    let all_tokens = all_tokens.map(|(input, output)| Quantity(input.0 + output.0));
    let facts = [
        metrics.model_name,
        metrics.duration_ms.map(duration),
        all_tokens.or(metrics.tokens_used).map(|Quantity(tokens)| format!("{tokens} tokens")),
        metrics.total_cost.or(metrics.cost).map(|Quantity(cost)| format!("${cost}")),
        outcome.session_id.clone(),
    ];
    facts.into_iter().flatten().collect()
}

/// Milliseconds as people write them.
pub(super) fn duration(Quantity(milliseconds): Quantity) -> String {
    match milliseconds / 1000.0 {
        seconds if seconds < 1.0 => format!("{milliseconds} ms"),
        seconds if seconds < 60.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min {:.0} s", (seconds / 60.0).floor(), (seconds % 60.0).floor()),
    }
}
