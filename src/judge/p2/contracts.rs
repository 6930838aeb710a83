//! What is printed, held to the contract that is declared for it.

use super::declare_success;
use crate::judge::context::CheckContext;
use crate::judge::run_view::RunView;
use crate::judge::verdict::{Assertion, Finding, Judgement, inconclusive};
use crate::model::{OutputFormat, Stream};
use agentnative_contract::{Against, Contract, RunExit, Violation, counted};
use strict_json::Position;

/// So much of what a run says on stderr is held to its contract.
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
    let nothing = bytes.is_empty() && run.format() != OutputFormat::Jsonl;
    if !nothing && run.scan().structural().is_some() {
        return Err(run.not_parsed().into());
    }
    let stderr = run.bytes(Stream::Stderr).first(LARGE);
    let exit = RunExit { exit: run.shell_code(), condition: None, stderr: Some(&stderr) };
    let verdict = run.context.scans.held_to(contract, bytes, run.format(), exit);
    let verdict = match &*verdict {
        Ok(verdict) => verdict,
        Err(error) => return inconclusive(format!("stdout of {} could not be read: {error}", run.label())),
    };
    let violations = || verdict.findings.iter().filter(|violation| violation.against == kind);
    if let Some(known) =
        verdict.known.as_ref().filter(|_| kind == Against::Exit && violations().next().is_none())
    {
        let detail = format!("a fault that the contract {} knows: {known}", contract.name());
        let finding = Finding::new("known", run.evidence(detail));
        return Err(Finding { is_known: true, ..finding }.into());
    }
    let mut distinct: Vec<&Violation> = Vec::new();
    for violation in violations() {
        // The same at another place tells nothing new.
        let alike = |other: &&Violation| {
            let elsewhere = (other.event, &other.pointer) != (violation.event, &violation.pointer);
            other.rule == violation.rule && (elsewhere || other.message == violation.message)
        };
        if distinct.len() < SHOWN && !distinct.iter().any(alike) {
            distinct.push(violation);
        }
    }
    let count = violations().count() as u64 + verdict.more.of(kind);
    match (distinct.is_empty(), verdict.unjudged) {
        (false, _) => broken(run, contract, &distinct, count),
        (true, 0) => Ok(()),
        (true, unjudged) => {
            let skipped = counted(unjudged, "rule check");
            inconclusive(format!("{}: {skipped} skipped: memory limit reached", run.label()))
        }
    }
}

/// What was violated, and how often in all; each that is not alike is named.
fn broken(run: &RunView, contract: &Contract, distinct: &[&Violation], count: u64) -> Assertion {
    let Some(violation) = distinct.first() else { return Ok(()) };
    let named = distinct.iter().map(|violation| match violation.event {
        Some(event) => format!("event {event}, {violation}"),
        None => violation.to_string(),
    });
    let named = named.collect::<Vec<_>>().join("; ");
    let more = match count - distinct.len() as u64 {
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
    match (violation.offset, violation.line, violation.column) {
        (Some(offset), Some(line), Some(column)) => {
            run.failed_at(kind, Stream::Stdout, Position { offset, line, column }, detail)
        }
        (_, Some(line), _) => {
            let offset = run.line_start(Stream::Stdout, line.saturating_sub(1));
            run.failed_at(kind, Stream::Stdout, Position { offset, line, column: 1 }, detail)
        }
        _ => run.failed_at_pointer(kind, &violation.pointer, detail),
    }
}
