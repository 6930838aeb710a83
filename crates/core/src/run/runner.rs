//! Makes many runs, in a process of their own.

use super::{Confinement, End, Job, Observation, RunKey, RunSpec, RunnerOptions};
use crate::model::{OutputFormat, ProbeId};
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_helper::{Event, Failure, Helper};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The executable of the helper, made by the build script; empty where that could not make one.
const HELPER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agentnative-helper"));

/// What came of a set of runs.
#[derive(Debug, Clone)]
pub struct Finished {
    /// In the order of the specs. When interrupted, those that never started are not there.
    pub observations: Vec<Observation>,
    /// The signal that told us to stop.
    pub interrupted: Option<i32>,
    /// How the runs were confined that were to be, in the weakest way of all.
    pub confinement: Option<Confinement>,
    /// Why the system has no namespaces to confine runs with, where they were asked for.
    pub no_namespaces: Option<String>,
}

/// Makes runs, from any thread. They are made by a helper, a process of its own that starts with the first
/// run and ends with the runner: nothing else is started or reaped in this process.
#[derive(Debug)]
pub struct Runner {
    options: RunnerOptions,
    helper: Option<Helper>,
}

impl Runner {
    /// A runner, whose helper is not started yet.
    pub const fn new(options: RunnerOptions) -> Self {
        Self { options, helper: None }
    }

    /// Starts the helper, if it is not yet.
    ///
    /// # Errors
    /// When the helper cannot be started, has no room for temporary files, or cannot see the processes
    /// of this machine: then nobody could be found whom a run leaves behind.
    pub fn start(&mut self) -> Result<&mut Helper> {
        if HELPER.is_empty() {
            return Err(Error::general("this build has no helper and cannot run programs")
                .hint("build agentnative on Linux, the system on which it runs"));
        }
        match &mut self.helper {
            Some(helper) => Ok(helper),
            none => Ok(none.insert(Helper::start(HELPER, &self.options).map_err(error)?)),
        }
    }

    /// Takes these values out of all that is told of what is run from now on, in the place of those that were named
    /// before ([`Helper::redact`]).
    ///
    /// # Errors
    /// Those of [`Runner::start`], and when the helper is gone.
    pub fn redact(&mut self, values: Vec<OsString>) -> Result<()> {
        self.start()?.redact(values).map_err(error)
    }

    /// Does work that makes no runs: meanwhile a signal ends the process at once.
    ///
    /// # Errors
    /// When signals cannot be listened to afterwards.
    pub fn unheard<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        match &mut self.helper {
            Some(helper) => helper.unheard(work).map_err(error),
            None => Ok(work()),
        }
    }

    /// Ends the helper; gives the folder of the runs if not all that is in it could be removed.
    pub fn finish(self) -> Option<PathBuf> {
        self.helper.and_then(Helper::finish).map(PathBuf::from)
    }

    /// Makes all runs: up to the number of jobs side by side, then those that want quiet, one by one. Of a
    /// family ([`Job::family`]) some are made again alone, and some not at all.
    /// `on_done` is told of each as it ends. A signal that this runner listens to ends all runs with
    /// [`End::Interrupted`](super::End::Interrupted), a second one kills them at once.
    ///
    /// # Errors
    /// Those of [`Runner::start`]; when the helper is gone, or wants for resources: the runner is of no use then.
    pub fn run_all_blocking(
        &mut self,
        specs: Vec<RunSpec>,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<Finished> {
        let named: Vec<(RunKey, Vec<String>)> =
            specs.iter().map(|spec| (spec.key.clone(), spec.argv())).collect();
        let mut done: Vec<Option<Observation>> = named.iter().map(|_| None).collect();
        let mut finished =
            Finished { observations: Vec::new(), interrupted: None, confinement: None, no_namespaces: None };
        if specs.is_empty() {
            return Ok(finished);
        }
        let helper = self.start()?;
        helper.run(specs.into_iter().map(|spec| spec.job).collect()).map_err(error)?;
        loop {
            match helper.next_event().map_err(error)? {
                Event::Done(_, outcome) if outcome.end.is_want_of_resources() => {
                    let End::NotStarted(_, words) = outcome.end else { continue };
                    return Err(Error::general(words).hint(
                        "raise the limits (ulimit -n, ulimit -u), or let TMPDIR name a folder with more room",
                    ));
                }
                Event::Done(at, outcome) => {
                    if let Some(place) = done.get_mut(at) {
                        let (key, argv) = named[at].clone();
                        on_done(place.insert(Observation { key, argv, uncopied: false, outcome: *outcome }));
                    }
                }
                Event::Serving => {}
                Event::Signal(number) => {
                    finished.interrupted.get_or_insert(number);
                    helper.stop().map_err(error)?;
                }
                Event::Finished(confinement, why) => {
                    finished.no_namespaces = why;
                    finished.confinement = confinement;
                    finished.observations = done.into_iter().flatten().collect();
                    return Ok(finished);
                }
            }
        }
    }

    /// Runs a command that the user trusts, with the caller's whole environment and rights: the `build` of a
    /// configuration, and nothing else.
    ///
    /// # Errors
    /// Those of [`Runner::run_all_blocking`], and interrupted, when a signal told us to stop.
    pub fn run_trusted(&mut self, job: Job) -> Result<Observation> {
        let name = Path::new(&job.program).file_name().unwrap_or(&job.program).to_string_lossy();
        let key = RunKey::plain(ProbeId::declared(name), OutputFormat::Text);
        let spec = RunSpec { key, job: Job { trusted: true, ..job } };
        let mut finished = self.run_all_blocking(vec![spec], &mut |_| {})?;
        match finished.interrupted {
            Some(signal) => Err(Error::interrupted(signal, "interrupted")),
            None => finished.observations.pop().ok_or_else(|| Error::general("the helper gave no result")),
        }
    }
}

pub(super) fn error(failure: Failure) -> Error {
    let kind = if failure.denied { ErrorKind::Auth } else { ErrorKind::General };
    let error = Error::new(kind, failure.message);
    match failure.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
