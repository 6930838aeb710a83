//! Walks `fixtures/hostile`: whatever a target does, nobody survives and nothing takes long.
//!
//! One test only, since it looks at all descendants of this process.

use crate::alone::alone;
use crate::runs::{below_helpers, finish, options, spec, text};
use agentnative::model::{ProbeId, Variant};
use agentnative::run::{Confinement, End, Isolation, Observation, RunSpec, Runner, Waiting};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const DEADLINE: Duration = Duration::from_secs(1);
/// What a run may take longer than its deadline, on a machine that has time for it: what it takes to
/// run nothing at all is added.
const OVERRUN: Duration = Duration::from_millis(500);
/// Those that end by themselves have time for it, however busy the machine is.
const NO_DEADLINE: Duration = Duration::from_secs(60);
const GOES_ON: &[&str] = &[
    "yes-stdout.sh",
    "yes-stderr.sh",
    "hang.sh",
    "closed-pipes-hang.sh",
    "spin.sh",
    "stop-self.sh",
    "ignore-term.sh",
    "fork-loop.sh",
];
const COOKIE: &str = "HOSTILE_TEST";

fn shapes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut shapes: Vec<PathBuf> =
        files.filter(|path| path.is_file() && !path.ends_with("README.md")).collect();
    shapes.sort();
    shapes
}

fn attack(shape: &Path, variant: Variant) -> RunSpec {
    let mut spec = spec(shape.to_str().unwrap(), &[], variant);
    let name = shape.file_name().unwrap().to_str().unwrap();
    spec.key.probe = ProbeId::declared(name);
    spec.job.deadline = if GOES_ON.contains(&name) { DEADLINE } else { NO_DEADLINE };
    let python = crate::python::program();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", python.parent().unwrap().display());
    spec.job.env.push(("PATH".into(), path.into()));
    spec.job.env.push((COOKIE.into(), std::process::id().to_string().into()));
    spec
}

/// Helpers there may be, but no run.
fn assert_nobody_is_left(after: &str) {
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
fn nobody_survives_and_nothing_takes_long() {
    alone("hostile::nobody_survives_and_nothing_takes_long", || {
        let mut trial = spec("/bin/true", &[], Variant::Plain);
        trial.job.isolation = Isolation::Available;
        walk(Isolation::None);
        match finish(options(), vec![trial]).confinement {
            Some(Confinement::Namespaces) => walk(Isolation::Full),
            other => eprintln!("skipped: this system has no namespaces, but {other:?}"),
        }
    });
}

/// Walks all shapes, one by one and then all at once.
fn walk(isolation: Isolation) {
    let attack = |shape: &Path, variant| {
        let mut spec = attack(shape, variant);
        spec.job.isolation = isolation;
        spec
    };
    let shapes = shapes();
    assert!(shapes.len() >= 17, "{shapes:?}");
    let mut longest = (Duration::ZERO, String::new());
    let mut runner = Runner::new(options());
    let mut timed = |spec: RunSpec| {
        let (start, deadline) = (Instant::now(), spec.job.deadline);
        let got = runner.run_all_blocking(vec![spec], &mut |_| {}).unwrap().observations.remove(0);
        // What the machine withholds does not count.
        let withheld = got.starvation.map_or(Duration::ZERO, |starvation| starvation.withheld);
        (got, start.elapsed(), start.elapsed().saturating_sub(deadline + withheld))
    };
    let mut seen = Vec::new();
    for variant in [Variant::Plain, Variant::Tty] {
        for shape in &shapes {
            let (_, of_nothing, _) = timed(spec("/bin/true", &[], variant));
            let (got, _, overrun) = timed(attack(shape, variant));
            let overrun = overrun.saturating_sub(of_nothing);
            let name = format!("{:?} under {}", got.key.probe, variant.name());
            assert_nobody_is_left(&name);
            if overrun > longest.0 {
                longest = (overrun, name);
            }
            seen.push(got);
        }
    }
    eprintln!("longest overrun: {:?} ({})", longest.0, longest.1);
    let plain = |name: &str| find(&seen, name, Variant::Plain);
    let tty = |name: &str| find(&seen, name, Variant::Tty);

    for (name, code) in [("background-sleep.sh", 3), ("setsid.sh", 0), ("grandchild-chatter.sh", 0)] {
        assert_eq!(plain(name).end, End::Exited(code), "{name}");
        assert!(text(&plain(name).stdout).starts_with("before\n"), "{name}");
        assert!(plain(name).held_open, "{name}");
        assert!(!plain(name).left_behind.is_empty(), "{name}");
    }
    for name in ["double-fork.sh", "shed-environment.sh", "shed-everything.py", "deleted-cwd.sh"] {
        assert_eq!(plain(name).end, End::Exited(0), "{name}");
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
        for seen in [plain(name), tty(name)] {
            assert_eq!((&seen.end, seen.waiting), (&End::TimedOut, Some(waiting)), "{name}");
            assert_eq!(text(&seen.stdout), "before\n", "{name}");
            assert!(seen.left_behind.is_empty(), "{name}: {:?}", seen.left_behind);
        }
    }
    assert_eq!(plain("read-stdin.sh").end, End::Exited(1));
    assert_ne!(plain("open-tty.sh").end, End::TimedOut);
    assert_eq!(tty("open-tty.sh").waiting, Some(Waiting::Terminal));
    assert_eq!(plain("unreadable-home.sh").end, End::Exited(0));
    assert!(matches!(plain("yes-stdout.sh").end, End::TimedOut | End::TooMuch(_)));
    assert!(matches!(plain("yes-stderr.sh").end, End::TimedOut | End::TooMuch(_)));
    assert!(longest.0 <= OVERRUN, "{} ran {:?} past its deadline", longest.1, longest.0);

    // All at once, where an orphan could be taken for another run's.
    let mut side_by_side = options();
    side_by_side.jobs = 8;
    side_by_side.max_output = 16 << 20;
    let variants =
        [Variant::Plain, Variant::SlowReader, Variant::File, Variant::ClosedPipe, Variant::OpenStdin];
    let specs = shapes.iter().flat_map(|shape| variants.map(|variant| attack(shape, variant))).collect();
    let seen = finish(side_by_side, specs).observations;
    assert_eq!(seen.len(), shapes.len() * variants.len());
    assert_nobody_is_left("all at once");
    for variant in variants {
        // Without a reader it ends at its first word, before it makes its daemon.
        let daemons = if variant == Variant::ClosedPipe { 0 } else { 2 };
        let daemon = find(&seen, "shed-environment.sh", variant);
        assert_eq!(daemon.left_behind.len(), daemons, "{variant:?}: {:?}", daemon.left_behind);
        let innocent = find(&seen, "unreadable-home.sh", variant);
        assert!(innocent.left_behind.is_empty(), "{variant:?}: {:?}", innocent.left_behind);
    }
    assert_eq!(find(&seen, "read-stdin.sh", Variant::OpenStdin).waiting, Some(Waiting::Stdin));
}

fn find<'a>(seen: &'a [Observation], name: &str, variant: Variant) -> &'a Observation {
    let id = ProbeId::declared(name);
    seen.iter().find(|one| one.key.probe == id && one.key.variant == variant).unwrap()
}

/// The processes whose environment holds `variable` (`NAME=value`).
fn processes_with(variable: &str) -> Vec<String> {
    let is_with = |pid: &String| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&b| b == 0).any(|one| one == variable.as_bytes())
    };
    numbers_in(Path::new("/proc")).into_iter().filter(is_with).collect()
}

fn numbers_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).filter(|name| name.parse::<u32>().is_ok()).collect()
}
