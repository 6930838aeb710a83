//! What requests to the model used and cost.

use super::arithmetic::sum;

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
