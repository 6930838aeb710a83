//! Variables of our own environment.

use std::ffi::OsString;

/// Looks up a variable of our own environment.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;
