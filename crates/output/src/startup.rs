//! A stdout that was closed when this process was started is an error to write to.

use agentnative_startup::stdout_was_closed;
use rustix::io::{Errno, FdFlags, fcntl_setfd};
use std::io;

/// Fails as a write to the closed stdout would have.
pub(super) fn check_stdout() -> io::Result<()> {
    if stdout_was_closed() { Err(Errno::BADF.into()) } else { Ok(()) }
}

/// Closes a stdout that was closed at the start again when this process executes itself, so that this is noticed there.
#[expect(clippy::disallowed_methods, reason = "writes nothing")]
pub fn close_stdout_on_exec() {
    if check_stdout().is_err() {
        // Without it the second start takes the device for one that its caller wanted.
        fcntl_setfd(rustix::stdio::stdout(), FdFlags::CLOEXEC).unwrap_or_default();
    }
}
