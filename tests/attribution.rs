//! Problems that are unverified because the machine, or the confinement of the runs, may be their cause.

use crate::simulated_target::{Call, conforming, record};
use agentnative::catalogue::Check;
use agentnative::check::{Recording, judge};
use agentnative::model::{CheckId, Confinement, ProbeId, Status, Variant};
use agentnative::run::{Bytes, Limit, Observation, RunEnd, Starvation, Waiting};
use std::time::Duration;

const CONFIG: &str = "[[probe]]\nname = 'list'\nargs = ['list']\n";

/// What a run encountered.
#[derive(Debug, Clone, Copy)]
enum Obstacle {
    Network,
    OfflineWords,
    HiddenFile,
    MemoryLimit,
    Starvation,
}

#[derive(Debug, Clone, Copy)]
enum AffectedEnd {
    AsExpected,
    OtherExit,
    Signal,
    BrokenPipeTraceback,
    Hang,
    WaitForInput,
}

/// The runs of the probe that encountered the obstacle and ended that way.
#[derive(Debug, Clone, Copy)]
enum AffectedRuns {
    All,
    /// One run; the others encountered the obstacle too and ended as expected.
    OneOfAllWithObstacle,
    /// One run; the others did not encounter the obstacle.
    OneWithObstacle,
}

fn checks() -> Vec<&'static Check> {
    [CheckId::P2ExitSuccess, CheckId::P2ExitConsistent, CheckId::P2Completes].map(CheckId::check).to_vec()
}

fn apply_obstacle(run: &mut Observation, obstacle: Obstacle) {
    let append_to_stderr = |run: &mut Observation, words: &str| {
        let mut text = run.stderr.bytes.first(u64::MAX);
        text.extend(words.as_bytes());
        run.outcome.stderr.bytes = Bytes::from(text);
    };
    match obstacle {
        Obstacle::Network => run.outcome.missed_network = true,
        Obstacle::OfflineWords => append_to_stderr(run, "curl: Could not resolve host: example.com\n"),
        Obstacle::HiddenFile => {
            append_to_stderr(run, "cannot open /home/me/.demo/key: No such file or directory\n")
        }
        Obstacle::MemoryLimit => run.outcome.end = RunEnd::TooMuch(Limit::Memory(1 << 32)),
        Obstacle::Starvation => {
            let (withheld, elapsed) = (Duration::from_secs(9), Duration::from_secs(10));
            run.outcome.starvation = Some(Starvation { withheld, elapsed });
        }
    }
}

fn apply_end(run: &mut Observation, end: AffectedEnd) {
    let exit = |run: &mut Observation, text: &str| {
        run.outcome.end = RunEnd::Exited(3);
        run.outcome.stdout.bytes = Bytes::from(Vec::new());
        run.outcome.stderr.bytes = Bytes::from(text.as_bytes().to_vec());
    };
    match end {
        AffectedEnd::AsExpected => (),
        AffectedEnd::OtherExit => exit(run, "failed\n"),
        AffectedEnd::Signal => run.outcome.end = RunEnd::Signaled(11),
        AffectedEnd::BrokenPipeTraceback => {
            exit(run, "Traceback:\nBrokenPipeError: [Errno 32] Broken pipe\n")
        }
        AffectedEnd::Hang => run.outcome.end = RunEnd::TimedOut,
        AffectedEnd::WaitForInput => {
            run.outcome.end = RunEnd::TimedOut;
            run.outcome.waiting = Some(Waiting::Stdin);
        }
    }
}

