//! Walks `fixtures/hostile`: whatever a target does, nobody survives and nothing takes long.
//!
//! One test only, since it looks at all children of this process.

mod support;

use agentnative::report::Variant;
use agentnative::run::{End, Observation, RunSpec, Waiting};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use support::{finish, numbers_in, options, processes_with, runner, spec, text};

const DEADLINE: Duration = Duration::from_millis(600);
/// What a run may take longer than its deadline.
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
    "fork-loop.py",
];
const COOKIE: (&str, &str) = ("HOSTILE_TEST", concat!("hostile-", env!("CARGO_PKG_VERSION")));

fn shapes() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hostile");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut shapes: Vec<PathBuf> = files.filter(|path| !path.ends_with("README.md")).collect();
    shapes.sort();
    shapes
}

fn attack(shape: &Path, variant: Variant) -> RunSpec {
    let mut spec = spec(shape.to_str().unwrap(), &[], variant);
    spec.key.probe = shape.file_name().unwrap().to_str().unwrap().into();
    spec.deadline = if GOES_ON.contains(&spec.key.probe.as_str()) { DEADLINE } else { NO_DEADLINE };
    let python = support::python_program();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", python.parent().unwrap().display());
    spec.env.insert("PATH".into(), path.into());
    spec.env.insert(COOKIE.0.into(), COOKIE.1.into());
    spec
}

fn assert_nobody_is_left(after: &str) {
    let me = std::process::id().to_string();
    let threads = numbers_in(Path::new("/proc/self/task"));
    let children = threads.iter().map(|t| format!("/proc/{me}/task/{t}/children"));
    let left: String = children.filter_map(|file| std::fs::read_to_string(file).ok()).collect();
    let states = left.split_whitespace().map(|pid| {
        let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap_or_default();
        format!("{} {}\n", status.get(..60).unwrap_or_default(), limits.lines().nth(2).unwrap_or_default())
    });
    assert_eq!(left, "", "children left after {after}: {}", states.collect::<String>());
    let cookie = format!("{}={}", COOKIE.0, COOKIE.1);
    assert_eq!(processes_with(&cookie), Vec::<String>::new(), "processes left after {after}");
}

#[test]
fn nobody_survives_and_nothing_takes_long() {
    let shapes = shapes();
    assert!(shapes.len() >= 17, "{shapes:?}");
    let mut longest = (Duration::ZERO, String::new());
    let mut seen = Vec::new();
    let mut one_by_one = runner();
    for variant in [Variant::Plain, Variant::Tty] {
        for shape in &shapes {
            let spec = attack(shape, variant);
            let (start, deadline) = (Instant::now(), spec.deadline);
            let got = finish(&mut one_by_one, vec![spec]).observations.remove(0);
            let overrun = start.elapsed().saturating_sub(deadline);
            let name = format!("{} under {}", got.key.probe, variant.name());
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
    let mut side_by_side = agentnative::run::Runner::new(side_by_side).unwrap();
    let variants =
        [Variant::Plain, Variant::SlowReader, Variant::File, Variant::ClosedPipe, Variant::OpenStdin];
    let specs = shapes.iter().flat_map(|shape| variants.map(|variant| attack(shape, variant))).collect();
    let seen = finish(&mut side_by_side, specs).observations;
    assert_eq!(seen.len(), shapes.len() * variants.len());
    assert_nobody_is_left("all at once");
    for variant in variants {
        let daemon = find(&seen, "shed-environment.sh", variant);
        assert_eq!(daemon.left_behind.len(), 2, "{variant:?}: {:?}", daemon.left_behind);
        let innocent = find(&seen, "unreadable-home.sh", variant);
        assert!(innocent.left_behind.is_empty(), "{variant:?}: {:?}", innocent.left_behind);
    }
    assert_eq!(find(&seen, "read-stdin.sh", Variant::OpenStdin).waiting, Some(Waiting::Stdin));
}

fn find<'a>(seen: &'a [Observation], name: &str, variant: Variant) -> &'a Observation {
    seen.iter().find(|one| one.key.probe == name && one.key.variant == variant).unwrap()
}
