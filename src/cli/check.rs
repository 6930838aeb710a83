//! `agentnative check`

use super::group;
use super::progress::draw;
use super::target_args::{RunArgs, TargetArgs};
use crate::check::{
    Judged, Progress, Recording, Selection, Session, SessionOptions, judge, load_config, replay,
};
use crate::config::ProbeConfig;
use crate::model::Layer;
use crate::output::{self, RENDERERS, Renderer, View};
use crate::run::RunnerOptions;
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative check
  agentnative check --strict --principle 2 .
  agentnative check ./mycli --check p2-output-json
  agentnative check --command mycli --probe \"show 1\"
  agentnative check --report json=report.json")]
pub(super) struct CheckArgs {
    #[command(flatten, next_help_heading = group::TARGET)]
    target: TargetArgs,
    /// Run only the checks of these principles (repeatable; commas).
    #[arg(long, value_name = "N", value_delimiter = ',', help_heading = group::SELECTION)]
    principle: Vec<u8>,
    /// Run only these checks (repeatable; commas).
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = group::SELECTION)]
    check: Vec<String>,
    /// Leave these checks out (repeatable; commas).
    #[arg(long, value_name = "ID", value_delimiter = ',', help_heading = group::SELECTION)]
    skip: Vec<String>,
    /// Run only the checks of these layers: behavioral, source, project (repeatable; commas).
    #[arg(
        long,
        value_enum,
        value_name = "LAYER",
        value_delimiter = ',',
        hide_possible_values = true,
        help_heading = group::SELECTION
    )]
    layer: Vec<Layer>,
    /// Add a probe: arguments, split as in a shell, after the expected exit code if it is not 0, as in
    /// "77:whoami" (repeatable). The format flag follows the arguments, or replaces the word {format}.
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true, help_heading = group::RUNS)]
    probe: Vec<String>,
    /// Check against this contract instead of the default rules: format, error channel, exit codes. The
    /// name of a bundled contract, a contract folder or a schema file.
    #[arg(long, value_name = "NAME", help_heading = group::RUNS)]
    contract: Option<String>,
    /// Also write the report to a file, as text, json or jsonl (repeatable). The file `-` is stdout and
    /// replaces the text report.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file, help_heading = group::REPORT)]
    report: Vec<ReportFile>,
    /// List all verdicts, and every place of each problem.
    #[arg(long, help_heading = group::REPORT)]
    verbose: bool,
    /// Fail if a MUST is unverified.
    #[arg(long, help_heading = group::REPORT)]
    strict: bool,
    #[command(flatten, next_help_heading = group::RUNS)]
    runs: RunArgs,
    /// Save the runs to a file for --replay.
    #[arg(long, value_name = "FILE", conflicts_with = "replay", help_heading = group::RUNS)]
    record: Option<PathBuf>,
    /// Judge the runs in a file from --record again; run nothing.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = group::RUNS,
        conflicts_with_all = ["path", "name", "probe", "command", "bin", "jobs", "timeout"]
    )]
    replay: Option<PathBuf>,
}

/// The name that stands for standard output.
const STDOUT: &str = "-";

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
    each_has_its_own_file(&args.report, args.record.as_deref(), output)?;
    // Before the runs: a file that cannot be written is no reason to lose them.
    let (to_stdout, to_files): (Vec<_>, Vec<_>) =
        args.report.iter().partition(|report| report.path == Path::new(STDOUT));
    let files =
        to_files.iter().map(|report| Ok((*report, create(&report.path)?))).collect::<Result<Vec<_>>>()?;
    let record = args.record.as_ref().map(|path| Ok::<_, Error>((path, create(path)?))).transpose()?;
    let mut observer = |progress: Progress<'_>| {
        draw(progress, output);
        output.stream([progress.event(&checks)], |_| {})
    };
    let (recording, signal, elapsed) = match &args.replay {
        Some(path) => {
            let mut recording = Recording::read(path)?;
            if let Some(path) = &args.target.config {
                recording.waivers = load_config(path)?.waivers;
            }
            replay(&recording, &mut observer)?;
            (recording, None, None)
        }
        None => {
            let options = SessionOptions {
                probes: ProbeConfig::from_flags(&args.probe)?,
                contract: args.contract,
                ..args.target.options(&args.runs, runner)
            };
            let seen = Session::new(args.target.selector(), options).run(&checks, &mut observer)?;
            (seen.recording, seen.signal, Some(seen.elapsed))
        }
    };
    output.clear_progress();
    if let Some((path, file)) = record {
        recording.write(file, path)?;
    }
    let report = judge(&recording, &checks)?;
    let unmet = report.unmet(args.strict);
    let judged = [Judged { report, recording: Some(recording), elapsed }];
    let folder = std::env::current_dir().ok();
    let view = View {
        judged: &judged,
        ok: unmet.is_none(),
        // Where nothing is known of a terminal.
        config: OutputConfig::plain(OutputFormat::Text),
        verbose: args.verbose,
        folder: folder.as_deref(),
    };
    for (to, file) in files {
        write_report(to, file, &view)?;
    }
    match to_stdout.first() {
        Some(report) => output.verbatim((report.renderer.render)(&view)?.as_bytes())?,
        None => output::write_report(output, view)?,
    }
    let code = unmet.as_ref().map_or(0, |error| error.kind.exit_code());
    if let Some(error) = unmet {
        output.error(&error);
    }
    Ok(signal.map_or(code, super::exit_of_signal))
}

/// That no two reports, and no report and the recording, go to one place.
fn each_has_its_own_file(reports: &[ReportFile], record: Option<&Path>, output: &Output) -> Result<()> {
    let mut places = BTreeSet::new();
    for path in reports.iter().map(|report| report.path.as_path()).chain(record) {
        if !places.insert(place_of(path)) {
            return Err(Error::usage(format!("two things are to be written to {}", path.display())));
        }
    }
    if places.contains(Path::new(STDOUT)) && output.config().format != OutputFormat::Text {
        let message = "--report FORMAT=- takes the place of the text report on standard output";
        return Err(Error::usage(message).hint("leave --output, --json and --jsonl out"));
    }
    Ok(())
}

/// A path that is the same for all names of one file, links to the file itself aside.
fn place_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) if path != Path::new(STDOUT) => folder.join(name),
        _ => path.to_owned(),
    }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|error| Error::io(ErrorKind::General, "write", path, &error))
}

fn write_report(to: &ReportFile, mut file: File, view: &View<'_>) -> Result<()> {
    let text = (to.renderer.render)(view)?;
    std::io::Write::write_all(&mut file, text.as_bytes())
        .map_err(|error| Error::io(ErrorKind::General, "write", &to.path, &error))
}
