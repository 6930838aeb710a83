//! The form of the tables that give each check its logic.

use super::context::CheckContext;
use super::verdict::Judgement;
use agentnative_core::model::CheckId;

/// A check and what gives its verdict.
pub type Row = (CheckId, fn(&CheckContext) -> Judgement);
