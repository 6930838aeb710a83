//! `agentnative check`

use super::bound::{self, Bound};
use super::{select, subject};
use crate::config::{Config, ProbeConfig, Waiver};
use crate::error::{Error, Result};
use crate::judge::{self, Case};
use crate::output::{Output, OutputConfig, OutputFormat, RENDERERS, Renderer, View};
use crate::probe::{self, Probe, Promises, Recording};
use crate::report::catalogue::Check;
use crate::report::{CheckResult, Ended, Event, Layer, Report, RunEvent, StartEvent, Status, TargetInfo};
use crate::run::{End, Enforced, Observation, Runner, RunnerOptions};
use crate::target::Target;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    subject: subject::SubjectArgs,
    /// Only checks of this principle (may be given several times).
    #[arg(long, value_name = "N")]
    principle: Vec<u8>,
    /// Only this check (may be given several times).
    #[arg(long, value_name = "ID")]
    check: Vec<String>,
    /// Not this check (may be given several times).
    #[arg(long, value_name = "ID")]
    skip: Vec<String>,
    /// Only checks of this layer (may be given several times).
    #[arg(long, value_enum, value_name = "LAYER")]
    layer: Vec<Layer>,
    /// A further probe: arguments as a shell would split them, after the exit code that they are
    /// expected to end with, if not 0 (may be given several times).
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true)]
    probe: Vec<String>,
    /// Hold the whole target to this contract instead of the default rules: its format and how to ask
    /// for it, its error channel, its exit codes. A bundled contract's name, a folder or a schema file.
    #[arg(long, value_name = "NAME")]
    contract: Option<String>,
    /// Also write the report to a file: text, json or jsonl (may be given several times).
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file)]
    report: Vec<ReportFile>,
    /// An unverified MUST counts as a failed one.
    #[arg(long)]
    strict: bool,
    /// How many runs go side by side (default: twice the cores).
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// When a run is ended by force, unless the configuration says otherwise (default: 10).
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<Duration>,
    /// Save what the runs gave, to be judged again with --replay.
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    record: Option<PathBuf>,
    /// Judge what --record saved; nothing is run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["path", "name", "probe", "command", "bin", "jobs", "timeout"])]
    replay: Option<PathBuf>,
}

/// Where a further report goes.
#[derive(Clone)]
struct ReportFile {
    renderer: &'static Renderer,
    path: PathBuf,
}

fn report_file(text: &str) -> Result<ReportFile, String> {
    let names = || RENDERERS.iter().map(|renderer| renderer.name).collect::<Vec<_>>().join(", ");
    let (name, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("expected FORMAT=FILE")?;
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == name);
    let renderer =
        renderer.ok_or_else(|| format!("no report format `{name}`: expected one of {}", names()))?;
    Ok(ReportFile { renderer, path: path.into() })
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

pub(super) fn run(args: CheckArgs, output: &mut Output, executable: &Path) -> Result<u8> {
    let checks = select(&args.principle, &args.layer, &args.check, &args.skip)?;
    // Before the runs: a file that cannot be written is no reason to lose them.
    let files =
        args.report.iter().map(|report| Ok((report, create(&report.path)?))).collect::<Result<Vec<_>>>()?;
    let record = args.record.as_ref().map(|path| Ok::<_, Error>((path, create(path)?))).transpose()?;
    let (recording, signal) = match &args.replay {
        Some(path) => (replay(path, &args, &checks, output)?, None),
        None => live(&args, &checks, output, executable)?,
    };
    output.clear_progress();
    if let Some((path, file)) = record {
        recording.write(file, path)?;
    }
    let contracts = bound::load_all(&recording.probes)?;
    let report = judged(recording, &contracts, &checks);
    let error = unmet(&report, args.strict);
    for (to, file) in files {
        write_report(to, file, &report, error.is_none())?;
    }
    output.report(&report, error.is_none())?;
    let code = error.as_ref().map_or(0, |error| error.kind.exit_code());
    if let Some(error) = error {
        output.error(&error);
    }
    Ok(match signal {
        Some(signal) => u8::try_from(128 + signal).unwrap_or(1),
        None => code,
    })
}

fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|error| Error::general(format!("cannot write {}: {error}", path.display())))
}

fn write_report(to: &ReportFile, mut file: File, report: &Report, ok: bool) -> Result<()> {
    let config = OutputConfig::plain(OutputFormat::Text);
    let text = (to.renderer.render)(&View { report, ok, config })?;
    std::io::Write::write_all(&mut file, text.as_bytes())
        .map_err(|error| Error::general(format!("cannot write {}: {error}", to.path.display())))
}

