//! The checks of principle 6: options, signals and terminals behave as everywhere.

mod global_flags;

pub use global_flags::taken_elsewhere;

use super::Row;
use crate::model::CheckId;
use agentnative_contract::Framing;

/// A contract for the whole target does not take the place of the check.
const NEVER: &[Framing] = &[];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[(CheckId::P6GlobalFlags, global_flags::global_flags, NEVER)];
