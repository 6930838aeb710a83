//! The roles in which the helper starts its own executable again.

use crate::names::NAME;
use crate::sys;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The argument that selects the launcher of a run.
pub(super) const LAUNCH: &str = "__launch";
/// The argument that selects the first process of a confined run.
pub(super) const INIT: &str = "__init";
/// The argument that selects the process that starts the first processes.
pub(super) const ZYGOTE: &str = "__zygote";

/// Returns a command that starts this executable in a role. It prints nothing.
pub(super) fn role_command(argument: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place where the helper starts processes")]
    let mut command = Command::new(sys::own_executable());
    command.arg0(NAME).arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
