//! Confined runs: what they see, the process that starts them, and the connections that they may make.

use super::all_runs::Common;
use super::cell::{Begun, Cell, ENDED, decode};
use super::folder::Folder;
use super::home_view::InHome;
use super::loopback::LOOPBACK;
use super::plan::Rung;
use super::run_environment::locales_of;
use super::start_folder::StartFolder;
use super::status::Status;
use super::stream::awaitable;
use super::terminal::Terminal;
use super::zygote::Zygote;
use crate::outcome::is_want;
use crate::protocol::{frame, receive};
use crate::sys::{self, CopyOnWrite, SHARED, View};
use crate::{Isolation, Job, Variant};
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

/// Whether a job is to be confined by namespaces, where there are any.
pub(super) fn wants_namespaces(job: &Job) -> bool {
    matches!(job.isolation, Isolation::Available | Isolation::Required | Isolation::Full)
}

/// The numbers of processes: those of two runs are not the same, as far as a namespace has numbers.
const FIRST_PROCESS: u32 = 300;
const FIRST_PROCESSES: u64 = 3_700;
const BETWEEN_PROCESSES: u64 = 61;
const MOST_PROCESSES: u32 = 8_192;

/// Folders that services of the machine tell in how names are resolved, for runs that have the network; and programs of
/// NixOS.
const OF_NETWORK: &[&str] = &["/run/NetworkManager", "/run/resolvconf", "/run/systemd/resolve"];
const OF_SYSTEM: &[&str] = &["/run/current-system", "/run/opengl-driver"];

/// The folders of the machine that are empty for a run: those that its users share, the homes of the user, and that of all
/// runs.
pub(super) fn masks(root: &Path, homes: &[PathBuf]) -> Vec<PathBuf> {
    let shared = SHARED.iter().filter_map(|path| Path::new(path).canonicalize().ok());
    shared.chain(homes.iter().cloned()).chain([root.to_owned()]).collect()
}

