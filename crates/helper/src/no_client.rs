//! The client on a system where no helper can be started.

use crate::{Failure, HelperEvent, Job, Options, Service, Template};
use std::ffi::OsString;
use std::io;

/// A helper: uninhabited on this system.
#[derive(Debug)]
pub enum Helper {}

impl Helper {
    /// Returns an error.
    pub fn start(_executable: &[u8], _options: &Options) -> Result<Self, Failure> {
        Err(Failure::new("programs can only be run on Linux"))
    }

    /// Requests runs.
    pub fn run(&mut self, _jobs: Vec<Job>) -> Result<(), Failure> {
        match *self {}
    }

    /// Does work between runs, while signals have their default action.
    pub fn with_default_signals<T>(&mut self, _work: impl FnOnce() -> T) -> Result<T, Failure> {
        match *self {}
    }

    /// Stores a template.
    pub fn store_template(&mut self, _template: Template) -> Result<OsString, Failure> {
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

    /// Requests the end of all runs.
    pub fn stop(&mut self) -> Result<(), Failure> {
        match *self {}
    }

    /// Waits for the next event.
    pub fn next_event(&mut self) -> Result<HelperEvent, Failure> {
        match *self {}
    }

    /// Ends the helper.
    pub fn finish(self) -> Option<OsString> {
        match self {}
    }
}

/// Marks signals as handled.
#[derive(Debug)]
pub struct SignalHandling(());

impl SignalHandling {
    /// Does nothing on this system.
    pub fn start(_signals: &[i32]) -> io::Result<Self> {
        Ok(Self(()))
    }
}
