//! Validates output against its declared contract.

use crate::context::{CheckContext, RunView};
use crate::kit::declare_success;
use crate::verdict::{Assertion, Judgement, Unmet, inconclusive};
use agentnative_contract::{Against, Contract, RunExit, Violation, counted};
use agentnative_core::model::{OutputFormat, Stream};
use strict_json::Position;

/// Maximum number of bytes of stderr that are validated.
const MAX_STDERR: u64 = 64 << 20;
/// Maximum number of violations of a run that a message describes. Further violations are only counted.
const MAX_NAMED: usize = 4;

/// Judges `p2-contract-schema`, `p2-contract-stream` or `p2-contract-exit`: each run of a probe with a contract meets
/// the contract's rules of the given kind.
pub fn judge_rules(context: &CheckContext, kind: Against) -> Judgement {
    let has_rules = |contract: &Contract| match kind {
        Against::Json | Against::Schema => true,
        Against::Stream => contract.has_stream_rules(),
        Against::Exit => !contract.exit_codes().is_empty(),
    };
    let formats =
        context.sources().flat_map(|probe| OutputFormat::ALL.into_iter().map(move |format| (probe, format)));
    let mut declared = formats.filter_map(|(probe, format)| context.contract_for(probe, format)).peekable();
    if declared.peek().is_none() {
        return Judgement::NotApplicable("no probe declares a contract".into());
    }
    if !declared.any(has_rules) {
        return Judgement::NotApplicable("the declared contracts have no rules of this kind".into());
    }
    let runs = context.sources().flat_map(|probe| context.runs_of(probe));
    let assertions = runs
        .filter(RunView::expects_plain_stdout)
        .filter_map(|run| Some((run, context.contract_of(&run).filter(|contract| has_rules(contract))?)))
        .filter(|(run, contract)| run.why_unusable().is_some() || applies(run, contract, kind))
        .map(|(run, contract)| validate(&run, contract, kind));
    let missing = declare_success("");
    Judgement::from_assertions(assertions, format!("no run printed output that a contract covers: {missing}"))
}

/// True if the rules of `kind` apply to a run. To a probe that is expected to fail, they apply only if the contract has
/// rules for failures, and if the run printed something or the rules concern its exit code.
fn applies(run: &RunView, contract: &Contract, kind: Against) -> bool {
    let about_failures = !contract.exit_codes().is_empty() || contract.error_stream().is_some();
    let printed = kind == Against::Exit || !run.bytes(Stream::Stdout).is_empty();
    run.probe.prints_data() || about_failures && printed
}

fn validate(run: &RunView, contract: &Contract, kind: Against) -> Assertion {
    run.usable()?;
    let bytes = run.bytes(Stream::Stdout);
    let nothing = bytes.is_empty() && run.format() != OutputFormat::Jsonl;
    if !nothing && run.scan().first_structural_problem().is_some() {
        return Err(run.not_parsed().into());
    }
    let stderr = run.bytes(Stream::Stderr).first(MAX_STDERR);
    let exit = RunExit { code: run.shell_code(), condition: None, stderr: Some(&stderr) };
    let verdict = run.context.scans.verdict(contract, bytes, run.format(), exit);
    let verdict = match &*verdict {
        Ok(verdict) => verdict,
        Err(error) => return inconclusive(format!("stdout of {} could not be read: {error}", run.label())),
    };
    let errors = violations_of_kind(kind, &verdict.errors);
    if !errors.is_empty() {
        return broken(run, contract, &errors, verdict.omitted.count_against(kind));
    }
    if verdict.skipped_facts > 0 {
        let skipped = counted(verdict.skipped_facts, "rule check");
        return inconclusive(format!("{}: {skipped} skipped: memory limit reached", run.label()));
    }
    fail_known_findings(run, contract, &violations_of_kind(kind, &verdict.known))
}

fn violations_of_kind(kind: Against, violations: &[Violation]) -> Vec<&Violation> {
    violations.iter().filter(|violation| violation.against == kind).collect()
}

/// Fails with the given violations. `more` is the number of further violations in the run, which are only counted.
fn broken(run: &RunView, contract: &Contract, violations: &[&Violation], more: u64) -> Assertion {
    let named = describe_violations(violations, more);
    let kind = match violations[0].against {
        Against::Json | Against::Schema => "invalid",
        Against::Stream => "rule-broken",
        Against::Exit => "exit-code",
    };
    let caution = run.context.profile.contract_caution.as_ref();
    let caution = caution.map_or_else(String::new, |caution| format!(" ({caution})"));
    let detail = format!("the output violates the contract {}: {named}{caution}", contract.name());
    failed_at(run, kind, violations[0], detail)
}

/// Fails with violations that the contract lists as known findings; they are reported as warnings. Passes if there are
/// none.
fn fail_known_findings(run: &RunView, contract: &Contract, violations: &[&Violation]) -> Assertion {
    let Some(first) = violations.first() else { return Ok(()) };
    let detail = format!(
        "a known finding of the contract {}: {}",
        contract.name(),
        describe_violations(violations, 0)
    );
    failed_at(run, "known", first, detail).map_err(Unmet::into_known)
}

/// Describes violations in one sentence: the first distinct ones in detail, all others as a number. `more` is the
/// number of violations that are not in the slice.
fn describe_violations(violations: &[&Violation], more: u64) -> String {
    let mut distinct: Vec<&Violation> = Vec::new();
    for violation in violations {
        // The same violation at another place is not repeated.
        let alike = |other: &&Violation| {
            let elsewhere = (other.event, &other.pointer) != (violation.event, &violation.pointer);
            other.rule == violation.rule && (elsewhere || other.message == violation.message)
        };
        if distinct.len() < MAX_NAMED && !distinct.iter().any(alike) {
            distinct.push(violation);
        }
    }
    let more = more + (violations.len() - distinct.len()) as u64;
    let named = distinct.into_iter().map(|violation| match (violation.event, &violation.finding) {
        // The exit code has no position in the output.
        (_, Some(finding)) if violation.against == Against::Exit => finding.to_string(),
        (Some(event), _) => format!("event {event}, {violation}"),
        (None, _) => violation.to_string(),
    });
    let named = named.collect::<Vec<_>>().join("; ");
    let more = if more > 0 { format!(" (and {more} more in this run)") } else { String::new() };
    format!("{named}{more}")
}

/// Fails at the position of `violation` in stdout.
fn failed_at(run: &RunView, kind: &str, violation: &Violation, detail: String) -> Assertion {
    if run.bytes(Stream::Stdout).is_empty() {
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
