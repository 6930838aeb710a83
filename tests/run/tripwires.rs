//! Tripwires: stand-ins for browsers, editors and pagers that record the calls of a run.

use super::{run, sh};
use crate::runs::text;
use agentnative::model::Variant;
use agentnative::run::{RunEnd, TripwireCall, TripwirePurpose};

fn trips(script: &str) -> Vec<(String, Vec<String>)> {
    let outcome = run(sh(script, Variant::Plain));
    assert_eq!(outcome.end, RunEnd::Exited(0), "{script}: {}", text(&outcome.stderr));
    outcome.trips.unwrap().into_iter().map(|TripwireCall { program, args }| (program, args)).collect()
}

fn trip(program: &str, args: &[&str]) -> (String, Vec<String>) {
    (program.to_owned(), args.iter().map(|arg| (*arg).to_owned()).collect())
}

#[test]
fn each_called_program_is_reported_with_its_arguments() {
    assert_eq!(trips("true"), []);
    for program in TripwirePurpose::ALL.into_iter().flat_map(TripwirePurpose::programs) {
        assert_eq!(trips(&format!("{program} </dev/null")), [trip(program, &[])], "{program}");
    }
    assert_eq!(
        trips(
            "xdg-open 'https://a.b/?c=d e'; vi '' \"$(printf 'a\\nb')\" </dev/null; env -i \"$(command -v nano)\" x"
        ),
        [trip("xdg-open", &["https://a.b/?c=d e"]), trip("vi", &["", "a\nb"]), trip("nano", &["x"])]
    );
}

#[test]
fn a_pager_prints_its_input_and_does_not_wait() {
    for variant in [Variant::Plain, Variant::Tty, Variant::FullTerminal] {
        let script = "printf 'one\\n' | less -R; echo two >\"$TMPDIR/file\"; more +3 -d \"$TMPDIR/file\"";
        let outcome = run(sh(script, variant));
        assert_eq!(
            (&outcome.end, text(&outcome.stdout).as_str()),
            (&RunEnd::Exited(0), "one\ntwo\n"),
            "{variant:?}"
        );
        assert_eq!(outcome.trips.unwrap().len(), 2);
    }
}

#[test]
fn programs_of_the_project_are_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("open");
    std::fs::copy("/bin/true", &own).unwrap();
    let behind_the_tripwires = "PATH=\"${PATH%%:*}:$OWN:${PATH#*:}\"; open door && less </dev/null";
    let mut spec = sh(behind_the_tripwires, Variant::Plain);
    spec.job.env.push(("OWN".into(), folder.path().into()));
    spec.job.unreplaced_programs = vec!["open".to_owned()];
    let outcome = run(spec);
    assert_eq!(outcome.end, RunEnd::Exited(0));
    let called: Vec<String> = outcome.trips.unwrap().into_iter().map(|trip| trip.program).collect();
    assert_eq!(called, ["less"]);
}

#[test]
fn a_damaged_log_is_read_up_to_the_damage() {
    let outcome = run(sh("less </dev/null; printf 'junk' >>\"${TMPDIR%/*}/trip.log\"", Variant::Plain));
    assert_eq!(outcome.trips.unwrap().len(), 1);
    let many = "i=0; while [ $i -lt 300 ]; do vi; i=$((i+1)); done";
    assert_eq!(run(sh(many, Variant::Plain)).trips.unwrap().len(), 100);
    for unreadable in ["rm -rf", "chmod 000"] {
        let outcome =
            run(sh(&format!("less </dev/null; {unreadable} \"${{TMPDIR%/*}}/trip\""), Variant::Plain));
        assert!(
            outcome.end == RunEnd::Exited(0) || outcome.trips.is_some(),
            "{unreadable}: {:?}",
            outcome.end
        );
    }
    let instead =
        run(sh("rm -f \"${TMPDIR%/*}/trip.log\"; mkfifo \"${TMPDIR%/*}/trip.log\"", Variant::Plain));
    assert_eq!((instead.end, instead.trips), (RunEnd::Exited(0), None));
}
