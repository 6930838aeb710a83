//! Runs in namespaces: their specification, their first process, and the connections that they can make.

use super::common::Common;
use super::folder::RunFolder;
use super::home_view::HomeView;
use super::loopback::LOOPBACK;
use super::plan::ConfinementLevel;
use super::run_environment::locale_folder;
use super::sandbox_spec::{EXIT_STATUS_LEN, InitAnswer, SandboxSpec, decode_exit_status};
use super::start_folder::StartFolder;
use super::status::ProcessStatus;
use super::stream::async_fd;
use super::terminal::Terminal;
use super::zygote::Zygote;
use crate::outcome::is_exhaustion;
use crate::protocol::{frame, receive};
use crate::sys::{self, CopyOnWrite, FileView, SHARED_FOLDERS};
use crate::{Job, RequestedConfinement, Variant};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet, spawn_local};
use tokio::time::timeout;

/// Whether a job is to be confined by namespaces, provided that the system has them.
pub(super) fn wants_namespaces(job: &Job) -> bool {
    matches!(
        job.isolation,
        RequestedConfinement::Available | RequestedConfinement::Required | RequestedConfinement::Full
    )
}

/// Lower end of the process IDs of a run. The first ID of a run lies up to [`PROCESS_ID_RANGE`] above it and differs
/// between consecutive runs.
const MIN_PROCESS_ID: u64 = 300;
const PROCESS_ID_RANGE: u64 = 3_700;
const PROCESS_ID_STEP: u64 = 61;
/// A third of the number of processes that the namespace of any run allows. It must be high enough that a run with a
/// low limit exceeds its limit, instead of failing to start a process.
const MIN_PROCESSES: u64 = 128;
/// Upper limit of the process IDs of a run, and thus of the number of its processes.
const MAX_PROCESSES: u64 = 8_192;

/// Folders in which services of the machine publish how host names are resolved, visible to runs with network.
/// [`SYSTEM_FOLDERS`] has those of the programs of NixOS, visible to all runs.
const NETWORK_FOLDERS: &[&str] = &["/run/NetworkManager", "/run/resolvconf", "/run/systemd/resolve"];
const SYSTEM_FOLDERS: &[&str] = &["/run/current-system", "/run/opengl-driver"];

/// Returns the folders of the machine that are empty for a confined run: those that users share, such as `/run`, the
/// homes of the user, and the folder of all runs.
pub(super) fn masked_folders(root: &Path, homes: &[PathBuf]) -> Vec<PathBuf> {
    let shared = SHARED_FOLDERS.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    shared.chain(homes.iter().cloned()).chain([root.to_owned()]).collect()
}

impl SandboxSpec {
    /// Returns the specification for one call of a job in the folder of its run. `run_id` determines the process IDs of
    /// the run.
    pub fn new(common: &Common, job: &Job, folder: &RunFolder, run_id: u64) -> Self {
        let masked = &common.masks;
        let shared = |path: &Path| {
            let shared = masked.iter().filter(|mask| !common.homes.contains(mask));
            shared.filter_map(|mask| entry_toward(mask, path)).collect::<Vec<_>>()
        };
        let mut visible: BTreeSet<PathBuf> =
            mentioned_paths(job, common.root.path()).flat_map(|path| shared(&path)).collect();
        let network_folders = NETWORK_FOLDERS.iter().filter(|_| job.network);
        visible.extend(SYSTEM_FOLDERS.iter().chain(network_folders).map(PathBuf::from));
        visible.insert(common.root.tripwires());
        visible.extend(locale_folder(job, common).cloned());
        if job.secret.as_ref().is_some_and(|secret| secret.file.is_some()) {
            visible.insert(folder.secret_path());
        }
        let mut home = HomeView::new(common, job);
        visible.append(&mut home.visible);
        let (mut writable, mut start, mut protected) = (vec![folder.path().into()], None, Vec::new());
        match StartFolder::for_job(job, &common.homes) {
            StartFolder::Real(path) => {
                protected = super::start_folder::protected_paths(job, &path);
                writable.push(path.into());
            }
            StartFolder::View(path) => {
                start = Some(CopyOnWrite { folder: path.into(), changes: folder.private_path().into() });
            }
            StartFolder::Fixed(path) => {
                visible.insert(path);
            }
            StartFolder::Own => {}
        }
        if job.variant == Variant::ReadOnlyHome {
            protected.push(folder.home().into());
        }
        // A run cannot start far more processes than its limit before it is ended for exceeding the limit. The kernel
        // reuses IDs from `MIN_PROCESS_ID` on.
        let processes = job.limits.processes.clamp(MIN_PROCESSES, MAX_PROCESSES);
        let last_process = MIN_PROCESS_ID + run_id * PROCESS_ID_STEP % PROCESS_ID_RANGE.min(processes);
        let accelerators = if job.undeclared { sys::accelerators() } else { Vec::new() };
        let hidden =
            home.hidden.into_iter().chain(common.root.folders_of_other_helpers()).chain(accelerators);
        let view = FileView {
            root: common.root.path().into(),
            masked: masked.iter().map(Into::into).collect(),
            visible: visible.into_iter().map(Into::into).collect(),
            links: home.links.into_iter().map(|(path, to)| (path.into(), to.into())).collect(),
            writable,
            protected,
            start,
            hidden: hidden.map(Into::into).collect(),
            exposed: common.exposed_folders().to_vec(),
            last_process,
            most_processes: (last_process + 2 * processes).min(MAX_PROCESSES),
        };
        let terminal = job.variant.has_terminal_out() || job.variant == Variant::TerminalIn;
        Self { view, network: job.network, ports: job.connect.clone(), terminal }
    }
}

