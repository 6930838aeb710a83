//! `agentnative check`

use super::baseline::BaselineFiles;
use super::check_all::{self, FleetArgs};
use super::complete;
use super::group;
use super::progress::RunProgress;
use super::report_files::{ReportFile, ReportFiles, each_has_its_own_file, report_file};
use super::selection_args::SelectionArgs;
use super::target_args::{RunArgs, TargetArgs};
use super::watch;
use crate::catalogue::Check;
use crate::check::{
    Judged, LastTime, Progress, Recording, Report, Scans, Seen, Session, SessionOptions, judge_with,
    load_config, replay, skip_note,
};
use crate::config::ProbeConfig;
use crate::files::WholeFile;
use crate::model::Level;
use crate::run::RunnerOptions;
use agentnative_contract::error::{Error, Result, exit_of_signal};
use agentnative_output::Output;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative check
  agentnative check --strict --principle 2 .
  agentnative check ./mycli --check p2-output-json
  agentnative check --command mycli --probe \"show 1\"
  agentnative check --fast --skip \"p2-src-*\"
  agentnative check --write-baseline baseline.json
  agentnative check --baseline baseline.json
  agentnative check --report json=report.json --report sarif=report.sarif
  agentnative check --all . --report html=report.html
  agentnative check --all . --partition 2/5 --report json=part-2.json")]
pub(super) struct CheckArgs {
    #[command(flatten, next_help_heading = group::TARGET)]
    pub(super) target: TargetArgs,
    #[command(flatten, next_help_heading = group::TARGET)]
    pub(super) fleet: FleetArgs,
    #[command(flatten, next_help_heading = group::SELECTION)]
    pub(super) selection: SelectionArgs,
    /// Run only the checks that failed, warned or were unverified last time, and those never run.
    #[arg(long, conflicts_with = "replay", help_heading = group::SELECTION)]
    pub(super) failed: bool,
    /// Make plain runs only. A check that needs other runs is unverified.
    #[arg(long, help_heading = group::RUNS)]
    pub(super) fast: bool,
    /// Add a probe: arguments, split as in a shell, after the expected exit code if it is not 0, as in
    /// "77:whoami" (repeatable). The format flag follows the arguments, or replaces the word {format}.
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true, add = complete::probes(), help_heading = group::RUNS)]
    probe: Vec<String>,
    /// Check against this contract instead of the default rules: format, error channel, exit codes. The
    /// name of a bundled contract (NAME or NAME@VERSION), a contract folder or a schema file; `auto` takes that
    /// of a known agent, by its name and version, and `none` takes none [default: auto for --command without a configuration].
    #[arg(long, value_name = "NAME", help_heading = group::RUNS, add = complete::contracts())]
    contract: Option<String>,
    /// Also write the report to a file (repeatable), as text, json, jsonl, html, sarif, junit, gitlab,
    /// markdown or github. The file `-` is stdout and replaces the text report; github annotations are
    /// appended to it.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file, add = complete::reports(), help_heading = group::REPORT)]
    pub(super) report: Vec<ReportFile>,
    /// Accept the problems in this file, which --write-baseline wrote: they are waived, and only new ones fail.
    #[arg(long, value_name = "FILE", help_heading = group::REPORT)]
    pub(super) baseline: Option<PathBuf>,
    /// Write the problems of this check to a file for --baseline. Entries that are fixed are removed from it;
    /// those that are not checked this time stay.
    #[arg(long, value_name = "FILE", help_heading = group::REPORT)]
    pub(super) write_baseline: Option<PathBuf>,
    /// List all verdicts, and every place of each problem.
    #[arg(long, help_heading = group::REPORT)]
    pub(super) verbose: bool,
    /// Fail if a MUST is unverified.
    #[arg(long, help_heading = group::REPORT)]
    pub(super) strict: bool,
    /// Fail on warnings as well: with `should`, a SHOULD that is unmet makes the exit code 1.
    #[arg(
        long,
        value_name = "LEVEL",
        value_delimiter = ',',
        value_parser = should(),
        hide_possible_values = true,
        help_heading = group::REPORT
    )]
    pub(super) deny: Vec<Level>,
    /// Check again when the program, its scripts, the configuration or the code of the target changes.
    /// Ctrl-C ends it.
    #[arg(long, conflicts_with_all = ["record", "replay"], help_heading = group::RUNS)]
    watch: bool,
    #[command(flatten, next_help_heading = group::RUNS)]
    pub(super) runs: RunArgs,
    /// Save the runs to a file for --replay.
    #[arg(long, value_name = "FILE", conflicts_with = "replay", help_heading = group::RUNS)]
    record: Option<PathBuf>,
    /// Judge the runs in a file from --record again; run nothing.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = group::RUNS,
        conflicts_with_all = ["path", "name", "probe", "command", "bin", "fast", "jobs", "timeout", "isolation", "allow_unconfined"]
    )]
    replay: Option<PathBuf>,
}

/// The levels that `--deny` takes.
fn should() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["should"]).map(|_| Level::Should)
}

pub(super) fn run(args: &CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    if args.fleet.all.is_some() {
        return check_all::run(args, output, runner);
    }
    let others = [&args.record, &args.write_baseline].into_iter().flatten().map(PathBuf::as_path);
    each_has_its_own_file(&args.report, others, output)?;
    if args.watch {
        return watch::run(args, output, runner);
    }
    let done = check(args, output, runner, None)?;
    Ok(done.signal.map_or(done.code, exit_of_signal))
}

/// What a check came to.
pub(super) struct Done {
    /// The exit code by the verdicts.
    code: u8,
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
        let code = files.finish(&[judged], None, (args.verbose, args.strict), output)?;
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
    let code = files.finish(&[judged], None, (args.verbose, args.strict), output)?;
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
