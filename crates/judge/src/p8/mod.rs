//! The checks of principle 8: instructions for agents.

mod bundle;
mod current;
mod install;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P8Bundle, bundle::bundle),
    (CheckId::P8BundleCurrent, current::current),
    (CheckId::P8BundleInstall, install::install),
];
