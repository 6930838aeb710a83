//! `agentnative check --all`: several targets, side by side, and one report.

use super::check_args::CheckArgs;
use super::report_files::{ReportFiles, each_has_its_own_file};
use crate::check::{
    Fleet, FleetTarget, Judged, LastTime, Partition, Progress, Report, Selection, Session, SessionOptions,
};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, Result, exit_of_signal};
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

/// What a thread tells of the targets that it checks.
enum Told {
    /// A run has ended.
    Run,
    /// So came of the target with this number.
    Ended(usize, Box<Judged>, Option<i32>),
}

pub(super) fn run(args: &CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    each_has_its_own_file(&args.report, iter::empty(), output)?;
    let selection = args.selection.selection();
    let checks = selection.resolve()?;
    let mut paths = args.fleet.all.clone().unwrap_or_default();
    if paths.is_empty() {
        paths.push(PathBuf::from("."));
    }
    let fleet = Fleet::find(&paths)?;
    let part = args.fleet.partition.unwrap_or(Partition { part: 1, of: 1 });
    let options = SessionOptions {
        fast: args.fast,
        no_runs: selection.runs_nothing(),
        edition: selection.edition,
        ..args.target.options(&args.runs, runner)
    };
    let (info, targets) = (fleet.info(&checks, &options, part), fleet.part(part));
    let files = ReportFiles::create(&args.report, output)?;

    let all = CheckAll { targets, selection: &selection, options, deny: &args.deny };
    let (judged, signal) = all.run(output)?;
    let code = files.finish(&judged, Some(&info), &args.shown, output)?;
    Ok(signal.map_or(code, exit_of_signal))
}

/// A target that is ready to be checked.
struct Built {
    session: Session,
    checks: Vec<&'static Check>,
    skipped: Vec<&'static Check>,
    last_time: LastTime,
}

/// The targets, and how each is checked.
struct CheckAll<'a> {
    targets: Vec<&'a FleetTarget>,
    selection: &'a Selection,
    options: SessionOptions,
    deny: &'a [Level],
}

impl CheckAll<'_> {
    /// Checks them in parallel, with as many runs at once as for one; returns them in their order, and the signal that
    /// ended the runs. All are built before the first run, which could change what a build executes.
    fn run(&self, output: &mut Output) -> Result<(Vec<Judged>, Option<i32>)> {
        let jobs = self.options.runner.jobs.max(1);
        let side_by_side = self.targets.len().min(jobs.div_ceil(2)).max(1);
        let shared = u32::try_from(jobs - side_by_side).unwrap_or(u32::MAX);
        let slots =
            Slots::new(shared).map_err(|error| Error::general(format!("cannot share slots: {error}")))?;
        let runner = RunnerOptions { slots: Some(slots), ..self.options.runner.clone() };
        let options = SessionOptions { runner, ..self.options.clone() };
        let built: Vec<OnceLock<Result<Built>>> = self.targets.iter().map(|_| OnceLock::new()).collect();
        let build = |at: usize| {
            let result = built[at].get_or_init(|| self.built(self.targets[at], &options));
            result.as_ref().err().and_then(|error| error.signal)
        };
        self.in_parallel(side_by_side, build, || {})?;
        let built: Vec<Option<Result<Built>>> = built.into_iter().map(OnceLock::into_inner).collect();
        let failed = built.iter().map(|result| result.as_ref()?.as_ref().err());
        let signal = failed.clone().find_map(|error| error?.signal);
        let failed = failed.zip(&self.targets).map(|(error, target)| Some(without_runs(target, error?)));

        let (built, (sender, told)) = (&built, channel());
        let check = move |at: usize| {
            let Some(Ok(built)) = &built[at] else { return None };
            let (judged, signal) = self.check(self.targets[at], built, &sender);
            // Who waits for it is there as long as we are.
            let _ = sender.send(Told::Ended(at, Box::new(judged), signal));
            signal
        };
        let threads = if signal.is_some() { 0 } else { side_by_side };
        let failed = failed.collect();
        self.in_parallel(threads, check, || self.collect(failed, signal, &told, output))
    }

    /// Calls `work` with the number of each target, in this many threads, until it returns a signal; and `meanwhile`
    /// in this thread.
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
                        let at = next.fetch_add(1, Ordering::SeqCst);
                        if at >= self.targets.len() {
                            break;
                        }
                        stopped.fetch_or(work(at).is_some(), Ordering::SeqCst);
                    }
                };
                if let Err(error) = Builder::new().spawn_scoped(scope, work) {
                    // Those that are there already check the targets of this one.
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

    /// Adds what the threads tell to what is known, by the number of each target; targets that a signal kept from being
    /// checked are named as that.
    fn collect(
        &self,
        mut all: Vec<Option<Judged>>,
        mut by: Option<i32>,
        told: &Receiver<Told>,
        output: &mut Output,
    ) -> (Vec<Judged>, Option<i32>) {
        let (began, mut runs, mut ended) = (Instant::now(), 0, all.iter().flatten().count() as u64);
        for told in told {
            match told {
                Told::Run => runs += 1,
                Told::Ended(at, judged, signal) => {
                    all[at] = Some(*judged);
                    ended += 1;
                    by = by.or(signal);
                }
            }
            let elapsed = began.elapsed();
            let left = time_left(ended, all.len() as u64, elapsed)
                .map_or_else(String::new, |left| format!(", {left}"));
            let targets = counted(all.len(), "target");
            output.progress(elapsed, &format!("{ended} of {targets}, {}{left}", counted(runs, "run")));
        }
        output.clear_progress();
        let not_checked = |target: &FleetTarget| {
            let error =
                Error::interrupted(by.unwrap_or_default(), "the check was interrupted before it began");
            without_runs(target, &error)
        };
        let judged = all.into_iter().zip(&self.targets);
        (judged.map(|(judged, target)| judged.unwrap_or_else(|| not_checked(target))).collect(), by)
    }

    /// Reads which checks a target needs, and builds it.
    fn built(&self, target: &FleetTarget, options: &SessionOptions) -> Result<Built> {
        let config = target.config.as_ref().map_err(Error::clone)?;
        let (checks, skipped) = self.selection.resolve_with(&config.check)?;
        let mut session = target.session(config, options);
        let last_time = LastTime::of(&session, Some(&config.path));
        session.build(&checks)?;
        Ok(Built { session, checks, skipped, last_time })
    }

    /// Checks one of them; what keeps it from being checked ends no other.
    fn check(&self, target: &FleetTarget, built: &Built, told: &Sender<Told>) -> (Judged, Option<i32>) {
        match self.judged(target, built, told) {
            Ok(done) => done,
            Err(error) => (without_runs(target, &error), error.signal),
        }
    }

    fn judged(
        &self,
        target: &FleetTarget,
        built: &Built,
        told: &Sender<Told>,
    ) -> Result<(Judged, Option<i32>)> {
        let mut observer = |progress: Progress<'_>| {
            if matches!(progress, Progress::Ended { .. }) {
                let _ = told.send(Told::Run);
            }
            Ok(())
        };
        let seen = built.session.run(&built.checks, &mut observer)?;
        let signal = seen.signal;
        let mut judged = seen.judged(&built.checks, &built.skipped, self.deny)?;
        judged.report.target.name = target.name();
        built.last_time.keep(&judged.report);
        Ok((judged, signal))
    }
}

fn without_runs(target: &FleetTarget, error: &Error) -> Judged {
    Judged { report: Report::not_checked(target.info(), error), recording: None, elapsed: None }
}
