//! Messages between the supervisor and the first process of a confined run.

use super::status::Status;
use super::talk::send_with;
use crate::protocol::frame;
use crate::sys::View;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;

/// What the first process of a run makes for it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Cell {
    /// What it sees of the files.
    pub view: View,
    /// It has the network of the machine.
    pub network: bool,
    /// Ports of the machine that it can connect to nevertheless.
    pub ports: Vec<u16>,
    /// One of its streams is a terminal, which is to be made.
    pub terminal: bool,
}

/// What the supervisor is told.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Begun {
    /// The launcher waits for its plan. With this come handles of this process and of the launcher, and the listeners on the
    /// ports that the run may connect to: of each so many; before these both sides of its terminal, if it has one. And whether
    /// the run sees its start folder copy on write, where it was to.
    Yes(Vec<(u16, usize)>, bool),
    /// It cannot be started: what was being done, and why not.
    No(i32, String),
}

/// How the target ended, as it goes over the socket: whether by a signal, the number, and whether it missed the network.
pub(super) const ENDED: usize = 6;

/// Tells the end of the target.
pub(super) fn encode(status: Status, missed_network: bool) -> [u8; ENDED] {
    let (is_signal, number) = match status {
        Status::Exited(code) => (0, code),
        Status::Signaled(signal) => (1, signal),
    };
    let [a, b, c, d] = number.to_le_bytes();
    [is_signal, a, b, c, d, u8::from(missed_network)]
}

/// What [`encode`] told.
pub(super) fn decode([is_signal, a, b, c, d, missed]: [u8; ENDED]) -> (Status, bool) {
    let number = i32::from_le_bytes([a, b, c, d]);
    let status = if is_signal == 0 { Status::Exited(number) } else { Status::Signaled(number) };
    (status, missed != 0)
}

/// Tells the supervisor that there is no such run, and what could not be done.
pub(super) fn refuse(control: impl AsFd, doing: &str, error: &io::Error) -> io::Result<()> {
    let no = Begun::No(error.raw_os_error().unwrap_or(0), format!("cannot {doing}: {error}"));
    send_with(control, &frame(&no, &[])?, &[]).map(drop)
}
