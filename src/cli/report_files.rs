//! Where the reports of a check go beside standard output: `--report FORMAT=FILE`.

use crate::output::{RENDERERS, Renderer, View};
use agentnative_contract::error::{Error, ErrorKind, Result};
use agentnative_output::{Output, OutputFormat};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The name that stands for standard output.
const STDOUT: &str = "-";

/// Where a further report goes.
#[derive(Clone)]
pub(super) struct ReportFile {
    renderer: &'static Renderer,
    path: PathBuf,
}

/// Reads `FORMAT=FILE`.
pub(super) fn report_file(text: &str) -> Result<ReportFile, String> {
    let names = || RENDERERS.iter().map(|renderer| renderer.name).collect::<Vec<_>>().join(", ");
    let (name, path) =
        text.split_once('=').filter(|(_, path)| !path.is_empty()).ok_or("expected FORMAT=FILE")?;
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == name);
    let renderer =
        renderer.ok_or_else(|| format!("no report format `{name}`: expected one of {}", names()))?;
    Ok(ReportFile { renderer, path: path.into() })
}

impl ReportFile {
    /// What its renderer makes of the verdicts.
    pub fn rendered(&self, view: &View<'_>) -> Result<String> {
        (self.renderer.render)(view)
    }
}

/// The further reports of a check, their files open.
pub(super) struct ReportFiles<'a> {
    /// The one that takes the place of the report on standard output.
    pub stdout: Option<&'a ReportFile>,
    files: Vec<(&'a ReportFile, File)>,
}

impl<'a> ReportFiles<'a> {
    /// Makes the files.
    pub fn create(reports: &'a [ReportFile]) -> Result<Self> {
        let (stdout, files): (Vec<_>, Vec<_>) =
            reports.iter().partition(|report| report.path == Path::new(STDOUT));
        let files =
            files.into_iter().map(|report| Ok((report, create(&report.path)?))).collect::<Result<_>>()?;
        Ok(Self { stdout: stdout.first().copied(), files })
    }

    /// Writes the files.
    pub fn write(self, view: &View<'_>) -> Result<()> {
        for (report, mut file) in self.files {
            let text = report.rendered(view)?;
            file.write_all(text.as_bytes())
                .map_err(|error| Error::io(ErrorKind::Write, "write", &report.path, &error))?;
        }
        Ok(())
    }
}

/// Makes a file before the runs: one that cannot be written is no reason to lose them.
pub(super) fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|error| Error::io(ErrorKind::Write, "write", path, &error))
}

/// That no two reports, and no report and the recording, go to one place.
pub(super) fn each_has_its_own_file(
    reports: &[ReportFile],
    record: Option<&Path>,
    output: &Output,
) -> Result<()> {
    let mut places = BTreeSet::new();
    for path in reports.iter().map(|report| report.path.as_path()).chain(record) {
        if !places.insert(place_of(path)) {
            return Err(Error::usage(format!("two outputs are written to {}", path.display())));
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
