//! What the judge looks at: the probes, what the target promises, and the observations.

use super::scan::{Scan, Scans};
use super::verdict::{Finding, Look};
use crate::probe::{Probe, Promises};
use crate::report::catalogue::Derived;
use crate::report::{Evidence, OutputFormat, Stream, Variant};
use crate::run::{Bytes, End, HOSTILE_ENVIRONMENTS, Observation, RunKey};
use agentnative_contract::Contract;
use agentnative_contract::lock::Lock;
use std::collections::BTreeMap;
use std::rc::Rc;
use strict_json::Position;
use strict_json::sanitize;

/// The longest excerpt, in characters.
const EXCERPT: usize = 100;
/// How many bytes around a place are looked at for its line.
const AROUND: u64 = 512;

/// All that a verdict may rest on.
pub struct Case<'a> {
    /// What the target promises.
    pub promises: &'a Promises,
    /// The contracts that probes name.
    pub contracts: &'a BTreeMap<String, Contract>,
    /// All probes that were run.
    pub probes: &'a [Probe],
    /// What the probes promised when that was last accepted.
    pub lock: Option<&'a Lock>,
    runs: BTreeMap<&'a RunKey, &'a Observation>,
    scans: Scans,
}

/// One run with its probe.
#[derive(Clone, Copy)]
pub struct Seen<'a> {
    /// The case that it is part of.
    pub case: &'a Case<'a>,
    /// The probe.
    pub probe: &'a Probe,
    /// What the run gave.
    pub run: &'a Observation,
}

/// Whether a target takes a format.
pub enum Accepted<'a> {
    /// Some probe did as expected when asked for it.
    Yes,
    /// Each probe that does as expected without it does not when asked for it; this is one.
    No(Seen<'a>),
    /// No probe can tell.
    Unknown,
}

impl<'a> Case<'a> {
    /// A case of these observations.
    pub fn new(
        promises: &'a Promises,
        contracts: &'a BTreeMap<String, Contract>,
        probes: &'a [Probe],
        observations: &'a [Observation],
    ) -> Self {
        let runs = observations.iter().map(|run| (&run.key, run)).collect();
        Self { promises, contracts, probes, lock: None, runs, scans: Scans::default() }
    }

