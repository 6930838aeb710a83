//! The roles in which the helper starts its own executable again, each selected by an argument.

use crate::names::NAME;
use crate::sys;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// The argument that selects the launcher, which prepares a run and becomes the target.
pub(super) const LAUNCH: &str = "__launch";
/// The argument that selects the first process of a confined run.
pub(super) const INIT: &str = "__init";
/// The argument that selects the zygote, which starts the first process of each confined run.
pub(super) const ZYGOTE: &str = "__zygote";

/// Returns a command that starts this executable in the role that `argument` selects. Its stdout and stderr are
/// `/dev/null`.
pub(super) fn role_command(argument: &str) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the one place where the helper starts processes")]
    let mut command = Command::new(sys::own_executable());
    command.arg0(NAME).arg(argument).stdout(Stdio::null()).stderr(Stdio::null());
    command
}
