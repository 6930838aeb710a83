//! When a fault is withheld because the machine, or the confinement of the runs, may be its cause.

use crate::made_up::{Call, conforming, seen};
use agentnative::catalogue::Check;
use agentnative::check::{Recording, judge};
use agentnative::model::{CheckId, Confinement, ProbeId, Status, Variant};
use agentnative::run::{Bytes, End, Limit, Observation, Starvation, Waiting};
use std::time::Duration;

const CONFIG: &str = "[[probe]]\nname = 'list'\nargs = ['list']\n";

/// What a run met.
#[derive(Debug, Clone, Copy)]
enum Met {
    Network,
    OfflineWords,
    HiddenFile,
    MemoryLimit,
    Starvation,
}

/// How it ended.
#[derive(Debug, Clone, Copy)]
enum Ended {
    AsExpected,
    OtherExit,
    Signal,
    TracebackOfPipe,
    Hang,
    WaitForInput,
}

/// Which of the runs met it and ended so.
#[derive(Debug, Clone, Copy)]
enum Where {
    /// All of the probe.
    Everywhere,
    /// One; the others met it too, and ended as expected.
    OneOfThoseThatMetIt,
    /// One; the others did not meet it.
    OneAlone,
}

fn checks() -> Vec<&'static Check> {
    [CheckId::P2ExitSuccess, CheckId::P2ExitConsistent, CheckId::P2Completes].map(CheckId::check).to_vec()
}

fn meet(seen: &mut Observation, met: Met) {
    let say = |seen: &mut Observation, words: &str| {
        let mut text = seen.stderr.bytes.first(u64::MAX);
        text.extend(words.as_bytes());
        seen.outcome.stderr.bytes = Bytes::from(text);
    };
    match met {
        Met::Network => seen.outcome.missed_network = true,
        Met::OfflineWords => say(seen, "curl: Could not resolve host: example.com\n"),
        Met::HiddenFile => say(seen, "cannot open /home/me/.demo/key: No such file or directory\n"),
        Met::MemoryLimit => seen.outcome.end = End::TooMuch(Limit::Memory(1 << 32)),
        Met::Starvation => {
            let (withheld, elapsed) = (Duration::from_secs(9), Duration::from_secs(10));
            seen.outcome.starvation = Some(Starvation { withheld, elapsed });
        }
    }
}

fn end(seen: &mut Observation, ended: Ended) {
    let exit = |seen: &mut Observation, words: &str| {
        seen.outcome.end = End::Exited(3);
        seen.outcome.stdout.bytes = Bytes::from(Vec::new());
        seen.outcome.stderr.bytes = Bytes::from(words.as_bytes().to_vec());
    };
    match ended {
        Ended::AsExpected => (),
        Ended::OtherExit => exit(seen, "failed\n"),
        Ended::Signal => seen.outcome.end = End::Signaled(11),
        Ended::TracebackOfPipe => exit(seen, "Traceback:\nBrokenPipeError: [Errno 32] Broken pipe\n"),
        Ended::Hang => seen.outcome.end = End::TimedOut,
        Ended::WaitForInput => {
            seen.outcome.end = End::TimedOut;
            seen.outcome.waiting = Some(Waiting::Stdin);
        }
    }
}

fn recording(met: Met, ended: Ended, runs: Where) -> Recording {
    let mut recording = seen(CONFIG, &checks(), |call: &Call| conforming(call));
    for seen in &mut recording.observations {
        seen.outcome.confinement = Some(Confinement::Namespaces);
        let of_list = seen.key.probe == ProbeId::declared("list") || seen.key.probe.from() == Some("list");
        let is_one = seen.key.probe == ProbeId::declared("list") && seen.key.variant == Variant::SlowReader;
        let meets = match runs {
            Where::Everywhere | Where::OneOfThoseThatMetIt => of_list,
            Where::OneAlone => is_one,
        };
        if matches!(runs, Where::Everywhere) && of_list || is_one {
            end(seen, ended);
        }
        // A limit ends a run; one that met it did not end as expected.
        if meets && (is_one || !matches!((met, runs), (Met::MemoryLimit, Where::OneOfThoseThatMetIt))) {
            meet(seen, met);
        }
    }
    recording
}

#[test]
fn a_fault_is_withheld_only_where_what_the_run_met_may_be_its_cause() {
    use Ended::{AsExpected, Hang, OtherExit, Signal, TracebackOfPipe, WaitForInput};
    use Met::{HiddenFile, MemoryLimit, Network, OfflineWords, Starvation as Starved};
    use Status::{Fail, Pass, Unverified};
    use Where::{Everywhere, OneAlone, OneOfThoseThatMetIt};
    let all = [Network, OfflineWords, HiddenFile, MemoryLimit, Starved];
    let table = |ended: Ended, runs: Where| -> [Status; 5] {
        match (ended, runs) {
            (AsExpected, _) => [Pass, Pass, Pass, Unverified, Pass],
            // It may be the cause, unless it was not for the other runs.
            (OtherExit, Everywhere | OneAlone) => [Unverified, Unverified, Unverified, Unverified, Fail],
            (OtherExit, OneOfThoseThatMetIt) => [Fail, Fail, Fail, Unverified, Fail],
            // Nothing that is missing kills a program, or closes its output.
            (Signal | TracebackOfPipe, _) => [Fail, Fail, Fail, Unverified, Fail],
            (Hang, Everywhere | OneAlone) => [Unverified; 5],
            (Hang, OneOfThoseThatMetIt) => [Fail, Fail, Fail, Unverified, Unverified],
            // A program that waits for input has all that it needs.
            (WaitForInput, _) => [Fail, Fail, Fail, Unverified, Unverified],
        }
    };
    let mut wrong = Vec::new();
    for ended in [AsExpected, OtherExit, Signal, TracebackOfPipe, Hang, WaitForInput] {
        for runs in [Everywhere, OneOfThoseThatMetIt, OneAlone] {
            for (met, expected) in all.into_iter().zip(table(ended, runs)) {
                let results = judge(&recording(met, ended, runs), &checks()).unwrap().results;
                let is = |status: Status| results.iter().any(|result| result.status == status);
                let found = [Fail, Unverified].into_iter().find(|status| is(*status)).unwrap_or(Pass);
                if found != expected {
                    let told: Vec<_> = results
                        .iter()
                        .map(|result| format!("{} {:?} {}", result.id, result.status, result.message))
                        .collect();
                    wrong.push(format!(
                        "{met:?} × {ended:?}, {runs:?}: {found:?}, expected {expected:?}: {told:#?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} rows are wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn where_several_things_may_be_missing_each_is_named() {
    let mut recording = recording(Met::Network, Ended::OtherExit, Where::Everywhere);
    for seen in &mut recording.observations {
        if seen.key.probe == ProbeId::declared("list") || seen.key.probe.from() == Some("list") {
            meet(seen, Met::HiddenFile);
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
