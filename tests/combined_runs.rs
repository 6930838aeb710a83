//! Which runs are made: several conditions at once, each alone where something differs, again where it depends on that.

use crate::made_up::{Answer, Call, PROBES, conforming, data, ended, seen};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{Recording, Scans, judge, wanted};
use agentnative::model::{
    COMBINED, CheckId, CheckResult, Condition, Layer, OutputFormat, ProbeId, Status, Variant,
};
use agentnative::run::{End, Observation, RunKey};
use std::collections::BTreeSet;

fn is_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// The behavioral checks of principle 2.
fn of_output() -> Vec<&'static Check> {
    checks().iter().filter(|check| check.layer == Layer::Behavioral && check.principle == 2).collect()
}

fn of_list(recording: &Recording) -> Vec<&RunKey> {
    let of_list = |key: &&RunKey| key.probe == ProbeId::declared("list");
    recording.observations.iter().map(|seen| &seen.key).filter(of_list).collect()
}

#[test]
fn a_probe_that_succeeds_in_three_formats_runs_fifteen_times() {
    assert_eq!(of_list(&seen(PROBES, &of_output(), conforming)).len(), 15);
}

/// The target colours its list in json under this condition.
fn coloured(under: Condition) -> impl Fn(&Call) -> Answer {
    move |call| {
        let here = call.args.first().is_some_and(|arg| arg == "list") && call.format == OutputFormat::Json;
        let Answer(stdout, ..) = conforming(call);
        match here && (call.variant, call.nth) == under {
            true => data(format!("\u{1b}[1m{stdout}")),
            false => conforming(call),
        }
    }
}

#[test]
fn the_condition_that_makes_the_difference_is_named() {
    for (whole, parts) in COMBINED {
        for part in *parts {
            let recording = seen(PROBES, &of_output(), coloured(*part));
            let pure = judge(&recording, &of_output()).unwrap().results;
            let pure = pure.into_iter().find(|result| result.id == CheckId::P2OutputPure).unwrap();
            let named: Vec<_> =
                pure.evidence.iter().map(|at| (at.variant.unwrap(), at.nth.unwrap())).collect();
            // What stdin is makes no difference to data that is judged.
            let expected = if part.0 == Variant::OpenStdin { vec![] } else { vec![*part] };
            assert_eq!(named, expected, "{whole:?}: {}", pure.message);
            let runs = of_list(&recording);
            let is_made = |condition: &Condition| {
                let json = |key: &&&RunKey| key.format == OutputFormat::Json;
                runs.iter().filter(json).any(|key| (key.variant, key.nth) == *condition)
            };
            assert!(parts.iter().all(is_made) && is_made(whole), "{part:?}");
        }
    }
}

#[test]
fn a_run_under_several_conditions_shows_each_of_them_or_is_not_enough() {
    let checks = of_output();
    let key = RunKey::plain(ProbeId::declared("list"), OutputFormat::Text).under((Variant::Tty, 1));
    let status = |recording: &Recording, id: CheckId| {
        let results = judge(recording, &checks).unwrap().results;
        results.into_iter().find(|result| result.id == id).unwrap()
    };
    let mut recording = seen(PROBES, &checks, conforming);
    is_status(&status(&recording, CheckId::P2ExitConsistent), Status::Pass);
    // Text on a terminal is for people, with whatever code: whether the variables make the difference is open.
    let at = recording.observations.iter().position(|seen| seen.key == key).unwrap();
    recording.observations[at].outcome.end = End::Exited(3);
    let open = status(&recording, CheckId::P2ExitConsistent);
    is_status(&open, Status::Unverified);
    assert!(open.message.contains("required runs were not recorded"), "{}", open.message);
    let wants: BTreeSet<RunKey> =
        wanted(&recording, &checks, &Scans::default()).unwrap().into_iter().collect();
    assert_eq!(wants, key.parts().unwrap().into_iter().collect());
    // Each of them alone makes none: it takes all of them, and is told.
    let whole = recording.observations[at].clone();
    for part in wants {
        let mut alone = Observation { key: part, ..whole.clone() };
        alone.outcome.end = End::Exited(0);
        recording.observations.push(alone);
    }
    assert_eq!(wanted(&recording, &checks, &Scans::default()).unwrap(), []);
    recording.observations[at].outcome.end = End::Signaled(11);
    let told = status(&recording, CheckId::P2ExitConsistent);
    is_status(&told, Status::Fail);
    let seen_at = (told.evidence[0].variant, told.evidence[0].nth);
    assert_eq!((told.evidence.len(), seen_at), (1, (Some(Variant::Tty), Some(1))));
    // One of them does: that one is told.
    let last = recording.observations.len() - 1;
    recording.observations[last].outcome.end = End::Signaled(11);
    let told = status(&recording, CheckId::P2ExitConsistent);
    let one = &recording.observations[last].key;
    assert!(told.evidence.iter().all(|at| (at.variant, at.nth) == (Some(one.variant), Some(one.nth))));
    // Runs under each condition show as much as one under all.
    recording.observations[last].outcome.end = End::Exited(0);
    recording.observations.remove(at);
    is_status(&status(&recording, CheckId::P2ExitConsistent), Status::Pass);
}

#[test]
fn a_format_that_is_rejected_is_requested_plainly() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let refusing = |call: &Call| match call.format {
        OutputFormat::Jsonl => ended(2, "", "unknown format\n"),
        _ => conforming(call),
    };
    let recording = seen(PROBES, &checks, refusing);
    // Made-up targets are asked all the same: what these runs show is not needed.
    let mut few = recording.clone();
    few.observations.retain(|seen| {
        seen.key.format != OutputFormat::Jsonl
            || seen.key.variant == Variant::Plain
            || seen.key.probe != ProbeId::declared("list")
    });
    assert!(few.observations.len() < recording.observations.len());
    assert_eq!(wanted(&few, &checks, &Scans::default()).unwrap(), []);
    let statuses = |recording: &Recording| -> Vec<(CheckId, Status)> {
        let results = judge(recording, &checks).unwrap().results;
        results.iter().map(|result| (result.id, result.status)).collect()
    };
    assert_eq!(statuses(&few), statuses(&recording));
}
