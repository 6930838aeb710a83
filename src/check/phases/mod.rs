//! The phases of a session: pure functions that compute the next runs from the runs so far.
//!
//! [`Discovery`] finds out how the target is called: what its help pages list, whether `--output` selects a format,
//! and the position of the format flag. After that the probes are fixed, and [`missing_runs`] computes which runs a
//! recording still needs.

mod command_help;
mod examples;
mod flag_position;
mod format_flag;
mod interface;
mod planned;
mod runs_so_far;

pub(super) use planned::{MissingRuns, missing_runs, planned};
pub(super) use runs_so_far::RunsSoFar;

use super::help_pages::parse_help;
use super::interface::ReadsInterface;
use agentnative_core::catalogue::{Check, DerivedKind};
use agentnative_core::config::FormatFlag;
use agentnative_core::explore::{Explored, Explorer};
use agentnative_core::model::{Exploration, Layer, OutputFormat};
use agentnative_core::probe::{self, Probe, TargetProfile};
use agentnative_core::run::{Observation, RunKey};
use agentnative_core::targets::Interface;
use flag_position::Positions;
use runs_so_far::Calls;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// Finds out how to call a target. The fields are the selected checks and what the configuration declares; the runs so
/// far are passed to [`Self::resolve`].
pub(super) struct Discovery<'a> {
    pub checks: &'a [&'a Check],
    pub declared: Vec<Probe>,
    pub profile: TargetProfile,
    pub timeout: Duration,
    /// Explores the target; `None` if only the declared probes are run.
    pub explorer: Option<Explorer<'a>>,
    /// How to read the interface of the target; `None` if it is not read.
    pub interface: Option<ReadsInterface<'a>>,
}

/// The result of [`Discovery::resolve`]: how to call the target.
pub(super) struct Discovered {
    /// The profile of the target, with what its help pages list.
    pub profile: TargetProfile,
    /// The declared probes, with the format flag as the target accepts it, and the probes that are derived from them.
    pub probes: Vec<Probe>,
    /// The runs of these probes that were already made.
    pub runs: Vec<Observation>,
    /// Notes for the report.
    pub notes: Vec<String>,
    /// What exploration found and tried, if the target was explored.
    pub exploration: Option<Exploration>,
    /// True if the only run is the help call and no check needs it.
    pub decides_nothing: bool,
}

