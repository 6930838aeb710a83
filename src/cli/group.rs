//! Headings of groups of options in the help.

pub(super) const TARGET: &str = "Target";
pub(super) const SELECTION: &str = "Selection";
pub(super) const RUNS: &str = "Runs";
pub(super) const CONFIGURATION: &str = "Configuration";
pub(super) const LOCK: &str = "Lock";
pub(super) const REPORT: &str = "Report";
pub(super) const OUTPUT: &str = "Output";
