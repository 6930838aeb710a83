//! In the place of `code.rs`, for builds that cannot read the files of a project.

use agentnative_contract::error::Result;
use agentnative_core::probe::Recording;
use agentnative_core::targets::CodeBase;
use std::path::Path;

/// Says that nothing was read: the checks of files and code are unverified.
pub(super) fn read(
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
