//! Terminals for the standard descriptors of a run.

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::io;
use std::os::fd::OwnedFd;

/// The size that a terminal says it has.
const WINDOW: Winsize = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };

/// A terminal that gives the bytes on as they were written.
pub(super) struct Terminal {
    pub master: OwnedFd,
    pub slave: OwnedFd,
    /// The name of the slave.
    pub name: Vec<u8>,
}

impl Terminal {
    /// Opens one of this machine.
    pub fn open() -> io::Result<Self> {
        let [master, slave] = open_terminal()?;
        Self::of(master, slave)
    }

    /// Sets up a terminal of which both sides are open.
    pub fn of(master: OwnedFd, slave: OwnedFd) -> io::Result<Self> {
        let mut modes = tcgetattr(&slave)?;
        modes.output_modes.remove(OutputModes::OPOST);
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        tcsetwinsize(&slave, WINDOW)?;
        let name = ptsname(&master, Vec::new())?.into_bytes();
        Ok(Self { master, slave, name })
    }
}

/// Opens both sides of a terminal: master and slave.
pub(super) fn open_terminal() -> io::Result<[OwnedFd; 2]> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    Ok([master, slave])
}
