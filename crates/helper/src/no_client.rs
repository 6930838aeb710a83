//! The client on a system where no helper can be started.

use crate::{Failure, HelperEvent, Job, Options, Service, Template};
use std::ffi::OsString;
use std::io;

/// A handle to a helper process. It has no values on this system, where no helper can be started.
#[derive(Debug)]
pub enum Helper {}

impl Helper {
    /// Always returns an error: programs can only be run on Linux.
    pub fn start(_executable: &[u8], _options: &Options) -> Result<Self, Failure> {
        Err(Failure::new("programs can only be run on Linux"))
    }

    /// Requests the runs of these jobs; never called on this system.
    pub fn run(&mut self, _jobs: Vec<Job>) -> Result<(), Failure> {
        match *self {}
    }

    /// Calls a function while signals have their default action; never called on this system.
    pub fn with_default_signals<T>(&mut self, _work: impl FnOnce() -> T) -> Result<T, Failure> {
        match *self {}
    }

    /// Redacts values in the outcomes of further runs; never called on this system.
    pub fn redact(&mut self, _values: Vec<OsString>) -> Result<(), Failure> {
        match *self {}
    }

    /// Stores a template for runs; never called on this system.
    pub fn store_template(&mut self, _template: Template) -> Result<OsString, Failure> {
        match *self {}
    }

    /// Starts a service; never called on this system.
    pub fn serve(&mut self, _service: Service) -> Result<(), Failure> {
        match *self {}
    }

    /// Ends all services; never called on this system.
    pub fn end_services(&mut self) -> Result<(), Failure> {
        match *self {}
    }

    /// Requests the end of all runs; never called on this system.
    pub fn stop(&mut self) -> Result<(), Failure> {
        match *self {}
    }

    /// Waits for the next event; never called on this system.
    pub fn next_event(&mut self) -> Result<HelperEvent, Failure> {
        match *self {}
    }

    /// Ends the helper; never called on this system.
    pub fn finish(self) -> Option<OsString> {
        match self {}
    }
}

/// Stands for handled signals. It has no effect on this system.
#[derive(Debug)]
pub struct SignalHandling(());

impl SignalHandling {
    /// Does nothing on this system, and always succeeds.
    pub fn start(_signals: &[i32]) -> io::Result<Self> {
        Ok(Self(()))
    }
}
