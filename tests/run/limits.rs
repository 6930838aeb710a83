//! How much a run may use, and how one ends that uses more.

use super::{all, python, run, sh};
use crate::runs::{options, text};
use agentnative::model::Variant;
use agentnative::run::{End, Job, Limit, Limits, RunSpec, Runner, SetupCall};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: u64 = 1 << 20;
const SMALL: Limits = Limits { memory: 64 * MIB, processes: 40, written: 16 * MIB };

fn limited(mut spec: RunSpec) -> RunSpec {
    spec.job.limits = SMALL;
    spec
}

/// What takes so much memory, in Python.
const TAKE: &str = "x = b'x' * (200 << 20)\n";
const STAY: &str = "time.sleep(100)\n";

#[test]
fn a_run_that_takes_too_much_memory_is_ended() {
    let script = |lines: &[&str]| {
        limited(python(&format!("import mmap, os, time\n{}", lines.concat()), Variant::Plain))
    };
    let daemon = "if os.fork(): time.sleep(100)\nos.setsid()\nif os.fork(): os._exit(0)\n";
    let shared = "x = mmap.mmap(-1, 200 << 20)\nfor at in range(0, len(x), 4096): x[at] = 1\n";
    let thread = "import ctypes, threading\ndef work():\n time.sleep(.05)\n global x; x = b'x' * (200 << 20); time.sleep(100)\n\
                  threading.Thread(target=work).start()\nctypes.CDLL(None).pthread_exit(None)\n";
    let children = "for _ in range(4):\n if not os.fork(): x = b'x' * (40 << 20); time.sleep(100)\n";
    let specs = vec![
        script(&[TAKE, STAY]),
        // Whatever session it is in, of whatever kind the memory is, and whichever thread is left.
        script(&[daemon, TAKE, STAY]),
        script(&[shared, STAY]),
        script(&[thread]),
        script(&[children, STAY]),
    ];
    for (n, seen) in all(specs).iter().enumerate() {
        assert_eq!(seen.end, End::TooMuch(Limit::Memory(64 * MIB)), "{n}: {}", text(&seen.stderr));
        assert!(seen.duration < Duration::from_secs(30), "{n}: {:?}", seen.duration);
    }
}

#[test]
fn memory_that_processes_share_counts_once() {
    let script = "import os, time\nx = b'x' * (30 << 20)\n\
                  for _ in range(5):\n if not os.fork(): time.sleep(.3); os._exit(0)\n\
                  for _ in range(5): os.wait()";
    let seen = run(limited(python(script, Variant::Plain)));
    assert_eq!(seen.end, End::Exited(0), "{}", text(&seen.stderr));
}