fn replay(path: &Path, args: &CheckArgs, checks: &[&Check], output: &mut Output) -> Result<Recording> {
    let mut recording = Recording::read(path)?;
    if let Some(path) = &args.subject.config {
        recording.waivers = subject::load(path)?.waivers;
    }
    start(&recording.target, checks, recording.observations.len(), output)?;
    for observation in &recording.observations {
        ended(observation, output)?;
    }
    Ok(recording)
}

/// What was seen, and the signal that told us to stop.
fn live(
    args: &CheckArgs,
    checks: &[&Check],
    output: &mut Output,
    executable: &Path,
) -> Result<(Recording, Option<i32>)> {
    let mut options = RunnerOptions::new(executable);
    options.jobs = args.jobs.map_or(options.jobs, std::num::NonZeroUsize::get);
    let mut runner = Runner::new(options)?;
    let (mut target, config) = subject::resolve(&args.subject, &mut runner)?;
    if let Some(timeout) = args.timeout {
        target.config.timeout = timeout;
    }
    let mut contracts = Bound::new();
    let mut declared = declared(&target, config.as_ref(), &args.probe, &mut contracts)?;
    let mut promises = Promises::of(&target.config);
    if let Some(name) = &args.contract {
        let name = bound::replace(name, &mut target.config, &mut declared, &mut contracts)?;
        promises = Promises { contract: Some(name), ..Promises::of(&target.config) };
    }

    // What the help says decides which further probes are harmless.
    let (probes, keys) = probe::plan(checks, declared.clone(), &promises, target.config.timeout);
    let help: Vec<_> = keys.iter().filter(|key| **key == probe::help_run()).cloned().collect();
    let first = runner.run_all_blocking(probe::specs(&help, &probes, &promises, &target), &mut |_| {})?;
    let help = first.observations.first().map(subject::help_of).unwrap_or_default();
    let promises = promises.with_help(!help.commands.is_empty(), help.json.as_deref(), help.jsonl.as_deref());
    let (probes, keys) = probe::plan(checks, declared, &promises, target.config.timeout);
    let info = target.info(&std::env::current_dir().unwrap_or_default());
    if keys.is_empty() || !first.observations.is_empty() {
        something_ran(&info, &first.observations)?;
    }
    start(&info, checks, keys.len(), output)?;
    let mut observations = first.observations;
    for observation in &observations {
        ended(observation, output)?;
    }
    let done: BTreeSet<_> = observations.iter().map(|observation| observation.key.clone()).collect();
    let rest: Vec<_> = keys.iter().filter(|key| !done.contains(key)).cloned().collect();
    let mut failed = None;
    let mut count = observations.len();
    let (mut interrupted, mut sandbox) = (first.interrupted, first.sandbox);
    if interrupted.is_none() {
        let finished = runner.run_all_blocking(
            probe::specs(&rest, &probes, &promises, &target),
            &mut |observation| {
                count += 1;
                output.progress(&format!("{count}/{} {}", keys.len(), observation.key.probe));
                failed = failed.take().or(ended(observation, output).err());
            },
        )?;
        observations.extend(finished.observations);
        interrupted = finished.interrupted;
        sandbox = sandbox.max(finished.sandbox);
    }
    if let Some(error) = failed {
        return Err(error);
    }
    let recording = Recording {
        target: info,
        promises,
        probes,
        observations,
        interrupted: interrupted.is_some(),
        waivers: config.map(|config| config.waivers).unwrap_or_default(),
        notes: sandbox.and_then(confined).into_iter().map(str::to_owned).collect(),
    };
    if interrupted.is_none() {
        something_ran(&recording.target, &recording.observations)?;
    }
    Ok((recording, interrupted))
}

/// What the reader has to know of a sandbox that was asked for.
fn confined(enforced: Enforced) -> Option<&'static str> {
    match enforced {
        Enforced::Fully => None,
        Enforced::Partly => Some(
            "the sandbox was enforced in part: this kernel cannot confine all of writes, connections and signals",
        ),
        Enforced::Not => Some("the sandbox was not enforced: this kernel has no Landlock"),
    }
}

