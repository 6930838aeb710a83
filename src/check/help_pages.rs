//! The help pages that runs printed.

use agentnative_core::run::Observation;
use agentnative_core::targets::{HelpPage, Interface};

/// What a run that asked the command `path` for help says, on either stream; the target itself where it is empty.
pub(super) fn help_of(seen: &Observation, path: &[String]) -> Interface {
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    Interface::of_command(&HelpPage::read(&page_of(seen)), &path)
}

/// More of a stream is no help, in bytes.
pub(super) const MAX_TEXT: u64 = 16 << 20;

/// What a call for help printed, on either stream.
pub(super) fn page_of(seen: &Observation) -> Vec<u8> {
    [seen.stdout.bytes.first(MAX_TEXT), seen.stderr.bytes.first(MAX_TEXT)].concat()
}
