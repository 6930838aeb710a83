//! The files of `--report FORMAT=FILE`, in addition to the report on stdout.

use crate::check::Judged;
use crate::output::{self, RENDERERS, Renderer, ReportView};
use crate::report::{FleetInfo, Report};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_core::config::repository_root;
use agentnative_core::files::AtomicFile;
use agentnative_output::{Output, OutputConfig, OutputFormat};
use std::collections::BTreeSet;
use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The file name that stands for stdout.
const STDOUT: &str = "-";
/// The format whose lines are appended to the text report on stdout; other formats replace it.
const GITHUB: &str = "github";

/// The text if `--failed` selects no check.
const NOTHING_TO_CHECK: &str = "nothing to check: no check failed or was unverified last time\n";

/// The format and file of an additional report.
#[derive(Clone)]
pub(super) struct ReportFile {
    renderer: &'static Renderer,
    path: PathBuf,
}

/// The options for what a report shows and what it counts as a failure.
#[derive(clap::Args)]
pub(super) struct ShownArgs {
    /// List all verdicts, and every place of each problem.
    #[arg(long)]
    verbose: bool,
    /// Fail if a MUST is unverified.
    #[arg(long)]
    strict: bool,
}

/// Parses `FORMAT=FILE`, the value of `--report`.
pub(super) fn report_file(text: &str) -> Result<ReportFile, String> {
    let names = || RENDERERS.iter().map(|renderer| renderer.name).collect::<Vec<_>>().join(", ");
    let (name, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("expected FORMAT=FILE")?;
    let renderer = output::renderer(name, Path::new(path));
    let renderer =
        renderer.ok_or_else(|| format!("no report format `{name}`: expected one of {}", names()))?;
    Ok(ReportFile { renderer, path: path.into() })
}

impl ReportFile {
    fn is_github(&self) -> bool {
        self.renderer.name == GITHUB
    }

    fn is_stdout(&self) -> bool {
        self.path == Path::new(STDOUT)
    }
}

/// The additional reports of a check, with their open files.
pub(super) struct ReportFiles<'a> {
    /// The report that is printed to stdout in place of the text report, if any.
    pub stdout: Option<&'a ReportFile>,
    /// Whether GitHub annotations follow the text report.
    pub annotate: bool,
    files: Vec<(&'a ReportFile, AtomicFile)>,
    /// The summary file of a GitHub Actions step, to which a Markdown report is appended.
    summary: Option<PathBuf>,
}

impl<'a> ReportFiles<'a> {
    /// Creates the files of all reports. On GitHub Actions, annotations follow a text report, unless another `--report`
    /// writes them.
    pub fn create(reports: &'a [ReportFile], output: &Output) -> Result<Self> {
        let (stdout, files): (Vec<_>, Vec<_>) = reports.iter().partition(|report| report.is_stdout());
        let files = files.into_iter().map(|report| Ok((report, AtomicFile::create(&report.path)?)));
        let files = files.collect::<Result<_>>()?;
        let (added, replacing): (Vec<_>, Vec<_>) = stdout.into_iter().partition(|report| report.is_github());
        let writes_github = reports.iter().any(ReportFile::is_github);
        let text = output.config().format == OutputFormat::Text && replacing.is_empty();
        let in_workflow = || env::var_os("GITHUB_ACTIONS").is_some_and(|value| value == "true");
        let annotate = !added.is_empty() || (text && !writes_github && in_workflow());
        let summary = env::var_os("GITHUB_STEP_SUMMARY").map(PathBuf::from);
        let summary = summary.filter(|path| (annotate || writes_github) && path.is_file());
        Ok(Self { stdout: replacing.first().copied(), annotate, files, summary })
    }

    /// Writes all reports; returns the exit code.
    pub fn finish(
        self,
        judged: &[Judged],
        fleet: Option<&FleetInfo>,
        &ShownArgs { verbose, strict }: &ShownArgs,
        output: &mut Output,
    ) -> Result<u8> {
        let unmet = overall_exit_error(judged, strict);
        let was_checked = |report: &Report| !report.results.is_empty() || report.error.is_some();
        let has_results = judged.iter().any(|judged| was_checked(&judged.report));
        let folder = env::current_dir().ok();
        let root = folder.as_deref().and_then(repository_root);
        let view = ReportView {
            fleet,
            ok: unmet.is_none(),
            verbose,
            folder: folder.as_deref(),
            root: root.as_deref(),
            strict,
            // Files are not written for a terminal.
            ..ReportView::new(judged, OutputConfig::plain(OutputFormat::Text))
        };
        let (stdout, annotate) = (self.stdout, self.annotate);
        self.write(&view)?;
        match stdout {
            Some(report) => output.write_unchanged((report.renderer.render)(&view)?.as_bytes())?,
            None if has_results || fleet.is_some() || output.config().format != OutputFormat::Text => {
                output::write_check_result(output, view)?;
            }
            None => output.text(NOTHING_TO_CHECK)?,
        }
        if annotate {
            output.write_unchanged(render(GITHUB, &view)?.as_bytes())?;
        }
        let code = unmet.as_ref().map_or(0, Error::exit_code);
        if let Some(error) = unmet {
            output.error(&error);
        }
        Ok(code)
    }

    fn write(self, view: &ReportView<'_>) -> Result<()> {
        for (report, file) in self.files {
            file.write((report.renderer.render)(view)?.as_bytes())?;
        }
        if let Some(path) = self.summary {
            let text = render("markdown", view)?;
            let appended = OpenOptions::new().append(true).open(&path);
            appended
                .and_then(|mut file| file.write_all(text.as_bytes()))
                .map_err(|error| Error::io(ErrorKind::Write, "write", &path, &error))?;
        }
        Ok(())
    }
}

/// Returns the error to print if the exit code is not 0; `None` for exit code 0. For several targets, the error names
/// those that failed.
fn overall_exit_error(judged: &[Judged], strict: bool) -> Option<Error> {
    let of = |judged: &Judged| Some((judged.report.target.name.clone(), judged.report.exit_error(strict)?));
    let (names, mut errors): (Vec<String>, Vec<Error>) = judged.iter().filter_map(of).unzip();
    match judged {
        [] | [_] => errors.pop(),
        _ if errors.is_empty() => None,
        all => {
            let message =
                format!("{} of {} failed: {}", names.len(), counted(all.len(), "target"), names.join(", "));
            Some(Error::findings(message))
        }
    }
}

/// Renders the reports in the format `name`; empty if there is no such format.
fn render(name: &str, view: &ReportView<'_>) -> Result<String> {
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == name);
    renderer.map_or_else(|| Ok(String::new()), |renderer| (renderer.render)(view))
}

/// Returns an error if two reports, or a report and one of the `others`, are written to the same file.
pub(super) fn ensure_distinct_files<'p>(
    reports: &'p [ReportFile],
    others: impl Iterator<Item = &'p Path>,
    output: &Output,
) -> Result<()> {
    let mut files = BTreeSet::new();
    for path in reports.iter().map(|report| report.path.as_path()).chain(others) {
        if !files.insert(resolve_folder(path)) {
            return Err(Error::usage(format!("two outputs are written to {}", path.display())));
        }
    }
    if files.contains(Path::new(STDOUT)) && output.config().format != OutputFormat::Text {
        let github = reports.iter().any(|report| report.is_stdout() && report.is_github());
        let message = match github {
            true => "--report github=- writes annotations below the text report on stdout",
            false => "--report FORMAT=- replaces the text report on stdout",
        };
        return Err(Error::usage(message).hint("remove --output, --json and --jsonl"));
    }
    Ok(())
}

/// Resolves the folder of a path, so that two paths of the same file become equal. If the file itself is a symbolic
/// link, it is not resolved.
fn resolve_folder(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) if path != Path::new(STDOUT) => folder.join(name),
        _ => path.to_owned(),
    }
}
