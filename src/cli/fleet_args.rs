//! The options that name several targets.

use crate::check::Partition;
use std::path::PathBuf;

/// The options that select several targets instead of one.
#[derive(clap::Args)]
pub(super) struct FleetArgs {
    /// Check all targets of these configuration files, or of all configurations in these folders and below, and write
    /// one report [default: this folder].
    #[arg(
        long,
        value_name = "PATH",
        num_args = 0..,
        conflicts_with_all = [
            "path", "name", "bin", "config", "profile", "command", "failed", "probe", "changes", "contract", "baseline", "write_baseline",
            "watch", "record", "replay"
        ]
    )]
    pub(super) all: Option<Vec<PathBuf>>,
    /// Check one part of the targets, such as 2/5; `agentnative report merge` merges the parts.
    #[arg(long, value_name = "PART/PARTS", requires = "all")]
    pub(super) partition: Option<Partition>,
}
