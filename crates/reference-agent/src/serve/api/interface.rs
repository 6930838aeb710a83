//! The interface of an API: a turn as a document and as events, and errors.

use super::super::turn::Turn;
use serde_json::Value;

/// Tokens of each turn: of the prompt, those of it that came from a cache, and of the answer.
pub(super) const INPUT: u64 = 100;
pub(super) const CACHED: u64 = 20;
pub(super) const OUTPUT: u64 = 10;

/// An API.
pub(super) trait Api {
    /// A turn as one document.
    fn document(&self, model: &str, turn: &Turn) -> Value;
    /// A turn as server-sent events: the event's name, if it has one, and its data.
    fn events(&self, model: &str, turn: &Turn) -> Vec<(Option<String>, String)>;
    /// An error of the provider.
    fn error(&self, status: u16, message: &str) -> Value;
}
