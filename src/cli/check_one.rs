//! One check, from the arguments to the report.

use super::baseline::BaselineFiles;
use super::check_args::CheckArgs;
use super::progress::RunProgress;
use super::report_files::ReportFiles;
use crate::check::{
    Judged, LastTime, Progress, Recording, Report, Scans, Seen, Session, SessionOptions, judge_with,
    load_config, replay, skip_note,
};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::Check;
use agentnative_core::config::ProbeConfig;
use agentnative_core::files::WholeFile;
use agentnative_core::run::RunnerOptions;
use agentnative_output::Output;
use std::path::Path;

/// What a check came to.
pub(super) struct Done {
    /// The exit code by the verdicts.
    pub code: u8,
    /// The signal that told us to stop.
    pub signal: Option<i32>,
    /// The command line of the target.
    pub command: Vec<String>,
    /// A run may have changed files of the project.
    pub wrote: bool,
}

/// The session that the arguments ask for.
pub(super) fn session(args: &CheckArgs, runner: &RunnerOptions) -> Result<Session> {
    let options = SessionOptions {
        probes: ProbeConfig::from_flags(&args.probe)?,
        contract: args.contract.clone(),
        fast: args.fast,
        no_runs: args.selection.selection().runs_nothing(),
        edition: args.selection.edition,
        ..args.target.options(&args.runs, runner)
    };
    Ok(Session::new(args.target.selector(), options))
}

/// Checks once, from the arguments to the report. `before_runs` is called when the target is built.
pub(super) fn check(
    args: &CheckArgs,
    output: &mut Output,
    runner: &RunnerOptions,
    before_runs: Option<&mut dyn FnMut()>,
) -> Result<Done> {
    let selection = args.selection.selection();
    selection.resolve()?;
    let replayed = args.replay.as_deref().map(|path| recorded(path, args)).transpose()?;
    let mut session = session(args, runner)?;
    let (config, last_time) = match &replayed {
        Some(recording) => (recording.check.clone(), None),
        None => {
            let config = session.config()?;
            let last_time = LastTime::of(&session, config.as_ref().map(|config| config.path.as_path()));
            (config.map(|config| config.check).unwrap_or_default(), Some(last_time))
        }
    };
    let (mut checks, skipped) = selection.resolve_with(&config)?;
    let mut notes: Vec<String> = skip_note(&skipped).into_iter().collect();
    if let Some(last_time) = last_time.as_ref().filter(|_| args.failed) {
        notes.push(only_open(last_time, &mut checks));
    }

    let baseline = BaselineFiles::open(args)?;
    let files = ReportFiles::create(&args.report, output)?;
    if let (true, Some(target)) = (checks.is_empty(), last_time.as_ref().and_then(LastTime::target)) {
        let mut report = Report::new(target.clone(), 0, false, Vec::new(), notes);
        baseline.finish(&Seen::default(), &mut report, output)?;
        output.stream([report.start_event()], |_| {})?;
        let judged = Judged { report, recording: None, elapsed: None };
        let code = files.finish(&[judged], None, &args.shown, output)?;
        return Ok(Done { code, signal: None, command: target.command.clone(), wrote: false });
    }
    let record =
        args.record.as_ref().map(|path| Ok::<_, Error>((path, WholeFile::create(path)?))).transpose()?;
    let mut runs = RunProgress::default();
    let mut observer = |progress: Progress<'_>| {
        runs.tell(progress, output);
        output.stream([progress.event(&checks)], |_| {})
    };
    let (recording, scans, signal, elapsed) = match replayed {
        Some(recording) => {
            replay(&recording, &mut observer)?;
            (recording, Scans::default(), None, None)
        }
        None => {
            if let Some(before_runs) = before_runs {
                session.build(&checks)?;
                before_runs();
            }
            let seen = session.run(&checks, &mut observer)?;
            (seen.recording, seen.scans, seen.signal, Some(seen.elapsed))
        }
    };
    output.clear_progress();
    if let Some((path, file)) = record {
        recording.write(file.file()?, path)?;
        file.finish()?;
    }
    let (mut report, seen) = judge_with(&recording, &checks, &baseline.known, &scans)?;
    report.notes.extend(notes);
    baseline.finish(&seen, &mut report, output)?;
    report.deny.extend(&args.deny);
    report.deny.dedup();
    // A check that ended before its first run leaves what was known.
    if let Some(last_time) = last_time.filter(|_| !report.interrupted || report.runs > 0) {
        last_time.keep(&report);
    }
    let command = recording.target.command.clone();
    let wrote = recording.could_write();
    let judged = Judged { report, recording: Some(recording), elapsed };
    let code = files.finish(&[judged], None, &args.shown, output)?;
    Ok(Done { code, signal, command, wrote })
}

/// The recording to judge, with what a configuration that is named says.
fn recorded(path: &Path, args: &CheckArgs) -> Result<Recording> {
    let mut recording = Recording::read(path)?;
    if let Some(path) = &args.target.config {
        let config = load_config(path)?;
        recording.config = path.file_name().map(|name| name.to_string_lossy().into_owned());
        recording.digest = Some(config.digest);
        (recording.waivers, recording.check) = (config.waivers, config.check);
    }
    if let Some(edition) = args.selection.edition {
        recording.check.edition = edition;
    }
    Ok(recording)
}

/// Leaves the checks that `--failed` makes again, and says which that are.
fn only_open(last_time: &LastTime, checks: &mut Vec<&'static Check>) -> String {
    if last_time.target().is_none() {
        return "--failed: no earlier result of this target is known, so all checks ran".into();
    }
    let all = checks.len();
    checks.retain(|check| last_time.is_open(check));
    format!("--failed: {} of {all} checks ran; the others did not fail last time", checks.len())
}
