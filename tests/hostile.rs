//! Runs the programs in `fixtures/hostile`: no process survives its run, and no run exceeds its deadline by much.
//!
//! This is a single test because it inspects all descendants of this process.

use crate::own_process::in_own_process;
use crate::runs::{below_helpers, finish, options, spec, text};
use agentnative::model::{ProbeId, Variant};
use agentnative::run::{Confinement, Observation, RequestedConfinement, RunEnd, RunSpec, Runner, Waiting};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(1);
/// Limit on the time by which a run may exceed its deadline, apart from starvation and the duration of an empty run.
const MAX_OVERRUN: Duration = Duration::from_millis(500);
/// Deadline of programs that exit by themselves, long enough for a busy machine.
const LONG_DEADLINE: Duration = Duration::from_secs(60);
/// Programs that never exit.
const ENDLESS: &[&str] = &[
    "yes-stdout.sh",
    "yes-stderr.sh",
    "hang.sh",
    "closed-pipes-hang.sh",
    "spin.sh",
    "stop-self.sh",
    "ignore-term.sh",
    "fork-loop.sh",
];
/// Environment variable by which the processes of these runs are found.
const COOKIE: &str = "HOSTILE_TEST";

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> =
        files.filter(|path| path.is_file() && !path.ends_with("README.md")).collect();
    programs.sort();
    programs
}

fn attack(program: &Path, variant: Variant) -> RunSpec {
    let mut spec = spec(program.to_str().unwrap(), &[], variant);
    let name = program.file_name().unwrap().to_str().unwrap();
    spec.key.probe = ProbeId::declared(name);
    spec.job.deadline = if ENDLESS.contains(&name) { DEADLINE } else { LONG_DEADLINE };
    let python = crate::python::program();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", python.parent().unwrap().display());
    spec.job.env.push(("PATH".into(), path.into()));
    spec.job.env.push((COOKIE.into(), std::process::id().to_string().into()));
    spec
}

/// Asserts that helpers may be left, but no process of a run.
fn assert_no_process_is_left(after: &str) {
    let left = below_helpers();
    let states = left.iter().map(|pid| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        format!("{} {}\n", status.get(..60).unwrap_or_default(), limits.lines().nth(2).unwrap_or_default())
    });
    assert!(left.is_empty(), "left after {after}: {}", states.collect::<String>());
    let cookie = format!("{COOKIE}={}", std::process::id());
    assert_eq!(processes_with(&cookie), Vec::<String>::new(), "processes left after {after}");
}

#[test]
fn no_process_survives_and_no_run_exceeds_its_deadline() {
    in_own_process("hostile::no_process_survives_and_no_run_exceeds_its_deadline", || {
        let mut trial = spec("/bin/true", &[], Variant::Plain);
        trial.job.isolation = RequestedConfinement::Available;
        run_all(RequestedConfinement::None);
        match finish(options(), vec![trial]).confinement {
            Some(Confinement::Namespaces) => run_all(RequestedConfinement::Full),
            other => eprintln!("skipped: this system has no namespaces, but {other:?}"),
        }
    });
}

