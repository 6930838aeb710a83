//! The run environment of a target: files of its home, workspaces and services.

use agentnative_contract::error::{Error, ErrorKind, Issue, Result};
use agentnative_core::config::{Config, PORT_PLACEHOLDER, Ready, ServiceConfig, Workspace};
use agentnative_core::files::{self, MAX_DATA_BYTES};
use agentnative_core::probe::{Probe, RunEnvironment, place_port};
use agentnative_core::run::{
    self, Job, Observation, RunEnd, Runner, Service, ServiceStart, Template, TemplateFile, free_port,
};
use agentnative_core::targets::Target;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;
use strict_json::sanitize;

/// Time limit for a service to become ready.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// Maximum number of output lines of a failed program that an error shows: the last ones.
const MAX_LINES: usize = 10;

/// The services of a target, which are programs that run beside the probes, each with its port.
pub(super) struct Services<'a> {
    root: &'a Path,
    all: Vec<(&'a ServiceConfig, u16)>,
}

impl<'a> Services<'a> {
    /// Chooses a port for each service of the configuration. Starts nothing.
    pub fn with_chosen_ports(target: &'a Target, config: Option<&'a Config>) -> Result<Self> {
        let Some(config) = config else { return Ok(Self { root: &target.cwd, all: Vec::new() }) };
        let with_port = |service| Ok((service, free_port()?));
        let all = config.services_of(&target.config).map(with_port).collect::<Result<_>>()?;
        Ok(Self { root: &config.root, all })
    }

    pub fn any_declared(&self) -> bool {
        !self.all.is_empty()
    }

    /// Creates the run environment with the ports and variables of the services. Stores the files that the
    /// configuration declares for the home folder.
    pub fn surroundings(&self, target: &Target, runner: &mut Runner) -> Result<RunEnvironment> {
        let env = self.all.iter().flat_map(|(service, port)| {
            service.env.iter().map(|(name, value)| (name.clone(), place_port(value, *port)))
        });
        let port = if let [(_, port)] = &self.all[..] { Some(*port) } else { None };
        Ok(RunEnvironment {
            home: store_home(target, port, runner)?,
            workspaces: Default::default(),
            allow_unconfined: false,
            project: None,
            protected: Vec::new(),
            env: env.collect(),
            port,
            ports: self.all.iter().map(|(service, port)| service_port(service, *port)).collect(),
        })
    }

    /// Starts the services one after the other, each when the previous one is ready. Returns the signal that
    /// interrupted the start, if any.
    ///
    /// # Errors
    /// A configuration error if a service cannot be started or does not become ready.
    pub fn start(&self, target: &Target, runner: &mut Runner) -> Result<Option<i32>> {
        for (service, port) in &self.all {
            match runner.start_service(self.service(service, *port, target)?)? {
                ServiceStart::Ready => {}
                ServiceStart::Interrupted(signal) => return Ok(Some(signal)),
                ServiceStart::Ended(seen) => return Err(not_ready_error(service, &seen)),
            }
        }
        Ok(None)
    }

    /// Ends all services.
    ///
    /// # Errors
    /// A configuration error if a service ended by itself before: some runs were then made without it.
    pub fn end(&self, runner: &mut Runner) -> Result<()> {
        if self.all.is_empty() {
            return Ok(());
        }
        let ended = runner.end_services()?;
        let early = self.all.iter().zip(&ended).find(|(_, seen)| seen.end != RunEnd::Interrupted);
        early.map_or(Ok(()), |((service, _), seen)| {
            let what =
                format!("{} ended while the probes ran: {}", service_name(service), describe_end(seen));
            Err(Error::config(what)
                .issues(last_lines(seen))
                .hint("keep the service running until it receives a signal"))
        })
    }

    fn service(&self, service: &ServiceConfig, port: u16, target: &Target) -> Result<Service> {
        let words: Vec<String> = service.command.iter().map(|word| place_port(word, port)).collect();
        let ready = match &service.ready {
            Ready::Port(_) => run::Ready::Port(service_port(service, port)),
            Ready::Line(text) => run::Ready::Line(place_port(text, port)),
        };
        let job = Job {
            env: target.env(|name| std::env::var_os(name)).into_iter().collect(),
            ..Job::new(resolve_program(&words[0], self.root)?, &words[1..], self.root, READY_TIMEOUT)
        };
        Ok(Service { job, ready })
    }
}

/// Stores the workspace folder of each probe as a template, of which each run gets a copy.
pub(super) fn store_workspaces(
    environment: &mut RunEnvironment,
    probes: &[Probe],
    runner: &mut Runner,
) -> Result<()> {
    for probe in probes {
        if let Some(Workspace::Copy(folder)) = &probe.call.workspace
            && !environment.workspaces.contains_key(folder)
        {
            let template =
                runner.store_template(Template::Folder { from: folder.into(), is_bounded: false })?;
            environment.workspaces.insert(folder.clone(), template);
        }
    }
    Ok(())
}

