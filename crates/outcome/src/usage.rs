//! Tokens and cost of requests to the model.

use super::arithmetic::sum;

/// Token counts of requests to the model, of which none contains another, and their cost in dollars.
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
    /// Converts counts whose input contains the tokens read from and written to the cache.
    pub(super) fn without_cached_input(self) -> Self {
        let cached = sum(self.cache_read, self.cache_write).unwrap_or(0.0);
        Self { input: self.input.map(|input| (input - cached).max(0.0)), ..self }
    }

    /// Converts counts whose output contains the reasoning tokens.
    pub(super) fn without_reasoning_output(self) -> Self {
        let reasoning = self.reasoning.unwrap_or(0.0);
        Self { output: self.output.map(|output| (output - reasoning).max(0.0)), ..self }
    }

    /// Returns the sum of input and output.
    pub(super) fn used(&self) -> Option<f64> {
        sum(self.input, self.output)
    }

    /// Returns the sum of all counts.
    pub(super) fn total(&self) -> Option<f64> {
        [self.reasoning, self.cache_read, self.cache_write].into_iter().fold(self.used(), sum)
    }

    /// True if the agent reports tokens or a cost.
    pub(super) fn is_reported(&self) -> bool {
        self.total().or(self.cost).is_some()
    }

    /// Returns the sum of two usages.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self {
            input: sum(self.input, other.input),
            output: sum(self.output, other.output),
            reasoning: sum(self.reasoning, other.reasoning),
            cache_read: sum(self.cache_read, other.cache_read),
            cache_write: sum(self.cache_write, other.cache_write),
            cost: sum(self.cost, other.cost),
        }
    }
}
