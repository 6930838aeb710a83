//! The checks of principle 7: output that is bounded and quiet.

mod listing;
mod lists;
mod no_spinner;
mod quiet;
mod same_data;
mod truncation;

use super::Row;
use crate::model::{CheckId, OutputFormat};

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];
/// Such a contract says itself what is printed, and no other calls are made.
const ANY: &[OutputFormat] = &[OutputFormat::Json, OutputFormat::Jsonl];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P7Quiet, quiet::quiet, NEVER),
    (CheckId::P7NoSpinner, no_spinner::no_spinner, NEVER),
    (CheckId::P7Clamped, lists::clamped, ANY),
    (CheckId::P7Limit, lists::limit, ANY),
];
