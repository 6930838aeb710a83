//! Replaces `code.rs` in builds without the feature `project`.

use agentnative_contract::error::Result;
use agentnative_core::probe::Recording;
use agentnative_core::targets::CodeBase;
use std::path::Path;

/// Reads nothing, since the crate was compiled without the feature `project`, and adds a note on that to the recording.
/// Checks of files and code are then unverified.
pub(super) fn add_code_facts(
    _: &CodeBase,
    _: Option<&Path>,
    _source: bool,
    _project: bool,
    recording: &mut Recording,
) -> Result<()> {
    let note = "no file of the project was read: this build was made without the feature `project`";
    recording.notes.push(note.to_owned());
    Ok(())
}
