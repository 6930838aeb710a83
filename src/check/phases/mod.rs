//! The phases of a session: pure functions from the runs so far to the runs that are wanted next.
//!
//! [`Discovery`] finds out how the target is called: what its help pages list, whether `--output` chooses a format,
//! and where the format option goes. From then on the probes stand, and [`lacking`] says which runs a recording still
//! lacks.

mod command_help;
mod examples;
mod flag_position;
mod format_flag;
mod planned;
mod runs_so_far;

pub(super) use planned::{Lacking, lacking, planned};
pub(super) use runs_so_far::RunsSoFar;

use super::help_pages::help_of;
use agentnative_core::catalogue::{Check, Derived};
use agentnative_core::model::{Layer, OutputFormat};
use agentnative_core::probe::{self, Probe, TargetProfile};
use agentnative_core::run::{Observation, RunKey};
use agentnative_core::targets::Interface;
use flag_position::Positions;
use runs_so_far::{Calls, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::time::Duration;

/// What is declared of a target, and which checks are made: all that discovery rests on beside the runs.
pub(super) struct Discovery<'a> {
    pub checks: &'a [&'a Check],
    pub declared: Vec<Probe>,
    pub profile: TargetProfile,
    pub timeout: Duration,
}

/// What discovery found.
pub(super) struct Discovered {
    /// The profile of the target with what its help pages list.
    pub profile: TargetProfile,
    /// The declared probes, called as the target accepts it, and those that are derived.
    pub probes: Vec<Probe>,
    /// The runs of these probes that were made already.
    pub runs: Vec<Observation>,
    /// What the reader has to know.
    pub notes: Vec<String>,
    /// There is nothing to run but the call for help, which none of the checks is about.
    pub decides_nothing: bool,
}

impl Discovery<'_> {
    /// Whether any of the checks rests on runs.
    pub fn is_behavioral(&self) -> bool {
        self.checks.iter().any(|check| check.layer == Layer::Behavioral)
    }

    /// Whether any of the checks asks for probes of this kind.
    fn derives(&self, kind: Derived) -> bool {
        self.checks.iter().any(|check| check.derived.contains(&kind))
    }

    /// How many runs the plan has with this profile.
    pub fn planned(&self, profile: &TargetProfile) -> usize {
        probe::plan(self.checks, self.declared.clone(), profile, self.timeout).1.len()
    }

    /// What the help page of the target lists; nothing as long as it was not read.
    pub fn root_page(&self, so_far: &RunsSoFar) -> Interface {
        so_far.of_kind(Derived::Help).next().map(|seen| help_of(seen, &[])).unwrap_or_default()
    }

    /// What the runs so far show, or the runs that are lacking for it. `page` is the help page of the target, and
    /// `profile` contains what it lists.
    pub fn resolve(
        &self,
        page: &Interface,
        profile: &TargetProfile,
        so_far: &RunsSoFar,
    ) -> ControlFlow<Calls, Discovered> {
        let root = self.root_help(profile, so_far)?;
        let mut complete = profile.clone();
        if self.derives(Derived::CommandHelp) {
            complete.called_commands = command_help::called_commands(&self.declared, page, so_far)?;
        }
        if let Some(root) = root.filter(|_| self.derives(Derived::Example)) {
            complete.examples = examples::of_pages(root, so_far.of_kind(Derived::CommandHelp));
        }
        let mut positions = Positions::default();
        let mut declared = self.declared.clone();
        if self.is_behavioral() {
            declared = format_flag::verified(declared, profile, so_far)?;
            if profile.contract.is_none() {
                positions = flag_position::find(&mut declared, profile, self.timeout, so_far)?;
            }
        }
        ControlFlow::Continue(self.discovered(complete, declared, positions, so_far))
    }

    /// The run that asks the target for help, where a check needs that.
    fn root_help<'a>(&self, profile: &TargetProfile, so_far: &'a RunsSoFar) -> Step<Option<&'a Observation>> {
        if !self.is_behavioral() && !self.derives(Derived::Help) {
            return ControlFlow::Continue(None);
        }
        let kinds = BTreeSet::from([Derived::Help]);
        let calls = probe::derived(&kinds, &self.declared, profile, self.timeout);
        calls.first().map_or(ControlFlow::Continue(None), |help| so_far.plain(help, OutputFormat::Text))
    }

    fn discovered(
        &self,
        profile: TargetProfile,
        declared: Vec<Probe>,
        positions: Positions,
        so_far: &RunsSoFar,
    ) -> Discovered {
        let (mut probes, keys) = probe::plan(self.checks, declared, &profile, self.timeout);
        probes.extend(positions.refused);
        let named: BTreeMap<RunKey, Option<RunKey>> = positions.renamed;
        let runs = so_far.all().iter().filter_map(|seen| {
            let key = named.get(&seen.key).cloned().unwrap_or_else(|| Some(seen.key.clone()))?;
            // A trial that was rejected is no run of any probe.
            let is_kept = probes.iter().any(|probe| probe.id == key.probe);
            is_kept.then(|| Observation { key, ..seen.clone() })
        });
        let only_help = probes.iter().all(|probe| !probe.is_declared())
            && keys.iter().all(|key| key.probe == probe::help_run().probe);
        Discovered {
            decides_nothing: self.is_behavioral() && !self.derives(Derived::Help) && only_help,
            runs: runs.collect(),
            profile,
            probes,
            notes: positions.notes,
        }
    }
}
