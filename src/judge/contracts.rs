//! What is printed, held to the contract that is declared for it.

use super::DECLARE;
use super::case::{Case, Seen};
use super::verdict::{Finding, Judgement, Look};
use crate::report::{OutputFormat, Stream, Variant};
use crate::run::End;
use agentnative_contract::{Broken, Contract, RunExit, Violation};
use strict_json::Position;

/// Records and documents larger than this are not judged here, but by `validate`.
const LARGE: u64 = 64 << 20;

/// `p2-contract-schema`
pub fn schema(case: &Case) -> Judgement {
    held(case, Broken::Schema, |_| true)
}

/// `p2-contract-stream`
pub fn stream(case: &Case) -> Judgement {
    held(case, Broken::Stream, Contract::has_stream_rules)
}

/// `p2-contract-exit`
pub fn exit(case: &Case) -> Judgement {
    held(case, Broken::Exit, |contract| !contract.exit_codes().is_empty())
}

/// Each run with a contract keeps the promises of one kind, where its contract makes any.
fn held(case: &Case, kind: Broken, promises: impl Fn(&Contract) -> bool) -> Judgement {
    let runs = case.probes.iter().filter(|probe| probe.is_declared()).flat_map(|probe| case.of(probe));
    let runs = runs.filter(|seen| matches!(seen.variant(), Variant::Plain | Variant::Repeat));
    let mut bound = runs.filter_map(|seen| Some((seen, case.contract_of(&seen)?))).peekable();
    if bound.peek().is_none() {
        return Judgement::NotApplicable("no contract is declared for any probe".into());
    }
    let mut bound = bound.filter(|(_, contract)| promises(contract)).peekable();
    if bound.peek().is_none() {
        return Judgement::NotApplicable("the declared contracts promise nothing of this kind".into());
    }
    let looks = bound.filter_map(|(seen, contract)| look(&seen, contract, kind));
    Judgement::of(looks, &format!("no run printed anything that a contract is about: {DECLARE}"))
}

/// None where the run owes nothing of this kind: it failed and printed no payload, or its contract is a
/// schema of successes.
fn look(seen: &Seen, contract: &Contract, kind: Broken) -> Option<Look> {
    if let Some(reason) = seen.unusable() {
        return Some(Look::Unknown(reason));
    }
    let failing = seen.exit() != Some(0);
    let about_failures = !contract.exit_codes().is_empty() || contract.errors().is_some();
    if failing && (!about_failures || kind != Broken::Exit && seen.run.stdout.bytes.is_empty()) {
        return None;
    }
    let ending = match seen.run.end {
        End::Exited(code) => RunExit::exit(code),
        End::Signaled(signal) => RunExit::exit(128 + signal),
        _ => RunExit::default(),
    };
    let bytes = seen.bytes(Stream::Stdout);
    let lines = seen.format() == OutputFormat::Jsonl;
    let nothing = bytes.is_empty() && !lines;
    if !nothing && seen.scan().structural().is_some() {
        return Some(Look::Unknown(seen.not_data()));
    }
    let mut judge = contract.validator();
    let mut first: Option<(Option<Position>, Violation)> = None;
    let mut count = 0_u64;
    let mut note = |at: Option<Position>, violations: Vec<Violation>| {
        for violation in violations.into_iter().filter(|violation| violation.broken == kind) {
            count += 1;
            first.get_or_insert((at, violation));
        }
    };
    let mut too_large = false;
    let options = strict_json::Options::default();
    let read = if lines {
        let take = |record: strict_json::Record| match record.value {
            Some(value) => {
                let at = Position { offset: record.offset, line: record.line, column: 1 };
                note(Some(at), judge.push(record.line, &value));
            }
            None => too_large = true,
        };
        strict_json::read_records(bytes.reader(), &options, LARGE, take).map(drop)
    } else if nothing {
        Ok(())
    } else {
        strict_json::read_value(bytes.reader(), &options, LARGE).map(|document| match document.value {
            Some(value) => note(None, judge.push(1, &value)),
            None => too_large = true,
        })
    };
    if read.is_err() || too_large {
        let words = "holds a value that is too large to be held here: see `agentnative validate`";
        return Some(Look::Unknown(format!("{} {words}", seen.label())));
    }
    let outcome = judge.finish(&ending);
    let unjudged = outcome.unjudged;
    note(None, outcome.violations);
    let Some((at, violation)) = first else {
        return Some(match unjudged {
            0 => Look::Held,
            _ => Look::Unknown(format!("{} names too many things to follow them all", seen.label())),
        });
    };
    Some(Look::Broken(broken(seen, contract, at, &violation, count)))
}

fn broken(
    seen: &Seen,
    contract: &Contract,
    at: Option<Position>,
    violation: &Violation,
    count: u64,
) -> Finding {
    let event = violation.event.map_or_else(String::new, |event| format!("event {event}, "));
    let more = if count > 1 { format!(" (and {} more in this run)", count - 1) } else { String::new() };
    let detail = format!("breaks the contract {}: {event}{violation}{more}", contract.name());
    let bytes = seen.bytes(Stream::Stdout);
    if bytes.is_empty() {
        return Finding::new(seen.here(detail));
    }
    let at = at.or_else(|| seen.place_of(&violation.pointer)).unwrap_or(Position::START);
    Finding::new(seen.at(Stream::Stdout, at, detail))
}

impl<'a> Case<'a> {
    /// The contract that a run's standard output is held to.
    pub fn contract_of(&self, seen: &Seen<'_>) -> Option<&'a Contract> {
        let contract = &seen.probe.contract;
        let name = match seen.format() {
            OutputFormat::Json => contract.json.as_ref(),
            OutputFormat::Jsonl => contract.jsonl.as_ref(),
            OutputFormat::Text => None,
        };
        self.contracts.get(name?)
    }
}
