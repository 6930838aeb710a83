//! The metrics of a session.

use super::arithmetic::{money, span, sum};
use super::session::Session;
use super::types::{Metrics, Quantity};

impl Session {
    /// The times, tokens and cost of the run, without the counts.
    pub(super) fn metrics(&self) -> Metrics {
        let (assistant, used) = (&self.assistant, &self.used);
        let (start, end) = (assistant.created, assistant.completed);
        let duration = self.duration.or(span(start, end)).or(span(self.created, self.updated));
        let last = sum(assistant.input, assistant.output);
        let tokens = self.tokens.or(last).or(sum(used.input, used.output));
        let model = assistant.provider.as_ref().zip(assistant.model.as_ref());
        Metrics {
            start_time_ms: start.map(Quantity),
            end_time_ms: end.map(Quantity),
            duration_ms: duration.map(Quantity),
            tokens_used: tokens.map(Quantity),
            input_tokens: used.input.map(Quantity),
            output_tokens: used.output.map(Quantity),
            reasoning_tokens: used.reasoning.map(Quantity),
            cache_read_tokens: used.cache_read.map(Quantity),
            cache_write_tokens: used.cache_write.map(Quantity),
            steps: self.steps.map(Quantity),
            cost: assistant.cost.or(used.cost).map(money).map(Quantity),
            total_cost: used.cost.map(money).map(Quantity),
            model_name: model.map(|(provider, model)| format!("{provider}/{model}")),
            ..Metrics::default()
        }
    }
}
