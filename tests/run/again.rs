//! Runs that are out of time: which are made again alone, and which are not made at all.

use super::sh;
use crate::runs::options;
use agentnative::model::Variant;
use agentnative::run::{End, Observation, RunSpec, Runner};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// What came of `count` runs of a family that are made two at a time: each notes that it was begun.
fn family(folder: &Path, script: &str, count: usize) -> (Vec<Observation>, usize) {
    let script = format!("echo begun >>begun; {script}");
    let spec = |nth| {
        let mut spec: RunSpec = sh(&script, Variant::Plain);
        spec.key.nth = nth as u8;
        spec.job.cwd = folder.into();
        spec.job.deadline = Duration::from_secs(1);
        spec.job.family = Some(7);
        spec
    };
    let mut options = options();
    options.jobs = 2;
    let specs = (0..count).map(spec).collect();
    let mut told = 0;
    let finished = Runner::new(options).run_all_blocking(specs, &mut |_| told += 1).unwrap();
    assert_eq!(told, finished.observations.len());
    let begun = fs::read_to_string(folder.join("begun")).unwrap().lines().count();
    (finished.observations, begun)
}

fn ends(observations: &[Observation]) -> Vec<(u8, End, bool)> {
    observations.iter().map(|seen| (seen.key.nth, seen.end.clone(), seen.alone)).collect()
}

#[test]
fn what_computes_beside_others_is_made_again_alone() {
    let folder = tempfile::tempdir().unwrap();
    // The first two find no room for themselves.
    let script = "mkdir one 2>/dev/null || mkdir two 2>/dev/null || exit 3; while :; do :; done";
    let (seen, begun) = family(folder.path(), script, 4);
    assert_eq!(begun, 6);
    let ended = |nth, alone| (nth, End::Exited(3), alone);
    assert_eq!(ends(&seen), [ended(0, true), ended(1, true), ended(2, false), ended(3, false)]);
}

#[test]
fn what_hangs_alone_as_well_is_not_run_again_under_every_condition() {
    let folder = tempfile::tempdir().unwrap();
    let (seen, begun) = family(folder.path(), "while :; do :; done", 6);
    // Two side by side, and one of those alone.
    assert_eq!(begun, 3);
    let mut alone: Vec<bool> = seen.iter().map(|seen| seen.alone).collect();
    alone.sort_unstable();
    assert_eq!(alone, [false, true]);
    assert!(seen.iter().all(|seen| seen.end == End::TimedOut));
}

#[test]
fn what_waits_is_not_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let (seen, begun) = family(folder.path(), "sleep 60", 6);
    assert_eq!(begun, 2);
    assert_eq!(ends(&seen), [(0, End::TimedOut, false), (1, End::TimedOut, false)]);
}
