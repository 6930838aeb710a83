//! What is printed, held to the contract that is declared for it.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Finding, Judgement, inconclusive};
use crate::model::{OutputFormat, Stream};
use agentnative_contract::{Against, Contract, RunExit, Violation};
use strict_json::Position;

/// Records and documents larger than this are not judged here, but by `validate`.
const LARGE: u64 = 64 << 20;
/// As many violations of a run are named, and the others counted.
const SHOWN: usize = 4;

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
        .filter(RunView::prints_the_same)
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
    let mut distinct: Vec<(Option<Position>, Violation)> = Vec::new();
    let mut count = 0;
    let mut note = |at: Option<Position>, violations: Vec<Violation>| {
        for violation in violations.into_iter().filter(|violation| violation.against == kind) {
            count += 1;
            // The same at another place tells nothing new.
            let alike = |(_, other): &(_, Violation)| {
                let elsewhere = (other.event, &other.pointer) != (violation.event, &violation.pointer);
                other.rule == violation.rule && (elsewhere || other.message == violation.message)
            };
            if distinct.len() < SHOWN && !distinct.iter().any(alike) {
                distinct.push((at, violation));
            }
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
            Some(value) => note(None, judge.push_document(&value)),
            None => too_large = true,
        })
    };
    if read.is_err() || too_large {
        let words = "contains a value that is too large for this check: use `agentnative validate`";
        return inconclusive(format!("{} {words}", run.label()));
    }
    let stderr = run.bytes(Stream::Stderr).first(LARGE);
    let exit = RunExit { exit: run.shell_code(), condition: None, stderr: Some(&stderr) };
    let outcome = judge.finish(&exit);
    let unjudged = outcome.unjudged;
    note(None, outcome.violations);
    if let Some(known) = outcome.known.filter(|_| distinct.is_empty() && kind == Against::Exit) {
        let detail = format!("a fault that the contract {} knows: {known}", contract.name());
        let finding = Finding::new("known", run.evidence(detail));
        return Err(Finding { is_known: true, ..finding }.into());
    }
    match (distinct.is_empty(), unjudged) {
        (false, _) => broken(run, contract, &distinct, count),
        (true, 0) => Ok(()),
        _ => inconclusive(format!("{} contains more IDs than the rules can track", run.label())),
    }
}

/// What was violated, and how often in all; each that is not alike is named.
fn broken(
    run: &RunView,
    contract: &Contract,
    distinct: &[(Option<Position>, Violation)],
    count: usize,
) -> Assertion {
    let Some((at, violation)) = distinct.first() else { return Ok(()) };
    let named = distinct.iter().map(|(_, violation)| match violation.event {
        Some(event) => format!("event {event}, {violation}"),
        None => violation.to_string(),
    });
    let named = named.collect::<Vec<_>>().join("; ");
    let more = match count - distinct.len() {
        0 => String::new(),
        more => format!(" (and {more} more in this run)"),
    };
    let detail = format!("the output violates the contract {}: {named}{more}", contract.name());
    let kind = match violation.against {
        Against::Json | Against::Schema => "invalid",
        Against::Stream => "rule-broken",
        Against::Exit => "exit-code",
    };
    let bytes = run.bytes(Stream::Stdout);
    if bytes.is_empty() {
        return run.failed(kind, detail);
    }
    let inside = match violation.event {
        Some(event) if run.format() == OutputFormat::Json => format!("/{}{}", event - 1, violation.pointer),
        _ => violation.pointer.clone(),
    };
    let at = at.or_else(|| run.locate(&inside)).unwrap_or(Position::START);
    run.failed_at(kind, Stream::Stdout, at, detail)
}
