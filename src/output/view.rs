//! Reports and how they are to look.

use crate::check::Judged;
use crate::report::FleetInfo;
use agentnative_output::OutputConfig;
use std::path::Path;

/// Reports and how they are to look.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// What is shown: one for each target.
    pub judged: &'a [Judged],
    /// Which part of all targets these are, where they were checked with others.
    pub fleet: Option<&'a FleetInfo>,
    /// The `ok` of the envelope: the command will exit with 0.
    pub ok: bool,
    /// How text looks.
    pub config: OutputConfig,
    /// Text lists all verdicts, and each place of a fault.
    pub verbose: bool,
    /// The current folder: text shows the commands as they are typed there.
    pub folder: Option<&'a Path>,
    /// The folder of the repository: the formats for machines name files relative to it.
    pub root: Option<&'a Path>,
    /// An unverified MUST makes the command fail.
    pub strict: bool,
}

impl<'a> View<'a> {
    /// Reports of which nothing special is asked: short, not named relative to any folder, not ok.
    pub const fn new(judged: &'a [Judged], config: OutputConfig) -> Self {
        Self {
            judged,
            fleet: None,
            ok: false,
            config,
            verbose: false,
            folder: None,
            root: None,
            strict: false,
        }
    }
}
