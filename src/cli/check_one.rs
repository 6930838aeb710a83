//! Runs one check, from the arguments to the report.

use super::baseline::BaselineFiles;
use super::check_args::CheckArgs;
use super::profiles;
use super::progress::RunProgress;
use super::report_files::ReportFiles;
use crate::check::{
    CheckCoverage, ConfigSource, Judged, PreviousResults, Progress, Recording, Report, Scans, Session,
    SessionOptions, TargetSelector, judge_against_baseline, load_config, replay, skip_note,
};
use agentnative_contract::error::{Error, Result};
use agentnative_core::catalogue::Check;
use agentnative_core::config::ProbeConfig;
use agentnative_core::files::AtomicFile;
use agentnative_core::run::RunnerOptions;
use agentnative_output::Output;
use std::path::Path;

/// The result of one check.
pub(super) struct Checked {
    /// The exit code of the command, derived from the verdicts.
    pub code: u8,
    /// The signal that stopped the runs, if any.
    pub signal: Option<i32>,
    pub command: Vec<String>,
    /// Whether a run may have changed files of the project.
    pub wrote: bool,
}

/// Creates the session that the command-line arguments describe. Returns it with a note about its profile.
pub(super) fn session(args: &CheckArgs, runner: &RunnerOptions) -> Result<(Session, Option<String>)> {
    let mut options = SessionOptions {
        probes: ProbeConfig::with_changes(
            ProbeConfig::from_flags(&args.probe)?,
            &args.changes,
            args.workspace.as_deref(),
        )?,
        contract: args.contract.clone(),
        fast: args.fast,
        explore: args.explore.options(args.workspace.as_deref()),
        no_runs: args.selection.selection().runs_nothing(),
        edition: args.selection.edition,
        ..args.target.options(&args.runs, runner)
    };
    let selector = args.target.selector();
    let requested = args.profile.as_deref();
    let Some(name) =
        requested.or_else(|| known_profile(args, &selector)).filter(|name| *name != profiles::NONE)
    else {
        return Ok((Session::new(selector, options), None));
    };
    if requested.is_none() && Session::new(selector.clone(), options.clone()).config()?.is_some() {
        return Ok((Session::new(selector, options), None));
    }
    let note = match profiles::load(name) {
        Ok(config) => {
            options.config = ConfigSource::Read(config.into());
            format!("the probes are those of the bundled profile `{name}`; --profile none omits them")
        }
        Err(error) if requested.is_some() => return Err(error),
        Err(error) => format!("the bundled profile `{name}` was not used: {}", error.message),
    };
    Ok((Session::new(selector, options), Some(note)))
}

/// Returns the profile of the command to check, unless the arguments declare calls or a configuration.
fn known_profile(args: &CheckArgs, selector: &TargetSelector) -> Option<&'static str> {
    let TargetSelector::Name(command) = selector else { return None };
    let declares = args.target.config.is_some() || args.explore.explore;
    let is_bare = !declares && args.probe.is_empty() && args.changes.is_empty();
    profiles::of_command(command).filter(|_| is_bare)
}

/// Makes one check, from the arguments to the report. Calls `before_runs` after the target was built.
pub(super) fn check(
    args: &CheckArgs,
    output: &mut Output,
    runner: &RunnerOptions,
    before_runs: Option<&mut dyn FnMut()>,
) -> Result<Checked> {
    let selection = args.selection.selection();
    selection.resolve()?;
    let replayed = args.replay.as_deref().map(|path| read_recording(path, args)).transpose()?;
    let (mut session, profile_note) = session(args, runner)?;
    let (config, previous) = match &replayed {
        Some(recording) => (recording.check.clone(), None),
        None => {
            let config = session.config()?;
            let previous = PreviousResults::of(&session, config.as_ref().map(|config| config.path.as_path()));
            (config.map(|config| config.check).unwrap_or_default(), Some(previous))
        }
    };
    let (mut checks, skipped) = selection.resolve_with(&config)?;
    let mut notes: Vec<String> = skip_note(&skipped).into_iter().collect();
    if let Some(previous) = previous.as_ref().filter(|_| args.failed) {
        notes.push(retain_needed(previous, &mut checks));
    }

    let baseline = BaselineFiles::open(args)?;
    let files = ReportFiles::create(&args.report, output)?;
    if let (true, Some(target)) = (checks.is_empty(), previous.as_ref().and_then(PreviousResults::target)) {
        let mut report = Report::new(target.clone(), 0, false, Vec::new(), notes);
        baseline.finish(&CheckCoverage::default(), &mut report, output)?;
        output.stream([report.start_event()], |_| {})?;
        let judged = Judged { report, recording: None, elapsed: None };
        let code = files.finish(&[judged], None, &args.shown, output)?;
        return Ok(Checked { code, signal: None, command: target.command.clone(), wrote: false });
    }
    let record =
        args.record.as_ref().map(|path| Ok::<_, Error>((path, AtomicFile::create(path)?))).transpose()?;
    let mut runs = RunProgress::default();
    let mut observer = |progress: Progress<'_>| {
        runs.show(progress, output);
        output.stream([progress.event(&checks)], |_| {})
    };
    let (mut recording, scans, signal, elapsed) = match replayed {
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
    recording.notes.extend(profile_note);
    if let Some((path, file)) = record {
        recording.write(file.file()?, path)?;
        file.persist()?;
    }
    let (mut report, seen) = judge_against_baseline(&recording, &checks, &baseline.known, &scans)?;
    report.notes.extend(notes);
    baseline.finish(&seen, &mut report, output)?;
    report.deny.extend(&args.deny);
    report.deny.dedup();
    // A check that was interrupted before its first run keeps the previous results.
    if let Some(previous) = previous.filter(|_| !report.interrupted || report.runs > 0) {
        previous.store(&report);
    }
    let command = recording.target.command.clone();
    let wrote = recording.could_write();
    let judged = Judged { report, recording: Some(recording), elapsed };
    let code = files.finish(&[judged], None, &args.shown, output)?;
    Ok(Checked { code, signal, command, wrote })
}

/// Reads the recording of `--replay`. The options `--config` and `--edition` override its settings.
fn read_recording(path: &Path, args: &CheckArgs) -> Result<Recording> {
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

/// Removes the checks that had no open problem last time, for `--failed`. Returns a note for the report on the number
/// of remaining checks.
fn retain_needed(previous: &PreviousResults, checks: &mut Vec<&'static Check>) -> String {
    if previous.target().is_none() {
        return "--failed: no earlier result of this target is known, so all checks ran".into();
    }
    let all = checks.len();
    checks.retain(|check| previous.needs_check(check));
    format!("--failed: {} of {all} checks ran; the others had no open problem last time", checks.len())
}