/// Never a silent green: a target of which nothing could be run has no report.
fn something_ran(target: &TargetInfo, observations: &[Observation]) -> Result<()> {
    let mut words = None;
    for seen in observations {
        let End::NotStarted(_, why) = &seen.end else { return Ok(()) };
        words = words.or(Some(why));
    }
    let command = target.command.join(" ");
    Err(match words {
        Some(words) => Error::general(format!("nothing could be run: {command}: {words}")),
        None => Error::general(format!("nothing was run: no run of {command} would decide these checks"))
            .hint("declare probes: --probe \"ARGS\", or [[probe]] in agentnative.toml"),
    })
}

/// The probes of the configuration and those of the command line.
fn declared(
    target: &Target,
    config: Option<&Config>,
    flags: &[String],
    contracts: &mut Bound,
) -> Result<Vec<Probe>> {
    let root = config.map_or(Path::new("."), |config| &config.root);
    let of_flags = ProbeConfig::from_flags(flags)?;
    let of_config = config.into_iter().flat_map(|config| config.probes_of(&target.config));
    let mut probes: Vec<Probe> = Vec::new();
    for config in of_config.chain(&of_flags) {
        if probes.iter().any(|probe| probe.name == config.name) {
            return Err(Error::usage(format!("there are two probes `{}`", config.name)));
        }
        let mut probe = Probe::declared(config, target.config.timeout);
        bound::bind(&mut probe.contract, root, contracts)?;
        probes.push(probe);
    }
    Ok(probes)
}

fn start(target: &TargetInfo, checks: &[&Check], runs: usize, output: &mut Output) -> Result<()> {
    if output.config().format != OutputFormat::Jsonl {
        return Ok(());
    }
    let checks = checks.iter().map(|check| check.id.clone()).collect();
    output.record(&Event::Start(StartEvent { target: target.clone(), checks, runs }))
}

fn ended(run: &Observation, output: &mut Output) -> Result<()> {
    if output.config().format != OutputFormat::Jsonl {
        return Ok(());
    }
    let (ended, exit, signal) = match run.end {
        End::Exited(code) => (Ended::Exited, Some(code), None),
        End::Signaled(signal) => (Ended::Signaled, None, Some(signal)),
        End::TimedOut => (Ended::TimedOut, None, None),
        End::Waited => (Ended::Waited, None, None),
        End::TooMuch(_) => (Ended::TooMuch, None, None),
        End::NotStarted(..) => (Ended::NotStarted, None, None),
        End::Interrupted => (Ended::Interrupted, None, None),
    };
    output.record(&Event::Run(RunEvent {
        probe: run.key.probe.clone(),
        format: run.key.format,
        variant: run.key.variant,
        nth: run.key.nth,
        exit,
        ended,
        signal,
        duration_ms: u64::try_from(run.duration.as_millis()).unwrap_or(u64::MAX),
        stdout_bytes: run.stdout.bytes.len(),
        stderr_bytes: run.stderr.bytes.len(),
        left_behind: run.left_behind.len(),
    }))
}

fn judged(recording: Recording, contracts: &Bound, checks: &[&Check]) -> Report {
    let case = Case::new(&recording.promises, contracts, &recording.probes, &recording.observations);
    let mut results = judge::judge(&case, checks);
    let mut notes = recording.notes;
    for waiver in &recording.waivers {
        notes.extend(waive(waiver, &mut results));
    }
    Report::new(recording.target, recording.observations.len(), recording.interrupted, results, notes)
}

/// Applies a waiver; gives a note when there was nothing to waive.
fn waive(waiver: &Waiver, results: &mut [CheckResult]) -> Option<String> {
    let result = results.iter_mut().find(|result| result.id == waiver.check)?;
    if !matches!(result.status, Status::Fail | Status::Warn) {
        return Some(format!("the waiver of {} is not used: {}", waiver.check, result.message));
    }
    result.status = Status::Waived;
    result.message = format!("waived: {} ({})", waiver.reason, result.message);
    None
}

/// Why the exit code is not 0.
fn unmet(report: &Report, strict: bool) -> Option<Error> {
    let musts = |status| {
        report.results.iter().filter(|r| r.level == crate::report::Level::Must && r.status == status).count()
    };
    let (failed, open) = (musts(Status::Fail), musts(Status::Unverified));
    let count = |n: usize, what: &str| format!("{n} MUST {} {what}", if n == 1 { "check" } else { "checks" });
    let message = match (report.conformant, report.verified || !strict) {
        _ if report.interrupted => "interrupted: the report covers the runs until then".to_owned(),
        (true, true) => return None,
        (true, false) => count(open, "unverified"),
        (false, _) => count(failed, "failed"),
    };
    Some(Error::general(message))
}
