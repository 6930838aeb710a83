//! Starts the launcher of a run and sends it its plan.

use super::client_socket::send_with_fds;
use super::plan::{Answer, Plan};
use super::process_tree::reap_child;
use super::roles::{LAUNCH, role_command};
use super::sandbox::Init;
use super::status::{ProcessStatus, status_of};
use super::stream::async_fd;
use super::terminal::Terminal;
use crate::protocol::frame;
use crate::sys;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt, Interest};

/// The first process of a run: the launcher, then the target. Its process ID is not reused until this is dropped.
pub(super) enum Leader {
    /// A leader that is a child of the supervisor.
    Child(ChildLeader),
    /// A leader that is a child of the first process in its process namespace.
    Confined(Init),
}

impl Leader {
    pub fn pid(&self) -> Pid {
        match self {
            Self::Child(child) => child.pid,
            Self::Confined(init) => init.target,
        }
    }

    /// Returns the process ID of the first process in the run's process namespace; `None` if the run has no namespace
    /// of its own.
    pub fn init(&self) -> Option<Pid> {
        match self {
            Self::Child(_) => None,
            Self::Confined(init) => Some(init.pid),
        }
    }

    /// Waits until the leader has ended, without reaping it. Cancel safe.
    pub async fn wait_until_ended(&mut self) {
        match self {
            // The pidfd becomes readable when the process ends, and stays readable.
            Self::Child(child) => child.handle.readable().await.map(drop).unwrap_or_default(),
            Self::Confined(init) => init.wait_until_ended().await,
        }
    }

    /// Returns the exit status of the leader, without reaping it; `None` if it has not ended.
    pub fn status(&self) -> Option<ProcessStatus> {
        match self {
            Self::Child(child) => status_of(child.pid),
            Self::Confined(init) => init.status(),
        }
    }

    /// Takes the terminal that was opened in the namespaces of the run; `None` if there is none.
    pub fn take_terminal(&mut self) -> Option<Terminal> {
        match self {
            Self::Child(_) => None,
            Self::Confined(init) => init.terminal.take(),
        }
    }

    /// Whether the run had no access to the network of the machine, but tried to reach it.
    pub fn missed_network(&self) -> bool {
        matches!(self, Self::Confined(init) if init.missed_network)
    }
}

/// A leader that is a child of the supervisor. Dropping this kills the leader if it still runs, and reaps it. It is not
/// reaped before.
pub(super) struct ChildLeader {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
}

impl ChildLeader {
    /// Starts the launcher with `socket` as its stdin. Must be called on a thread that outlives the run: the kernel
    /// kills the target when the calling thread ends.
    pub fn spawn(socket: UnixStream) -> io::Result<Self> {
        let child = role_command(LAUNCH).stdin(OwnedFd::from(socket)).spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.expect("a process that was just started has a positive number");
        let handle = sys::open_process(pid).and_then(|handle| async_fd(handle, Interest::READABLE));
        match handle {
            Ok(handle) => Ok(Self { pid, handle }),
            Err(error) => {
                kill_process(pid, Signal::KILL).unwrap_or_default();
                while !reap_child(pid) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error)
            }
        }
    }
}

impl Drop for ChildLeader {
    fn drop(&mut self) {
        if status_of(self.pid).is_none() {
            kill_process_group(self.pid, Signal::KILL).unwrap_or_default();
            kill_process(self.pid, Signal::KILL).unwrap_or_default();
        }
        // Only a process in an uninterruptible wait needs longer, and is not waited for.
        for _ in 0..KILL_TIMEOUT_MS {
            if reap_child(self.pid) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

const KILL_TIMEOUT_MS: u32 = 500;

/// Sends the plan and the target's standard descriptors to the launcher, and returns its answer. Closes the descriptors
/// as soon as they are sent.
pub(super) async fn send_plan(socket: UnixStream, plan: &Plan, fds: [OwnedFd; 3]) -> io::Result<Answer> {
    let wire = frame(plan, &[])?;
    let sent = match send_with_fds(&socket, &wire, &fds.each_ref().map(AsFd::as_fd)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Answer::parse(&[])),
        sent => sent?,
    };
    drop(fds);
    socket.set_nonblocking(true)?;
    let mut socket = tokio::net::UnixStream::from_std(socket)?;
    // The answer explains why a launcher ended early.
    socket.write_all(&wire[sent..]).await.unwrap_or_default();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.map(drop).unwrap_or_default();
    Ok(Answer::parse(&answer))
}
