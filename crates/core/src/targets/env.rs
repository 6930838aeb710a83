//! Access to the environment variables of this process.

use std::ffi::OsString;

/// Looks up an environment variable.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;
