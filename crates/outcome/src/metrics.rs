//! The metrics of a session.

use super::arithmetic::{elapsed, round_cost, sum};
use super::session::Session;
use super::types::{Metrics, Quantity};

impl Session {
    /// Returns the times, tokens and cost of the session. The numbers of calls are missing.
    pub(super) fn metrics(&self) -> Metrics {
        let (assistant, usage) = (&self.assistant, &self.usage);
        let (start, end) = (assistant.created, assistant.completed);
        let duration = self.duration.or(elapsed(start, end)).or(elapsed(self.created, self.updated));
        let last_message = sum(assistant.input, assistant.output);
        let tokens = self.tokens.or(last_message).or(sum(usage.input, usage.output));
        let model = assistant.provider.as_ref().zip(assistant.model.as_ref());
        Metrics {
            start_time_ms: start.map(Quantity),
            end_time_ms: end.map(Quantity),
            duration_ms: duration.map(Quantity),
            tokens_used: tokens.map(Quantity),
            input_tokens: usage.input.map(Quantity),
            output_tokens: usage.output.map(Quantity),
            reasoning_tokens: usage.reasoning.map(Quantity),
            cache_read_tokens: usage.cache_read.map(Quantity),
            cache_write_tokens: usage.cache_write.map(Quantity),
            steps: self.steps.map(Quantity),
            cost: assistant.cost.or(usage.cost).map(round_cost).map(Quantity),
            total_cost: usage.cost.map(round_cost).map(Quantity),
            model_name: model.map(|(provider, model)| format!("{provider}/{model}")),
            ..Metrics::default()
        }
    }
}
