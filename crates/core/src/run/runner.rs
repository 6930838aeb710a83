//! Executes runs in the helper process.

use super::{Confinement, Job, Observation, RunEnd, RunKey, RunSpec, RunnerOptions};
use crate::model::{OutputFormat, ProbeId};
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_helper::{Failure, Helper, HelperEvent};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The bytes of the helper's executable, which the build script builds; empty on systems without a helper.
const HELPER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/agentnative-helper"));

/// The result of executing several runs.
#[derive(Debug, Clone)]
pub struct RunResults {
    /// The observations in the order of the specifications. After an interruption, the observations of runs that did
    /// not start are missing.
    pub observations: Vec<Observation>,
    /// The number of the signal that interrupted the runs, if any.
    pub interrupted: Option<i32>,
    /// The weakest confinement of all runs for which confinement was requested; `None` without such runs.
    pub confinement: Option<Confinement>,
    /// If namespaces were requested and are not available, the reason why.
    pub no_namespaces: Option<String>,
}

/// Executes runs, from any thread. A helper executes them: a separate process that starts with the first run and ends
/// with the runner. This process starts and reaps nothing else.
#[derive(Debug)]
pub struct Runner {
    options: RunnerOptions,
    helper: Option<Helper>,
}

impl Runner {
    /// Creates a runner; its helper is not started yet.
    pub const fn new(options: RunnerOptions) -> Self {
        Self { options, helper: None }
    }

    /// Starts the helper, unless it is running already.
    ///
    /// # Errors
    /// If the helper cannot be started, has no space for temporary files, or cannot list the processes of this machine,
    /// without which it could not find processes that a run leaves behind.
    pub fn start(&mut self) -> Result<&mut Helper> {
        if HELPER.is_empty() {
            return Err(Error::general("this build has no helper and cannot run programs")
                .hint("build agentnative on Linux; it does not run on other systems"));
        }
        match &mut self.helper {
            Some(helper) => Ok(helper),
            none => Ok(none.insert(Helper::start(HELPER, &self.options).map_err(to_error)?)),
        }
    }

    /// Redacts these values, such as secrets, in the outcomes of all further runs ([`Helper::redact`]). They replace
    /// the values of earlier calls.
    ///
    /// # Errors
    /// The errors of [`Runner::start`], and one if the helper has ended.
    pub fn redact(&mut self, values: Vec<OsString>) -> Result<()> {
        self.start()?.redact(values).map_err(to_error)
    }

    /// Calls `work` and returns its result. Meanwhile, no runs are made, and a signal ends the process immediately.
    ///
    /// # Errors
    /// If the handlers of signals cannot be restored afterwards.
    pub fn with_default_signals<T>(&mut self, work: impl FnOnce() -> T) -> Result<T> {
        match &mut self.helper {
            Some(helper) => helper.with_default_signals(work).map_err(to_error),
            None => Ok(work()),
        }
    }

    /// Ends the helper. Returns the temporary folder of the runs if it could not be removed completely.
    pub fn finish(self) -> Option<PathBuf> {
        self.helper.and_then(Helper::finish).map(PathBuf::from)
    }

    /// Executes all runs: up to the number of jobs in parallel, then those that require quiet one after the other. Some
    /// runs of a family ([`Job::family`]) are repeated alone, and some are skipped. Calls `on_done` with each
    /// observation as its run ends. A signal that this runner handles ends all runs with [`RunEnd::Interrupted`]; a
    /// second one kills them immediately.
    ///
    /// # Errors
    /// The errors of [`Runner::start`], and one if the helper has ended or lacks resources. Then the runner cannot be
    /// used any more.
    pub fn run_all(
        &mut self,
        specs: Vec<RunSpec>,
        on_done: &mut dyn FnMut(&Observation),
    ) -> Result<RunResults> {
        let calls: Vec<(RunKey, Vec<String>)> =
            specs.iter().map(|spec| (spec.key.clone(), spec.argv())).collect();
        let mut done: Vec<Option<Observation>> = calls.iter().map(|_| None).collect();
        let mut finished = RunResults {
            observations: Vec::new(),
            interrupted: None,
            confinement: None,
            no_namespaces: None,
        };
        if specs.is_empty() {
            return Ok(finished);
        }
        let helper = self.start()?;
        helper.run(specs.into_iter().map(|spec| spec.job).collect()).map_err(to_error)?;
        loop {
            match helper.next_event().map_err(to_error)? {
                HelperEvent::Done(_, outcome) if outcome.end.is_resource_exhaustion() => {
                    let RunEnd::NotStarted(_, reason) = outcome.end else { continue };
                    return Err(Error::general(reason).hint(
                        "raise the limits (ulimit -n, ulimit -u), or set TMPDIR to a folder with more free space",
                    ));
                }
                HelperEvent::Done(index, outcome) => {
                    if let Some(entry) = done.get_mut(index) {
                        let (key, argv) = calls[index].clone();
                        on_done(entry.insert(Observation { key, argv, uncopied: false, outcome: *outcome }));
                    }
                }
                HelperEvent::ServiceReady => {}
                HelperEvent::Signal(number) => {
                    finished.interrupted.get_or_insert(number);
                    helper.stop().map_err(to_error)?;
                }
                HelperEvent::AllEnded(confinement, reason) => {
                    finished.no_namespaces = reason;
                    finished.confinement = confinement;
                    finished.observations = done.into_iter().flatten().collect();
                    return Ok(finished);
                }
            }
        }
    }

    /// Runs a command that the user trusts, with the complete environment and all permissions of this process. Only the
    /// `build` command of a configuration is run like this.
    ///
    /// # Errors
    /// The errors of [`Runner::run_all`], and one of kind `Interrupted` after a signal.
    pub fn run_trusted(&mut self, job: Job) -> Result<Observation> {
        let name = Path::new(&job.program).file_name().unwrap_or(&job.program).to_string_lossy();
        let key = RunKey::plain_run_key(ProbeId::declared(name), OutputFormat::Text);
        let spec = RunSpec { key, job: Job { trusted: true, ..job } };
        let mut finished = self.run_all(vec![spec], &mut |_| {})?;
        match finished.interrupted {
            Some(signal) => Err(Error::interrupted(signal, "interrupted")),
            None => {
                finished.observations.pop().ok_or_else(|| Error::general("the helper returned no outcome"))
            }
        }
    }
}

pub(super) fn to_error(failure: Failure) -> Error {
    let kind = if failure.denied { ErrorKind::Auth } else { ErrorKind::General };
    let error = Error::new(kind, failure.message);
    match failure.hint {
        Some(hint) => error.hint(hint),
        None => error,
    }
}
