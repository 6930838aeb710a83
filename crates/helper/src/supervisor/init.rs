//! The first process of a confined run: the helper, started again in a process namespace of its own. It enters the other
//! namespaces, starts the launcher, reaps whoever comes to it, and tells how the target ended. When it ends, the kernel ends
//! all that is in the namespace.
//!
//! On its standard input is a socket to the supervisor, on its standard output that of the launcher.

use super::cell::{Begun, Cell, encode, refuse};
use super::loopback::LOOPBACK;
use super::roles::{LAUNCH, again};
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

/// Is the first process of a run, until the supervisor closes its socket.
pub(super) fn serve() -> ExitCode {
    let sockets = || -> io::Result<(UnixStream, OwnedFd)> {
        let control = io::stdin().as_fd().try_clone_to_owned()?;
        #[expect(clippy::disallowed_methods, reason = "it is the socket of the launcher")]
        let launch = io::stdout().as_fd().try_clone_to_owned()?;
        Ok((control.into(), launch))
    };
    let Ok((control, launch)) = sockets() else { return ExitCode::FAILURE };
    // The launcher has the only other end of its socket.
    let hidden = rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty());
    if hidden.and_then(rustix::stdio::dup2_stdout).is_err() {
        return ExitCode::FAILURE;
    }
    let mut doing = "";
    match begin(&control, launch, &mut doing) {
        Ok((target, children, has_own_network)) => watch(&control, target, &children, has_own_network)
            .map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS),
        Err(error) => {
            refuse(&control, doing, &error).unwrap_or_default();
            ExitCode::FAILURE
        }
    }
}

/// Enters the namespaces of the run and starts its launcher; gives that, what hears of children that end, and whether the
/// network is the run's own.
fn begin(
    control: &UnixStream,
    launch: OwnedFd,
    doing: &mut &'static str,
) -> io::Result<(Pid, sys::ChildEnds, bool)> {
    *doing = "read what the run may see";
    let (cell, _, _): (Cell, _, _) = receive(control)?;
    *doing = "make its namespaces";
    let sockets = if cell.network { Vec::new() } else { sys::socket_paths()? };
    sys::enter_own_namespaces(cell.network)?;
    let mut listeners = Vec::new();
    if !cell.network {
        *doing = "make its network";
        sys::turn_on_loopback()?;
        for port in &cell.ports {
            let open = LOOPBACK.into_iter().filter_map(|address| TcpListener::bind((address, *port)).ok());
            listeners.push((*port, open.collect::<Vec<_>>()));
        }
    }
    *doing = "arrange its files";
    let is_copied = sys::arrange(&cell.view, &sockets)?;
    let terminal = if cell.terminal { Some(open_terminal()?) } else { None };
    *doing = "start its launcher";
    let children = sys::ChildEnds::hear()?;
    // The command, which is dropped with this, holds the socket.
    let child = again(LAUNCH).stdin(launch).spawn()?;
    let target = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
    let handles = [sys::exit_handle(rustix::process::getpid())?, sys::exit_handle(target)?];
    let counts = listeners.iter().map(|(port, open)| (*port, open.len())).collect();
    let answer = frame(&Begun::Yes(counts, is_copied), &[])?;
    let open = listeners.iter().flat_map(|(_, open)| open).map(AsFd::as_fd);
    let terminal = terminal.iter().flatten().map(AsFd::as_fd);
    let fds: Vec<_> = handles.iter().map(AsFd::as_fd).chain(terminal).chain(open).collect();
    super::talk::send_with(control, &answer, &fds)?;
    Ok((target, children, !cell.network))
}

/// Reaps whoever ends, but for the target: its number is to stay its own.
fn watch(
    control: &UnixStream,
    target: Pid,
    children: &sys::ChildEnds,
    has_own_network: bool,
) -> io::Result<()> {
    let us = rustix::process::getpid().as_raw_pid();
    let mut told = false;
    loop {
        if !told && let Some(status) = status_of(target) {
            // The counters of the machine's network say nothing of this run.
            let missed_network = has_own_network && sys::missed_network();
            super::talk::send_with(control, &encode(status, missed_network), &[])?;
            told = true;
        }
        let all: Vec<Stat> = sys::children(us).into_iter().filter_map(sys::stat).collect();
        for orphan in ended_children(&all).filter(|pid| *pid != target) {
            sys::reap(orphan);
        }
        if children.wait_or_read(control)? {
            return Ok(());
        }
    }
}
