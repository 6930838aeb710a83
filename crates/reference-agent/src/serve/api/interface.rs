//! The interface of an API of a model provider: how it represents a turn, as a document or as a stream of events, and
//! an error.

use super::super::turn::MockTurn;
use serde_json::Value;

pub(super) trait Api {
    /// Returns a turn of the model as one JSON document.
    fn document(&self, model: &str, turn: &MockTurn) -> Value;
    /// Returns a turn of the model as server-sent events. Each event has a name (`None` if the API names no events) and
    /// data.
    fn events(&self, model: &str, turn: &MockTurn) -> Vec<(Option<String>, String)>;
    /// Returns the body of an error response.
    fn error(&self, status: u16, message: &str) -> Value;
}
