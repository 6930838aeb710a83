//! Runs that are out of time: which are made again alone, and which are not made at all.

use super::sh;
use crate::runs::{finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{End, Observation, RunSpec, Runner};
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs;
use std::path::Path;
use std::process::Command;
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
fn what_waits_is_repeated_alone_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let (seen, begun) = family(folder.path(), "sleep 60", 6);
    assert_eq!(begun, 3);
    // What was not repeated decides nothing.
    let mut told: Vec<_> = seen.iter().map(|seen| (&seen.end, seen.alone, seen.in_parallel)).collect();
    told.sort_by_key(|(_, alone, _)| *alone);
    assert_eq!(told, [(&End::TimedOut, false, true), (&End::TimedOut, true, false)]);
}

#[test]
fn a_run_that_waits_for_the_lock_of_another_run_is_repeated_alone() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // The first one holds the lock until the other one is gone, which has the pipe open.
    let script = "exec 9>>lock; if flock -n 9; then mkdir held 2>/dev/null && cat pipe
                  else exec 8>pipe; flock 9; fi; echo done";
    let spec = |nth: u8, deadline| {
        let mut spec = sh(script, Variant::Plain);
        spec.key.nth = nth;
        spec.job.cwd = folder.path().into();
        spec.job.deadline = Duration::from_secs(deadline);
        spec.job.family = Some(nth.into());
        spec
    };
    let mut options = options();
    options.jobs = 2;
    let seen = finish(options, vec![spec(0, 60), spec(1, 1)]).observations;
    assert_eq!(ends(&seen), [(0, End::Exited(0), false), (1, End::Exited(0), true)]);
    assert_eq!((text(&seen[1].stdout).as_str(), &seen[1].lock), ("done\n", &None));
}

#[test]
fn a_lock_that_another_program_holds_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lock");
    let file = fs::File::create(&path).unwrap();
    file.lock().unwrap();
    let mut spec = sh("exec 9>>\"$0\"; flock 9", Variant::Plain);
    spec.job.args.push(path.clone().into());
    spec.job.deadline = Duration::from_millis(500);
    let seen = finish(options(), vec![spec]).observations.remove(0);
    let lock = seen.outcome.lock.unwrap();
    assert_eq!((seen.outcome.end, lock.path.as_deref()), (End::TimedOut, path.to_str()));
    // Threads have names of their own, and the lock is one of the process.
    assert!(lock.holder.is_some_and(|name| !name.is_empty()));
}

#[test]
fn where_most_calls_hang_only_some_are_repeated() {
    let spec = |nth: u8| {
        let mut spec = sh("sleep 60", Variant::Plain);
        spec.key.nth = nth;
        spec.job.deadline = Duration::from_millis(100);
        spec.job.family = Some(nth.into());
        spec
    };
    let mut options = options();
    options.jobs = 8;
    let seen = finish(options, (0..24).map(spec).collect()).observations;
    assert_eq!(seen.len(), 24);
    assert!(seen.iter().all(|seen| seen.end == End::TimedOut && seen.alone != seen.in_parallel));
    assert_eq!(seen.iter().filter(|seen| seen.alone).count(), 10);
}

#[test]
fn time_that_the_machine_withholds_does_not_count() {
    let processor = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|cpu| processor.is_set(*cpu)).unwrap().to_string();
    let mut other = Command::new("taskset");
    let mut other = other.args(["-c", &first, "sh", "-c", "while :; do :; done"]).spawn().unwrap();
    let script = format!("exec taskset -c {first} chrt -i 0 sh -c 'while :; do :; done'");
    let mut spec = sh(&script, Variant::Plain);
    spec.job.deadline = Duration::from_secs(1);
    let seen = finish(options(), vec![spec]).observations.remove(0);
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(seen.end, End::TimedOut);
    if !Path::new("/proc/self/schedstat").exists() {
        assert_eq!(seen.starvation, None);
        return;
    }
    // It has half of the processor at most: that of its session, or what is left over.
    let starvation = seen.starvation.unwrap();
    assert!(starvation.is_significant(), "{starvation:?}");
    assert!(seen.duration > Duration::from_millis(1300), "{:?} {starvation:?}", seen.duration);
    assert!(starvation.elapsed < Duration::from_secs(6), "{starvation:?}");
}
