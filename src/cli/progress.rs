//! Shows the progress of a command and the estimated remaining time.

use crate::check::Progress;
use agentnative_contract::counted;
use agentnative_contract::error::Result;
use agentnative_output::{Output, time_left};
use std::time::{Duration, Instant};

/// The progress of the runs.
#[derive(Default)]
pub(super) struct RunProgress {
    /// Start time of the first run.
    start: Option<Instant>,
}

impl RunProgress {
    /// Shows the progress of the runs.
    pub fn show(&mut self, progress: Progress<'_>, output: &mut Output) {
        let start = *self.start.get_or_insert_with(Instant::now);
        if let Progress::Ended { probe, nth, runs, .. } = progress {
            let elapsed = start.elapsed();
            let remaining = remaining(nth as u64, runs as u64, elapsed);
            output.progress(elapsed, &format!("{nth}/{runs} runs{remaining}: {probe}"));
        }
    }
}

/// Returns an observer that only shows the progress of the runs.
pub(super) fn progress_observer(output: &mut Output) -> impl FnMut(Progress<'_>) -> Result<()> {
    let mut runs = RunProgress::default();
    move |progress| {
        runs.show(progress, output);
        Ok(())
    }
}

/// Returns a callback that shows the number of help pages read.
pub(super) fn help_pages(output: &mut Output) -> impl FnMut(usize) {
    let start = Instant::now();
    move |pages| output.progress(start.elapsed(), &format!("{} read", counted(pages, "help page")))
}

/// The progress of reading files.
pub(super) struct ReadingProgress {
    start: Instant,
    /// The current file, and when it was opened.
    file: (String, Instant),
}

impl ReadingProgress {
    /// Starts measuring the time of reading.
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), file: (String::new(), Instant::now()) }
    }

    /// Shows that the first `bytes` bytes of the file `name` were read. `length` is the length of the file, if known.
    pub(super) fn show(&mut self, name: &str, length: Option<u64>, bytes: u64, output: &mut Output) {
        if self.file.0 != name {
            self.file = (name.to_owned(), Instant::now());
        }
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let line = match length {
            Some(length) => {
                let remaining = remaining(bytes, length, self.file.1.elapsed());
                format!("{name}: {:.0} of {:.0} MB{remaining}", megabytes(bytes), megabytes(length))
            }
            None => format!("{name}: {:.0} MB", megabytes(bytes)),
        };
        output.progress(self.start.elapsed(), &line);
    }
}

/// Formats the estimated remaining time, such as `, about 20 s left`; empty without an estimate.
fn remaining(done: u64, total: u64, elapsed: Duration) -> String {
    time_left(done, total, elapsed).map_or_else(String::new, |remaining| format!(", {remaining}"))
}
