//! Extracts and parses the help pages that runs printed.

use agentnative_core::run::Observation;
use agentnative_core::targets::{HelpPage, Interface};

/// Parses the help page of the command `path`, from either stream; the target itself has an empty path.
pub(super) fn parse_help(observation: &Observation, path: &[String]) -> Interface {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    Interface::of_command(&HelpPage::parse(&help_text(observation)), &path)
}

/// Maximum length of a help page, in bytes.
pub(super) const MAX_LENGTH: u64 = 16 << 20;

/// Returns the output of a call for help, from either stream.
pub(super) fn help_text(observation: &Observation) -> Vec<u8> {
    [observation.stdout.bytes.first(MAX_LENGTH), observation.stderr.bytes.first(MAX_LENGTH)].concat()
}
