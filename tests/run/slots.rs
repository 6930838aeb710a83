//! Slots that runners share: as many runs go side by side as there are slots, whoever makes them.

use super::sh;
use crate::runs::options;
use agentnative::model::Variant;
use agentnative::run::{End, Runner, RunnerOptions, Slots};
use std::process::Command;
use std::time::Duration;

/// Two runs of one runner that wait for each other, each at one end of a pipe.
fn ends(slots: &Slots, deadline: Duration) -> Vec<End> {
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
    let seen = Runner::new(runner).run_all_blocking(vec![spec(), spec()], &mut |_| {}).unwrap();
    seen.observations.into_iter().map(|seen| seen.outcome.end).collect()
}

#[test]
fn a_runner_has_one_slot_of_its_own_and_takes_what_is_shared() {
    let both = vec![End::Exited(0), End::Exited(0)];
    assert_eq!(ends(&Slots::new(1).unwrap(), Duration::from_secs(60)), both);
    // Without another slot the second begins when the first is over, which waits for it in vain.
    assert_ne!(ends(&Slots::new(0).unwrap(), Duration::from_millis(300)), both);
}

#[test]
fn slots_are_given_back() {
    let slots = Slots::new(1).unwrap();
    let threads = [(); 3].map(|()| {
        let runner = RunnerOptions { jobs: 4, slots: Some(slots.clone()), ..options() };
        let specs = (0..20).map(|_| sh("exit 0", Variant::Plain)).collect();
        std::thread::spawn(move || Runner::new(runner).run_all_blocking(specs, &mut |_| {}).unwrap())
    });
    for thread in threads {
        assert_eq!(thread.join().unwrap().observations.len(), 20);
    }
    assert_eq!(ends(&slots, Duration::from_secs(60)), [End::Exited(0), End::Exited(0)]);
}
