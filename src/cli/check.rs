//! `agentnative check`

use super::progress::draw;
use super::target_args::{RunArgs, TargetArgs};
use crate::check::{
    Judged, Progress, Recording, Selection, Session, SessionOptions, judge, load_config, replay,
};
use crate::config::ProbeConfig;
use crate::model::Layer;
use crate::output::{self, RENDERERS, Renderer, View};
use crate::run::RunnerOptions;
use agentnative_contract::error::{Error, Result};
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::fs::File;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    target: TargetArgs,
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
    #[command(flatten)]
    runs: RunArgs,
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

pub(super) fn run(args: CheckArgs, output: &mut Output, runner: &RunnerOptions) -> Result<u8> {
    let selection =
        Selection { principles: args.principle, layers: args.layer, checks: args.check, skip: args.skip };
    let checks = selection.resolve()?;
    // Before the runs: a file that cannot be written is no reason to lose them.
    let files =
        args.report.iter().map(|report| Ok((report, create(&report.path)?))).collect::<Result<Vec<_>>>()?;
    let record = args.record.as_ref().map(|path| Ok::<_, Error>((path, create(path)?))).transpose()?;
    let mut observer = |progress: Progress<'_>| {
        draw(progress, output);
        output.stream([progress.event(&checks)], |_| {})
    };
    let (recording, signal) = match &args.replay {
        Some(path) => {
            let mut recording = Recording::read(path)?;
            if let Some(path) = &args.target.config {
                recording.waivers = load_config(path)?.waivers;
            }
            replay(&recording, &mut observer)?;
            (recording, None)
        }
        None => {
            let options = SessionOptions {
                probes: ProbeConfig::from_flags(&args.probe)?,
                contract: args.contract,
                ..args.target.options(&args.runs, runner)
            };
            let seen = Session::new(args.target.selector(), options).run(&checks, &mut observer)?;
            (seen.recording, seen.signal)
        }
    };
    output.clear_progress();
    if let Some((path, file)) = record {
        recording.write(file, path)?;
    }
    let report = judge(&recording, &checks)?;
    let unmet = report.unmet(args.strict);
    let judged = [Judged { report, recording: Some(recording) }];
    for (to, file) in files {
        write_report(to, file, &judged, unmet.is_none())?;
    }
    output::write_report(output, &judged, unmet.is_none())?;
    let code = unmet.as_ref().map_or(0, |error| error.kind.exit_code());
    if let Some(error) = unmet {
        output.error(&error);
    }
    Ok(signal.map_or(code, super::exit_of_signal))
}

fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|error| Error::general(format!("cannot write {}: {error}", path.display())))
}

fn write_report(to: &ReportFile, mut file: File, judged: &[Judged], ok: bool) -> Result<()> {
    let config = OutputConfig::plain(OutputFormat::Text);
    let text = (to.renderer.render)(&View { judged, ok, config })?;
    std::io::Write::write_all(&mut file, text.as_bytes())
        .map_err(|error| Error::general(format!("cannot write {}: {error}", to.path.display())))
}
