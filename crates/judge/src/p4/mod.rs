//! The checks of principle 4: actionable errors.

mod before_network;
mod config_named;
mod invalid_usage;
mod message;
mod remedy;
mod retryable;
mod traceback;
mod valid_set;
mod write_error;

use super::row::CheckRow;
use agentnative_core::model::CheckId;

pub(super) const CHECKS: &[CheckRow] = &[
    (CheckId::P4UnknownFlag, invalid_usage::unknown_flag),
    (CheckId::P4NamesCulprit, invalid_usage::names_culprit),
    (CheckId::P4Remedy, remedy::remedy),
    (CheckId::P4NoTraceback, traceback::no_traceback),
    (CheckId::P4ValidSet, valid_set::valid_set),
    (CheckId::P4WriteError, write_error::write_error),
    (CheckId::P4ConfigNamed, config_named::config_named),
    (CheckId::P4BeforeNetwork, before_network::before_network),
    (CheckId::P4Retryable, retryable::retryable),
];
