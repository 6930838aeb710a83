//! The helper's executable on a system where no helper can be started.

use std::process::ExitCode;

/// Runs the helper, if this process was started as one: never, on this system.
pub fn main() -> Option<ExitCode> {
    None
}
