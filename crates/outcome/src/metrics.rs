//! The metrics of a session.

use super::arithmetic::{elapsed, round_cost};
use super::session::Session;
use super::types::{Metrics, Quantity};
use super::usage::Usage;

impl Session {
    /// Returns the times of the session, and the tokens and the cost in `usage`. The numbers of steps and calls are
    /// missing.
    pub(super) fn metrics(&self, usage: &Usage) -> Metrics {
        let assistant = &self.assistant;
        let (start, end) = (self.start, assistant.completed);
        let duration = self.duration.or(elapsed(start, end)).or(elapsed(self.created, self.updated));
        let model = assistant.provider.as_ref().zip(assistant.model.as_ref());
        Metrics {
            start_time_ms: start.map(Quantity),
            end_time_ms: end.map(Quantity),
            duration_ms: duration.map(Quantity),
            tokens_used: usage.used().map(Quantity),
            total_tokens: usage.total().map(Quantity),
            input_tokens: usage.input.map(Quantity),
            output_tokens: usage.output.map(Quantity),
            reasoning_tokens: usage.reasoning.map(Quantity),
            cache_read_tokens: usage.cache_read.map(Quantity),
            cache_write_tokens: usage.cache_write.map(Quantity),
            cost: usage.cost.map(round_cost).map(Quantity),
            model_name: model.map(|(provider, model)| format!("{provider}/{model}")),
            ..Metrics::default()
        }
    }
}
