//! The client on a system where no helper can be started.

use crate::{Event, Failure, Job, Options, Service, Template};
use std::ffi::OsString;
use std::io;

/// A helper: none, on this system.
#[derive(Debug)]
pub enum Helper {}

impl Helper {
    /// Starts a helper.
    pub fn start(_executable: &[u8], _options: &Options) -> Result<Self, Failure> {
        Err(Failure::new("programs can only be run on Linux"))
    }

    /// Asks for runs.
    pub fn run(&mut self, _jobs: Vec<Job>) -> Result<(), Failure> {
        match *self {}
    }

    /// Does work of the caller between runs.
    pub fn unheard<T>(&mut self, _work: impl FnOnce() -> T) -> Result<T, Failure> {
        match *self {}
    }

    /// Keeps a template.
    pub fn keep(&mut self, _template: Template) -> Result<OsString, Failure> {
        match *self {}
    }

    /// Starts a service.
    pub fn serve(&mut self, _service: Service) -> Result<(), Failure> {
        match *self {}
    }

    /// Ends all services.
    pub fn end_services(&mut self) -> Result<(), Failure> {
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

    /// Ends it.
    pub fn finish(self) -> Option<OsString> {
        match self {}
    }
}

/// Signals that somebody handles.
#[derive(Debug)]
pub struct Hearing(());

impl Hearing {
    /// Says that signals are handled. Nothing here ever takes them from the process.
    pub fn begin(_signals: &[i32]) -> io::Result<Self> {
        Ok(Self(()))
    }
}
