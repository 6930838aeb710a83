//! Type of the tables that map each check to its logic.

use super::context::CheckContext;
use super::verdict::Judgement;
use agentnative_core::model::CheckId;

/// A function that judges a check.
pub type Logic = fn(&CheckContext) -> Judgement;

/// A check and the function that judges it.
pub type CheckRow = (CheckId, Logic);
