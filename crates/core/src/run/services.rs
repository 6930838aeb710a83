//! What runs find around them: templates that they start with copies of, and services beside them.

use super::runner::error;
use super::{Observation, RunKey, Runner, Template};
use crate::model::{OutputFormat, ProbeId};
use agentnative_contract::error::{Error, Result};
use agentnative_helper::{Event, Outcome, Service};
use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};

/// What came of starting a service.
#[derive(Debug)]
pub enum Served {
    /// It is ready.
    Ready,
    /// It never was, and has ended.
    Ended(Box<Observation>),
    /// This signal told us to stop before it was; it has ended.
    Interrupted(i32),
}

/// A TCP port of this machine that nobody listens at.
pub fn free_port() -> Result<u16> {
    let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    Ok(found.map_err(|error| Error::general(format!("cannot find a free port: {error}")))?.port())
}

impl Runner {
    /// Keeps a template until the end of the runner; gives its folder.
    ///
    /// # Errors
    /// Those of [`Runner::start`], and when it cannot be made.
    pub fn keep(&mut self, template: Template) -> Result<OsString> {
        self.start()?.keep(template).map_err(error)
    }

    /// Starts a service, to run beside all further runs until [`Runner::end_services`] or the end of the
    /// runner.
    ///
    /// # Errors
    /// Those of [`Runner::start`], and when the helper is gone.
    pub fn serve(&mut self, service: Service) -> Result<Served> {
        let helper = self.start()?;
        helper.serve(service).map_err(error)?;
        let mut interrupted = None;
        loop {
            match helper.next_event().map_err(error)? {
                Event::Signal(number) => {
                    interrupted.get_or_insert(number);
                    helper.stop().map_err(error)?;
                }
                // One that was ready a moment before the signal ends with the others.
                Event::Serving => return Ok(interrupted.map_or(Served::Ready, Served::Interrupted)),
                Event::Done(_, outcome) => {
                    let ended = || Served::Ended(observation(*outcome).into());
                    return Ok(interrupted.map_or_else(ended, Served::Interrupted));
                }
                Event::Finished(..) => {}
            }
        }
    }

    /// Ends all services; gives what came of each, in the order of their start. One that was still there has
    /// ended as [`End::Interrupted`](super::End::Interrupted).
    ///
    /// # Errors
    /// When the helper is gone.
    pub fn end_services(&mut self) -> Result<Vec<Observation>> {
        let helper = self.start()?;
        helper.end_services().map_err(error)?;
        let mut ended = Vec::new();
        loop {
            match helper.next_event().map_err(error)? {
                Event::Done(_, outcome) => ended.push(observation(*outcome)),
                Event::Finished(..) => return Ok(ended),
                Event::Serving | Event::Signal(_) => {}
            }
        }
    }
}

/// What was seen of a service.
fn observation(outcome: Outcome) -> Observation {
    let key = RunKey::plain(ProbeId::declared("service"), OutputFormat::Text);
    Observation { key, argv: Vec::new(), uncopied: false, outcome }
}
