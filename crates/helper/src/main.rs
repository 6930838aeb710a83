//! The helper as a separate program, for use with a library that is cross-compiled.

#![warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods)]

use std::process::ExitCode;

/// Runs the helper. Exits with 2 if the program was not started by a client of the helper.
fn main() -> ExitCode {
    agentnative_helper::main().unwrap_or(ExitCode::from(2))
}
