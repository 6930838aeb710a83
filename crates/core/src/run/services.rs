//! The environment of runs: template folders that are copied for each run, and services that run at the same time.

use super::runner::to_error;
use super::{Observation, RunKey, Runner, Template};
use crate::model::{OutputFormat, ProbeId};
use agentnative_contract::error::{Error, Result};
use agentnative_helper::{HelperEvent, Outcome, Service};
use std::ffi::OsString;
use std::net::{Ipv4Addr, TcpListener};

/// The result of starting a service.
#[derive(Debug)]
pub enum ServiceStart {
    /// The service is ready.
    Ready,
    /// The service has ended before it was ready.
    Ended(Box<Observation>),
    /// The signal with this number interrupted the start; the service has ended.
    Interrupted(i32),
}

/// Returns a TCP port of this machine on which no program listens.
pub fn free_port() -> Result<u16> {
    let found = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    Ok(found.map_err(|error| Error::general(format!("cannot find a free port: {error}")))?.port())
}

impl Runner {
    /// Creates a template folder, which exists until the runner ends, and returns its path.
    ///
    /// # Errors
    /// The errors of [`Runner::start`], and one if the folder cannot be created.
    pub fn store_template(&mut self, template: Template) -> Result<OsString> {
        self.start()?.store_template(template).map_err(to_error)
    }

    /// Starts a service, which runs until [`Runner::end_services`] or the end of the runner.
    ///
    /// # Errors
    /// The errors of [`Runner::start`], and one if the helper has ended.
    pub fn start_service(&mut self, service: Service) -> Result<ServiceStart> {
        let helper = self.start()?;
        helper.serve(service).map_err(to_error)?;
        let mut interrupted = None;
        loop {
            match helper.next_event().map_err(to_error)? {
                HelperEvent::Signal(number) => {
                    interrupted.get_or_insert(number);
                    helper.stop().map_err(to_error)?;
                }
                // A service that became ready just before the signal ends with the others.
                HelperEvent::ServiceReady => {
                    return Ok(interrupted.map_or(ServiceStart::Ready, ServiceStart::Interrupted));
                }
                HelperEvent::Done(_, outcome) => {
                    let ended = || ServiceStart::Ended(observation(*outcome).into());
                    return Ok(interrupted.map_or_else(ended, ServiceStart::Interrupted));
                }
                HelperEvent::AllEnded(..) => {}
            }
        }
    }

    /// Ends all services, and returns their observations in the order of their start. A service that was still running
    /// has ended with [`RunEnd::Interrupted`](super::RunEnd::Interrupted).
    ///
    /// # Errors
    /// If the helper has ended.
    pub fn end_services(&mut self) -> Result<Vec<Observation>> {
        let helper = self.start()?;
        helper.end_services().map_err(to_error)?;
        let mut ended = Vec::new();
        loop {
            match helper.next_event().map_err(to_error)? {
                HelperEvent::Done(_, outcome) => ended.push(observation(*outcome)),
                HelperEvent::AllEnded(..) => return Ok(ended),
                HelperEvent::ServiceReady | HelperEvent::Signal(_) => {}
            }
        }
    }
}

fn observation(outcome: Outcome) -> Observation {
    let key = RunKey::plain_run_key(ProbeId::declared("service"), OutputFormat::Text);
    Observation { key, argv: Vec::new(), uncopied: false, outcome }
}
