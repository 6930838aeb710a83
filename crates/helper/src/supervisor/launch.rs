//! Starts the launcher and tells it what to do.

use super::plan::{Answer, Plan};
use super::process_tree::reap_child;
use super::roles::{LAUNCH, again};
use super::sandbox::Init;
use super::status::{Status, status_of};
use super::stream::awaitable;
use super::talk::send_with;
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

/// The leader of a run: the launcher, then the target. Its number cannot become somebody else's until this is dropped.
pub(super) enum Leader {
    /// Our own child.
    Child(ChildLeader),
    /// A child of the first process of its namespace.
    Confined(Init),
}

impl Leader {
    pub fn pid(&self) -> Pid {
        match self {
            Self::Child(child) => child.pid,
            Self::Confined(init) => init.target,
        }
    }

    /// The first process of its namespace, where it is in one of its own.
    pub fn init(&self) -> Option<Pid> {
        match self {
            Self::Child(_) => None,
            Self::Confined(init) => Some(init.pid),
        }
    }

    /// Waits for its end, and does not reap it. May be dropped while it waits.
    pub async fn ended(&mut self) {
        match self {
            // The handle becomes readable at the end, and stays so.
            Self::Child(child) => child.handle.readable().await.map(drop).unwrap_or_default(),
            Self::Confined(init) => init.ended().await,
        }
    }

    /// How it ended, if it has. Does not reap it.
    pub fn status(&self) -> Option<Status> {
        match self {
            Self::Child(child) => status_of(child.pid),
            Self::Confined(init) => init.status(),
        }
    }

    /// The terminal that was made for it, if there is one.
    pub fn take_terminal(&mut self) -> Option<Terminal> {
        match self {
            Self::Child(_) => None,
            Self::Confined(init) => init.terminal.take(),
        }
    }

    /// It tried to reach the network of the machine, from which it was cut off.
    pub fn missed_network(&self) -> bool {
        matches!(self, Self::Confined(init) if init.missed_network)
    }
}

/// A leader that is our own child. It is reaped when this is dropped, and not before.
pub(super) struct ChildLeader {
    pid: Pid,
    handle: AsyncFd<OwnedFd>,
}

impl ChildLeader {
    /// Starts the launcher, with the other end of the socket as its standard input. Must be called on a
    /// thread that outlives the run: the target is killed when that thread ends.
    pub fn spawn(socket: UnixStream) -> io::Result<Self> {
        let child = again(LAUNCH).stdin(OwnedFd::from(socket)).spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.expect("a process that was just started has a positive number");
        let handle = sys::exit_handle(pid).and_then(|handle| awaitable(handle, Interest::READABLE));
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
        // Only a process in an uninterruptible wait takes more than an instant; it is not waited for.
        for _ in 0..KILLED_WITHIN_MS {
            if reap_child(self.pid) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

const KILLED_WITHIN_MS: u32 = 500;

/// Sends the plan and the target's standard descriptors, and waits for the answer. The descriptors are
/// closed on our side as soon as they are on their way.
pub(super) async fn instruct(socket: UnixStream, plan: &Plan, fds: [OwnedFd; 3]) -> io::Result<Answer> {
    let wire = frame(plan, &[])?;
    let sent = match send_with(&socket, &wire, &fds.each_ref().map(AsFd::as_fd)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Answer::read(&[])),
        sent => sent?,
    };
    drop(fds);
    socket.set_nonblocking(true)?;
    let mut socket = tokio::net::UnixStream::from_std(socket)?;
    // A launcher that ends early says why below.
    socket.write_all(&wire[sent..]).await.unwrap_or_default();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.map(drop).unwrap_or_default();
    Ok(Answer::read(&answer))
}
