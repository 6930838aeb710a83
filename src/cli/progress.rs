//! What people see while a command works: how far it is, and how long it will take.

use crate::check::Progress;
use agentnative_contract::counted;
use agentnative_contract::error::Result;
use agentnative_output::{Output, time_left};
use std::time::{Duration, Instant};

/// How far the runs are.
#[derive(Default)]
pub(super) struct RunProgress {
    /// When the first was about to begin.
    began: Option<Instant>,
}

impl RunProgress {
    /// Tells of it.
    pub fn tell(&mut self, progress: Progress<'_>, output: &mut Output) {
        let began = *self.began.get_or_insert_with(Instant::now);
        if let Progress::Ended { probe, nth, runs, .. } = progress {
            let elapsed = began.elapsed();
            let left = left(nth as u64, runs as u64, elapsed);
            output.progress(elapsed, &format!("{nth}/{runs} runs{left}: {probe}"));
        }
    }
}

/// Tells how far the runs are, and nothing else.
pub(super) fn drawn(output: &mut Output) -> impl FnMut(Progress<'_>) -> Result<()> {
    let mut runs = RunProgress::default();
    move |progress| {
        runs.tell(progress, output);
        Ok(())
    }
}

/// Tells how many help pages were read.
pub(super) fn help_pages(output: &mut Output) -> impl FnMut(usize) {
    let began = Instant::now();
    move |pages| output.progress(began.elapsed(), &format!("{} read", counted(pages, "help page")))
}

/// How far the reading of files is.
pub(super) struct ReadingProgress {
    began: Instant,
    /// The file at hand, and when it was opened.
    file: (String, Instant),
}

impl ReadingProgress {
    /// The reading begins.
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), file: (String::new(), Instant::now()) }
    }

    /// Tells of it, in bytes.
    pub(super) fn tell(&mut self, name: &str, length: Option<u64>, bytes: u64, output: &mut Output) {
        if self.file.0 != name {
            self.file = (name.to_owned(), Instant::now());
        }
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        let line = match length {
            Some(length) => {
                let left = left(bytes, length, self.file.1.elapsed());
                format!("{name}: {:.0} of {:.0} MB{left}", megabytes(bytes), megabytes(length))
            }
            None => format!("{name}: {:.0} MB", megabytes(bytes)),
        };
        output.progress(self.began.elapsed(), &line);
    }
}

/// The estimate as the end of a phrase; empty while there is none.
fn left(done: u64, of: u64, elapsed: Duration) -> String {
    time_left(done, of, elapsed).map_or_else(String::new, |left| format!(", {left}"))
}
