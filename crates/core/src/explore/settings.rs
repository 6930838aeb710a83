//! What exploration knows before its first call, and how it asks for runs.

use crate::config::Workspace;
use crate::model::OutputFormat;
use crate::probe::Probe;
use crate::run::{Observation, RunKey};
use std::time::Duration;

/// Plain runs to make, each as a probe and the format to request.
pub type Calls = Vec<(Probe, OutputFormat)>;

/// Looks up a run: `None` if it was not requested yet, `Some(None)` if it was requested and could not be made.
pub type FindRun<'a> = dyn Fn(&RunKey) -> Option<Option<&'a Observation>> + 'a;

/// What exploration knows before its first call.
#[derive(Debug)]
pub struct ExploreSettings<'a> {
    /// Maximum number of calls, without those of help pages.
    pub max_calls: usize,
    /// Time limit of a run of the target; calls that are tried have at most 5 seconds.
    pub timeout: Duration,
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
}