impl Discovery<'_> {
    /// Returns whether any of the checks is behavioral.
    pub fn is_behavioral(&self) -> bool {
        self.checks.iter().any(|check| check.layer == Layer::Behavioral)
    }

    /// Returns whether any of the checks needs derived probes of this kind.
    fn derives(&self, kind: DerivedKind) -> bool {
        self.checks.iter().any(|check| check.derived.contains(&kind))
    }

    /// Returns the number of runs that are planned with this profile.
    pub fn planned(&self, profile: &TargetProfile) -> usize {
        probe::plan(self.checks, self.declared.clone(), profile, self.timeout).1.len()
    }

    /// Returns the parsed root help page; empty until the help call was made.
    pub fn root_page(&self, so_far: &RunsSoFar) -> Interface {
        so_far.of_kind(DerivedKind::Help).next().map(|seen| parse_help(seen, &[])).unwrap_or_default()
    }

    /// Returns `Continue` with the result of discovery, or `Break` with the calls that it still needs. `page` is the
    /// root help page, and `profile` contains what that page lists.
    pub fn resolve(
        &self,
        page: &Interface,
        profile: &TargetProfile,
        so_far: &RunsSoFar,
    ) -> ControlFlow<Calls, Discovered> {
        let help = self.help_probe(profile);
        let root = match &help {
            Some(help) => so_far.plain_run(help, OutputFormat::Text)?,
            None => None,
        };
        let mut complete = profile.clone();
        let explored = match (&self.explorer, root) {
            (Some(explorer), Some(root)) => Some(explorer.explore(root, &|key| so_far.find_explored(key))?),
            _ => None,
        };
        if self.derives(DerivedKind::CommandHelp) {
            complete.called_commands = command_help::called_commands(&self.declared, page, so_far)?;
        }
        let explored = explored.map(|explored| add_conventions(explored, &mut complete)).unwrap_or_default();
        if let Some(word) = explored.argument_for_command.as_ref()
            && complete.tries_command
            && !self.profile.tries_command
        {
            complete.tries_command = false;
            complete.no_command = Some(format!("a help page shows `{word}` in the place of a command"));
        }
        if let Some(root) = root.filter(|_| self.derives(DerivedKind::Example)) {
            complete.examples = examples::find_examples(root, so_far.of_kind(DerivedKind::CommandHelp));
        }
        let mut positions = Positions::default();
        let mut declared = self.declared.clone();
        if self.is_behavioral() {
            declared = format_flag::verify(declared, profile, so_far)?;
            if profile.contract.is_none() {
                positions = flag_position::find(&mut declared, profile, self.timeout, so_far)?;
            }
        }
        let interface = match (&self.interface, help.zip(root)) {
            (Some(reads), Some((help, root))) => interface::interface_runs(reads, &help, root, so_far)?,
            _ => Vec::new(),
        };
        ControlFlow::Continue(self.discovered(complete, declared, positions, explored, interface, so_far))
    }

    /// Returns the call `mycli --help`; `None` if no check needs it.
    fn help_probe(&self, profile: &TargetProfile) -> Option<Probe> {
        if !self.is_behavioral() && !self.derives(DerivedKind::Help) && self.explorer.is_none() {
            return None;
        }
        let kinds = BTreeSet::from([DerivedKind::Help]);
        probe::derive_calls(&kinds, &self.declared, profile, self.timeout).into_iter().next()
    }

    fn discovered(
        &self,
        profile: TargetProfile,
        mut sources: Vec<Probe>,
        positions: Positions,
        explored: Explored,
        interface: Vec<Probe>,
        so_far: &RunsSoFar,
    ) -> Discovered {
        let (of_exploration, derived): (Vec<Probe>, Vec<Probe>) =
            explored.probes.into_iter().partition(Probe::is_source);
        sources.extend(of_exploration);
        let (mut probes, keys) = probe::plan(self.checks, sources, &profile, self.timeout);
        if let Some(explorer) = &self.explorer {
            // Their judgement compares them with an explored call.
            let is_invalid_usage = |probe: &&mut Probe| {
                [DerivedKind::UnknownFlag, DerivedKind::UnknownCommand]
                    .iter()
                    .any(|kind| probe.is_kind(*kind))
            };
            for probe in probes.iter_mut().filter(is_invalid_usage) {
                probe.call.workspace.get_or_insert_with(|| explorer.workspace().clone());
            }
        }
        let is_new = |probe: &Probe| probes.iter().all(|other| other.id != probe.id);
        let derived: Vec<Probe> = derived.into_iter().filter(is_new).collect();
        probes.extend(derived);
        probes.extend(interface);
        probes.extend(positions.rejected);
        let mut renamed: BTreeMap<RunKey, Option<RunKey>> = positions.renamed;
        renamed.extend(explored.renamed);
        let runs = so_far.all().iter().filter_map(|seen| {
            let key = renamed.get(&seen.key).cloned().unwrap_or_else(|| Some(seen.key.clone()))?;
            // A rejected trial is not the run of any probe.
            let is_kept = probes.iter().any(|probe| probe.id == key.probe);
            is_kept.then(|| Observation { key, ..seen.clone() })
        });
        let only_help = probes.iter().all(|probe| !probe.is_declared())
            && keys.iter().all(|key| key.probe == probe::help_run().probe);
        Discovered {
            decides_nothing: self.is_behavioral() && !self.derives(DerivedKind::Help) && only_help,
            runs: runs.collect(),
            profile,
            probes,
            notes: positions.notes,
            exploration: self.explorer.is_some().then_some(explored.exploration),
        }
    }
}

/// Adds to a profile what exploration shows about the entire target. A declared convention stays.
fn add_conventions(explored: Explored, profile: &mut TargetProfile) -> Explored {
    for words in &explored.commands {
        if !profile.called_commands.contains(words) {
            profile.called_commands.push(words.clone());
        }
    }
    if let Some(formats) = explored.formats.as_ref().filter(|_| profile.conventions.formats.assumed) {
        let is_known = |format: &OutputFormat| format.is_json() && formats.args(*format).is_some();
        profile.known_formats = OutputFormat::ALL.into_iter().filter(is_known).collect();
        profile.conventions.formats.clone_from(formats);
        profile.asks_first = false;
    }
    if let (Some(args), FormatFlag::Unspecified) = (&explored.schema, &profile.conventions.schema) {
        profile.conventions.schema = FormatFlag::Given(args.clone());
    }
    explored
}
