//! The first process of a confined run: the helper, started again in a new process namespace. It enters the other
//! namespaces, starts the launcher, reaps orphans and sends the exit status of the target. When it ends, the kernel
//! kills all processes in the namespace.
//!
//! Its stdin is a socket to the supervisor; its stdout is the socket of the launcher.

use super::loopback::LOOPBACK;
use super::roles::{LAUNCH, role_command};
use super::sandbox_spec::{InitAnswer, SandboxSpec, encode_exit_status, send_failure};
use super::status::status_of;
use super::terminal::open_terminal;
use crate::process_tree::ended_children;
use crate::protocol::{frame, receive};
use crate::sys::{self, Stat};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::Pid;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

/// Runs as the first process of a confined run until the supervisor closes the socket.
pub(super) fn run_init() -> ExitCode {
    let sockets = || -> io::Result<(UnixStream, OwnedFd)> {
        let control = io::stdin().as_fd().try_clone_to_owned()?;
        #[expect(clippy::disallowed_methods, reason = "it is the socket of the launcher")]
        let launch = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((control.into(), launch))
    };
    let Ok((control, launch)) = sockets() else { return ExitCode::FAILURE };
    // Only the launcher may hold this end of its socket.
    let null = rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    if null.and_then(rustix::stdio::dup2_stdout).is_err() {
        return ExitCode::FAILURE;
    }
    let mut action = "";
    match start_launcher(&control, launch, &mut action) {
        Ok((target, children, has_own_network)) => {
            reap_children(&control, target, &children, has_own_network)
                .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS)
        }
        Err(error) => {
            send_failure(&control, action, &error).unwrap_or_default();
            ExitCode::FAILURE
        }
    }
}

/// Enters the namespaces of the run and starts its launcher. Sets `action` to the current step, for messages of errors.
/// Returns the process ID of the launcher, the notifications of ended children, and whether the run has its own network
/// namespace.
fn start_launcher(
    control: &UnixStream,
    launch: OwnedFd,
    action: &mut &'static str,
) -> io::Result<(Pid, sys::ChildNotifications, bool)> {
    *action = "read the sandbox specification";
    let (spec, _, _): (SandboxSpec, _, _) = receive(control)?;
    *action = "create its namespaces";
    let sockets = if spec.network { Vec::new() } else { sys::socket_paths()? };
    sys::enter_run_namespaces(spec.network)?;
    let mut listeners = Vec::new();
    if !spec.network {
        *action = "create its network";
        sys::enable_loopback()?;
        for port in &spec.ports {
            let open = LOOPBACK.into_iter().filter_map(|address| TcpListener::bind((address, *port)).ok());
            listeners.push((*port, open.collect::<Vec<_>>()));
        }
    }
    *action = "prepare its files";
    let is_copied = sys::prepare_mounts(&spec.view, &sockets)?;
    let terminal = if spec.terminal { Some(open_terminal()?) } else { None };
    *action = "start its launcher";
    let children = sys::ChildNotifications::register()?;
    // Dropping the command closes the socket.
    let child = role_command(LAUNCH).stdin(launch).spawn()?;
    let target = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let handles = [sys::open_process(rustix::process::getpid())?, sys::open_process(target)?];
    let counts = listeners.iter().map(|(port, open)| (*port, open.len())).collect();
    let answer = frame(&InitAnswer::Yes(counts, is_copied), &[])?;
    let open = listeners.iter().flat_map(|(_, open)| open).map(AsFd::as_fd);
    let terminal = terminal.iter().flatten().map(AsFd::as_fd);
    let fds: Vec<_> = handles.iter().map(AsFd::as_fd).chain(terminal).chain(open).collect();
    super::client_socket::send_with_fds(control, &answer, &fds)?;
    Ok((target, children, !spec.network))
}

/// Reaps ended children until the supervisor closes `control`, and sends it the exit status of the target. Does not
/// reap the target, since its process ID must not be reused.
fn reap_children(
    control: &UnixStream,
    target: Pid,
    children: &sys::ChildNotifications,
    has_own_network: bool,
) -> io::Result<()> {
    let own_pid = rustix::process::getpid().as_raw_pid();
    let mut sent = false;
    loop {
        if !sent && let Some(status) = status_of(target) {
            // The counters of the machine's network include other processes.
            let missed_network = has_own_network && sys::missed_network();
            super::client_socket::send_with_fds(control, &encode_exit_status(status, missed_network), &[])?;
            sent = true;
        }
        let all: Vec<Stat> = sys::children(own_pid).into_iter().filter_map(sys::stat).collect();
        for orphan in ended_children(&all).filter(|pid| *pid != target) {
            sys::reap(orphan);
        }
        if children.wait_until_readable(control)? {
            return Ok(());
        }
    }
}
