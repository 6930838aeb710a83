//! The checks of principle 5: changes can be previewed, are confirmed and can be repeated safely; other calls change
//! nothing.

mod announced;
mod changing;
mod concurrent;
mod confirm;
mod dry_run;
mod idempotent;
mod read_only;
mod refusal;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P5DryRun, dry_run::dry_run),
    (CheckId::P5Confirm, confirm::confirm),
    (CheckId::P5ReadOnly, read_only::read_only),
    (CheckId::P5Idempotent, idempotent::idempotent),
    (CheckId::P5Concurrent, concurrent::concurrent),
    (CheckId::P5Refusal, refusal::refusal),
];
