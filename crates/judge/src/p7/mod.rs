//! The checks of principle 7: output has a bounded length, and can be made quiet.

mod listing;
mod lists;
mod no_spinner;
mod quiet;
mod same_data;
mod truncation;
mod verbose;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P7Quiet, quiet::quiet),
    (CheckId::P7NoSpinner, no_spinner::no_spinner),
    (CheckId::P7Clamped, lists::clamped),
    (CheckId::P7Limit, lists::limit),
    (CheckId::P7Verbose, verbose::verbose),
];
