//! Extracts and parses the help pages that runs printed.

use agentnative_core::run::Observation;
use agentnative_core::targets::{HelpPage, Interface};

/// Parses the help page that a run printed on stdout or stderr. `path` is the command of the page, such as
/// `["remote", "add"]`; empty for the target itself.
pub(super) fn parse_help(observation: &Observation, path: &[String]) -> Interface {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    Interface::of_command(&HelpPage::parse(&help_text(observation)), &path)
}

/// Maximum length of a help page, in bytes.
pub(super) const MAX_LENGTH: u64 = 16 << 20;

/// Returns what a help call printed: the start of stdout, followed by the start of stderr, since some programs print
/// their help there. At most [`MAX_LENGTH`] bytes of each stream.
pub(super) fn help_text(observation: &Observation) -> Vec<u8> {
    [observation.stdout.bytes.first(MAX_LENGTH), observation.stderr.bytes.first(MAX_LENGTH)].concat()
}
