//! Signals to the checker. One test, since signals are for the whole process.

use crate::alone::alone;
use crate::runs::{finish, options, spec, text};
use agentnative::model::Variant;
use agentnative::run::{End, RunSpec};
use std::time::Duration;

fn sh(script: &str) -> RunSpec {
    spec("/bin/sh", &["-c", script], Variant::Plain)
}

#[test]
fn a_signal_ends_all_runs_and_keeps_what_there_is() {
    alone("interrupt::a_signal_ends_all_runs_and_keeps_what_there_is", || {
        let mut options = options();
        options.jobs = 2;
        options.stop_on_signals = true;
        let us = std::process::id();
        let signal = format!("echo before; sleep 0.2; kill -INT {us}; exec sleep 1000");
        let specs = vec![sh("echo first"), sh(&signal), sh("exit 0")];
        let finished = finish(options.clone(), specs);
        assert_eq!(finished.interrupted, Some(2));
        let cut = finished.observations.iter().find(|one| one.end == End::Interrupted).unwrap();
        assert_eq!(text(&cut.stdout), "before\n");
        assert_eq!(finished.observations[0].end, End::Exited(0));

        // A second signal does not wait for those who ignore the first.
        options.grace = Duration::from_secs(1000);
        options.jobs = 1;
        let stubborn = format!(
            "trap '' TERM; echo before; kill -TERM {us}; sleep 0.3; kill -TERM {us}; exec sleep 1000"
        );
        let finished = finish(options, vec![sh(&stubborn), sh("exit 0")]);
        assert_eq!(finished.interrupted, Some(15));
        // The second run never started.
        assert_eq!(finished.observations.len(), 1);
        assert_eq!(finished.observations[0].end, End::Interrupted);
    });
}
