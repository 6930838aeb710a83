//! What is printed, held to what was accepted last: the lock.

use super::case::{Case, Seen};
use super::verdict::{Finding, Judgement, Look};
use crate::probe::Probe;
use crate::report::catalogue::Derived;
use crate::report::{Evidence, OutputFormat, Stream, Variant};
use crate::run::{Bytes, End};
use agentnative_contract::diff::{Change, Class, compare};
use agentnative_contract::lock::{Learner, Lock};
use agentnative_contract::{Contract, OutputSpec};
use std::io::Read;
use strict_json::Position;
use strict_json::sanitize;

/// The longest version that is kept, in characters.
const VERSION: usize = 120;

/// What the declared probes promise now.
pub struct Learnt {
    /// The promises, as a lock has them.
    pub lock: Lock,
    /// Why the runs of a probe in a format say nothing.
    pub unknown: Vec<String>,
}

/// Learns what the declared probes promise. With `any_ending` a run counts that ended otherwise than its
/// probe expects, or printed something else than data: a comparison then tells what changed.
pub fn learn(case: &Case, target: &str, any_ending: bool) -> Learnt {
    let (mut promises, mut unknown) = (Vec::new(), Vec::new());
    for probe in case.probes.iter().filter(|probe| probe.is_declared()) {
        for format in &probe.formats {
            match promise(case, probe, *format, any_ending) {
                Ok(promise) => promises.push(promise),
                Err(reason) => unknown.push(reason),
            }
        }
    }
    Learnt { lock: Lock::new(target, version(case), promises), unknown }
}

/// `p2-contract-locked`
pub fn locked(case: &Case) -> Judgement {
    let Some(lock) = case.lock else {
        let words = "there is no lock beside the configuration: `agentnative contract lock` writes one";
        return Judgement::NotApplicable(words.into());
    };
    let looks = lock.compared().into_iter().flat_map(|old| look(case, lock, &old));
    Judgement::of(
        looks,
        "the lock holds no promise: accept what there is with `agentnative contract lock --update`",
    )
}

fn look(case: &Case, lock: &Lock, old: &OutputSpec) -> Vec<Look> {
    let (Some(name), Some(format)) = (&old.probe, old.format) else { return Vec::new() };
    let declared =
        |probe: &&Probe| probe.is_declared() && probe.name == *name && probe.formats.contains(&format);
    let Some(probe) = case.probes.iter().find(declared) else {
        let words = "is locked and was not run: if it is gone for good, accept that with `agentnative contract lock --update`";
        return vec![Look::Unknown(format!("{name} · {} {words}", format.name()))];
    };
    let new = match promise(case, probe, format, false) {
        Ok(new) => new,
        Err(reason) => return vec![Look::Unknown(reason)],
    };
    let compared = Lock::new("", None, vec![new]).compared_with(lock);
    let changes = compare(std::slice::from_ref(old), &compared);
    let looks: Vec<Look> =
        changes.iter().filter_map(|change| of_change(case, probe, format, change)).collect();
    if looks.is_empty() { vec![Look::Held] } else { looks }
}

fn of_change(case: &Case, probe: &Probe, format: OutputFormat, change: &Change) -> Option<Look> {
    let seen = case.plain(probe, format)?;
    let detail = format!("{}: {}", change.rule, told(change));
    match change.class {
        Class::Breaking => Some(Look::Broken(Finding::new(evidence(&seen, change, detail)))),
        Class::Undecided => Some(Look::Unknown(format!("{}: {detail}", seen.label()))),
        Class::Risky | Class::Compatible => None,
    }
}

/// A change with its place in the output.
fn told(change: &Change) -> String {
    let event = change.event.as_ref().map_or_else(String::new, |event| format!("events `{event}`, "));
    let error = if change.in_error { "the error, " } else { "" };
    let pointer = if change.pointer.is_empty() { String::new() } else { format!("{}: ", change.pointer) };
    format!("{event}{error}{pointer}{}", change.message)
}

/// Where the change is seen, as far as the output has the place.
fn evidence(seen: &Seen, change: &Change, detail: String) -> Evidence {
    let bytes = seen.bytes(Stream::Stdout);
    if change.in_error || bytes.is_empty() || seen.format() != OutputFormat::Json {
        return seen.here(detail);
    }
    // What is missing is seen at what it is missing in.
    let mut pointer = change.pointer.replace('*', "0");
    let at = loop {
        if let Some(at) = seen.place_of(&pointer) {
            break at;
        }
        match pointer.rfind('/') {
            Some(end) => pointer.truncate(end),
            None => break Position::START,
        }
    };
    seen.at(Stream::Stdout, at, detail)
}

/// What a probe promises in a format; why that cannot be told.
fn promise(case: &Case, probe: &Probe, format: OutputFormat, any_ending: bool) -> Result<OutputSpec, String> {
    let mut learner = Learner::new(&probe.name, format);
    let runs = case
        .of(probe)
        .filter(|seen| seen.format() == format && matches!(seen.variant(), Variant::Plain | Variant::Repeat));
    let (mut plain, mut contract, mut code) = (false, None, 0);
    for seen in runs {
        plain |= seen.variant() == Variant::Plain;
        if !any_ending && let Some(reason) = seen.unusable() {
            return Err(reason);
        }
        code = match seen.run.end {
            End::Exited(code) => code,
            End::Signaled(signal) => 128 + signal,
            _ => return Err(seen.unusable().unwrap_or_else(|| format!("{} did not end", seen.label()))),
        };
        let printed = !seen.bytes(Stream::Stdout).is_empty();
        if !any_ending && format.is_json() && printed && seen.scan().structural().is_some() {
            return Err(seen.not_data());
        }
        contract = case.contract_of(&seen);
        let open = |stream| move || Box::new(seen.bytes(stream).reader()) as Box<dyn Read + Send>;
        learner
            .run(code, &open(Stream::Stdout), &open(Stream::Stderr))
            .map_err(|error| format!("nothing can be learnt from {}: {error}", seen.label()))?;
    }
    if !plain {
        return Err(format!("{} · {} was not run", probe.name, format.name()));
    }
    let learnt = learner.promise();
    Ok(match contract.filter(|contract| code == 0 || is_about_failures(contract)) {
        Some(contract) => declared(contract, learnt),
        None => learnt,
    })
}

fn is_about_failures(contract: &Contract) -> bool {
    !contract.exit_codes().is_empty() || contract.errors().is_some()
}

/// What the contract says, and how this probe ends.
fn declared(contract: &Contract, learnt: OutputSpec) -> OutputSpec {
    let says = OutputSpec::of_contract(contract);
    OutputSpec {
        probe: learnt.probe,
        format: learnt.format,
        framing: says.framing.or(learnt.framing),
        exits: learnt.exits,
        errors: says.errors.or(learnt.errors),
        ..says
    }
}

/// What the target says of its version: the first line.
fn version(case: &Case) -> Option<String> {
    let probe = case.derived(Derived::Version).next()?;
    let seen = case.plain(probe, OutputFormat::Text).filter(|seen| seen.exit() == Some(0))?;
    let line = first_line(seen.bytes(Stream::Stdout))?;
    let line = sanitize::capped(line.trim(), VERSION).to_string();
    (!line.is_empty()).then_some(line)
}

fn first_line(bytes: &Bytes) -> Option<String> {
    let mut window = [0; 1024];
    let length = bytes.read_at(0, &mut window).ok()?;
    Some(String::from_utf8_lossy(&window[..length]).lines().next()?.to_owned())
}
