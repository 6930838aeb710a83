//! The checks of principle 6: options, signals and terminals behave as everywhere.

mod bare_environment;
mod completions;
mod global_flags;
mod no_color;
mod no_pager;
mod sigint;
mod sigterm;
mod timeout;
mod xdg;

use super::Row;
use crate::model::{CheckId, OutputFormat};

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P6NoColor, no_color::no_color, NEVER),
    (CheckId::P6NoPager, no_pager::no_pager, NEVER),
    (CheckId::P6Completions, completions::completions, NEVER),
    (CheckId::P6GlobalFlags, global_flags::global_flags, NEVER),
    (CheckId::P6BareEnvironment, bare_environment::bare_environment, NEVER),
    (CheckId::P6Sigterm, sigterm::sigterm, NEVER),
    (CheckId::P6Timeout, timeout::timeout, NEVER),
    (CheckId::P6Sigint, sigint::sigint, NEVER),
    (CheckId::P6Xdg, xdg::xdg, NEVER),
];
