//! Terminals for the standard descriptors of a run.

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, ptsname, unlockpt};
use rustix::termios::{
    LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize,
};
use std::io;
use std::os::fd::OwnedFd;

/// Number of rows of each terminal.
const ROWS: u16 = 24;

/// A pseudoterminal that passes output on unchanged and does not echo input.
pub(super) struct Terminal {
    pub master: OwnedFd,
    pub slave: OwnedFd,
    /// The path of the slave side, such as `/dev/pts/3`.
    pub name: Vec<u8>,
}

impl Terminal {
    /// Opens a pseudoterminal of this machine and sets it up.
    pub fn open() -> io::Result<Self> {
        let [master, slave] = open_terminal()?;
        Self::from_sides(master, slave)
    }

    /// Sets up a pseudoterminal whose two sides are already open.
    pub fn from_sides(master: OwnedFd, slave: OwnedFd) -> io::Result<Self> {
        let mut modes = tcgetattr(&slave)?;
        modes.output_modes.remove(OutputModes::OPOST);
        modes.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&slave, OptionalActions::Now, &modes)?;
        let name = ptsname(&master, Vec::new())?.into_bytes();
        Ok(Self { master, slave, name })
    }

    /// Returns the terminal with this number of columns.
    pub fn with_columns(self, columns: u16) -> io::Result<Self> {
        tcsetwinsize(&self.slave, Winsize { ws_row: ROWS, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 })?;
        Ok(self)
    }
}

/// Opens a pseudoterminal and returns its master side and its slave side.
pub(super) fn open_terminal() -> io::Result<[OwnedFd; 2]> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let slave = ioctl_tiocgptpeer(&master, flags)?;
    Ok([master, slave])
}
