//! `agentnative report`

use super::complete;
use super::group;
use super::report_files::{ReportFile, ReportFiles, each_has_its_own_file, report_file};
use crate::check::Judged;
use crate::report::Reports;
use agentnative_contract::error::Result;
use agentnative_output::Output;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative report merge *report.json --report html=report.html")]
pub(super) struct ReportArgs {
    #[command(subcommand)]
    command: ReportCommand,
}

#[derive(clap::Subcommand)]
enum ReportCommand {
    /// Merge the reports of several checks into one.
    Merge(MergeArgs),
}

#[derive(clap::Args)]
#[command(after_help = "Exit codes: 0 all targets are conformant, 1 a target is not.

Examples:
  agentnative report merge *report.json
  agentnative report merge report.json --json
  agentnative report merge *report.json --report html=report.html --report junit=report.xml")]
struct MergeArgs {
    /// JSON reports, as `check --json` prints and `check --report json=FILE` writes them, or merged ones;
    /// `-` is stdin.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Also write the merged report to a file (repeatable), in a format of `check --report`. The file `-`
    /// is stdout and replaces the text report.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file, add = complete::reports(), help_heading = group::REPORT)]
    report: Vec<ReportFile>,
    /// List all verdicts, and every place of each problem.
    #[arg(long, help_heading = group::REPORT)]
    verbose: bool,
    /// Fail if a MUST is unverified.
    #[arg(long, help_heading = group::REPORT)]
    strict: bool,
}

pub(super) fn run(args: &ReportArgs, output: &mut Output) -> Result<u8> {
    let ReportCommand::Merge(args) = &args.command;
    each_has_its_own_file(&args.report, std::iter::empty(), output)?;
    let mut judged = Vec::new();
    for path in &args.files {
        let reports = Reports::read(path)?.into_vec().into_iter();
        judged.extend(reports.map(|report| Judged { report, recording: None, elapsed: None }));
    }
    let files = ReportFiles::create(&args.report, output)?;
    if let [judged] = &judged[..] {
        output.stream([judged.report.start_event()], |_| {})?;
    }
    files.finish(&judged, (args.verbose, args.strict), output)
}
