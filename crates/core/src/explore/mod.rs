//! Explores a target: finds calls in its help pages, examples and options, and selects probes from those that were
//! tried.
//!
//! Pure: the calls depend only on the help pages and on how earlier calls ended, so the same target gets the same calls
//! on each machine. The calls are made in groups ([`CallGroup`](crate::model::CallGroup)), each for all commands, so
//! that a small budget still reaches each command.

mod accepted;
mod classify;
mod commands;
mod coverage;
mod declare;
mod extensions;
mod features;
mod formats;
mod invalid;
mod planner;
mod samples;
mod select;
mod settings;
mod tree;
mod trial;
mod values;

pub use coverage::exploration_coverage;
pub use declare::DeclaredCalls;
pub use samples::sample_files;
pub use select::Explored;
pub use settings::{Calls, ExploreSettings, FindRun};

use crate::config::Workspace;
use crate::run::Observation;
use planner::Planner;
use std::cell::OnceCell;
use std::ops::ControlFlow;
use tree::Tree;

/// Explores a target. Reads its help pages once.
#[derive(Debug)]
pub struct Explorer<'a> {
    settings: ExploreSettings<'a>,
    tree: OnceCell<Tree>,
}

impl<'a> Explorer<'a> {
    /// Creates an explorer that has read no help page.
    pub const fn new(settings: ExploreSettings<'a>) -> Self {
        Self { settings, tree: OnceCell::new() }
    }

    /// Returns the folder that each call starts in a copy of.
    pub const fn workspace(&self) -> &Workspace {
        &self.settings.workspace
    }

    /// Returns `Continue` with the explored probes, or `Break` with the calls that exploration still needs. `root` is
    /// the run of `mycli --help`; its arguments follow the command line of the target.
    pub fn explore<'r>(&self, root: &'r Observation, find: &FindRun<'r>) -> ControlFlow<Calls, Explored> {
        let tree = match self.tree.get() {
            Some(tree) => tree,
            None => {
                let tree = Tree::read(&self.settings, root, find)?;
                self.tree.get_or_init(|| tree)
            }
        };
        let mut planner = Planner::new(&self.settings, tree, find);
        commands::call_commands(&mut planner)?;
        formats::call_in_formats(&mut planner)?;
        invalid::call_with_invalid_input(&mut planner)?;
        features::call_unlisted(&mut planner)?;
        ControlFlow::Continue(select::select(planner))
    }
}
