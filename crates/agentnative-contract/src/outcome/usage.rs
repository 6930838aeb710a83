//! What requests to the model used and cost.

use super::calls::span;
use super::session::Session;
use super::types::{Metrics, Quantity};

/// Tokens as the agent counts them, and dollars.
#[derive(Debug, Clone, Default)]
pub(super) struct Usage {
    pub(super) input: Option<f64>,
    pub(super) output: Option<f64>,
    pub(super) reasoning: Option<f64>,
    pub(super) cache_read: Option<f64>,
    pub(super) cache_write: Option<f64>,
    pub(super) cost: Option<f64>,
}

impl Usage {
    /// With that of another request.
    pub(super) fn plus(&self, more: &Self) -> Self {
        Self {
            input: sum(self.input, more.input),
            output: sum(self.output, more.output),
            reasoning: sum(self.reasoning, more.reasoning),
            cache_read: sum(self.cache_read, more.cache_read),
            cache_write: sum(self.cache_write, more.cache_write),
            cost: sum(self.cost, more.cost),
        }
    }
}

/// The sum of what is known.
pub(super) fn sum(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    one.zip(other).map(|(one, other)| finite(one + other)).or(one).or(other)
}

/// Costs are sums of small decimals; what is behind the twelfth is no money.
pub(super) fn money(cost: f64) -> f64 {
    let digits = (cost * 1e12).round();
    if digits.is_finite() { digits / 1e12 } else { cost }
}

/// A result of arithmetic that JSON can write: beyond the greatest number is that number.
pub(super) fn finite(result: f64) -> f64 {
    result.clamp(f64::MIN, f64::MAX)
}

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
