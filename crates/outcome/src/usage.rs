//! Tokens and cost of requests to the model.

use super::arithmetic::sum;

/// Token counts of requests to the model, as the agent counts them, and their cost in dollars.
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
