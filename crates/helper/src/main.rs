//! The helper as a program of its own, for a library that is built for another machine than its build script.

#![warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods)]

use std::process::ExitCode;

/// Only a library starts it, over a socket.
fn main() -> ExitCode {
    agentnative_helper::main().unwrap_or(ExitCode::from(2))
}