impl Common {
    /// Returns the zygote (the process that starts runs in namespaces), or the reason why this system has no
    /// namespaces. The first call starts the zygote.
    pub(super) async fn zygote(&self) -> Result<&Zygote, &io::Error> {
        let start = || async {
            let zygote = Zygote::start(self.root.path()).await?;
            try_namespaces(self, &zygote).await.map(|()| zygote)
        };
        self.zygote.get_or_init(start).await.as_ref()
    }

    /// Returns the zygote (the process that starts runs in namespaces) if this level uses namespaces; otherwise `None`.
    pub(super) async fn zygote_for(&self, level: &ConfinementLevel) -> Option<&Zygote> {
        if *level == ConfinementLevel::Namespaces { self.zygote().await.ok() } else { None }
    }
}

/// Creates the namespaces of a run once, to check whether this system allows them.
///
/// # Errors
/// If it does not.
async fn try_namespaces(common: &Common, zygote: &Zygote) -> io::Result<()> {
    let (_kept, launch) = UnixStream::pair()?;
    let mut spec =
        SandboxSpec { view: FileView::default(), network: false, ports: Vec::new(), terminal: true };
    spec.view.root = common.root.path().into();
    spec.view.masked = common.masks.iter().map(Into::into).collect();
    spec.view.visible = vec![common.root.tripwires().into()];
    timeout(TRIAL_TIMEOUT, Init::start(zygote, &spec, launch)).await.map_err(io::Error::from)?.map(drop)
}

/// Maximum duration of the check whether this system allows namespaces.
const TRIAL_TIMEOUT: Duration = Duration::from_secs(5);

/// Returns the existing paths that the arguments and variables of a job contain, except paths below `root`.
fn mentioned_paths(job: &Job, root: &Path) -> impl Iterator<Item = PathBuf> {
    let values = job.env.iter().map(|(_, value)| value);
    let words = std::iter::once(&job.program).chain([&job.cwd]).chain(&job.args).chain(values);
    let parts = words.flat_map(|word| {
        let parts = word.as_bytes().split(|byte| matches!(byte, b'=' | b':' | b','));
        parts.chain([word.as_bytes()]).filter(|part| !part.is_empty())
    });
    let paths = parts.map(|part| Path::new(&job.cwd).join(OsStr::from_bytes(part)));
    let others = paths.filter(move |path| !path.starts_with(root));
    // Both the path and what it resolves to.
    let both = others.filter_map(|path| path.canonicalize().ok().map(|real| [path, real]));
    both.flatten().filter(move |path| !path.starts_with(root))
}

/// Returns the entry of the folder `mask` that leads to `path`, such as `/run/user` for `/run` and `/run/user/1000`.
/// `None` if the path is not below the folder.
fn entry_toward(mask: &Path, path: &Path) -> Option<PathBuf> {
    Some(mask.join(path.strip_prefix(mask).ok()?.components().next()?))
}

/// The supervisor's handle to the first process of a confined run.
pub(super) struct Init {
    control: AsyncFd<UnixStream>,
    /// The pidfd of the first process. When that process has ended, so have all processes of the run.
    handle: AsyncFd<OwnedFd>,
    pub pid: Pid,
    /// Process ID of the launcher, which becomes the target.
    pub target: Pid,
    status: Option<ProcessStatus>,
    pub missed_network: bool,
    pub terminal: Option<Terminal>,
    /// Whether the start folder is read-only, although the specification required a copy-on-write view of it.
    pub read_only_start: bool,
    _relays: Vec<Relay>,
}

