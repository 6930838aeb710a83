//! Handles a stdout that was already closed when the process started.

use agentnative_startup::stdout_was_closed;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::io;

/// Fails with `EBADF`, like a write to a closed stdout, if stdout was closed when the process started.
pub(super) fn check_stdout() -> io::Result<()> {
    if stdout_was_closed() { Err(Errno::BADF.into()) } else { Ok(()) }
}

/// If stdout was closed when the process started, marks it to be closed again by `exec`. A program that replaces this
/// process then detects the closed stdout as well.
#[expect(clippy::disallowed_methods, reason = "writes nothing")]
pub fn close_stdout_on_exec() {
    if check_stdout().is_err() {
        // Otherwise the new process inherits `/dev/null` and takes it for the intended stdout.
        fcntl_setfd(rustix::stdio::stdout(), FdFlags::CLOEXEC).unwrap_or_default();
    }
}
