//! What is printed, held to the contract that is declared for it.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Judgement, inconclusive};
use crate::model::{OutputFormat, Stream, Variant};
use agentnative_contract::{Against, Contract, RunExit, Violation};
use strict_json::Position;

/// Records and documents larger than this are not judged here, but by `validate`.
const LARGE: u64 = 64 << 20;

/// `p2-contract-schema`, `p2-contract-stream` and `p2-contract-exit`: each run with a contract keeps the
/// promises of one kind, where its contract makes any.
pub fn keeps(context: &CheckContext, kind: Against) -> Judgement {
    let promises = |contract: &Contract| match kind {
        Against::Json | Against::Schema => true,
        Against::Stream => contract.has_stream_rules(),
        Against::Exit => !contract.exit_codes().is_empty(),
    };
    let formats =
        context.declared().flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)));
    let mut declared = formats.filter_map(|(probe, format)| context.contract_for(probe, format)).peekable();
    if declared.peek().is_none() {
        return Judgement::NotApplicable("no probe declares a contract".into());
    }
    if !declared.any(promises) {
        return Judgement::NotApplicable("the declared contracts have no rules of this kind".into());
    }
    let runs = context.declared().flat_map(|probe| context.runs_of(probe));
    let assertions = runs
        .filter(|run| matches!(run.variant(), Variant::Plain | Variant::Repeat))
        .filter_map(|run| Some((run, context.contract_of(&run).filter(|contract| promises(contract))?)))
        .filter(|(run, contract)| run.unusable().is_some() || owes(run, contract, kind))
        .map(|(run, contract)| kept(&run, contract, kind));
    let missing = declare_success("");
    Judgement::of(assertions, format!("no run printed output that a contract covers: {missing}"))
}

/// Whether a run owes something of this kind: not where it failed and printed no payload, or its contract is
/// a schema of successes.
fn owes(run: &RunView, contract: &Contract, kind: Against) -> bool {
    let about_failures = !contract.exit_codes().is_empty() || contract.errors().is_some();
    let printed = kind == Against::Exit || !run.bytes(Stream::Stdout).is_empty();
    run.probe.gives_data() || about_failures && printed
}

fn kept(run: &RunView, contract: &Contract, kind: Against) -> Assertion {
    run.usable()?;
    let bytes = run.bytes(Stream::Stdout);
    let lines = run.format() == OutputFormat::Jsonl;
    let nothing = bytes.is_empty() && !lines;
    if !nothing && run.scan().structural().is_some() {
        return Err(run.not_parsed().into());
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
        let words = "contains a value that is too large for this check: use `agentnative validate`";
        return inconclusive(format!("{} {words}", run.label()));
    }
    let outcome = judge.finish(&run.shell_code().map_or_else(RunExit::default, RunExit::exit));
    let unjudged = outcome.unjudged;
    note(None, outcome.violations);
    match (first, unjudged) {
        (Some((at, violation)), _) => broken(run, contract, at, &violation, count),
        (None, 0) => Ok(()),
        _ => inconclusive(format!("{} contains more IDs than the rules can track", run.label())),
    }
}

fn broken(
    run: &RunView,
    contract: &Contract,
    at: Option<Position>,
    violation: &Violation,
    count: u64,
) -> Assertion {
    let event = violation.event.map_or_else(String::new, |event| format!("event {event}, "));
    let more = if count > 1 { format!(" (and {} more in this run)", count - 1) } else { String::new() };
    let detail = format!("the output violates the contract {}: {event}{violation}{more}", contract.name());
    let kind = match violation.against {
        Against::Json | Against::Schema => "invalid",
        Against::Stream => "rule-broken",
        Against::Exit => "exit-code",
    };
    let bytes = run.bytes(Stream::Stdout);
    if bytes.is_empty() {
        return run.failed(kind, detail);
    }
    let at = at.or_else(|| run.locate(&violation.pointer)).unwrap_or(Position::START);
    run.failed_at(kind, Stream::Stdout, at, detail)
}