impl Cell {
    /// That of the call of this number in this folder, with this environment.
    pub fn of(common: &Common, job: &Job, folder: &Folder, number: u64) -> Self {
        let masked = &common.masks;
        let shared = |path: &Path| {
            let shared = masked.iter().filter(|mask| !common.homes.contains(mask));
            shared.filter_map(|mask| first_below(mask, path)).collect::<Vec<_>>()
        };
        let mut visible: BTreeSet<PathBuf> =
            mentioned(job, common.root.path()).flat_map(|path| shared(&path)).collect();
        let of_network = OF_NETWORK.iter().filter(|_| job.network);
        visible.extend(OF_SYSTEM.iter().chain(of_network).map(PathBuf::from));
        visible.insert(common.root.tripwires());
        visible.extend(locales_of(job, common).cloned());
        if job.secret.as_ref().is_some_and(|secret| secret.file.is_some()) {
            visible.insert(folder.secret());
        }
        let mut home = InHome::of(common, job);
        visible.append(&mut home.visible);
        let (mut writable, mut start, mut protected) = (vec![folder.path().into()], None, Vec::new());
        match StartFolder::of(job, &common.homes) {
            StartFolder::Real(path) => {
                protected = super::start_folder::protected(job, &path);
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
        let hidden = home.hidden.into_iter().chain(common.root.others()).map(Into::into).collect();
        let view = View {
            root: common.root.path().into(),
            masked: masked.iter().map(Into::into).collect(),
            visible: visible.into_iter().map(Into::into).collect(),
            links: home.links.into_iter().map(|(path, to)| (path.into(), to.into())).collect(),
            writable,
            protected,
            start,
            hidden,
            exposed: common.exposed().to_vec(),
            last_process: FIRST_PROCESS + (number * BETWEEN_PROCESSES % FIRST_PROCESSES) as u32,
            most_processes: MOST_PROCESSES,
        };
        let terminal = job.variant.has_terminal_out() || job.variant == Variant::TerminalIn;
        Self { view, network: job.network, ports: job.connect.clone(), terminal }
    }
}

impl Common {
    /// What starts runs in namespaces, tried once; or why this system has none for us.
    pub(super) async fn zygote(&self) -> Result<&Zygote, &io::Error> {
        let start = || async {
            let zygote = Zygote::start(self.root.path()).await?;
            attempt(self, &zygote).await.map(|()| zygote)
        };
        self.zygote.get_or_init(start).await.as_ref()
    }

    /// What starts a run that is confined by this, if it is by namespaces.
    pub(super) async fn zygote_of(&self, rung: &Rung) -> Option<&Zygote> {
        if *rung == Rung::Namespaces { self.zygote().await.ok() } else { None }
    }
}

/// Makes the namespaces of a run, as a trial.
///
/// # Errors
/// This system has no namespaces for us.
async fn attempt(common: &Common, zygote: &Zygote) -> io::Result<()> {
    let (_kept, launch) = UnixStream::pair()?;
    let mut cell = Cell { view: View::default(), network: false, ports: Vec::new(), terminal: true };
    cell.view.root = common.root.path().into();
    cell.view.masked = common.masks.iter().map(Into::into).collect();
    cell.view.visible = vec![common.root.tripwires().into()];
    timeout(LONGEST, Init::start(zygote, &cell, launch)).await.map_err(io::Error::from)?.map(drop)
}

/// No machine takes so long.
const LONGEST: Duration = Duration::from_secs(5);

/// What is there of all that the command line and the environment name, and is not below `root`.
fn mentioned(job: &Job, root: &Path) -> impl Iterator<Item = PathBuf> {
    let values = job.env.iter().map(|(_, value)| value);
    let words = std::iter::once(&job.program).chain([&job.cwd]).chain(&job.args).chain(values);
    let parts = words.flat_map(|word| {
        let parts = word.as_bytes().split(|byte| matches!(byte, b'=' | b':' | b','));
        parts.chain([word.as_bytes()]).filter(|part| !part.is_empty())
    });
    let paths = parts.map(|part| Path::new(&job.cwd).join(OsStr::from_bytes(part)));
    let others = paths.filter(move |path| !path.starts_with(root));
    // Both where it is and where it leads to.
    let both = others.filter_map(|path| path.canonicalize().ok().map(|real| [path, real]));
    both.flatten().filter(move |path| !path.starts_with(root))
}

/// The first folder or file on the way from `mask` to a path that is in it.
fn first_below(mask: &Path, path: &Path) -> Option<PathBuf> {
    Some(mask.join(path.strip_prefix(mask).ok()?.components().next()?))
}

/// The first process of a confined run.
pub(super) struct Init {
    control: AsyncFd<UnixStream>,
    /// All processes of the run are gone when this one is.
    handle: AsyncFd<OwnedFd>,
    pub pid: Pid,
    /// The launcher, then the target.
    pub target: Pid,
    status: Option<Status>,
    pub missed_network: bool,
    /// Both sides of its terminal, where it has one.
    pub terminal: Option<Terminal>,
    /// It cannot write to the folder that it starts in, though it should see it copy on write.
    pub read_only_start: bool,
    _relays: Vec<Relay>,
}

impl Init {
    /// Starts it, with the launcher, to which `launch` is the socket.
    ///
    /// # Errors
    /// The namespaces of the run could not be made.
    pub async fn start(zygote: &Zygote, cell: &Cell, launch: UnixStream) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        zygote.start_init(theirs, launch)?;
        match super::talk::send_with(&ours, &frame(cell, &[])?, &[]) {
            // It is refused: the answer below says why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            sent => drop(sent?),
        }
        let control = awaitable(ours, Interest::READABLE)?;
        control.readable().await?.retain_ready();
        let (begun, _, fds) = receive(control.get_ref()).map_err(|_| gone())?;
        control.get_ref().set_nonblocking(true)?;
        let (counts, is_copied) = match begun {
            Begun::Yes(counts, is_copied) => (counts, is_copied),
            Begun::No(number, _) if is_want(number) => return Err(io::Error::from_raw_os_error(number)),
            Begun::No(_, words) => return Err(io::Error::other(words)),
        };
        let mut fds = fds.into_iter();
        let (handle, target) = (fds.next().ok_or_else(gone)?, fds.next().ok_or_else(gone)?);
        let pid = sys::process_of(&handle).ok_or_else(gone)?;
        let handle = awaitable(handle, Interest::READABLE)?;
        let target = sys::process_of(&target).ok_or_else(gone)?;
        let terminal = match cell.terminal {
            true => Some(Terminal::of(fds.next().ok_or_else(gone)?, fds.next().ok_or_else(gone)?)?),
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

    /// Waits until the target has ended. May be dropped while it waits.
    pub async fn ended(&mut self) {
        while self.status.is_none() {
            let Ok(mut guard) = self.control.readable().await else { return };
            let mut told = [0; ENDED];
            match guard.try_io(|socket| Ok(rustix::io::read(socket.get_ref(), &mut told)?)) {
                Ok(Ok(ENDED)) => {
                    let (status, missed) = decode(told);
                    (self.status, self.missed_network) = (Some(status), missed);
                }
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                // Somebody outside has killed it, and with it the target.
                Ok(_) => self.status = Some(Status::Signaled(Signal::KILL.as_raw())),
                Err(_would_block) => {}
            }
        }
    }

    /// Kills it, and waits until all processes of the run are gone.
    pub async fn end_all(&self) {
        sys::kill(self.handle.get_ref());
        // What cannot be waited for any more is gone.
        let gone = async { self.handle.readable().await.map(drop).unwrap_or_default() };
        timeout(LONGEST_END, gone).await.unwrap_or_default();
    }

    /// How the target ended, if [`Init::ended`] has seen it.
    pub fn status(&self) -> Option<Status> {
        self.status
    }
}

impl Drop for Init {
    fn drop(&mut self) {
        sys::kill(self.handle.get_ref());
        sys::wait_for_exit(self.handle.get_ref(), KILLED);
    }
}

/// A process in an uninterruptible wait takes longer, and is not waited for.
const LONGEST_END: Duration = Duration::from_secs(10);
/// The kernel ends the processes of a namespace faster.
const KILLED: Duration = Duration::from_millis(500);

fn gone() -> io::Error {
    Errno::SRCH.into()
}

/// Passes the connections to a port of a run's own network on to that port of the machine, until it is dropped.
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
                if open.len() < MOST_CONNECTIONS {
                    open.spawn_local(relay(connection, port));
                }
            }
        };
        Ok(Self(spawn_local(serve).abort_handle()))
    }
}

const MOST_CONNECTIONS: usize = 256;

async fn relay(mut connection: TcpStream, port: u16) {
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