    /// The run of `probe` in `format` under `variant`, if it was made.
    pub fn seen(
        &'a self,
        probe: &'a Probe,
        format: OutputFormat,
        variant: Variant,
        nth: u8,
    ) -> Option<Seen<'a>> {
        let key = RunKey { probe: probe.name.clone(), format, variant, nth };
        let run = self.runs.get(&key).copied()?;
        Some(Seen { case: self, probe, run })
    }

    /// Whether a run was made.
    pub fn has(&self, key: &RunKey) -> bool {
        self.runs.contains_key(key)
    }

    /// The plain run of `probe` in `format`.
    pub fn plain(&'a self, probe: &'a Probe, format: OutputFormat) -> Option<Seen<'a>> {
        self.seen(probe, format, Variant::Plain, 0)
    }

    /// All runs, probe by probe.
    pub fn all(&'a self) -> impl Iterator<Item = Seen<'a>> {
        self.probes.iter().flat_map(|probe| self.of(probe))
    }

    /// All runs of `probe`.
    pub fn of(&'a self, probe: &'a Probe) -> impl Iterator<Item = Seen<'a>> {
        self.runs.iter().filter(|(key, _)| key.probe == probe.name).map(move |(_, run)| Seen {
            case: self,
            probe,
            run,
        })
    }

    /// All runs of declared probes that are expected to succeed, in a JSON format.
    pub fn data(&'a self) -> impl Iterator<Item = Seen<'a>> {
        self.successes().flat_map(|probe| self.of(probe)).filter(|seen| seen.format().is_json())
    }

    /// The declared probes that are expected to succeed.
    pub fn successes(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(|probe| probe.is_declared() && probe.exit == Some(0))
    }

    /// The probes that are expected to fail: declared, and those with an unknown flag or command.
    pub fn failures(&'a self) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(|probe| {
            let unknown = probe.is(Derived::UnknownFlag) || probe.is(Derived::UnknownCommand);
            probe.is_declared() && probe.exit.is_some_and(|exit| exit != 0) || unknown
        })
    }

    /// The probes of a derived kind.
    pub fn derived(&'a self, kind: Derived) -> impl Iterator<Item = &'a Probe> {
        self.probes.iter().filter(move |probe| probe.is(kind))
    }

    /// The probe that was made as `kind` from `probe`.
    pub fn made_from(&'a self, kind: Derived, probe: &Probe) -> impl Iterator<Item = &'a Probe> {
        let name = probe.name.clone();
        self.derived(kind).filter(move |derived| derived.of() == Some(&name))
    }

    /// Whether the target takes `format`, told by the declared probes that are expected to succeed.
    pub fn accepted(&'a self, format: OutputFormat) -> Accepted<'a> {
        let mut refused = None;
        for probe in self.successes() {
            let Some(asked) = self.plain(probe, format) else { continue };
            let Some(exit) = asked.exit() else { continue };
            if exit == 0 {
                return Accepted::Yes;
            }
            let bare = self
                .made_from(Derived::NoFormat, probe)
                .find_map(|probe| self.plain(probe, OutputFormat::Text));
            if bare.is_some_and(|bare| bare.exit() == Some(0)) {
                refused = Some(asked);
            }
        }
        refused.map_or(Accepted::Unknown, Accepted::No)
    }
}

impl<'a> Seen<'a> {
    /// The format asked for.
    pub fn format(&self) -> OutputFormat {
        self.run.key.format
    }

    /// The condition it was run under.
    pub fn variant(&self) -> Variant {
        self.run.key.variant
    }

    /// The exit code, when it ended by itself with one.
    pub fn exit(&self) -> Option<i32> {
        match self.run.end {
            End::Exited(code) => Some(code),
            _ => None,
        }
    }

    /// Strict reading of what is on standard output, as one document or as lines by the format.
    pub fn scan(&self) -> Rc<Scan> {
        self.case.scans.of(&self.run.stdout.bytes, self.format())
    }

    /// Strict reading of a stream as one document.
    pub fn document(&self, stream: Stream) -> Rc<Scan> {
        self.case.scans.of(self.bytes(stream), OutputFormat::Json)
    }

    /// The bytes of a stream.
    pub fn bytes(&self, stream: Stream) -> &'a Bytes {
        match stream {
            Stream::Stdout => &self.run.stdout.bytes,
            Stream::Stderr => &self.run.stderr.bytes,
        }
    }

    /// Why this run says nothing about data: it did not end by itself with the code that its probe
    /// is expected to have, and which check says so.
    pub fn unusable(&self) -> Option<String> {
        let label = self.label();
        match (&self.run.end, self.probe.exit) {
            (End::Exited(code), Some(expected)) if *code != expected => {
                if matches!(self.case.accepted(self.format()), Accepted::No(_)) {
                    return Some(format!(
                        "the target does not take the format {}: see p2-output-format",
                        self.format().name()
                    ));
                }
                let check = exit_check(expected);
                Some(format!("{label} ended with {code}, not {expected}: see {check}"))
            }
            (End::Exited(_), _) => {
                let error = self.format().is_json().then(|| self.scan().unreadable.clone()).flatten()?;
                Some(format!("what {label} printed could not be read back: {error}"))
            }
            (End::Signaled(signal), _) => {
                Some(format!("{label} died of signal {signal}: see p2-exit-consistent"))
            }
            (End::TimedOut | End::Waited, _) => Some(format!("{label} did not end: see p2-completes")),
            (End::TooMuch(limit), _) => Some(format!("{label} was ended after {limit} bytes of output")),
            (End::NotStarted(_, words), _) => Some(format!("{label} could not be started: {words}")),
            (End::Interrupted, _) => Some(format!("{label} was interrupted")),
        }
    }

    /// Names the run for people.
    pub fn label(&self) -> String {
        let key = &self.run.key;
        let mut label = format!("{} · {}", key.probe, key.format.name());
        if key.variant != Variant::Plain {
            label.push_str(" · ");
            label.push_str(&self.condition());
        }
        label
    }

    /// Names the condition: the variant, and for an environment which one.
    pub fn condition(&self) -> String {
        let key = &self.run.key;
        match (key.variant, HOSTILE_ENVIRONMENTS.get(usize::from(key.nth))) {
            (Variant::HostileEnv, Some((name, _))) => format!("{} ({name})", key.variant.name()),
            _ => key.variant.name().to_owned(),
        }
    }

    /// Evidence about the run as a whole.
    pub fn here(&self, detail: impl Into<String>) -> Evidence {
        let key = &self.run.key;
        Evidence {
            probe: Some(key.probe.clone()),
            format: Some(key.format),
            variant: Some(key.variant),
            detail: detail.into(),
            ..Evidence::default()
        }
    }

    /// Evidence at a place in a stream.
    pub fn at(&self, stream: Stream, at: Position, detail: impl Into<String>) -> Evidence {
        let (excerpt, caret) = excerpt(self.bytes(stream), at.offset);
        Evidence {
            stream: Some(stream),
            offset: Some(at.offset),
            line: Some(at.line),
            column: Some(at.column),
            excerpt: Some(excerpt),
            caret: Some(caret),
            ..self.here(detail)
        }
    }

    /// Evidence at the first word of a stream: where it starts, but for white space.
    pub fn start_of(&self, stream: Stream, detail: impl Into<String>) -> Evidence {
        let mut window = [0; AROUND as usize];
        let n = self.bytes(stream).read_at(0, &mut window).unwrap_or(0);
        let blank = window[..n].iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
        let newlines = || memchr::memchr_iter(b'\n', &window[..blank]);
        let line_start = newlines().next_back().map_or(0, |newline| newline + 1);
        let at = Position {
            offset: blank as u64,
            line: newlines().count() as u64 + 1,
            column: (blank - line_start) as u64 + 1,
        };
        self.at(stream, at, detail)
    }

    /// A broken look about the run as a whole.
    pub fn broken(&self, detail: impl Into<String>) -> Look {
        Look::Broken(Finding::new(self.here(detail)))
    }

    /// A broken look at a place.
    pub fn broken_at(&self, stream: Stream, at: Position, detail: impl Into<String>) -> Look {
        Look::Broken(Finding::new(self.at(stream, at, detail)))
    }
}

/// The check that judges runs expected to end with this code.
pub fn exit_check(code: i32) -> &'static str {
    match code {
        0 => "p2-exit-success",
        2 => "p2-exit-usage",
        77 => "p2-exit-auth",
        78 => "p2-exit-config",
        _ => "p2-exit-error",
    }
}

/// The line around `offset`, fit to be shown, and the character of it that the offset is at.
fn excerpt(bytes: &Bytes, offset: u64) -> (String, usize) {
    let from = offset.saturating_sub(AROUND);
    let mut window = vec![0; (AROUND * 2) as usize];
    // An unreadable capture shows as an empty excerpt; the place itself is still named.
    let n = bytes.read_at(from, &mut window).unwrap_or(0);
    window.truncate(n);
    let at = ((offset - from) as usize).min(n);
    let start = window[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let end = window[at..].iter().position(|byte| *byte == b'\n').map_or(n, |newline| at + newline);
    sanitize::excerpt(&window[start..end], at - start, EXCERPT)
}