fn recording(obstacle: Obstacle, end: AffectedEnd, affected: AffectedRuns) -> Recording {
    let mut recording = record(CONFIG, &checks(), |call: &Call| conforming(call));
    for run in &mut recording.observations {
        run.outcome.confinement = Some(Confinement::Namespaces);
        let of_list = run.key.probe == ProbeId::declared("list") || run.key.probe.from() == Some("list");
        let is_one = run.key.probe == ProbeId::declared("list") && run.key.variant == Variant::SlowReader;
        let has_obstacle = match affected {
            AffectedRuns::All | AffectedRuns::OneOfAllWithObstacle => of_list,
            AffectedRuns::OneWithObstacle => is_one,
        };
        if matches!(affected, AffectedRuns::All) && of_list || is_one {
            apply_end(run, end);
        }
        // A run that reached a limit did not end as expected.
        if has_obstacle
            && (is_one
                || !matches!(
                    (obstacle, affected),
                    (Obstacle::MemoryLimit, AffectedRuns::OneOfAllWithObstacle)
                ))
        {
            apply_obstacle(run, obstacle);
        }
    }
    recording
}

#[test]
fn a_problem_is_attributed_to_an_obstacle_only_if_that_may_be_the_cause() {
    use AffectedEnd::{AsExpected, BrokenPipeTraceback, Hang, OtherExit, Signal, WaitForInput};
    use AffectedRuns::{All, OneOfAllWithObstacle, OneWithObstacle};
    use Obstacle::{HiddenFile, MemoryLimit, Network, OfflineWords, Starvation as Starved};
    use Status::{Fail, Pass, Unverified};
    let all = [Network, OfflineWords, HiddenFile, MemoryLimit, Starved];
    let table = |end: AffectedEnd, affected: AffectedRuns| -> [Status; 5] {
        match (end, affected) {
            (AsExpected, _) => [Pass, Pass, Pass, Unverified, Pass],
            // The obstacle may be the cause, unless the other runs with it ended as expected.
            (OtherExit, All | OneWithObstacle) => [Unverified, Unverified, Unverified, Unverified, Fail],
            (OtherExit, OneOfAllWithObstacle) => [Fail, Fail, Fail, Unverified, Fail],
            // A missing network or file neither kills a program nor closes its output.
            (Signal | BrokenPipeTraceback, _) => [Fail, Fail, Fail, Unverified, Fail],
            (Hang, All | OneWithObstacle) => [Unverified; 5],
            (Hang, OneOfAllWithObstacle) => [Fail, Fail, Fail, Unverified, Unverified],
            // A program that waits for input does not wait for the network or a file.
            (WaitForInput, _) => [Fail, Fail, Fail, Unverified, Unverified],
        }
    };
    let mut wrong = Vec::new();
    for end in [AsExpected, OtherExit, Signal, BrokenPipeTraceback, Hang, WaitForInput] {
        for affected in [All, OneOfAllWithObstacle, OneWithObstacle] {
            for (obstacle, expected) in all.into_iter().zip(table(end, affected)) {
                let results = judge(&recording(obstacle, end, affected), &checks()).unwrap().results;
                let is = |status: Status| results.iter().any(|result| result.status == status);
                let found = [Fail, Unverified].into_iter().find(|status| is(*status)).unwrap_or(Pass);
                if found != expected {
                    let reported: Vec<_> = results
                        .iter()
                        .map(|result| format!("{} {:?} {}", result.id, result.status, result.message))
                        .collect();
                    wrong.push(format!(
                        "{obstacle:?} × {end:?}, {affected:?}: {found:?}, expected {expected:?}: {reported:#?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_obstacle_that_may_be_the_cause_is_reported() {
    let mut recording = recording(Obstacle::Network, AffectedEnd::OtherExit, AffectedRuns::All);
    for run in &mut recording.observations {
        if run.key.probe == ProbeId::declared("list") || run.key.probe.from() == Some("list") {
            apply_obstacle(run, Obstacle::HiddenFile);
        }
    }
    let result = judge(&recording, &[CheckId::P2ExitSuccess.check()]).unwrap().results.remove(0);
    assert_eq!(result.status, Status::Unverified);
    for part in
        ["seems to need the network, or seems to need a file of the home folder", "`network = true`, or"]
    {
        assert!(result.message.contains(part), "{part}: {}", result.message);
    }
}
