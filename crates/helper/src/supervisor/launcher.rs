//! The launcher: the helper, started again, which sets up the conditions of a run and then becomes the target.

use super::plan::{Answer, ConfinementLevel, Plan};
use crate::protocol::receive;
use crate::{Confinement, RequestedConfinement, Variant, sys};
use rustix::fs::Mode;
use rustix::io::Errno;
use rustix::net::{SendFlags, send};
use rustix::process::{Pid, Resource, Rlimit, getppid, getrlimit, ioctl_tiocsctty, setrlimit, setsid, umask};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};
use rustix::termios::isatty;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::Duration;

/// Exit code of a launcher that could not become the target.
const FAILED: ExitCode = ExitCode::FAILURE;

/// Maximum number of attempts to execute a program that another process holds open for writing, usually for a moment.
const TEXT_BUSY_TRIES: usize = 50;
const TEXT_BUSY_PAUSE: Duration = Duration::from_millis(2);

/// Receives a plan on stdin (a socket), carries it out and becomes the target. Returns only on failure, after sending
/// the error over the socket. The process then exits with the returned code.
pub(super) fn launch() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let Ok(socket) = socket else { return FAILED };
    let (action, error) = match become_target(&socket) {
        Ok(never) => match never {},
        Err(failure) => failure,
    };
    send_answer(&socket, &Answer::failed(&error, action)).unwrap_or_default();
    FAILED
}

/// The action that failed, such as `cannot set stdin`, and its error.
type LaunchError = (&'static str, io::Error);

/// Sends an answer to the supervisor. Fails if stdin is not a socket, so that a launcher that a user starts prints
/// nothing.
fn send_answer(socket: &UnixStream, answer: &Answer) -> io::Result<()> {
    Ok(send(socket, &serde_json::to_vec(answer)?, SendFlags::NOSIGNAL).map(drop)?)
}

/// Receives the plan and the target's standard descriptors.
fn read_plan(socket: &UnixStream) -> io::Result<(Plan, [OwnedFd; 3])> {
    let (plan, _, fds) = receive(socket)?;
    let fds = <[OwnedFd; 3]>::try_from(fds).map_err(|_| Errno::BADF)?;
    Ok((plan, fds))
}

fn become_target(socket: &UnixStream) -> Result<std::convert::Infallible, LaunchError> {
    let (plan, [stdin, stdout, stderr]) =
        read_plan(socket).map_err(|e| ("cannot read the launcher's plan", e))?;
    let failed = |action: &'static str| move |e: Errno| (action, io::Error::from(e));

    // The limit that tags the run comes before the session: a process in a session of its own without the tag has
    // removed it.
    set_limits(&plan);
    setsid().map_err(failed("cannot create a session"))?;
    sys::die_with_parent().map_err(|e| ("cannot tie its lifetime to that of agentnative", e))?;
    if getppid().map(Pid::as_raw_pid) != Some(plan.parent) {
        return Err(("agentnative exited", Errno::SRCH.into()));
    }
    umask(Mode::from_raw_mode(0o022));
    let terminal = match plan.job.variant {
        Variant::TerminalIn if isatty(&stdin) => Some(&stdin),
        variant => variant.has_terminal_out().then_some(&stdout),
    };
    if let Some(terminal) = terminal {
        ioctl_tiocsctty(terminal).map_err(failed("cannot acquire the terminal"))?;
    }
    dup2_stdin(stdin).map_err(failed("cannot set stdin"))?;
    dup2_stdout(stdout).map_err(failed("cannot set stdout"))?;
    dup2_stderr(stderr).map_err(failed("cannot set stderr"))?;
    std::env::set_current_dir(&plan.job.cwd).map_err(|e| ("cannot enter the working directory", e))?;
    sys::reset_signals(&plan.ignored);
    let confinement = confine(&plan).map_err(|e| ("cannot confine it", e))?;
    if plan.job.isolation == RequestedConfinement::Required && confinement == Some(Confinement::None) {
        return Err((NO_CONFINEMENT, Errno::NOSYS.into()));
    }
    close_fds::set_fds_cloexec(3, &[]);
    send_answer(socket, &Answer::Started(confinement)).map_err(|e| ("agentnative exited", e))?;

    let execute = || sys::execute(&plan.job.program, &plan.job.args, &plan.job.env);
    let mut error = execute();
    for _ in 0..TEXT_BUSY_TRIES {
        if error.raw_os_error() != Some(Errno::TXTBSY.raw_os_error()) {
            break;
        }
        std::thread::sleep(TEXT_BUSY_PAUSE);
        error = execute();
    }
    Err(("", error))
}

const NO_CONFINEMENT: &str =
    "it has to be confined, and this system has neither namespaces for it nor Landlock";

fn confine(plan: &Plan) -> io::Result<Option<Confinement>> {
    match &plan.level {
        ConfinementLevel::None => Ok(None),
        ConfinementLevel::Landlock(paths) => {
            let network = match plan.job.network {
                true => sys::Network::All,
                false => sys::Network::Ports(&plan.job.connect),
            };
            sys::confine(paths, &network).map(Some)
        }
        ConfinementLevel::Namespaces => {
            sys::drop_capabilities()?;
            sys::filter_system_calls()?;
            Ok(Some(Confinement::Namespaces))
        }
    }
}

/// Sets the resource limits of this process. A limit stays as it is if it cannot be set because the caller's own limit
/// is lower.
fn set_limits(plan: &Plan) {
    let both = |value: u64| Rlimit { current: Some(value), maximum: Some(value) };
    let open_files = getrlimit(Resource::Nofile);
    let at_most = |limit: Option<u64>, cap: u64| Some(limit.map_or(cap, |limit| limit.min(cap)));
    let limits = [
        (Resource::Core, both(0)),
        (Resource::Cpu, both(plan.cpu)),
        (Resource::Fsize, both(plan.file_size)),
        (
            Resource::Nofile,
            // Some programs close every descriptor up to the hard limit, one by one.
            Rlimit {
                current: at_most(plan.open_files, MAX_OPEN_FILES),
                maximum: at_most(open_files.maximum, MAX_OPEN_FILES),
            },
        ),
    ];
    for (resource, limit) in limits {
        setrlimit(resource, limit).unwrap_or_default();
    }
}

const MAX_OPEN_FILES: u64 = 1 << 16;
