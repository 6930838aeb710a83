//! Requests the calls of exploration, within their budget, and keeps how they ended.

use super::classify::classify;
use super::settings::{Calls, ExploreSettings, FindRun};
use super::tree::{ExploredCommand, Tree};
use super::trial::Trial;
use crate::model::{CallGroup, CallOutcome, OutputFormat, ProbeId};
use crate::probe::Probe;
use crate::run::{Observation, RunEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Number of calls that hang, after which a target of which no call ends is not called again.
const MAX_HANGS: usize = 10;

/// Number of commands below which each is called in more ways.
const FEW_COMMANDS: usize = 3;

/// A trial with its run.
#[derive(Debug)]
pub(super) struct Tried<'r> {
    pub trial: Trial,
    pub probe: Probe,
    /// The run; `None` if it was not made.
    pub seen: Option<&'r Observation>,
    pub outcome: CallOutcome,
}

/// Requests trial calls, each once, and keeps those that were tried.
pub(super) struct Planner<'e, 'r> {
    pub settings: &'e ExploreSettings<'e>,
    pub tree: &'e Tree,
    find: &'e FindRun<'r>,
    /// The trials of all groups so far, in the order of their calls.
    pub tried: Vec<Tried<'r>>,
    ids: BTreeSet<ProbeId>,
    names: BTreeSet<String>,
    /// Number of calls that the budget still allows.
    left: usize,
    /// Whether a call ended by itself.
    has_ended: bool,
    hung: usize,
    needed: Calls,
}

impl<'e, 'r> Planner<'e, 'r> {
    pub fn new(settings: &'e ExploreSettings<'e>, tree: &'e Tree, find: &'e FindRun<'r>) -> Self {
        Self {
            settings,
            tree,
            find,
            tried: Vec::new(),
            ids: settings.declared.iter().map(|probe| probe.id.clone()).collect(),
            names: settings.declared.iter().map(|probe| probe.name.clone()).collect(),
            left: settings.max_calls,
            has_ended: false,
            hung: 0,
            needed: Calls::new(),
        }
    }

    pub fn command(&self, at: usize) -> &'e ExploredCommand {
        &self.tree.commands[at]
    }

    /// Returns the indices of the commands that can be called.
    pub fn callable(&self) -> impl Iterator<Item = usize> + use<'e, 'r> {
        let commands = &self.tree.commands;
        (0..commands.len()).filter(|at| commands[*at].is_callable())
    }

    /// Returns whether the target has so few commands that each is called in more ways: a verdict needs several calls.
    pub fn has_few_commands(&self) -> bool {
        self.callable().count() < FEW_COMMANDS
    }

    /// Adds a trial, unless the same call was added before, a declared probe makes it, or its command is excluded.
    pub fn call(&mut self, trial: Trial) {
        let command = self.command(trial.command);
        let is_same = |probe: &Probe| probe.call.args == trial.args && probe.call.stdin.is_none();
        let is_declared = || trial.stdin.is_none() && self.settings.declared.iter().any(is_same);
        // A run can read the files that its arguments name.
        let names_file = trial.args.iter().any(|arg| arg.starts_with('/'));
        if !command.is_callable() || names_file || is_declared() || !self.ids.insert(trial.id()) {
            return;
        }
        let mut name = trial.name();
        while !self.names.insert(name.clone()) {
            name.push('\'');
        }
        let only_reads = command.leaf.only_reads();
        let mut probe = trial.probe(name, &command.leaf.words, only_reads, &self.settings.workspace);
        probe.timeout = probe.timeout.min(self.settings.timeout);
        self.run(trial, probe);
    }

    /// Adds a trial whose call is `probe`.
    pub fn run(&mut self, trial: Trial, probe: Probe) {
        let found = (self.find)(&probe.plain_run(OutputFormat::Text));
        if self.left == 0 || self.has_given_up() {
            self.tried.push(Tried { trial, probe, seen: None, outcome: CallOutcome::NotMade });
            return;
        }
        self.left -= 1;
        match found {
            None => self.needed.push((probe, OutputFormat::Text)),
            Some(seen) => {
                let is_hang = |seen: &Observation| seen.end == RunEnd::TimedOut;
                self.hung += usize::from(seen.is_some_and(is_hang));
                self.has_ended |= seen.is_some_and(|seen| !is_hang(seen));
                let base = self.base(trial.command).and_then(|base| Some(&base.seen?.end));
                let base = base.filter(|end| **end != RunEnd::Exited(0));
                let outcome = seen.map_or(CallOutcome::NotMade, |seen| {
                    classify(&trial, base, seen, &self.command(trial.command).text)
                });
                self.tried.push(Tried { trial, probe, seen, outcome });
            }
        }
    }

    /// Returns `Break` with the calls that are needed before the next group, if any. Until a call has ended by itself,
    /// these are only as many as the target may hang in.
    pub fn finish_group(&mut self) -> ControlFlow<Calls> {
        let mut needed = std::mem::take(&mut self.needed);
        if !self.has_ended {
            needed.truncate(MAX_HANGS - self.hung.min(MAX_HANGS));
        }
        if needed.is_empty() { ControlFlow::Continue(()) } else { ControlFlow::Break(needed) }
    }

    /// Returns the trials of a command in the groups that look for a call that works.
    pub fn base_trials(&self, command: usize) -> impl Iterator<Item = &Tried<'r>> {
        self.tried
            .iter()
            .filter(move |tried| tried.trial.command == command && tried.trial.group <= CallGroup::Arguments)
    }

    /// Returns the call of a command that variations are made of: the first that succeeded, else the first that
    /// printed nothing, was refused, or failed with output, such as the problems that a linter found.
    pub fn base(&self, command: usize) -> Option<&Tried<'r>> {
        let with = |outcome| self.base_trials(command).find(move |tried| tried.outcome == outcome);
        let outcomes =
            [CallOutcome::Succeeded, CallOutcome::Silent, CallOutcome::Refused, CallOutcome::Unexplained];
        outcomes.into_iter().find_map(with)
    }

    /// Returns the base of each command that has one, by the index of the command.
    pub fn bases(&self) -> BTreeMap<usize, Trial> {
        self.callable().filter_map(|at| Some((at, self.base(at)?.trial.clone()))).collect()
    }

    /// Returns the number of calls that were requested.
    pub fn made(&self) -> usize {
        self.settings.max_calls - self.left
    }

    /// Returns whether all calls hung, so that the target was not called again.
    pub fn has_given_up(&self) -> bool {
        !self.has_ended && self.hung >= MAX_HANGS
    }
}
