//! The options of exploration.

use crate::check::ExploreOptions;
use agentnative_output::whole_number;
use std::path::Path;
use std::time::Duration;

/// The options of exploration, for commands that call a target.
#[derive(clap::Args)]
pub(super) struct ExploreArgs {
    /// Find calls of the target in its help pages and examples, and judge them, too. They are made in full
    /// confinement: without network, and on copies of the workspace.
    #[arg(long)]
    pub(super) explore: bool,
    /// Maximum number of explored calls [default: 600].
    #[arg(long, value_name = "N", value_parser = whole_number::<usize>(1..=10_000), requires = "explore")]
    explore_calls: Option<usize>,
    /// Time after which no further explored call is made [default: 120].
    #[arg(long, value_name = "SECONDS", value_parser = super::target_args::seconds, requires = "explore", allow_negative_numbers = true)]
    explore_budget: Option<Duration>,
}

impl ExploreArgs {
    /// Returns the options of the exploration, with the folder that each call gets a copy of; `None` without `--explore`.
    pub(super) fn options(&self, workspace: Option<&Path>) -> Option<ExploreOptions> {
        let default = ExploreOptions::default();
        self.explore.then(|| ExploreOptions {
            calls: self.explore_calls.unwrap_or(default.calls),
            budget: self.explore_budget.unwrap_or(default.budget),
            workspace: workspace.map(Path::to_owned),
        })
    }
}
