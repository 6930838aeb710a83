//! The helper as a separate program, for a library that is cross-compiled.

#![warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods)]

use std::process::ExitCode;

/// Fails unless a library starts it, over a socket.
fn main() -> ExitCode {
    agentnative_helper::main().unwrap_or(ExitCode::from(2))
}
