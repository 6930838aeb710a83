//! The checks of principle 7: output that is bounded and quiet.

mod listing;
mod lists;
mod no_spinner;
mod quiet;
mod same_data;
mod truncation;

use super::row::Row;
use agentnative_core::model::CheckId;

/// The checks and their logic.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P7Quiet, quiet::quiet),
    (CheckId::P7NoSpinner, no_spinner::no_spinner),
    (CheckId::P7Clamped, lists::clamped),
    (CheckId::P7Limit, lists::limit),
];