#[test]
fn a_run_that_starts_too_many_processes_is_ended_and_nobody_survives() {
    let cookie = format!("LIMITS_TEST={}", std::process::id());
    let marked = |mut spec: RunSpec| {
        spec.job.env.push(("LIMITS_TEST".into(), std::process::id().to_string().into()));
        limited(spec)
    };
    let specs = vec![
        marked(python("import os, time\nwhile True:\n if not os.fork(): time.sleep(100)", Variant::Plain)),
        marked(python(
            "import os, time\nwhile True:\n if not os.fork(): os.setsid(); time.sleep(100)",
            Variant::Plain,
        )),
        marked(python(
            "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=[100]).start()",
            Variant::Plain,
        )),
    ];
    for (n, seen) in all(specs).iter().enumerate() {
        assert_eq!(seen.end, End::TooMuch(Limit::Processes(40)), "{n}: {}", text(&seen.stderr));
    }
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = numbers.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    let left = environments.filter(|all| all.split(|&b| b == 0).any(|one| one == cookie.as_bytes()));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_run_that_writes_too_much_is_ended() {
    // What is mapped in memory alone is never written: this file is not where the folders of runs may be.
    let on_disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Without a call that writes.
    let mut mapped = python(
        "import mmap, os\nf = open('file', 'w+b')\nwhile True:\n\
         \x20f.truncate(1 << 20)\n m = mmap.mmap(f.fileno(), 1 << 20)\n m[:] = b'x' * (1 << 20)\n\
         \x20m.close()\n f.truncate(0)",
        Variant::Plain,
    );
    mapped.job.cwd = on_disk.path().into();
    let specs = vec![
        python("f = open('/dev/null', 'wb')\nwhile True: f.write(b'x' * (1 << 20))", Variant::Plain),
        // Children that it waited for, and those that we had to reap.
        sh("while :; do head -c 2000000 /dev/zero > $HOME/file; done", Variant::Plain),
        sh("while :; do (head -c 2000000 /dev/zero > $HOME/file &) done", Variant::Plain),
        mapped,
        python(
            "import os, time\nf = open(os.environ['HOME'] + '/file', 'wb')\n\
             os.posix_fallocate(f.fileno(), 0, 64 << 20)\ntime.sleep(100)",
            Variant::Plain,
        ),
    ];
    let limits = Limits { written: 16 * MIB, ..Limits::default() };
    let limited = |spec: RunSpec| RunSpec { job: Job { limits, ..spec.job }, ..spec };
    for (n, seen) in all(specs.into_iter().map(limited).collect()).iter().enumerate() {
        assert_eq!(seen.end, End::TooMuch(Limit::Written(16 * MIB)), "{n}: {}", text(&seen.stderr));
    }
}

#[test]
fn a_file_that_is_too_large_is_a_limit_of_ours() {
    let seen = run(sh("exec truncate -s 10T $HOME/file", Variant::Plain));
    assert_eq!(seen.end, End::TooMuch(Limit::File(4 << 30)), "{}", text(&seen.stderr));
}

#[test]
fn the_calls_before_a_run_have_its_limits() {
    let mut after = limited(python("print(1)", Variant::Plain));
    let script = format!("import time\n{TAKE}{STAY}");
    after.job.setup.push(SetupCall {
        args: vec!["-c".into(), script.into()],
        env: Vec::new(),
        interrupt: None,
    });
    let seen = run(after);
    assert_eq!((seen.end, text(&seen.stdout)), (End::TooMuch(Limit::Memory(64 * MIB)), String::new()));
}

#[test]
fn a_trusted_tool_may_use_what_it_likes() {
    let limits = Limits { memory: 1, processes: 0, written: 0 };
    let job = Job::new("/bin/sleep", ["0.4"], "/", Duration::from_secs(60));
    let seen = Runner::new(options()).run_trusted(Job { limits, ..job.clone() }).unwrap();
    assert_eq!(seen.end, End::Exited(0));
}

#[test]
fn older_recordings_know_the_length_of_a_stream_only() {
    let read = |text: &str| serde_json::from_str::<End>(text).unwrap();
    assert_eq!(read(r#"{"TooMuch":65536}"#), End::TooMuch(Limit::Output(65536)));
    let limits = [Limit::Memory(1), Limit::Processes(2), Limit::Written(3), Limit::File(4), Limit::Machine];
    for limit in limits.into_iter().chain([Limit::Output(5)]) {
        let end = End::TooMuch(limit);
        assert_eq!(read(&serde_json::to_string(&end).unwrap()), end);
    }
}

/// The folder of the control groups (version 2) of all processes.
fn groups() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    Some(mount.split(' ').nth(4)?.into())
}

/// The same of a process, as its /proc/PID/cgroup has it.
fn group(groups: &Path, text: &str) -> Option<PathBuf> {
    let own = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(groups.join(own))
}

#[test]
fn each_run_has_a_group_of_its_own_where_it_can_have_one() {
    let Some(groups) = groups() else { return eprintln!("skipped: there are no groups of version 2") };
    let specs =
        vec![sh("cat /proc/self/cgroup", Variant::Plain), sh("setsid cat /proc/self/cgroup", Variant::Plain)];
    let seen: Vec<PathBuf> =
        all(specs).iter().filter_map(|seen| group(&groups, &text(&seen.stdout))).collect();
    if !seen.iter().any(|group| group.to_str().unwrap().contains("agentnative-")) {
        return eprintln!("skipped: no group can be made here: {seen:?}");
    }
    assert_eq!(seen.len(), 2);
    assert_ne!(seen[0], seen[1]);
    for group in seen {
        assert!(!group.exists() && !group.parent().unwrap().exists(), "{} is left", group.display());
    }
}

#[test]
fn what_a_helper_left_behind_that_was_killed_the_next_one_ends() {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let Some(own) = groups().and_then(|groups| group(&groups, &own)) else {
        return eprintln!("skipped: there are no groups of version 2");
    };
    let left = own.join(format!("agentnative-test-{}", std::process::id()));
    if std::fs::create_dir(&left).is_err() {
        return eprintln!("skipped: no group can be made here");
    }
    std::fs::create_dir(left.join("0")).unwrap();
    let mut survivor = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    std::fs::write(left.join("0/cgroup.procs"), survivor.id().to_string()).unwrap();
    all(vec![sh("exit 0", Variant::Plain)]);
    assert_eq!(survivor.wait().unwrap().signal(), Some(9));
    all(vec![sh("exit 0", Variant::Plain)]);
    assert!(!left.exists());
}
