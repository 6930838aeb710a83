//! The interface of an API: its form of a turn, as a document or as events, and of errors.

use super::super::turn::MockTurn;
use serde_json::Value;

/// Token counts of each turn. The cached tokens are part of the input.
pub(super) const INPUT_TOKENS: u64 = 100;
pub(super) const CACHED_TOKENS: u64 = 20;
pub(super) const OUTPUT_TOKENS: u64 = 10;

pub(super) trait Api {
    /// Returns a turn as one document.
    fn document(&self, model: &str, turn: &MockTurn) -> Value;
    /// Returns a turn as server-sent events: the name, if the API has names, and the data of each.
    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)>;
    /// Returns the body of an error response.
    fn error(&self, status: u16, message: &str) -> Value;
}
