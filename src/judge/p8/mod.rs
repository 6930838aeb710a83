//! The checks of principle 8: instructions for agents.

mod bundle;
mod current;
mod install;

use super::Row;
use crate::model::{CheckId, OutputFormat};

/// A contract for the whole target does not take the place of the check.
const NEVER: &[OutputFormat] = &[];

/// The checks, their logic, and which contracts for the whole target take their place.
pub(super) const CHECKS: &[Row] = &[
    (CheckId::P8Bundle, bundle::bundle, NEVER),
    (CheckId::P8BundleCurrent, current::current, NEVER),
    (CheckId::P8BundleInstall, install::install, NEVER),
];
