//! The zygote: the helper, started again once, which enters the namespaces that all confined runs of a helper share, and
//! starts the first process of each run (`init`).
//!
//! On its socket: the folder of all runs; then whether it is ready. After that each byte asks for
//! a run, and with it come the two sockets of `init`.

use super::cell::refuse;
use super::roles::{INIT, ZYGOTE, again};
use super::unblock::unblock;
use crate::protocol::{frame, receive, receive_with};
use crate::sys;
use rustix::process::{Pid, WaitOptions, wait};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};
use std::time::Duration;

/// No file system takes so long to be mounted.
const LONGEST: Duration = Duration::from_secs(5);
/// The kernel ends a killed process faster, unless a dead file system holds it.
const KILLED: Duration = Duration::from_millis(500);

/// What the zygote answers: the folders whose sockets have to be hidden one by one, or why it cannot confine runs.
type Ready = Result<Vec<OsString>, String>;

/// The supervisor's end of the zygote, which ends when this is dropped.
pub(super) struct Zygote {
    socket: UnixStream,
    child: Child,
    handle: OwnedFd,
    /// Folders whose sockets have to be hidden one by one.
    pub exposed: Vec<OsString>,
}

impl Zygote {
    /// Starts it, and waits until it can start runs.
    ///
    /// # Errors
    /// This system has no namespaces for us.
    pub async fn start(root: &Path) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = again(ZYGOTE).env_clear().stdin(OwnedFd::from(theirs)).spawn()?;
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        let handle = sys::exit_handle(Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?)?;
        let mut zygote = Self { socket: ours.try_clone()?, child, handle, exposed: Vec::new() };
        let root = root.as_os_str().to_owned();
        // A dead file system may keep it waiting: meanwhile orders to stop are heard.
        zygote.exposed = unblock(move || greet(ours, &root, pid)).await??;
        Ok(zygote)
    }

    /// Starts the first process of a run: on its standard input and output it has these sockets.
    pub fn start_init(&self, control: UnixStream, launch: UnixStream) -> io::Result<()> {
        super::talk::send_with(&self.socket, &[0], &[control.as_fd(), launch.as_fd()]).map(drop)
    }
}

/// Tells the zygote what it needs to know, and waits until it is ready.
fn greet(mut socket: UnixStream, root: &OsString, pid: i32) -> io::Result<Vec<OsString>> {
    socket.set_read_timeout(Some(LONGEST))?;
    socket.write_all(&frame(root, &[])?)?;
    // It is in its user namespace.
    socket.read_exact(&mut [0])?;
    sys::map_ids(pid)?;
    socket.write_all(&[0])?;
    let (ready, ..): (Ready, _, _) = receive(&socket)?;
    ready.map_err(io::Error::other)
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // It is not asked to end: it may wait for a dead file system.
        self.child.kill().unwrap_or_default();
        sys::wait_for_exit(&self.handle, KILLED);
        self.child.try_wait().map(drop).unwrap_or_default();
    }
}

/// Is the zygote, until its socket is closed.
pub(super) fn serve() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(mut socket) = socket else { return ExitCode::FAILURE };
    let exposed = prepare(&mut socket).map_err(|error| error.to_string());
    let ready: Ready = exposed.map(|folders| folders.into_iter().map(Into::into).collect());
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
                    .or_else(|error| refuse(&control, "start the first process", &error))
                    .unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return ExitCode::SUCCESS,
        }
    }
}

fn prepare(socket: &mut UnixStream) -> io::Result<Vec<PathBuf>> {
    sys::die_with_parent()?;
    let (root, _, _): (OsString, _, _) = receive(socket)?;
    sys::enter_user_namespace()?;
    socket.write_all(&[0])?;
    socket.read_exact(&mut [0])?;
    // Its IDs could not be mapped otherwise.
    crate::set_non_dumpable();
    sys::keep_rights()?;
    sys::enter_mount_namespace()?;
    let exposed = sys::restrict(root.as_ref())?;
    // The walls of runs are made: nobody needs further namespaces, with their rights over the kernel.
    sys::forbid_user_namespaces();
    Ok(exposed)
}

fn start(control: OwnedFd, launch: OwnedFd) -> io::Result<()> {
    again(INIT).stdin(control).stdout(launch).spawn().map(drop)
}
