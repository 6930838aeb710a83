//! The checks of principle 7: output that is bounded and quiet.

mod listing;
mod lists;
mod truncation;

use super::Row;
use crate::model::CheckId;
use agentnative_contract::Framing;

/// A contract for the whole target says itself what is printed, and no other calls are made.
const ANY: &[Framing] = &[Framing::Document, Framing::Lines];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] =
    &[(CheckId::P7Clamped, lists::clamped, ANY), (CheckId::P7Limit, lists::limit, ANY)];
