//! The zygote: the helper, started again once, which enters the namespaces that all confined runs of a helper share, and
//! starts the first process of each run (`init`).
//!
//! On its socket: the home of the user; then whether it is ready. After that each byte asks for
//! a run, and with it come the two sockets of `init`.

use super::{INIT, ZYGOTE, again, init};
use crate::protocol::{frame, receive, receive_with};
use crate::sys;
use rustix::process::{WaitOptions, wait};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, ExitCode};
use std::time::Duration;

/// No file system takes so long to be mounted.
const LONGEST: Duration = Duration::from_secs(5);

/// What the zygote answers: nothing, or why it cannot confine runs.
type Ready = Result<(), String>;

/// The supervisor's end of the zygote, which ends when this is dropped.
pub(super) struct Zygote {
    socket: Option<UnixStream>,
    child: Child,
}

impl Zygote {
    /// Starts it, and waits until it can start runs.
    ///
    /// # Errors
    /// This system has no namespaces for us.
    pub fn start(home: OsString) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = again(ZYGOTE).env_clear().stdin(OwnedFd::from(theirs)).spawn()?;
        let pid = child.id();
        let mut zygote = Self { socket: Some(ours), child };
        let Some(socket) = &mut zygote.socket else { return Err(io::ErrorKind::NotConnected.into()) };
        socket.set_read_timeout(Some(LONGEST))?;
        socket.write_all(&frame(&home, &[])?)?;
        // It is in its user namespace.
        socket.read_exact(&mut [0])?;
        sys::map_ids(i32::try_from(pid).map_err(io::Error::other)?)?;
        socket.write_all(&[0])?;
        let (ready, ..): (Ready, _, _) = receive(socket)?;
        ready.map(|()| zygote).map_err(io::Error::other)
    }

    /// Starts the first process of a run: on its standard input and output it has these sockets.
    pub fn start_init(&self, control: UnixStream, launch: UnixStream) -> io::Result<()> {
        let socket = self.socket.as_ref().ok_or(io::ErrorKind::NotConnected)?;
        super::talk::send_with(socket, &[0], &[control.as_fd(), launch.as_fd()]).map(drop)
    }
}

impl Drop for Zygote {
    fn drop(&mut self) {
        self.socket = None;
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// Is the zygote, until its socket is closed.
pub(super) fn serve() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(mut socket) = socket else { return ExitCode::FAILURE };
    let ready: Ready = prepare(&mut socket).map_err(|error| error.to_string());
    if frame(&ready, &[]).and_then(|ready| socket.write_all(&ready)).is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(children) = sys::ChildEnds::hear() else { return ExitCode::FAILURE };
    loop {
        // The first processes of runs that are over.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        match children.wait_or_read(&socket) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(_) => return ExitCode::FAILURE,
        }
        match receive_with(&socket, &mut [0]) {
            Ok((1, fds)) => {
                let Ok([control, launch]) = <[OwnedFd; 2]>::try_from(fds) else { return ExitCode::FAILURE };
                let started = sys::with_new_processes(|| start(control.try_clone()?, launch));
                started
                    .or_else(|error| init::refuse(&control, "start the first process", &error))
                    .unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return ExitCode::SUCCESS,
        }
    }
}

fn prepare(socket: &mut UnixStream) -> io::Result<()> {
    sys::die_with_parent()?;
    let (home, _, _): (OsString, _, _) = receive(socket)?;
    sys::enter_user_namespace()?;
    socket.write_all(&[0])?;
    socket.read_exact(&mut [0])?;
    // Its IDs could not be mapped otherwise.
    crate::set_non_dumpable();
    sys::keep_rights()?;
    sys::enter_mount_namespace()?;
    sys::restrict(home.as_ref())
}

fn start(control: OwnedFd, launch: OwnedFd) -> io::Result<()> {
    again(INIT).stdin(control).stdout(launch).spawn().map(drop)
}
