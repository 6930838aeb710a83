//! The runs that are made: several conditions in one combined run, each condition alone if the combined run differs,
//! and repetitions if a verdict depends on them.

use crate::simulated_target::{Call, CallResult, PROBES, conforming, exited, record, success};
use agentnative::catalogue::{Check, DerivedKind, checks};
use agentnative::check::{Recording, Scans, deciding_runs, judge};
use agentnative::model::{
    COMBINED, CheckId, CheckResult, Condition, Layer, OutputFormat, ProbeId, Status, Variant,
};
use agentnative::run::{Observation, RunEnd, RunKey};
use std::collections::BTreeSet;

fn assert_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// Returns the behavioral checks of principle 2.
fn output_checks() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral && check.principle == 2).collect()
}

fn runs_of_list(recording: &Recording) -> Vec<&RunKey> {
    let is_list = |key: &&RunKey| key.probe == ProbeId::declared("list");
    recording.observations.iter().map(|run| &run.key).filter(is_list).collect()
}

#[test]
fn a_probe_that_succeeds_in_three_formats_makes_few_runs() {
    assert_eq!(runs_of_list(&record(PROBES, &output_checks(), conforming)).len(), 16);
    let all: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let recording = record(PROBES, &all, conforming);
    let without_format = |run: &&Observation| match &run.key.probe {
        ProbeId::Derived { kind, source, .. } => {
            *kind == DerivedKind::NoFormat && source.as_deref() == Some("list")
        }
        _ => false,
    };
    let without_format = recording.observations.iter().filter(without_format).count();
    assert!(runs_of_list(&recording).len() + without_format <= 30, "{without_format}");
}

/// A target that colours the output of `list` in json under one condition.
fn coloured_under(condition: Condition) -> impl Fn(&Call) -> CallResult {
    move |call| {
        let is_list_in_json =
            call.args.first().is_some_and(|arg| arg == "list") && call.format == OutputFormat::Json;
        let CallResult(stdout, ..) = conforming(call);
        match is_list_in_json && (call.variant, call.nth) == condition {
            true => success(format!("\u{1b}[1m{stdout}")),
            false => conforming(call),
        }
    }
}

#[test]
fn the_condition_that_causes_the_difference_is_reported() {
    for (combined, conditions) in COMBINED {
        for condition in *conditions {
            let recording = record(PROBES, &output_checks(), coloured_under(*condition));
            let id = match condition.0.has_rare_locale(condition.1) {
                true => CheckId::P2OutputLocale,
                false => CheckId::P2OutputPure,
            };
            let results = judge(&recording, &output_checks()).unwrap().results;
            let pure = results.into_iter().find(|result| result.id == id).unwrap();
            let reported: Vec<_> =
                pure.evidence.iter().map(|at| (at.variant.unwrap(), at.nth.unwrap())).collect();
            // The stdin of a run does not change the data that is judged.
            let expected = if condition.0 == Variant::OpenStdin { vec![] } else { vec![*condition] };
            assert_eq!(reported, expected, "{combined:?}: {}", pure.message);
            let runs = runs_of_list(&recording);
            let is_made = |condition: &Condition| {
                let json = |key: &&&RunKey| key.format == OutputFormat::Json;
                runs.iter().filter(json).any(|key| (key.variant, key.nth) == *condition)
            };
            assert!(conditions.iter().all(is_made) && is_made(combined), "{condition:?}");
        }
    }
}

#[test]
fn a_combined_run_is_split_where_its_cause_is_open() {
    let checks = output_checks();
    let key = RunKey::plain_run_key(ProbeId::declared("list"), OutputFormat::Text)
        .with_condition((Variant::Tty, 1));
    let result_of = |recording: &Recording, id: CheckId| {
        let results = judge(recording, &checks).unwrap().results;
        results.into_iter().find(|result| result.id == id).unwrap()
    };
    let mut recording = record(PROBES, &checks, conforming);
    assert_status(&result_of(&recording, CheckId::P2ExitConsistent), Status::Pass);
    // Text on a terminal may have any exit code, so whether the environment variables cause the difference is open.
    let combined_at = recording.observations.iter().position(|run| run.key == key).unwrap();
    recording.observations[combined_at].outcome.end = RunEnd::Exited(3);
    let open = result_of(&recording, CheckId::P2ExitConsistent);
    assert_status(&open, Status::Unverified);
    assert!(open.message.contains("required runs were not recorded"), "{}", open.message);
    let requested: BTreeSet<RunKey> =
        deciding_runs(&recording, &checks, &Scans::default()).unwrap().into_iter().collect();
    assert_eq!(requested, key.replaced_run_keys().unwrap().into_iter().collect());
    // No condition alone causes the difference: the combined run is reported.
    let combined = recording.observations[combined_at].clone();
    for key in requested {
        let mut alone = Observation { key, ..combined.clone() };
        alone.outcome.end = RunEnd::Exited(0);
        recording.observations.push(alone);
    }
    assert_eq!(deciding_runs(&recording, &checks, &Scans::default()).unwrap(), []);
    recording.observations[combined_at].outcome.end = RunEnd::Signaled(11);
    let reported = result_of(&recording, CheckId::P2ExitConsistent);
    assert_status(&reported, Status::Fail);
    let condition = (reported.evidence[0].variant, reported.evidence[0].nth);
    assert_eq!((reported.evidence.len(), condition), (1, (Some(Variant::Tty), Some(1))));
    // One condition causes it: that condition is reported.
    let last = recording.observations.len() - 1;
    recording.observations[last].outcome.end = RunEnd::Signaled(11);
    let reported = result_of(&recording, CheckId::P2ExitConsistent);
    let cause = &recording.observations[last].key;
    assert!(
        reported.evidence.iter().all(|at| (at.variant, at.nth) == (Some(cause.variant), Some(cause.nth)))
    );
    // A run under each condition replaces the combined run.
    recording.observations[last].outcome.end = RunEnd::Exited(0);
    recording.observations.remove(combined_at);
    assert_status(&result_of(&recording, CheckId::P2ExitConsistent), Status::Pass);
}

#[test]
fn a_rejected_format_is_requested_in_plain_runs_only() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let rejecting = |call: &Call| match call.format {
        OutputFormat::Jsonl => exited(2, "", "unknown format\n"),
        _ => conforming(call),
    };
    let recording = record(PROBES, &checks, rejecting);
    // Simulated targets make these runs nevertheless, but no check needs them.
    let mut needed = recording.clone();
    needed.observations.retain(|run| {
        run.key.format != OutputFormat::Jsonl
            || run.key.variant == Variant::Plain
            || run.key.probe != ProbeId::declared("list")
    });
    assert!(needed.observations.len() < recording.observations.len());
    assert_eq!(deciding_runs(&needed, &checks, &Scans::default()).unwrap(), []);
    let statuses = |recording: &Recording| -> Vec<(CheckId, Status)> {
        let results = judge(recording, &checks).unwrap().results;
        results.iter().map(|result| (result.id, result.status)).collect()
    };
    assert_eq!(statuses(&needed), statuses(&recording));
}
