//! Signals to the checker. This is a single test because a signal is for the whole process.

use crate::own_process::in_own_process;
use crate::runs::{finish, options, spec, text};
use agentnative::model::Variant;
use agentnative::run::{RunEnd, RunSpec};
use std::time::Duration;

fn sh(script: &str) -> RunSpec {
    spec("/bin/sh", &["-c", script], Variant::Plain)
}

#[test]
fn a_signal_ends_all_runs_and_keeps_their_output() {
    in_own_process("interrupt::a_signal_ends_all_runs_and_keeps_their_output", || {
        let mut options = options();
        options.jobs = 2;
        options.stop_on_signals = true;
        let own_pid = std::process::id();
        let signal = format!("echo before; sleep 0.2; kill -INT {own_pid}; exec sleep 1000");
        let specs = vec![sh("echo first"), sh(&signal), sh("exit 0")];
        let finished = finish(options.clone(), specs);
        assert_eq!(finished.interrupted, Some(2));
        let interrupted = finished.observations.iter().find(|run| run.end == RunEnd::Interrupted).unwrap();
        assert_eq!(text(&interrupted.stdout), "before\n");
        assert_eq!(finished.observations[0].end, RunEnd::Exited(0));

        // A second signal does not wait for runs that ignore the first.
        options.grace = Duration::from_secs(1000);
        options.jobs = 1;
        let ignoring_term = format!(
            "trap '' TERM; echo before; kill -TERM {own_pid}; sleep 0.3; kill -TERM {own_pid}; exec sleep 1000"
        );
        let finished = finish(options, vec![sh(&ignoring_term), sh("exit 0")]);
        assert_eq!(finished.interrupted, Some(15));
        // The second run never started.
        assert_eq!(finished.observations.len(), 1);
        assert_eq!(finished.observations[0].end, RunEnd::Interrupted);
    });
}
