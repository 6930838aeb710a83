//! The command `agentnative report`.

use super::complete;
use super::group;
use super::report_files::{ReportFile, ReportFiles, ShownArgs, ensure_distinct_files, report_file};
use crate::check::Judged;
use crate::report::{FleetInfo, Reports, without_replaced_verdicts};
use agentnative_contract::counted;
use agentnative_contract::error::{Error, Result};
use agentnative_output::Output;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
    #[command(flatten, next_help_heading = group::REPORT)]
    shown: ShownArgs,
}

pub(super) fn run(args: &ReportArgs, output: &mut Output) -> Result<u8> {
    let ReportCommand::Merge(args) = &args.command;
    ensure_distinct_files(&args.report, std::iter::empty(), output)?;
    let (mut all, mut parts) = (Vec::new(), Parts::default());
    for path in &args.files {
        let reports = Reports::read(path)?;
        // A report that contains all parts is complete and no longer a part.
        parts.add(path, reports.fleet().filter(|fleet| fleet.parts.len() < fleet.of as usize))?;
        all.extend(reports.into_vec());
    }
    let judged = without_replaced_verdicts(all).into_iter().map(|report| Judged {
        report,
        recording: None,
        elapsed: None,
    });
    let mut judged: Vec<Judged> = judged.collect();
    let (fleet, missing) = parts.finish();
    if fleet.is_some() {
        // In the order of a check of all targets, regardless of the order of the parts.
        judged.sort_by(|a, b| a.report.target.name.cmp(&b.report.target.name));
    }
    let files = ReportFiles::create(&args.report, output)?;
    if let ([judged], None) = (&judged[..], &fleet) {
        output.stream([judged.report.start_event()], |_| {})?;
    }
    let code = files.finish(&judged, fleet.as_ref(), &args.shown, output)?;
    missing.map_or(Ok(code), Err)
}

/// The parts of one check with `--partition` that were read so far.
#[derive(Default)]
struct Parts<'p> {
    /// What all parts have in common; `None` while only complete reports were read.
    fleet: Option<FleetInfo>,
    /// The first file that was read.
    first: Option<&'p Path>,
    /// The file of each part, by the number of the part.
    files: BTreeMap<u32, &'p Path>,
}

impl<'p> Parts<'p> {
    /// Adds the parts of the check that the report in the file `path` covers. `parts` is `None` for a complete report.
    ///
    /// # Errors
    /// A configuration error if the parts belong to another check than the earlier ones, or were added before.
    fn add(&mut self, path: &'p Path, parts: Option<&FleetInfo>) -> Result<()> {
        let first = *self.first.get_or_insert(path);
        let mismatch = |why: &str| {
            let message = format!("cannot merge {} with {}: {why}", path.display(), first.display());
            Error::config(message)
        };
        let Some(parts) = parts else {
            return match self.fleet {
                None => Ok(()),
                Some(_) => Err(mismatch("it is not a part of a check with --partition")),
            };
        };
        match &self.fleet {
            None if first != path => {
                return Err(mismatch("only one of the reports is a part of a check with --partition"));
            }
            Some(fleet) if fleet.digest != parts.digest => {
                return Err(mismatch(
                    "the version, checks, options, targets, configurations or number of parts differ",
                )
                .hint("create all parts with the same program, options and files"));
            }
            _ => {}
        }
        self.fleet.get_or_insert_with(|| FleetInfo { parts: Vec::new(), ..parts.clone() });
        for part in &parts.parts {
            if let Some(before) = self.files.insert(*part, path) {
                let (before, of) = (before.display(), parts.of);
                return Err(Error::config(format!(
                    "part {part}/{of} is in {before} and in {}",
                    path.display()
                )));
            }
        }
        Ok(())
    }

    /// Returns the description of all parts that were read, and an error if some parts are missing. Both are `None` if
    /// the reports are not parts of a check.
    fn finish(self) -> (Option<FleetInfo>, Option<Error>) {
        let Some(mut fleet) = self.fleet else { return (None, None) };
        let total = fleet.of;
        let missing = (1..=total).filter(|part| !self.files.contains_key(part));
        let missing: Vec<String> = missing.map(|part| format!("{part}/{total}")).collect();
        fleet.parts = self.files.into_keys().collect();
        let error = (!missing.is_empty()).then(|| {
            let message = format!("{} missing: {}", counted(missing.len(), "part"), missing.join(", "));
            Error::findings(message).hint("the report covers only the other parts")
        });
        (Some(fleet), error)
    }
}
