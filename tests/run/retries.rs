//! Runs that time out: which are repeated alone, and which are left out.

use super::sh;
use crate::runs::{finish, options, text};
use agentnative::model::Variant;
use agentnative::run::{Observation, RunEnd, RunSpec, Runner};
use rustix::thread::{CpuSet, sched_getaffinity};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// Makes `count` runs of one family with two jobs. Returns the observations and the number of started runs.
fn run_family(folder: &Path, script: &str, count: usize) -> (Vec<Observation>, usize) {
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
    let mut reported = 0;
    let finished = Runner::new(options).run_all(specs, &mut |_| reported += 1).unwrap();
    assert_eq!(reported, finished.observations.len());
    let started = fs::read_to_string(folder.join("begun")).unwrap().lines().count();
    (finished.observations, started)
}

fn summaries(observations: &[Observation]) -> Vec<(u8, RunEnd, bool)> {
    observations.iter().map(|run| (run.key.nth, run.end.clone(), run.alone)).collect()
}

#[test]
fn a_parallel_run_that_times_out_while_computing_is_repeated_alone() {
    let folder = tempfile::tempdir().unwrap();
    // The first two runs compute until their deadline.
    let script = "mkdir one 2>/dev/null || mkdir two 2>/dev/null || exit 3; while :; do :; done";
    let (observations, started) = run_family(folder.path(), script, 4);
    assert_eq!(started, 6);
    let ended = |nth, alone| (nth, RunEnd::Exited(3), alone);
    assert_eq!(summaries(&observations), [ended(0, true), ended(1, true), ended(2, false), ended(3, false)]);
}

#[test]
fn a_call_that_also_hangs_alone_is_not_repeated_under_further_conditions() {
    let folder = tempfile::tempdir().unwrap();
    let (observations, started) = run_family(folder.path(), "while :; do :; done", 6);
    // Two runs in parallel, and one of them again alone.
    assert_eq!(started, 3);
    let mut alone: Vec<bool> = observations.iter().map(|run| run.alone).collect();
    alone.sort_unstable();
    assert_eq!(alone, [false, true]);
    assert!(observations.iter().all(|run| run.end == RunEnd::TimedOut));
}

#[test]
fn a_parallel_run_that_times_out_while_waiting_is_repeated_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (observations, started) = run_family(folder.path(), "sleep 60", 6);
    assert_eq!(started, 3);
    // The run that was not repeated is marked as parallel.
    let mut attempts: Vec<_> =
        observations.iter().map(|run| (&run.end, run.alone, run.in_parallel)).collect();
    attempts.sort_by_key(|(_, alone, _)| *alone);
    assert_eq!(attempts, [(&RunEnd::TimedOut, false, true), (&RunEnd::TimedOut, true, false)]);
}

#[test]
fn a_run_that_waits_for_the_lock_of_another_run_is_repeated_alone() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // The first run holds the lock until the other one, which has the pipe open, has ended.
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
    let observations = finish(options, vec![spec(0, 60), spec(1, 1)]).observations;
    assert_eq!(summaries(&observations), [(0, RunEnd::Exited(0), false), (1, RunEnd::Exited(0), true)]);
    assert_eq!((text(&observations[1].stdout).as_str(), &observations[1].lock), ("done\n", &None));
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
    let observation = finish(options(), vec![spec]).observations.remove(0);
    let lock = observation.outcome.lock.unwrap();
    assert_eq!((observation.outcome.end, lock.path.as_deref()), (RunEnd::TimedOut, path.to_str()));
    // The name may be that of a thread, as the lock belongs to the process.
    assert!(lock.holder.is_some_and(|name| !name.is_empty()));
}

#[test]
fn if_most_calls_hang_only_some_are_repeated() {
    let spec = |nth: u8| {
        let mut spec = sh("sleep 60", Variant::Plain);
        spec.key.nth = nth;
        spec.job.deadline = Duration::from_millis(100);
        spec.job.family = Some(nth.into());
        spec
    };
    let mut options = options();
    options.jobs = 8;
    let observations = finish(options, (0..24).map(spec).collect()).observations;
    assert_eq!(observations.len(), 24);
    assert!(observations.iter().all(|run| run.end == RunEnd::TimedOut && run.alone != run.in_parallel));
    assert_eq!(observations.iter().filter(|run| run.alone).count(), 10);
}

#[test]
fn time_without_a_processor_does_not_count_towards_the_deadline() {
    let processor = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|cpu| processor.is_set(*cpu)).unwrap().to_string();
    let mut other = Command::new("taskset");
    let mut other = other.args(["-c", &first, "sh", "-c", "while :; do :; done"]).spawn().unwrap();
    let script = format!("exec taskset -c {first} chrt -i 0 sh -c 'while :; do :; done'");
    let mut spec = sh(&script, Variant::Plain);
    spec.job.deadline = Duration::from_secs(1);
    let observation = finish(options(), vec![spec]).observations.remove(0);
    other.kill().unwrap();
    other.wait().unwrap();
    assert_eq!(observation.end, RunEnd::TimedOut);
    if !Path::new("/proc/self/schedstat").exists() {
        assert_eq!(observation.starvation, None);
        return;
    }
    // The run has at most half of the processor.
    let starvation = observation.starvation.unwrap();
    assert!(starvation.is_significant(), "{starvation:?}");
    assert!(observation.duration > Duration::from_millis(1300), "{:?} {starvation:?}", observation.duration);
    assert!(starvation.elapsed < Duration::from_secs(6), "{starvation:?}");
}
