//! The client on a system where no helper can be started.

use crate::{Event, Failure, Job, Options};

/// A helper: none, on this system.
#[derive(Debug)]
pub enum Helper {}

impl Helper {
    /// Starts a helper.
    pub fn start(_executable: &[u8], _options: &Options) -> Result<Self, Failure> {
        Err(Failure::new("programs can be run only on Linux"))
    }

    /// Asks for runs.
    pub fn run(&mut self, _jobs: Vec<Job>) -> Result<(), Failure> {
        match *self {}
    }

    /// Asks to end all runs.
    pub fn stop(&mut self) -> Result<(), Failure> {
        match *self {}
    }

    /// Waits for the next event.
    pub fn next_event(&mut self) -> Result<Event, Failure> {
        match *self {}
    }
}
