//! Makes many runs, some side by side.

use super::capture::Shared;
use super::folder::Root;
use super::one::{Job, STOP, STOP_NOW, execute};
use super::{Enforced, Observation, RunKey, RunSpec, Stdin, env, family, proc, resolve};
use crate::report::{OutputFormat, Variant};
use agentnative_contract::error::{Error, Result};
use rustix::process::{Resource, Rlimit, getpid, getrlimit, set_child_subreaper, setrlimit};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::future::poll_fn;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;
use tokio::task::{JoinSet, LocalSet};

/// No stream is kept further than this, whatever the options say: files that targets write end soon
/// after.
const MOST_OUTPUT: u64 = 4 << 30;

/// How runs are made.
#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// An executable whose `main` calls [`launcher_main`](super::launcher_main) when its first argument
    /// is [`LAUNCH_ARGUMENT`](super::LAUNCH_ARGUMENT): this program.
    pub launcher: PathBuf,
    /// How many runs go side by side, at least 1.
    pub jobs: usize,
    /// The most that is kept of one stream, in bytes; a target that writes more is ended.
    pub max_output: u64,
    /// How long bytes of those who are left are taken after the leader's end.
    pub drain: Duration,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
}

impl RunnerOptions {
    /// The usual options: twice as many jobs as processors, 512 MiB a stream, 200 ms to drain, 300 ms
    /// of grace.
    pub fn new(launcher: impl Into<PathBuf>) -> Self {
        Self {
            launcher: launcher.into(),
            jobs: 2 * processors(),
            max_output: 512 << 20,
            drain: Duration::from_millis(200),
            grace: Duration::from_millis(300),
        }
    }
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// What all runs of a runner have in common.
#[derive(Debug)]
pub(super) struct Common {
    pub options: RunnerOptions,
    pub root: Root,
    pub captures: Shared,
    /// The environment of the runs, but for what is each run's own.
    pub base: BTreeMap<OsString, OsString>,
    /// The caller's environment.
    pub caller: BTreeMap<OsString, OsString>,
    /// Signals that were ignored when we were started.
    pub ignored: Vec<i32>,
    /// The caller's limit on open files, before we raised our own.
    pub open_files: Option<u64>,
    pub processors: u64,
    enforced: Cell<Option<Enforced>>,
}

impl Common {
    /// Takes note of how far a sandbox was enforced: the weakest counts.
    pub fn note(&self, enforced: Option<Enforced>) {
        self.enforced.set(self.enforced.get().max(enforced));
    }
}

/// What came of a set of runs.
#[derive(Debug, Clone)]
pub struct Finished {
    /// In the order of the specs. When interrupted, those that never started are not there.
    pub observations: Vec<Observation>,
    /// The signal that told us to stop.
    pub interrupted: Option<i32>,
    /// How far sandboxes were enforced, when there were any: the weakest of all runs.
    pub sandbox: Option<Enforced>,
}

/// Makes runs. It belongs to the thread that made it, which should be the main one: a target is killed
/// when the thread that started it ends.
#[derive(Debug)]
pub struct Runner {
    common: Rc<Common>,
}

impl Runner {
    /// A runner. This process becomes the reaper of all its descendants, and may open as many files as
    /// it is allowed to.
    ///
    /// # Errors
    /// When there is no room for temporary files, the kernel refuses, or /proc does not show this
    /// process: then nobody could be found whom a run leaves behind.
    pub fn new(mut options: RunnerOptions) -> Result<Self> {
        let failed = |what: &str, error: &dyn std::fmt::Display| Error::general(format!("{what}: {error}"));
        if !proc::is_ours() {
            return Err(Error::general("/proc does not show the processes of this process namespace")
                .hint("mount it there: unshare --mount-proc, or mount -t proc proc /proc"));
        }
        set_child_subreaper(Some(getpid())).map_err(|e| failed("cannot become the reaper of runs", &e))?;
        let files = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: files.maximum, ..files }).unwrap_or_default();
        options.jobs = options.jobs.max(1);
        options.max_output = options.max_output.min(MOST_OUTPUT);
        let root = Root::new().map_err(|e| {
            failed("cannot make a temporary folder", &e).hint("TMPDIR names the folder for them")
        })?;
        let caller = resolve::caller();
        let common = Common {
            options,
            root,
            captures: Shared::default(),
            base: env::base(&caller),
            caller,
            ignored: proc::ignored_signals().into_iter().filter(|n| *n != SIGPIPE).collect(),
            open_files: files.current,
            processors: processors() as u64,
            enforced: Cell::new(None),
        };
        Ok(Self { common: Rc::new(common) })
    }

    /// Makes all runs: up to the number of jobs side by side, then those that want quiet, one by one.
    /// `on_done` is told of each as it ends. SIGINT, SIGTERM and SIGHUP (unless they were ignored at
    /// our start) end all runs with [`End::Interrupted`](super::End::Interrupted), a second one kills
    /// them at once. Wants a current-thread runtime.
    pub async fn run_all(&mut self, specs: Vec<RunSpec>, on_done: &mut dyn FnMut(&Observation)) -> Finished {
        let jobs = specs.into_iter().map(|spec| Job { spec, trusted: false });
        self.run_jobs(jobs.collect(), on_done).await
    }

    /// The same, with a runtime of its own.
    ///
    /// # Errors
    /// When the runtime cannot be made.
    pub fn run_all_blocking(
        &mut self,
        specs: Vec<RunSpec>,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Finished> {
        Ok(runtime()?.block_on(self.run_all(specs, on_done)))
    }

    /// Runs a tool that the checker itself needs, such as `cargo metadata`, with the caller's whole
    /// environment, standard input null and streams on pipes.
    ///
    /// # Errors
    /// When the runtime cannot be made, or (with the exit code 1) when a signal told us to stop.
    pub fn run_trusted(
        &mut self,
        program: &Path,
        args: &[OsString],
        cwd: &Path,
        deadline: Duration,
    ) -> Result<Observation> {
        let name = program.file_name().unwrap_or(program.as_os_str());
        let key = RunKey {
            probe: name.to_string_lossy().into_owned(),
            format: OutputFormat::Text,
            variant: Variant::Plain,
            nth: 0,
        };
        let spec = RunSpec {
            key,
            program: program.to_path_buf(),
            args: args.to_vec(),
            cwd: cwd.to_path_buf(),
            env: BTreeMap::new(),
            stdin: Stdin::Null,
            deadline,
            sandbox: false,
            quiet: true,
        };
        let jobs = vec![Job { spec, trusted: true }];
        let mut finished = runtime()?.block_on(self.run_jobs(jobs, &mut |_| {}));
        finished.observations.pop().ok_or_else(|| Error::general("interrupted"))
    }

    async fn run_jobs(&mut self, jobs: Vec<Job>, on_done: &mut dyn FnMut(&Observation)) -> Finished {
        self.common.enforced.set(None);
        let mut signals = Signals::new(&self.common.ignored);
        let (order, stop) = watch::channel(0);
        let mut done: Vec<Option<Observation>> = jobs.iter().map(|_| None).collect();
        let (quiet, loud): (VecDeque<_>, VecDeque<_>) =
            jobs.into_iter().enumerate().partition(|(_, job)| job.spec.quiet);
        let mut interrupted = None;
        let local = LocalSet::new();
        local
            .run_until(async {
                for (mut waiting, side_by_side) in [(loud, self.common.options.jobs), (quiet, 1)] {
                    let mut running = JoinSet::new();
                    loop {
                        while interrupted.is_none()
                            && running.len() < side_by_side
                            && let Some((at, job)) = waiting.pop_front()
                        {
                            let (common, stop) = (Rc::clone(&self.common), stop.clone());
                            running.spawn_local(async move { (at, execute(&common, job, stop).await) });
                        }
                        tokio::select! {
                            ended = running.join_next() => match ended {
                                None => break,
                                Some(Ok((at, observation))) => {
                                    on_done(&observation);
                                    done[at] = Some(observation);
                                }
                                Some(Err(error)) => std::panic::resume_unwind(error.into_panic()),
                            },
                            number = signals.next() => {
                                order.send_replace(if interrupted.is_none() { STOP } else { STOP_NOW });
                                interrupted.get_or_insert(number);
                            }
                        }
                    }
                }
            })
            .await;
        family::sweep_strays().await;
        let observations = done.into_iter().flatten().collect();
        Finished { observations, interrupted, sandbox: self.common.enforced.get() }
    }
}

const SIGPIPE: i32 = rustix::process::Signal::PIPE.as_raw();

fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Error::general(format!("cannot start the runtime: {e}")))
}

/// The signals that tell us to stop.
struct Signals {
    stop: Vec<(i32, Signal)>,
    /// With SIGCHLD ignored the kernel reaps our children by itself, and nobody learns how they ended.
    _child: Option<Signal>,
}

impl Signals {
    fn new(ignored: &[i32]) -> Self {
        let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let wanted = kinds.into_iter().filter(|kind| !ignored.contains(&kind.as_raw_value()));
        let child = SignalKind::child();
        let is_ignored = ignored.contains(&child.as_raw_value());
        Self {
            stop: wanted.filter_map(|kind| Some((kind.as_raw_value(), signal(kind).ok()?))).collect(),
            _child: is_ignored.then(|| signal(child).ok()).flatten(),
        }
    }

    /// The number of the next one.
    async fn next(&mut self) -> i32 {
        poll_fn(|context| {
            for (number, signal) in &mut self.stop {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*number);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}
