//! `agentnative check --all`: checks several targets in parallel and writes one report.

use super::check_args::CheckArgs;
use super::report_files::{ReportFiles, ensure_distinct_files};
use crate::check::{
    Fleet, FleetTarget, Judged, Partition, PreviousResults, Progress, Report, Selection, Session,
    SessionOptions,
};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, Result, signal_exit_code};
use agentnative_core::catalogue::Check;
use agentnative_core::model::Level;
use agentnative_core::run::{RunnerOptions, Slots};
use agentnative_output::{Output, time_left};
use std::iter;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, Builder};
use std::time::Instant;

/// A message of a worker thread.
enum WorkerMessage {
    /// A run has ended.
    Run,
    /// A target was checked: its index, its report, and the signal that stopped its runs, if any.
    Ended(usize, Box<Judged>, Option<i32>),
}

pub(super) fn run(args: &CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    ensure_distinct_files(&args.report, iter::empty(), output)?;
    let selection = args.selection.selection();
    let checks = selection.resolve()?;
    let mut paths = args.fleet.all.clone().unwrap_or_default();
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    let fleet = Fleet::find(&paths)?;
    let part = args.fleet.partition.unwrap_or(Partition { part: 1, parts: 1 });
    let options = SessionOptions {
        fast: args.fast,
        explore: args.explore.options(args.workspace.as_deref()),
        no_runs: selection.runs_nothing(),
        edition: selection.edition,
        ..args.target.options(&args.runs, runner)
    };
    let (info, targets) = (fleet.part_info(&checks, &options, part), fleet.targets_of_part(part));
    let files = ReportFiles::create(&args.report, output)?;

    let all = CheckAll { targets, selection: &selection, options, deny: &args.deny };
    let (judged, signal) = all.run(output)?;
    let code = files.finish(&judged, Some(&info), &args.shown, output)?;
    Ok(signal.map_or(code, signal_exit_code))
}

/// A target that was built and is ready to be checked.
struct BuiltTarget {
    session: Session,
    checks: Vec<&'static Check>,
    skipped: Vec<&'static Check>,
    previous: PreviousResults,
}

/// The targets of `check --all`, and the options of their checks.
struct CheckAll<'a> {
    targets: Vec<&'a FleetTarget>,
    selection: &'a Selection,
    options: SessionOptions,
    deny: &'a [Level],
}