/// Runs all programs one at a time, then in parallel.
fn run_all(isolation: RequestedConfinement) {
    let attack = |program: &Path, variant| {
        let mut spec = attack(program, variant);
        spec.job.isolation = isolation;
        spec
    };
    let programs = programs();
    assert!(programs.len() >= 17, "{programs:?}");
    let mut longest = (Duration::ZERO, String::new());
    let mut runner = Runner::new(options());
    let mut timed = |spec: RunSpec| {
        let (start, deadline) = (Instant::now(), spec.job.deadline);
        let run = runner.run_all(vec![spec], &mut |_| {}).unwrap().observations.remove(0);
        // Time that the machine withheld does not count.
        let withheld = run.starvation.map_or(Duration::ZERO, |starvation| starvation.withheld);
        (run, start.elapsed(), start.elapsed().saturating_sub(deadline + withheld))
    };
    let mut runs = Vec::new();
    for variant in [Variant::Plain, Variant::Tty] {
        for program in &programs {
            let (_, empty_run_time, _) = timed(spec("/bin/true", &[], variant));
            let (run, _, overrun) = timed(attack(program, variant));
            let overrun = overrun.saturating_sub(empty_run_time);
            let name = format!("{:?} under {}", run.key.probe, variant.name());
            assert_no_process_is_left(&name);
            if overrun > longest.0 {
                longest = (overrun, name);
            }
            runs.push(run);
        }
    }
    eprintln!("longest overrun: {:?} ({})", longest.0, longest.1);
    let plain = |name: &str| find(&runs, name, Variant::Plain);
    let tty = |name: &str| find(&runs, name, Variant::Tty);

    for (name, code) in [("background-sleep.sh", 3), ("setsid.sh", 0), ("grandchild-chatter.sh", 0)] {
        assert_eq!(plain(name).end, RunEnd::Exited(code), "{name}");
        assert!(text(&plain(name).stdout).starts_with("before\n"), "{name}");
        assert!(plain(name).held_open, "{name}");
        assert!(!plain(name).left_behind.is_empty(), "{name}");
    }
    for name in ["double-fork.sh", "shed-environment.sh", "shed-everything.py", "deleted-cwd.sh"] {
        assert_eq!(plain(name).end, RunEnd::Exited(0), "{name}");
        assert_eq!(text(&plain(name).stdout), "before\n", "{name}");
        assert!(plain(name).left_behind.iter().any(|left| left.name == b"sleep"), "{name}");
    }
    assert!(!plain("double-fork.sh").held_open);
    for (name, waiting) in [
        ("hang.sh", Waiting::Asleep),
        ("closed-pipes-hang.sh", Waiting::Asleep),
        ("spin.sh", Waiting::Busy),
        ("stop-self.sh", Waiting::Stopped),
        ("ignore-term.sh", Waiting::Asleep),
    ] {
        for run in [plain(name), tty(name)] {
            assert_eq!((&run.end, run.waiting), (&RunEnd::TimedOut, Some(waiting)), "{name}");
            assert_eq!(text(&run.stdout), "before\n", "{name}");
            assert!(run.left_behind.is_empty(), "{name}: {:?}", run.left_behind);
        }
    }
    assert_eq!(plain("read-stdin.sh").end, RunEnd::Exited(1));
    assert_ne!(plain("open-tty.sh").end, RunEnd::TimedOut);
    assert_eq!(tty("open-tty.sh").waiting, Some(Waiting::Terminal));
    assert_eq!(plain("unreadable-home.sh").end, RunEnd::Exited(0));
    assert!(matches!(plain("yes-stdout.sh").end, RunEnd::TimedOut | RunEnd::TooMuch(_)));
    assert!(matches!(plain("yes-stderr.sh").end, RunEnd::TimedOut | RunEnd::TooMuch(_)));
    assert!(longest.0 <= MAX_OVERRUN, "{} ran {:?} past its deadline", longest.1, longest.0);

    // In parallel, where an orphan could be attributed to another run.
    let mut parallel = options();
    parallel.jobs = 8;
    parallel.max_output = 16 << 20;
    let variants =
        [Variant::Plain, Variant::SlowReader, Variant::File, Variant::ClosedPipe, Variant::OpenStdin];
    let specs =
        programs.iter().flat_map(|program| variants.map(|variant| attack(program, variant))).collect();
    let runs = finish(parallel, specs).observations;
    assert_eq!(runs.len(), programs.len() * variants.len());
    assert_no_process_is_left("the parallel runs");
    for variant in variants {
        // With a closed pipe the program exits at its first output, before it starts its daemon.
        let daemons = if variant == Variant::ClosedPipe { 0 } else { 2 };
        let daemon = find(&runs, "shed-environment.sh", variant);
        assert_eq!(daemon.left_behind.len(), daemons, "{variant:?}: {:?}", daemon.left_behind);
        let without_daemon = find(&runs, "unreadable-home.sh", variant);
        assert!(without_daemon.left_behind.is_empty(), "{variant:?}: {:?}", without_daemon.left_behind);
    }
    assert_eq!(find(&runs, "read-stdin.sh", Variant::OpenStdin).waiting, Some(Waiting::Stdin));
}

fn find<'a>(runs: &'a [Observation], name: &str, variant: Variant) -> &'a Observation {
    let id = ProbeId::declared(name);
    runs.iter().find(|run| run.key.probe == id && run.key.variant == variant).unwrap()
}

/// Returns the processes with `variable` (`NAME=value`) in their environment.
fn processes_with(variable: &str) -> Vec<String> {
    let has_variable = |pid: &String| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&b| b == 0).any(|entry| entry == variable.as_bytes())
    };
    numbers_in(Path::new("/proc")).into_iter().filter(has_variable).collect()
}

fn numbers_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.parse::<u32>().is_ok()).collect()
}
