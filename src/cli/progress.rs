//! What is drawn on a terminal while a command works.

use crate::check::Progress;
use agentnative_contract::DataFile;
use agentnative_contract::error::Result;
use agentnative_output::Output;

/// How far the runs are.
pub(super) fn draw(progress: Progress<'_>, output: &mut Output) {
    if let Progress::Ended { observation, nth, runs } = progress {
        output.progress(&format!("{nth}/{runs} {}", observation.key.probe));
    }
}

/// Draws how far the runs are, and nothing else.
pub(super) fn drawn(output: &mut Output) -> impl FnMut(Progress<'_>) -> Result<()> {
    |progress| {
        draw(progress, output);
        Ok(())
    }
}

/// Draws how far the reading of a file is, in bytes.
pub(super) fn reading<'o>(file: &DataFile, output: &'o mut Output) -> impl FnMut(u64) + use<'o> {
    let (name, length) = (file.name.clone(), file.length);
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    move |bytes| match length {
        Some(length) => {
            output.progress(&format!("{name}: {:.0} of {:.0} MB", megabytes(bytes), megabytes(length)));
        }
        None => output.progress(&format!("{name}: {:.0} MB", megabytes(bytes))),
    }
}
