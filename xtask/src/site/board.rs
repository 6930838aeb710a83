//! The board: the verdicts of real tools, from the recordings that `xtask/explore/measure.py` makes. Anyone can judge
//! these recordings again.

use super::markdown::{code, fence, inline, table};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{Judged, Recording, judge};
use agentnative::model::{CheckResult, Level, Status};
use agentnative::output::{RENDERERS, ReportView};
use agentnative_output::{OutputConfig, OutputFormat};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

/// The page in `docs/`.
pub const PAGE: &str = "board.md";
/// The folder with the HTML report and the recordings, in the site.
pub(super) const FOLDER: &str = "board";
/// The tools and their recordings, in the repository.
const TOOLS: &str = "xtask/explore/tools.toml";
const RECORDINGS: &str = "xtask/explore/recordings";

const INTRODUCTION: &str = "# Board

The verdicts of `agentnative check --explore` on forty command-line tools, from npm, PyPI and Debian. None of them promises to follow [The Agent-Native CLI Standard](https://github.com/brettdavies/agentnative), and no configuration declares their calls: the checks judge what the [explored calls](explore.md) show. A fail is a fact about the output of this version, not a grade of the tool. Each was confirmed by hand with a shell.

Each tool was called on Debian 12 with Node 20 and Python 3.11. The recordings of all calls are in the repository, in `xtask/explore/recordings`, and this page is derived from them. To judge a recording again:
";

/// A tool in the list of tools.
#[derive(Deserialize)]
struct Tool {
    command: String,
    registry: String,
    package: String,
    version: String,
}

impl Tool {
    /// Returns the file name of its recording.
    fn recording(&self) -> String {
        format!("{}.json.gz", self.command)
    }
}

#[derive(Deserialize)]
struct ToolList {
    tool: Vec<Tool>,
}

/// The tools of the board with their verdicts.
pub struct Board {
    tools: Vec<(Tool, Judged)>,
}

impl Board {
    /// Judges the recordings in the repository at `root`, in the order of the names of the tools.
    ///
    /// # Errors
    /// Fails if the list of tools or a recording cannot be read.
    pub fn read(root: &Path) -> Result<Self, String> {
        let path = root.join(TOOLS);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let list: ToolList = toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
        let all: Vec<&Check> = checks().iter().collect();
        let judged = |tool: Tool| {
            let path = root.join(RECORDINGS).join(tool.recording());
            let file = decompress(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let recording = Recording::read(file.path()).map_err(|error| error.message)?;
            let report = judge(&recording, &all).map_err(|error| error.message)?;
            Ok((tool, Judged { report, recording: Some(recording), elapsed: None }))
        };
        let mut tools = list.tool.into_iter().map(judged).collect::<Result<Vec<_>, String>>()?;
        tools.sort_by(|(one, _), (other, _)| one.command.cmp(&other.command));
        Ok(Self { tools })
    }

    /// Returns the page: a table of the tools, and what each violates.
    pub fn page(&self) -> String {
        let mut page = INTRODUCTION.to_owned();
        let commands = format!(
            "gunzip --keep {RECORDINGS}/just.json.gz\nagentnative check --replay {RECORDINGS}/just.json"
        );
        page.push_str(&fence("text", &commands));
        page.push_str("\nTo call the tools again, see the head of `xtask/explore/measure.py`.\n");
        let head =
            ["tool", "package", "date", "edition", "MUSTs decided", "failed", "warnings", "commands called"];
        page.push_str(&table(head, self.tools.iter().map(|(tool, judged)| row(tool, judged))));
        page.push_str("\n## Failed checks\n");
        for (tool, judged) in &self.tools {
            _ = write!(page, "\n### {}\n\n", tool.command);
            let failed: Vec<_> = of(judged, Status::Fail).collect();
            failed.iter().for_each(|result| page.push_str(&problem(tool, judged, result)));
            if failed.is_empty() {
                page.push_str("No check failed.\n");
            }
        }
        page
    }

    /// Returns the HTML report of all tools.
    ///
    /// # Errors
    /// Fails if the report cannot be rendered.
    pub(super) fn report(self) -> Result<String, String> {
        let judged: Vec<Judged> = self.tools.into_iter().map(|(_, judged)| judged).collect();
        let view = ReportView::new(&judged, OutputConfig::plain(OutputFormat::Text));
        let html = RENDERERS.iter().find(|renderer| renderer.name == "html");
        html.map_or_else(|| Ok(String::new()), |html| (html.render)(&view).map_err(|error| error.message))
    }
}

/// Writes the HTML report and the recordings into a folder of the site.
///
/// # Errors
/// Fails if a file cannot be read or written.
pub(super) fn write(root: &Path, site: &Path) -> Result<(), String> {
    let folder = site.join(FOLDER);
    let failed = |error| format!("{}: {error}", folder.display());
    fs::create_dir_all(&folder).map_err(failed)?;
    let board = Board::read(root)?;
    for (tool, _) in &board.tools {
        let name = tool.recording();
        fs::copy(root.join(RECORDINGS).join(&name), folder.join(&name)).map_err(failed)?;
    }
    fs::write(folder.join("report.html"), board.report()?).map_err(failed)
}

/// Decompresses a file into a temporary file, which is deleted when the result is dropped.
fn decompress(path: &Path) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    io::copy(&mut GzDecoder::new(File::open(path)?), &mut file)?;
    Ok(file)
}

fn of(judged: &Judged, status: Status) -> impl Iterator<Item = &CheckResult> {
    judged.report.results.iter().filter(move |result| result.status == status)
}

fn row(tool: &Tool, judged: &Judged) -> [String; 8] {
    let report = &judged.report;
    let musts = |status: &[Status]| {
        let is_one = |result: &&CheckResult| result.level == Level::Must && status.contains(&result.status);
        report.results.iter().filter(is_one).count()
    };
    let decided = musts(&[Status::Pass, Status::Fail]);
    let commands = report.coverage.as_ref().map_or_else(String::new, |coverage| {
        format!("{} of {}", coverage.commands.called, coverage.commands.found - coverage.commands.unknown)
    });
    [
        format!("[{name}](#{name})", name = tool.command),
        format!("{} `{}` {}", tool.registry, tool.package, tool.version),
        report.time.as_deref().map_or("", |time| time.split('T').next().unwrap_or(time)).to_owned(),
        report.edition.name().to_owned(),
        format!("{decided} of {}", decided + musts(&[Status::Unverified])),
        report.summary.fail.to_string(),
        report.summary.warn.to_string(),
        commands,
    ]
}

/// Returns a failed check as an item of a list: its message, and the shortest call that shows what the message says.
fn problem(tool: &Tool, judged: &Judged, result: &CheckResult) -> String {
    let detail = result.evidence.first().map(|evidence| &evidence.detail);
    let shown = result.evidence.iter().filter(|evidence| Some(&evidence.detail) == detail);
    let calls = shown.filter_map(|evidence| evidence.argv.as_deref());
    let call = calls.min_by_key(|call| call.len()).map_or_else(String::new, |call| {
        let program = judged.report.target.command.first().map_or("", String::as_str);
        format!(": {}", code(&call.replacen(program, &tool.command, 1)))
    });
    format!("- `{}`: {}{call}\n", result.id, inline(result.text(), ""))
}
