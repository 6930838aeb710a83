//! Access to the environment variables of this process.

use std::ffi::OsString;

/// A function that looks up an environment variable by its name.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;
