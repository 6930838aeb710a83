//! Explores a target: finds calls in its help pages, examples and options, and selects probes from those that were
//! tried.
//!
//! Pure: the calls depend only on the help pages and on how earlier calls ended, so the same target gets the same calls
//! on each machine. The calls are made in groups ([`CallGroup`](crate::model::CallGroup)), each for all commands, so
//! that a small budget still reaches each command.

mod classify;
mod commands;
mod coverage;
mod declare;
mod formats;
mod invalid;
mod planner;
mod samples;
mod select;
mod tree;
mod trial;
mod values;

pub use coverage::exploration_coverage;
pub use declare::DeclaredCalls;
pub use samples::{SAMPLES, sample_files};

use crate::config::{FormatFlags, Workspace};
use crate::model::{Exploration, OutputFormat};
use crate::probe::Probe;
use crate::run::{Observation, RunKey};
use planner::Planner;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use tree::Tree;

/// Plain runs to make, each as a probe and the format to request.
pub type Calls = Vec<(Probe, OutputFormat)>;

/// Looks up a run: `None` if it was not requested yet, `Some(None)` if it was requested and could not be made.
pub type FindRun<'a> = dyn Fn(&RunKey) -> Option<Option<&'a Observation>> + 'a;

/// What exploration knows before its first call.
#[derive(Debug)]
pub struct Explorer<'a> {
    /// Maximum number of calls, without those of help pages.
    pub max_calls: usize,
    /// Patterns of the commands that are not called, such as `auth *`.
    pub skip: &'a [String],
    /// The folder that each call starts in a copy of.
    pub workspace: Workspace,
    /// Names of the files in the workspace, sorted.
    pub files: Vec<String>,
    /// The manual page and the README, which may contain examples.
    pub documents: Vec<String>,
    /// The declared probes. A declared probe replaces the explored call with the same arguments.
    pub declared: &'a [Probe],
    tree: OnceCell<Tree>,
}

/// The result of exploration.
#[derive(Debug, Default)]
pub struct Explored {
    /// The explored probes, with the calls that were only tried, and calls that are derived from them.
    pub probes: Vec<Probe>,
    /// The key under which a trial run is recorded; `None` for a run that is dropped.
    pub renamed: BTreeMap<RunKey, Option<RunKey>>,
    /// The commands that were called.
    pub commands: Vec<Vec<String>>,
    /// The format flags of the target, if the explored calls show them.
    pub formats: Option<FormatFlags>,
    /// Arguments of the call that prints the schema of the output.
    pub schema: Option<Vec<String>>,
    /// What was found and tried.
    pub exploration: Exploration,
}

impl<'a> Explorer<'a> {
    /// Creates an explorer that has read no help page. `files` are the names of the files in `workspace`.
    pub fn new(
        declared: &'a [Probe],
        skip: &'a [String],
        max_calls: usize,
        workspace: Workspace,
        mut files: Vec<String>,
    ) -> Self {
        files.sort_unstable();
        Self { max_calls, skip, workspace, files, documents: Vec::new(), declared, tree: OnceCell::new() }
    }

    /// Returns `Continue` with the explored probes, or `Break` with the calls that exploration still needs. `root` is
    /// the run of `mycli --help`; its arguments follow the command line of the target.
    pub fn explore<'r>(&self, root: &'r Observation, find: &FindRun<'r>) -> ControlFlow<Calls, Explored> {
        let tree = match self.tree.get() {
            Some(tree) => tree,
            None => {
                let tree = Tree::read(self, root, find)?;
                self.tree.get_or_init(|| tree)
            }
        };
        let mut planner = Planner::new(self, tree, find);
        commands::call_commands(&mut planner)?;
        formats::call_in_formats(&mut planner)?;
        invalid::call_with_invalid_input(&mut planner)?;
        ControlFlow::Continue(select::select(planner))
    }
}
