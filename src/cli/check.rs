//! `agentnative check`

use super::live::{self, Told};
use super::verdicts::{judged, unmet};
use super::{bound, runs, select, subject};
use crate::output::{self, RENDERERS, Renderer, View};
use crate::probe::Recording;
use crate::report::catalogue::Check;
use crate::report::{Layer, Report};
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

#[derive(clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    pub(super) subject: subject::SubjectArgs,
    /// Only checks of this principle (may be given several times).
    #[arg(long, value_name = "N")]
    principle: Vec<u8>,
    /// Only this check (may be given several times).
    #[arg(long, value_name = "ID")]
    check: Vec<String>,
    /// Not this check (may be given several times).
    #[arg(long, value_name = "ID")]
    skip: Vec<String>,
    /// Only checks of these layers: behavioral, source, project (may be given several times).
    #[arg(long, value_enum, value_name = "LAYER", value_delimiter = ',')]
    layer: Vec<Layer>,
    /// A further probe: arguments as a shell would split them, after the exit code that they are
    /// expected to end with, if not 0 (may be given several times).
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true)]
    pub(super) probe: Vec<String>,
    /// Hold the whole target to this contract instead of the default rules: its format and how to ask
    /// for it, its error channel, its exit codes. A bundled contract's name, a folder or a schema file.
    #[arg(long, value_name = "NAME")]
    pub(super) contract: Option<String>,
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
    pub(super) timeout: Option<Duration>,
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

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .ok()
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "expected a number of seconds above 0".to_owned())
}

pub(super) fn run(args: CheckArgs, output: &mut Output) -> Result<u8> {
    let checks = select(&args.principle, &args.layer, &args.check, &args.skip)?;
    // Before the runs: a file that cannot be written is no reason to lose them.
    let files =
        args.report.iter().map(|report| Ok((report, create(&report.path)?))).collect::<Result<Vec<_>>>()?;
    let record = args.record.as_ref().map(|path| Ok::<_, Error>((path, create(path)?))).transpose()?;
    let (recording, signal) = match &args.replay {
        Some(path) => (replay(path, &args, &checks, output)?, None),
        None => {
            let call = live::Call {
                subject: &args.subject,
                probes: &args.probe,
                contract: args.contract.as_deref(),
                timeout: args.timeout,
                jobs: args.jobs,
            };
            let live = call.make(&checks, &mut |told| match told {
                Told::Start(target, count) => runs::start(target, &checks, count, output),
                Told::Ended(observation, nth, count) => {
                    output.progress(&format!("{nth}/{count} {}", observation.key.probe));
                    runs::ended(observation, output)
                }
            })?;
            (live.recording, live.signal)
        }
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
    output::write_report(output, &report, error.is_none())?;
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
    runs::start(&recording.target, checks, recording.observations.len(), output)?;
    for observation in &recording.observations {
        runs::ended(observation, output)?;
    }
    Ok(recording)
}
