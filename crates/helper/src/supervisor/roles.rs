//! The roles in which the helper starts its own executable again.

use crate::names::NAME;
use crate::sys;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The argument that makes the executable the launcher of a run.
pub(super) const LAUNCH: &str = "__launch";
/// The argument that makes it the first process of a confined run.
pub(super) const INIT: &str = "__init";
/// The argument that makes it the process that starts those.
pub(super) const ZYGOTE: &str = "__zygote";

/// A command that starts this executable again, as what the argument makes of it. It prints nothing.
pub(super) fn again(argument: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place where the helper starts processes")]
    let mut command = Command::new(sys::own());
    command.arg0(NAME).arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
