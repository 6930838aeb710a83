//! What people see while a command works: how far it is, and how long it will take.

use crate::check::Progress;
use agentnative_contract::budget;
use agentnative_contract::error::Result;
use agentnative_contract::{DataFile, counted};
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
        if let Progress::Ended { observation, nth, runs } = progress {
            let elapsed = began.elapsed();
            let left = left(nth as u64, runs as u64, elapsed);
            output.progress(elapsed, &format!("{nth}/{runs} runs{left}: {}", observation.key.probe));
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

/// Tells how far the reading of a file is, in bytes; the command began to read at `began`.
pub(super) fn reading<'o>(
    began: Instant,
    file: &DataFile,
    output: &'o mut Output,
) -> impl FnMut(u64) + use<'o> {
    let (name, length, opened) = (file.name.clone(), file.length, Instant::now());
    let megabytes = |bytes: u64| bytes as f64 / 1e6;
    move |bytes| {
        budget::progress();
        let line = match length {
            Some(length) => {
                let left = left(bytes, length, opened.elapsed());
                format!("{name}: {:.0} of {:.0} MB{left}", megabytes(bytes), megabytes(length))
            }
            None => format!("{name}: {:.0} MB", megabytes(bytes)),
        };
        output.progress(began.elapsed(), &line);
    }
}

/// The estimate as the end of a phrase; empty while there is none.
fn left(done: u64, of: u64, elapsed: Duration) -> String {
    time_left(done, of, elapsed).map_or_else(String::new, |left| format!(", {left}"))
}