impl CheckAll<'_> {
    /// Checks the targets in parallel, with as many parallel runs as for one target. Returns the results in the order
    /// of the targets, and the signal that stopped the check, if any. All targets are built before the first run, since
    /// a run could change what a build executes.
    fn run(&self, output: &mut Output) -> Result<(Vec<Judged>, Option<i32>)> {
        let jobs = self.options.runner.jobs.max(1);
        let threads = self.targets.len().min(jobs.div_ceil(2)).max(1);
        let shared = u32::try_from(jobs - threads).unwrap_or(u32::MAX);
        let slots =
            Slots::new(shared).map_err(|error| Error::general(format!("cannot share slots: {error}")))?;
        let runner = RunnerOptions { slots: Some(slots), ..self.options.runner.clone() };
        let options = SessionOptions { runner, ..self.options.clone() };
        let built: Vec<OnceLock<Result<BuiltTarget>>> =
            self.targets.iter().map(|_| OnceLock::new()).collect();
        let build = |index: usize| {
            let result = built[index].get_or_init(|| self.build(self.targets[index], &options));
            result.as_ref().err().and_then(|error| error.signal)
        };
        self.in_parallel(threads, build, || {})?;
        let built: Vec<Option<Result<BuiltTarget>>> = built.into_iter().map(OnceLock::into_inner).collect();
        let failed = built.iter().map(|result| result.as_ref()?.as_ref().err());
        let signal = failed.clone().find_map(|error| error?.signal);
        let failed =
            failed.zip(&self.targets).map(|(error, target)| Some(not_checked_report(target, error?)));

        let (built, (sender, messages)) = (&built, channel());
        let check = move |index: usize| {
            let Some(Ok(built)) = &built[index] else { return None };
            let (judged, signal) = self.check(self.targets[index], built, &sender);
            // The receiver lives as long as the threads.
            let _ = sender.send(WorkerMessage::Ended(index, Box::new(judged), signal));
            signal
        };
        let check_threads = if signal.is_some() { 0 } else { threads };
        let failed = failed.collect();
        self.in_parallel(check_threads, check, || self.collect(failed, signal, &messages, output))
    }

    /// Calls `work` with the index of each target, in `threads` threads, until a call returns a signal. Calls
    /// `meanwhile` in this thread and returns its result.
    fn in_parallel<T>(
        &self,
        threads: usize,
        work: impl Fn(usize) -> Option<i32> + Clone + Send,
        meanwhile: impl FnOnce() -> T,
    ) -> Result<T> {
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            for nth in 0..threads {
                let (work, next, stopped) = (work.clone(), &next, &stopped);
                let work = move || {
                    while !stopped.load(Ordering::SeqCst) {
                        let index = next.fetch_add(1, Ordering::SeqCst);
                        if index >= self.targets.len() {
                            break;
                        }
                        stopped.fetch_or(work(index).is_some(), Ordering::SeqCst);
                    }
                };
                if let Err(error) = Builder::new().spawn_scoped(scope, work) {
                    // The threads that were started check all targets.
                    if nth == 0 {
                        return Err(Error::general(format!("cannot start a thread: {error}")));
                    }
                    break;
                }
            }
            drop(work);
            Ok(meanwhile())
        })
    }

    /// Receives the results of the worker threads and shows the progress. `all` already contains the reports of targets
    /// that could not be built. A target that was not checked because of a signal gets a report with this reason.
    fn collect(
        &self,
        mut all: Vec<Option<Judged>>,
        mut signal_so_far: Option<i32>,
        messages: &Receiver<WorkerMessage>,
        output: &mut Output,
    ) -> (Vec<Judged>, Option<i32>) {
        let (start, mut runs, mut ended) = (Instant::now(), 0, all.iter().flatten().count() as u64);
        for message in messages {
            match message {
                WorkerMessage::Run => runs += 1,
                WorkerMessage::Ended(index, judged, signal) => {
                    all[index] = Some(*judged);
                    ended += 1;
                    signal_so_far = signal_so_far.or(signal);
                }
            }
            let elapsed = start.elapsed();
            let left = time_left(ended, all.len() as u64, elapsed)
                .map_or_else(String::new, |left| format!(", {left}"));
            let targets = counted(all.len(), "target");
            output.progress(elapsed, &format!("{ended} of {targets}, {}{left}", counted(runs, "run")));
        }
        output.clear_progress();
        let not_checked = |target: &FleetTarget| {
            let error = Error::interrupted(
                signal_so_far.unwrap_or_default(),
                "the check was interrupted before it began",
            );
            not_checked_report(target, &error)
        };
        let judged = all.into_iter().zip(&self.targets);
        (
            judged.map(|(judged, target)| judged.unwrap_or_else(|| not_checked(target))).collect(),
            signal_so_far,
        )
    }

    /// Selects the checks of a target, and builds it.
    fn build(&self, target: &FleetTarget, options: &SessionOptions) -> Result<BuiltTarget> {
        let config = target.config.as_ref().map_err(Error::clone)?;
        let (checks, skipped) = self.selection.resolve_with(&config.check)?;
        let mut session = target.session(config, options);
        let previous = PreviousResults::of(&session, Some(&config.path));
        session.build(&checks)?;
        Ok(BuiltTarget { session, checks, skipped, previous })
    }

    /// Checks one target. Returns the result, and the signal that stopped the runs, if any. An error becomes a report,
    /// so that it does not stop the checks of other targets.
    fn check(
        &self,
        target: &FleetTarget,
        built: &BuiltTarget,
        sender: &Sender<WorkerMessage>,
    ) -> (Judged, Option<i32>) {
        match self.judged(target, built, sender) {
            Ok(done) => done,
            Err(error) => (not_checked_report(target, &error), error.signal),
        }
    }

    fn judged(
        &self,
        target: &FleetTarget,
        built: &BuiltTarget,
        sender: &Sender<WorkerMessage>,
    ) -> Result<(Judged, Option<i32>)> {
        let mut observer = |progress: Progress<'_>| {
            if matches!(progress, Progress::Ended { .. }) {
                let _ = sender.send(WorkerMessage::Run);
            }
            Ok(())
        };
        let seen = built.session.run(&built.checks, &mut observer)?;
        let signal = seen.signal;
        let mut judged = seen.judged(&built.checks, &built.skipped, self.deny)?;
        judged.report.target.name = target.name();
        built.previous.store(&judged.report);
        Ok((judged, signal))
    }
}

fn not_checked_report(target: &FleetTarget, error: &Error) -> Judged {
    Judged { report: Report::not_checked(target.info(), error), recording: None, elapsed: None }
}
