//! What is printed, held to the contract that is declared for it.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Finding, Judgement};
use crate::model::{OutputFormat, Stream, Variant};
use crate::run::End;
use agentnative_contract::{Against, Contract, RunExit, Violation};
use strict_json::Position;

/// Records and documents larger than this are not judged here, but by `validate`.
const LARGE: u64 = 64 << 20;

/// `p2-contract-schema`
pub fn schema(context: &CheckContext) -> Judgement {
    keeps(context, Against::Schema, |_| true)
}

/// `p2-contract-stream`
pub fn stream(context: &CheckContext) -> Judgement {
    keeps(context, Against::Stream, Contract::has_stream_rules)
}

/// `p2-contract-exit`
pub fn exit(context: &CheckContext) -> Judgement {
    keeps(context, Against::Exit, |contract| !contract.exit_codes().is_empty())
}

/// Each run with a contract keeps the promises of one kind, where its contract makes any.
fn keeps(context: &CheckContext, kind: Against, promises: impl Fn(&Contract) -> bool) -> Judgement {
    let runs = context.declared().flat_map(|probe| context.runs_of(probe));
    let runs = runs.filter(|run| matches!(run.variant(), Variant::Plain | Variant::Repeat));
    let mut bound = runs.filter_map(|run| Some((run, context.contract_of(&run)?))).peekable();
    if bound.peek().is_none() {
        return Judgement::NotApplicable("no contract is declared for any probe".into());
    }
    let mut bound = bound.filter(|(_, contract)| promises(contract)).peekable();
    if bound.peek().is_none() {
        return Judgement::NotApplicable("the declared contracts promise nothing of this kind".into());
    }
    let assertions = bound.filter_map(|(run, contract)| assertion(&run, contract, kind));
    let missing = declare_success("");
    Judgement::of(assertions, format!("no run printed anything that a contract is about: {missing}"))
}

/// None where the run owes nothing of this kind: it failed and printed no payload, or its contract is a
/// schema of successes.
fn assertion(run: &RunView, contract: &Contract, kind: Against) -> Option<Assertion> {
    if let Some(reason) = run.unusable() {
        return Some(Assertion::Inconclusive(reason));
    }
    let failing = run.exit() != Some(0);
    let about_failures = !contract.exit_codes().is_empty() || contract.errors().is_some();
    if failing && (!about_failures || kind != Against::Exit && run.observation.stdout.bytes.is_empty()) {
        return None;
    }
    let ending = match run.observation.end {
        End::Exited(code) => RunExit::exit(code),
        End::Signaled(signal) => RunExit::exit(128 + signal),
        _ => RunExit::default(),
    };
    let bytes = run.bytes(Stream::Stdout);
    let lines = run.format() == OutputFormat::Jsonl;
    let nothing = bytes.is_empty() && !lines;
    if !nothing && run.scan().structural().is_some() {
        return Some(Assertion::Inconclusive(run.not_parsed()));
    }
    let mut judge = contract.validator();
    let mut first: Option<(Option<Position>, Violation)> = None;
    let mut count = 0_u64;
    let mut note = |at: Option<Position>, violations: Vec<Violation>| {
        for violation in violations.into_iter().filter(|violation| violation.against == kind) {
            count += 1;
            first.get_or_insert((at, violation));
        }
    };
    let mut too_large = false;
    let options = strict_json::ReadOptions::default();
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
        return Some(Assertion::inconclusive(format!("{} {words}", run.label())));
    }
    let outcome = judge.finish(&ending);
    let unjudged = outcome.unjudged;
    note(None, outcome.violations);
    let Some((at, violation)) = first else {
        return Some(match unjudged {
            0 => Assertion::Passed,
            _ => Assertion::inconclusive(format!("{} names too many things to follow them all", run.label())),
        });
    };
    Some(Assertion::Failed(broken(run, contract, at, &violation, count)))
}

fn broken(
    run: &RunView,
    contract: &Contract,
    at: Option<Position>,
    violation: &Violation,
    count: u64,
) -> Finding {
    let event = violation.event.map_or_else(String::new, |event| format!("event {event}, "));
    let more = if count > 1 { format!(" (and {} more in this run)", count - 1) } else { String::new() };
    let detail = format!("breaks the contract {}: {event}{violation}{more}", contract.name());
    let bytes = run.bytes(Stream::Stdout);
    if bytes.is_empty() {
        return Finding::new(run.evidence(detail));
    }
    let at = at.or_else(|| run.locate(&violation.pointer)).unwrap_or(Position::START);
    Finding::new(run.evidence_at(Stream::Stdout, at, detail))
}
