//! Messages between the supervisor and the first process of a confined run.

use super::client_socket::send_with_fds;
use super::status::ProcessStatus;
use crate::protocol::frame;
use crate::sys::FileView;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;

/// What the first process of a confined run has to set up.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SandboxSpec {
    /// The files that the run sees.
    pub view: FileView,
    /// Whether the run uses the network of the machine.
    pub network: bool,
    /// Ports of the machine that a run without the network of the machine can connect to.
    pub ports: Vec<u16>,
    /// Whether one of the standard streams is a terminal, which the first process opens.
    pub terminal: bool,
}

/// The answer of the first process of a confined run to the supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum InitAnswer {
    /// The launcher waits for its plan. The list contains ports with their numbers of listeners. The flag is false if
    /// the specification required a copy-on-write view of the start folder and the folder is read-only instead.
    ///
    /// The message comes with descriptors: the pidfds of the first process and of the launcher, both sides of the
    /// terminal if there is one, and the listeners.
    Yes(Vec<(u16, usize)>, bool),
    /// The run cannot be started: error number of the operating system, or 0, and message.
    No(i32, String),
}

/// Length of an encoded exit status in bytes: 1 for whether the number is a signal, 4 for the number, and 1 for whether
/// the run missed the network.
pub(super) const EXIT_STATUS_LEN: usize = 6;

/// Encodes the exit status of the target, and whether the run tried to reach a network that it has no access to.
pub(super) fn encode_exit_status(status: ProcessStatus, missed_network: bool) -> [u8; EXIT_STATUS_LEN] {
    let (is_signal, number) = match status {
        ProcessStatus::Exited(code) => (0, code),
        ProcessStatus::Signaled(signal) => (1, signal),
    };
    let [a, b, c, d] = number.to_le_bytes();
    [is_signal, a, b, c, d, u8::from(missed_network)]
}

/// Decodes the result of [`encode_exit_status`]: returns both of its arguments.
pub(super) fn decode_exit_status(
    [is_signal, a, b, c, d, missed]: [u8; EXIT_STATUS_LEN],
) -> (ProcessStatus, bool) {
    let number = i32::from_le_bytes([a, b, c, d]);
    let status = if is_signal == 0 { ProcessStatus::Exited(number) } else { ProcessStatus::Signaled(number) };
    (status, missed != 0)
}

/// Sends the error that keeps the run from starting to the supervisor. `action` names the failed action, such as
/// `create its network`.
pub(super) fn send_failure(control: impl AsFd, action: &str, error: &io::Error) -> io::Result<()> {
    let no = InitAnswer::No(error.raw_os_error().unwrap_or(0), format!("cannot {action}: {error}"));
    send_with_fds(control, &frame(&no, &[])?, &[]).map(drop)
}
