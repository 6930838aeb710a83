//! The checks of principle 8: instructions for agents.

mod bundle;
mod current;
mod install;

use super::row::Row;
use agentnative_core::model::CheckId;

/// The checks and their logic.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P8Bundle, bundle::bundle),
    (CheckId::P8BundleCurrent, current::current),
    (CheckId::P8BundleInstall, install::install),
];