/// Returns the path of a program that the configuration names: relative to `root` if `word` contains a `/`, else on
/// `PATH`.
pub(super) fn resolve_program(word: &str, root: &Path) -> Result<PathBuf> {
    let word: OsString = if word.contains('/') { root.join(word).into_os_string() } else { word.into() };
    run::find_program(&word)
}

/// Stores the files that the configuration declares for the home folder as a template, with `port` in place of the port
/// placeholder. Returns the path of the template; `None` if no files are declared.
fn store_home(target: &Target, port: Option<u16>, runner: &mut Runner) -> Result<Option<OsString>> {
    let files = &target.config.home;
    if files.is_empty() {
        return Ok(None);
    }
    let read = |(place, file): (&String, &PathBuf)| {
        let bytes = files::read(file, MAX_DATA_BYTES)
            .map_err(|error| Error::io(ErrorKind::Config, "read", file, &error))?;
        let bytes = port.map_or_else(|| bytes.clone(), |port| replace_port(&bytes, port));
        Ok(TemplateFile { path: place.into(), bytes })
    };
    let files = files.iter().map(read).collect::<Result<_>>()?;
    runner.store_template(Template::Files(files)).map(Some)
}

/// Replaces the port placeholder in the content of a file with a port number.
fn replace_port(bytes: &[u8], port: u16) -> Vec<u8> {
    let (mut rest, mut output) = (bytes, Vec::with_capacity(bytes.len()));
    let place = PORT_PLACEHOLDER.as_bytes();
    while let Some(at) = rest.windows(place.len()).position(|part| part == place) {
        output.extend_from_slice(&rest[..at]);
        output.extend_from_slice(port.to_string().as_bytes());
        rest = &rest[at + place.len()..];
    }
    output.extend_from_slice(rest);
    output
}

/// Returns the port of a service: the one in the configuration, else `chosen`.
fn service_port(service: &ServiceConfig, chosen: u16) -> u16 {
    match service.ready {
        Ready::Port(Some(port)) => port,
        Ready::Port(None) | Ready::Line(_) => chosen,
    }
}

fn not_ready_error(service: &ServiceConfig, seen: &Observation) -> Error {
    let name = service_name(service);
    let wanted = match &service.ready {
        Ready::Port(_) => "accept connections at its port".to_owned(),
        Ready::Line(text) => format!("print a line with {text:?}"),
    };
    let what = match &seen.end {
        RunEnd::TimedOut => format!("{name} did not {wanted} within {} seconds", READY_TIMEOUT.as_secs()),
        RunEnd::NotStarted(_, why) => format!("{name} could not be started: {why}"),
        _ => format!("{name} ended before it was ready: {}", describe_end(seen)),
    };
    let error = program_error(seen, what).issues(last_lines(seen));
    match &seen.end {
        RunEnd::NotStarted(..) => error,
        RunEnd::TimedOut => error.hint("see `command` and `ready` under [[service]] in agentnative.toml"),
        _ => error.hint("keep the service in the foreground until it receives a signal"),
    }
}

fn service_name(service: &ServiceConfig) -> String {
    let words = service.command.iter().map(String::as_str);
    format!("the service `{}`", shlex::try_join(words).unwrap_or_else(|_| service.command.join(" ")))
}

/// Creates the error for a program that had to succeed, such as a build: a permission error if the system denied its
/// start, else a configuration error.
pub(super) fn program_error(seen: &Observation, message: String) -> Error {
    let kind = if seen.end.is_denied() { ErrorKind::Auth } else { ErrorKind::Config };
    Error::new(kind, message)
}

/// Describes how a program ended: `exit code 1`, `signal 9`, `timed out`.
pub(super) fn describe_end(seen: &Observation) -> String {
    match &seen.end {
        RunEnd::Exited(code) => format!("exit code {code}"),
        RunEnd::Signaled(signal) => format!("signal {signal}"),
        RunEnd::NotStarted(_, why) => why.clone(),
        RunEnd::TimedOut | RunEnd::Waited => "timed out".to_owned(),
        RunEnd::TooMuch(limit) => format!("it {limit}"),
        RunEnd::Interrupted => "interrupted".to_owned(),
    }
}

/// Returns the last lines that a program printed, on stderr or else on stdout.
pub(super) fn last_lines(seen: &Observation) -> Vec<Issue> {
    let stream = if seen.stderr.bytes.is_empty() { &seen.stdout } else { &seen.stderr };
    let mut bytes = Vec::new();
    // An unreadable capture counts as empty.
    let _ = std::io::Read::read_to_end(&mut stream.bytes.reader(), &mut bytes);
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MAX_LINES)..];
    last.iter().map(|line| Issue { place: None, message: sanitize::sanitize_line(line) }).collect()
}
