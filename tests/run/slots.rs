//! Slots that runners share: they limit the number of parallel runs of all runners.

use super::sh;
use crate::runs::options;
use agentnative::model::Variant;
use agentnative::run::{RunEnd, Runner, RunnerOptions, Slots};
use std::process::Command;
use std::time::Duration;

/// Ends of two runs of one runner that wait for each other, each at one end of a pipe.
fn ends_of_two_dependent_runs(slots: &Slots, deadline: Duration) -> Vec<RunEnd> {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let pipe = pipe.display();
    let script = format!("if mkdir {pipe}.first 2>/dev/null; then echo >{pipe}; else read -r x <{pipe}; fi");
    let spec = || {
        let mut spec = sh(&script, Variant::Plain);
        spec.job.deadline = deadline;
        spec
    };
    let runner = RunnerOptions { jobs: 4, slots: Some(slots.clone()), ..options() };
    let finished = Runner::new(runner).run_all(vec![spec(), spec()], &mut |_| {}).unwrap();
    finished.observations.into_iter().map(|observation| observation.outcome.end).collect()
}

#[test]
fn a_runner_has_one_slot_and_takes_shared_ones() {
    let both = vec![RunEnd::Exited(0), RunEnd::Exited(0)];
    assert_eq!(ends_of_two_dependent_runs(&Slots::new(1).unwrap(), Duration::from_secs(60)), both);
    // Without a shared slot the second run starts after the first, which times out.
    assert_ne!(ends_of_two_dependent_runs(&Slots::new(0).unwrap(), Duration::from_millis(300)), both);
}

#[test]
fn slots_are_returned_after_the_runs() {
    let slots = Slots::new(1).unwrap();
    let threads = [(); 3].map(|()| {
        let runner = RunnerOptions { jobs: 4, slots: Some(slots.clone()), ..options() };
        let specs = (0..20).map(|_| sh("exit 0", Variant::Plain)).collect();
        std::thread::spawn(move || Runner::new(runner).run_all(specs, &mut |_| {}).unwrap())
    });
    for thread in threads {
        assert_eq!(thread.join().unwrap().observations.len(), 20);
    }
    assert_eq!(
        ends_of_two_dependent_runs(&slots, Duration::from_secs(60)),
        [RunEnd::Exited(0), RunEnd::Exited(0)]
    );
}
