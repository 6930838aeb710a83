//! The input of renderers: reports with display options.

use crate::check::Judged;
use crate::report::FleetInfo;
use agentnative_output::OutputConfig;
use std::path::Path;

/// Reports with display options.
#[derive(Debug, Clone, Copy)]
pub struct ReportView<'a> {
    /// The judged targets.
    pub judged: &'a [Judged],
    /// The part of `check --all` that these targets are; `None` for the check of a single target.
    pub fleet: Option<&'a FleetInfo>,
    /// The `ok` of the envelope: whether the command will exit with 0.
    pub ok: bool,
    /// The display options of text.
    pub config: OutputConfig,
    /// Whether text lists all verdicts, and every place of each problem.
    pub verbose: bool,
    /// The current folder; commands in text are relative to it.
    pub folder: Option<&'a Path>,
    /// The root of the repository; file names in machine-readable formats are relative to it.
    pub root: Option<&'a Path>,
    /// Whether an unverified MUST makes the command fail.
    pub strict: bool,
}

impl<'a> ReportView<'a> {
    /// Creates a view with default options: short, without folders, not `ok`.
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
