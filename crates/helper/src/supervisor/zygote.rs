//! The zygote: the helper, started again once, which enters the namespaces that all confined runs of a helper share,
//! and starts the first process of each run (`init`).
//!
//! The supervisor sends the folder of all runs, and the zygote answers when it is ready. After that, each byte requests
//! a run and comes with the two sockets of `init`.

use super::blocking::spawn_blocking;
use super::roles::{INIT, ZYGOTE, role_command};
use super::sandbox_spec::send_failure;
use crate::protocol::{frame, receive, receive_with_fds};
use crate::sys;
use rustix::process::{Pid, WaitOptions, wait};
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode};
use std::time::Duration;

/// Maximum time until the zygote reports that it is ready, which includes mounting file systems.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);
/// Maximum time that dropping a [`Zygote`] waits for the end of the process. Only a dead file system delays a killed
/// process longer.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

/// The answer of the zygote: the folders in which sockets have to be hidden one by one, or why it cannot confine runs.
type ZygoteAnswer = Result<Vec<OsString>, String>;

/// The supervisor's handle to the zygote process, which is killed when this is dropped.
pub(super) struct Zygote {
    socket: UnixStream,
    child: Child,
    handle: OwnedFd,
    /// Folders in which sockets have to be hidden one by one.
    pub exposed: Vec<OsString>,
}

impl Zygote {
    /// Starts the zygote process, and waits until it can start runs.
    ///
    /// # Errors
    /// If this system has no namespaces for unprivileged users.
    pub async fn start(root: &Path) -> io::Result<Self> {
        let (socket, zygote_socket) = UnixStream::pair()?;
        let child = role_command(ZYGOTE).env_clear().stdin(OwnedFd::from(zygote_socket)).spawn()?;
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        let handle = sys::open_process(Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?)?;
        let mut zygote = Self { socket: socket.try_clone()?, child, handle, exposed: Vec::new() };
        let root = root.as_os_str().to_owned();
        // A dead file system may block this, while requests to stop have to be received.
        zygote.exposed = spawn_blocking(move || wait_until_ready(socket, &root, pid)).await??;
        Ok(zygote)
    }

    /// Starts the first process of a confined run, with `control` as its stdin and `launch` as its stdout.
    pub fn start_init(&self, control: UnixStream, launch: UnixStream) -> io::Result<()> {
        super::client_socket::send_with_fds(&self.socket, &[0], &[control.as_fd(), launch.as_fd()]).map(drop)
    }
}

/// Sends the folder of all runs to the zygote, maps its user IDs, and waits until it is ready. Returns the folders in
/// which sockets have to be hidden one by one.
fn wait_until_ready(mut socket: UnixStream, root: &OsString, pid: i32) -> io::Result<Vec<OsString>> {
    socket.set_read_timeout(Some(GREETING_TIMEOUT))?;
    socket.write_all(&frame(root, &[])?)?;
    // The zygote has entered its user namespace.
    socket.read_exact(&mut [0])?;
    sys::map_ids(pid)?;
    socket.write_all(&[0])?;
    let (ready, ..): (ZygoteAnswer, _, _) = receive(&socket)?;
    ready.map_err(io::Error::other)
}

impl Drop for Zygote {
    fn drop(&mut self) {
        // It is killed, since it may be blocked by a dead file system.
        self.child.kill().unwrap_or_default();
        sys::wait_for_exit(&self.handle, KILL_TIMEOUT);
        self.child.try_wait().map(drop).unwrap_or_default();
    }
}

/// Runs as the zygote process until the supervisor closes the socket.
pub(super) fn run_zygote() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(mut socket) = socket else { return ExitCode::FAILURE };
    let exposed = enter_namespaces(&mut socket).map_err(|error| error.to_string());
    let ready: ZygoteAnswer = exposed.map(|folders| folders.into_iter().map(Into::into).collect());
    if frame(&ready, &[]).and_then(|ready| socket.write_all(&ready)).is_err() {
        return ExitCode::FAILURE;
    }
    let Ok(children) = sys::ChildNotifications::register() else { return ExitCode::FAILURE };
    loop {
        // Reap the first processes of runs that have ended.
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
        match children.wait_until_readable(&socket) {
            Ok(false) => continue,
            Ok(true) => {}
            Err(_) => return ExitCode::FAILURE,
        }
        match receive_with_fds(&socket, &mut [0]) {
            Ok((1, fds)) => {
                let Ok([control, launch]) = <[OwnedFd; 2]>::try_from(fds) else { return ExitCode::FAILURE };
                let started =
                    sys::with_new_process_namespace(|| start_init_process(control.try_clone()?, launch));
                started
                    .or_else(|error| send_failure(&control, "start the first process", &error))
                    .unwrap_or_default();
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            _ => return ExitCode::SUCCESS,
        }
    }
}

fn enter_namespaces(socket: &mut UnixStream) -> io::Result<Vec<PathBuf>> {
    sys::die_with_parent()?;
    let (root, _, _): (OsString, _, _) = receive(socket)?;
    sys::enter_user_namespace()?;
    socket.write_all(&[0])?;
    socket.read_exact(&mut [0])?;
    // Earlier, the supervisor could not map the IDs.
    crate::set_non_dumpable();
    sys::keep_capabilities()?;
    sys::enter_mount_namespace()?;
    let exposed = sys::confine_mounts(root.as_ref())?;
    // The namespaces of runs do not need further user namespaces, which would grant rights over the kernel.
    sys::forbid_user_namespaces();
    Ok(exposed)
}

fn start_init_process(control: OwnedFd, launch: OwnedFd) -> io::Result<()> {
    role_command(INIT).stdin(control).stdout(launch).spawn().map(drop)
}
