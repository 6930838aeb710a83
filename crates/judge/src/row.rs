//! Type of the tables that map each check to its logic.

use super::context::CheckContext;
use super::verdict::Judgement;
use agentnative_core::model::CheckId;

/// A check and the function that judges it.
pub type CheckRow = (CheckId, fn(&CheckContext) -> Judgement);