impl Init {
    /// Starts the first process of a confined run and the launcher. `launch` becomes the socket of the launcher.
    ///
    /// # Errors
    /// If the namespaces of the run cannot be created.
    pub async fn start(zygote: &Zygote, spec: &SandboxSpec, launch: UnixStream) -> io::Result<Self> {
        let (socket, init_socket) = UnixStream::pair()?;
        zygote.start_init(init_socket, launch)?;
        match super::client_socket::send_with_fds(&socket, &frame(spec, &[])?, &[]) {
            // The answer below has the reason.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            sent => drop(sent?),
        }
        let control = async_fd(socket, Interest::READABLE)?;
        control.readable().await?.retain_ready();
        let (answer, _, fds) = receive(control.get_ref()).map_err(|_| process_gone())?;
        control.get_ref().set_nonblocking(true)?;
        let (counts, is_copied) = match answer {
            InitAnswer::Yes(counts, is_copied) => (counts, is_copied),
            InitAnswer::No(number, _) if is_exhaustion(number) => {
                return Err(io::Error::from_raw_os_error(number));
            }
            InitAnswer::No(_, words) => return Err(io::Error::other(words)),
        };
        let mut fds = fds.into_iter();
        let (handle, target) = (fds.next().ok_or_else(process_gone)?, fds.next().ok_or_else(process_gone)?);
        let pid = sys::process_id(&handle).ok_or_else(process_gone)?;
        let handle = async_fd(handle, Interest::READABLE)?;
        let target = sys::process_id(&target).ok_or_else(process_gone)?;
        let terminal = match spec.terminal {
            true => Some(Terminal::from_sides(
                fds.next().ok_or_else(process_gone)?,
                fds.next().ok_or_else(process_gone)?,
            )?),
            false => None,
        };
        let mut relays = Vec::new();
        for (port, count) in counts {
            for listener in fds.by_ref().take(count) {
                relays.push(Relay::start(listener, port)?);
            }
        }
        Ok(Self {
            control,
            handle,
            pid,
            target,
            status: None,
            missed_network: false,
            terminal,
            read_only_start: !is_copied,
            _relays: relays,
        })
    }

    /// Waits until the target has ended. Cancel safe.
    pub async fn wait_until_ended(&mut self) {
        while self.status.is_none() {
            let Ok(mut guard) = self.control.readable().await else { return };
            let mut encoded = [0; EXIT_STATUS_LEN];
            match guard.try_io(|socket| Ok(rustix::io::read(socket.get_ref(), &mut encoded)?)) {
                Ok(Ok(EXIT_STATUS_LEN)) => {
                    let (status, missed) = decode_exit_status(encoded);
                    (self.status, self.missed_network) = (Some(status), missed);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // Another process has killed it, and with it the target.
                Ok(_) => self.status = Some(ProcessStatus::Signaled(Signal::KILL.as_raw())),
                Err(_would_block) => {}
            }
        }
    }

    /// Kills the first process, and waits until all processes of the run have ended.
    pub async fn kill_all(&self) {
        sys::kill(self.handle.get_ref());
        // An error also means that it is gone.
        let gone = async { self.handle.readable().await.map(drop).unwrap_or_default() };
        timeout(END_TIMEOUT, gone).await.unwrap_or_default();
    }

    /// Returns the exit status of the target, once [`Init::wait_until_ended`] has received it.
    pub fn status(&self) -> Option<ProcessStatus> {
        self.status
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        sys::kill(self.handle.get_ref());
        sys::wait_for_exit(self.handle.get_ref(), KILL_TIMEOUT);
    }
}

/// Maximum time to wait for the end of all processes of a killed run. A process in an uninterruptible wait takes
/// longer.
const END_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum time that dropping an [`Init`] waits for the end of the run. The kernel usually ends the processes of a
/// namespace faster.
const KILL_TIMEOUT: Duration = Duration::from_millis(500);

fn process_gone() -> io::Error {
    Errno::SRCH.into()
}

/// Forwards connections to a port in the network namespace of a run to the same port of the machine, until this is
/// dropped.
struct Relay(AbortHandle);

impl Relay {
    fn start(listener: OwnedFd, port: u16) -> io::Result<Self> {
        let listener = std::net::TcpListener::from(listener);
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        let serve = async move {
            let mut open = JoinSet::new();
            while let Ok((connection, _)) = listener.accept().await {
                while open.try_join_next().is_some() {}
                if open.len() < MAX_CONNECTIONS {
                    open.spawn_local(forward(connection, port));
                }
            }
        };
        Ok(Self(spawn_local(serve).abort_handle()))
    }
}

const MAX_CONNECTIONS: usize = 256;

async fn forward(mut connection: TcpStream, port: u16) {
    for address in LOOPBACK {
        if let Ok(mut service) = TcpStream::connect((address, port)).await {
            tokio::io::copy_bidirectional(&mut connection, &mut service).await.map(drop).unwrap_or_default();
            return;
        }
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.0.abort();
    }
}
