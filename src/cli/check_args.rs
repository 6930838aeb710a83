//! The options of `agentnative check`.

use super::explore_args::ExploreArgs;
use super::fleet_args::FleetArgs;
use super::report_files::{ReportFile, ShownArgs, report_file};
use super::selection_args::SelectionArgs;
use super::target_args::{RunArgs, TargetArgs};
use super::{complete, group, profiles};
use agentnative_core::model::Level;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{ArgGroup, ValueHint};
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  agentnative check
  agentnative check --strict --principle 2 .
  agentnative check ./mycli --check p2-output-json
  agentnative check --command mycli --probe \"show 1\"
  agentnative check --command cargo # exit 1
  agentnative check --fast --skip \"p2-src-*\"
  agentnative check --write-baseline baseline.json
  agentnative check --baseline baseline.json
  agentnative check --report json=report.json --report sarif=report.sarif
  agentnative check --all . --report html=report.html
  agentnative check --all . --partition 2/5 --report json=part-2.json")]
#[command(group(ArgGroup::new("calls").args(["probe", "changes", "explore"]).multiple(true)))]
pub(super) struct CheckArgs {
    #[command(flatten, next_help_heading = group::TARGET)]
    pub(super) target: TargetArgs,
    /// Configuration for a known tool, such as jq, that is part of this program; `none` selects none [default: that of
    /// the same name, for --command without a configuration, --probe, --changes and --explore].
    #[arg(long, value_name = "NAME", value_parser = profiles::parser(), hide_possible_values = true, conflicts_with = "config", help_heading = group::TARGET)]
    pub(super) profile: Option<String>,
    #[command(flatten, next_help_heading = group::TARGET)]
    pub(super) fleet: FleetArgs,
    #[command(flatten, next_help_heading = group::SELECTION)]
    pub(super) selection: SelectionArgs,
    /// Run only the checks that failed, warned or were unverified last time, and those that never ran.
    #[arg(long, conflicts_with = "replay", help_heading = group::SELECTION)]
    pub(super) failed: bool,
    /// Make plain runs only. A check that needs other runs is unverified.
    #[arg(long, help_heading = group::RUNS)]
    pub(super) fast: bool,
    /// Add a probe (repeatable): the arguments of one call, quoted as in a shell. If the call should fail, put the exit
    /// code first, as in "77:whoami". The format flag follows the arguments, or replaces the word {format}.
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true, add = complete::probes(), help_heading = group::RUNS)]
    pub(super) probe: Vec<String>,
    /// Add a call that changes something (repeatable), as for --probe. It runs confined, in a copy of --workspace or in an
    /// empty folder.
    #[arg(long, value_name = "[EXIT:]ARGS", allow_hyphen_values = true, help_heading = group::RUNS)]
    pub(super) changes: Vec<String>,
    #[command(flatten, next_help_heading = group::RUNS)]
    pub(super) explore: ExploreArgs,
    /// Folder that each run of --probe and --changes, and each explored call, starts in a copy of [default for explored
    /// calls: a folder with a few sample files].
    #[arg(long, value_name = "DIR", requires = "calls", value_hint = ValueHint::DirPath, help_heading = group::RUNS)]
    pub(super) workspace: Option<PathBuf>,
    /// Check against this contract instead of the default rules: format, error channel, exit codes. The name of a
    /// bundled contract (NAME or NAME@VERSION), a contract folder or a schema file; `auto` selects the contract of a
    /// known agent, by name and version, and `none` selects none [default: auto for --command without a configuration].
    #[arg(long, value_name = "NAME", conflicts_with = "explore", help_heading = group::RUNS, add = complete::contracts())]
    pub(super) contract: Option<String>,
    /// Also write the report to a file (repeatable), as text, json, jsonl, html, sarif, junit, gitlab,
    /// markdown or github. The file `-` is stdout and replaces the text report; github annotations are
    /// appended to it.
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file, add = complete::reports(), help_heading = group::REPORT)]
    pub(super) report: Vec<ReportFile>,
    /// Accept the problems in this file, which --write-baseline wrote: they are waived, and only new ones fail.
    #[arg(long, value_name = "FILE", help_heading = group::REPORT)]
    pub(super) baseline: Option<PathBuf>,
    /// Write the problems of this check to a file for --baseline. Fixed entries are removed from it;
    /// entries that are not checked this time stay.
    #[arg(long, value_name = "FILE", help_heading = group::REPORT)]
    pub(super) write_baseline: Option<PathBuf>,
    #[command(flatten, next_help_heading = group::REPORT)]
    pub(super) shown: ShownArgs,
    /// Fail on warnings as well: with `should`, an unmet SHOULD causes exit code 1.
    #[arg(
        long,
        value_name = "LEVEL",
        value_delimiter = ',',
        value_parser = deny_level(),
        hide_possible_values = true,
        help_heading = group::REPORT
    )]
    pub(super) deny: Vec<Level>,
    /// Check again when the program, its scripts, the configuration or the code of the target changes.
    /// Ctrl-C stops it.
    #[arg(long, conflicts_with_all = ["record", "replay"], help_heading = group::RUNS)]
    pub(super) watch: bool,
    #[command(flatten, next_help_heading = group::RUNS)]
    pub(super) runs: RunArgs,
    /// Save the runs to a file for --replay.
    #[arg(long, value_name = "FILE", conflicts_with = "replay", help_heading = group::RUNS)]
    pub(super) record: Option<PathBuf>,
    /// Judge the runs in a file from --record again; run nothing.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = group::RUNS,
        conflicts_with_all = ["path", "name", "profile", "probe", "changes", "workspace", "command", "bin", "fast", "jobs", "timeout", "isolation", "allow_unconfined", "explore"]
    )]
    pub(super) replay: Option<PathBuf>,
}

/// Parses the level of `--deny`.
fn deny_level() -> impl TypedValueParser<Value = Level> {
    PossibleValuesParser::new(["should"]).map(|_| Level::Should)
}
