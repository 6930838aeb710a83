//! The checks of principle 5: what changes something can be tried, is confirmed and repeated safely, and what reads
//! changes nothing.

mod announced;
mod changing;
mod confirm;
mod dry_run;
mod idempotent;
mod read_only;
mod refusal;

use super::row::Row;
use agentnative_core::model::CheckId;

/// The checks and their logic.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P5DryRun, dry_run::dry_run),
    (CheckId::P5Confirm, confirm::confirm),
    (CheckId::P5ReadOnly, read_only::read_only),
    (CheckId::P5Idempotent, idempotent::idempotent),
    (CheckId::P5Refusal, refusal::refusal),
];
