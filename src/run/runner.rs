//! Makes many runs, in a process of their own.

use super::{Enforced, Observation, RunKey, RunSpec, Stdin};
use crate::model::{OutputFormat, Variant};
use agentnative_contract::error::{Error, Result};
use agentnative_helper::{Event, Failure, Helper, Options};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The executable of the helper, made by the build script; empty where that could not make one.
const HELPER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agentnative-helper"));

/// How runs are made.
#[derive(Debug, Clone)]
pub struct RunnerOptions {
    /// How many runs go side by side, at least 1.
    pub jobs: usize,
    /// The most that is kept of one stream, in bytes; a target that writes more is ended.
    pub max_output: u64,
    /// How long bytes of those who are left are taken after the leader's end.
    pub drain: Duration,
    /// The time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// SIGINT, SIGTERM and SIGHUP do not end this process any more: they end its runs. For a program,
    /// which its signals belong to; those that it was started to ignore stay ignored.
    pub stop_on_signals: bool,
}

impl Default for RunnerOptions {
    /// Twice as many jobs as processors, 512 MiB a stream, 200 ms to drain, 300 ms of grace; signals are
    /// left alone.
    fn default() -> Self {
        let Options { jobs, max_output, drain, grace } = Options::default();
        Self { jobs, max_output, drain, grace, stop_on_signals: false }
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

/// Makes runs, from any thread. They are made by a helper, a process of its own that starts and ends
/// with the runner: nothing else is started or reaped in this process.
#[derive(Debug)]
pub struct Runner {
    helper: Helper,
}

impl Runner {
    /// A runner, with its helper started.
    ///
    /// # Errors
    /// When the helper cannot be started, has no room for temporary files, or cannot see the processes
    /// of this machine: then nobody could be found whom a run leaves behind.
    pub fn new(options: RunnerOptions) -> Result<Self> {
        if HELPER.is_empty() {
            return Err(Error::general("this build carries no helper, so it can run no program")
                .hint("build it on the system that it runs on, which is Linux"));
        }
        let RunnerOptions { jobs, max_output, drain, grace, stop_on_signals } = options;
        let options = Options { jobs, max_output, drain, grace };
        let mut helper = Helper::start(HELPER, &options).map_err(error)?;
        if stop_on_signals {
            helper.hear_signals().map_err(error)?;
        }
        Ok(Self { helper })
    }

    /// Makes all runs: up to the number of jobs side by side, then those that want quiet, one by one.
    /// `on_done` is told of each as it ends. A signal that this runner listens to ends all runs with
    /// [`End::Interrupted`](super::End::Interrupted), a second one kills them at once.
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn run_all_blocking(
        &mut self,
        specs: Vec<RunSpec>,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Finished> {
        self.run_jobs(specs, false, on_done)
    }

    /// Runs a tool that the checker itself needs, such as `cargo metadata`, with the caller's whole
    /// environment, standard input null and streams on pipes.
    ///
    /// # Errors
    /// When the helper is gone, or (with the exit code 1) when a signal told us to stop.
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
        let mut finished = self.run_jobs(vec![spec], true, &mut |_| {})?;
        finished.observations.pop().ok_or_else(|| Error::general("interrupted"))
    }

    fn run_jobs(
        &mut self,
        specs: Vec<RunSpec>,
        trusted: bool,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Finished> {
        let keys: Vec<RunKey> = specs.iter().map(|spec| spec.key.clone()).collect();
        let mut done: Vec<Option<Observation>> = keys.iter().map(|_| None).collect();
        let jobs = specs.into_iter().map(|spec| spec.into_job(trusted)).collect();
        self.helper.run(jobs).map_err(error)?;
        let mut interrupted = None;
        loop {
            match self.helper.next_event().map_err(error)? {
                Event::Done(at, outcome) => {
                    if let Some(place) = done.get_mut(at) {
                        on_done(place.insert(Observation::new(keys[at].clone(), outcome)));
                    }
                }
                Event::Signal(number) => {
                    interrupted.get_or_insert(number);
                    self.helper.stop().map_err(error)?;
                }
                Event::Finished(sandbox) => {
                    let observations = done.into_iter().flatten().collect();
                    return Ok(Finished { observations, interrupted, sandbox });
                }
            }
        }
    }
}

fn error(failure: Failure) -> Error {
    let error = Error::general(failure.message);
    match failure.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
