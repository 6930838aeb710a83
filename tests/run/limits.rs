//! Resource limits of runs, and the end of runs that exceed them.

use super::{python, run, run_all, sh};
use crate::runs::{options, text};
use agentnative::model::Variant;
use agentnative::run::{Job, Limit, Limits, RunEnd, RunSpec, Runner, SetupCall};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MIB: u64 = 1 << 20;
const SMALL: Limits = Limits { memory: 64 * MIB, processes: 40, written: 16 * MIB };

fn limited(mut spec: RunSpec) -> RunSpec {
    spec.job.limits = SMALL;
    spec
}

/// Python code that allocates 200 MiB.
const USE_MEMORY: &str = "x = b'x' * (200 << 20)\n";
const SLEEP: &str = "time.sleep(100)\n";

#[test]
fn a_run_over_its_memory_limit_is_killed() {
    let script = |lines: &[&str]| {
        limited(python(&format!("import mmap, os, time\n{}", lines.concat()), Variant::Plain))
    };
    let daemon = "if os.fork(): time.sleep(100)\nos.setsid()\nif os.fork(): os._exit(0)\n";
    let shared = "x = mmap.mmap(-1, 200 << 20)\nfor at in range(0, len(x), 4096): x[at] = 1\n";
    let thread = "import ctypes, threading\ndef work():\n time.sleep(.05)\n global x; x = b'x' * (200 << 20); time.sleep(100)\n\
                  threading.Thread(target=work).start()\nctypes.CDLL(None).pthread_exit(None)\n";
    let children = "for _ in range(4):\n if not os.fork(): x = b'x' * (40 << 20); time.sleep(100)\n";
    let specs = vec![
        script(&[USE_MEMORY, SLEEP]),
        // In any session, with any kind of memory, and after the end of the main thread.
        script(&[daemon, USE_MEMORY, SLEEP]),
        script(&[shared, SLEEP]),
        script(&[thread]),
        script(&[children, SLEEP]),
    ];
    for (n, observation) in run_all(specs).iter().enumerate() {
        assert_eq!(
            observation.end,
            RunEnd::TooMuch(Limit::Memory(64 * MIB)),
            "{n}: {}",
            text(&observation.stderr)
        );
        assert!(observation.duration < Duration::from_secs(30), "{n}: {:?}", observation.duration);
    }
}

#[test]
fn memory_that_processes_share_counts_once() {
    let script = "import os, time\nx = b'x' * (30 << 20)\n\
                  for _ in range(5):\n if not os.fork(): time.sleep(.3); os._exit(0)\n\
                  for _ in range(5): os.wait()";
    let outcome = run(limited(python(script, Variant::Plain)));
    assert_eq!(outcome.end, RunEnd::Exited(0), "{}", text(&outcome.stderr));
}

#[test]
fn a_run_over_its_process_limit_is_killed_with_all_its_processes() {
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
    for (n, observation) in run_all(specs).iter().enumerate() {
        assert_eq!(
            observation.end,
            RunEnd::TooMuch(Limit::Processes(40)),
            "{n}: {}",
            text(&observation.stderr)
        );
    }
    let numbers = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = numbers.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    let left = environments.filter(|all| all.split(|&b| b == 0).any(|one| one == cookie.as_bytes()));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_run_over_its_write_limit_is_killed() {
    // The pages of files in memory are never written back, so this file is not in the temporary folder.
    let on_disk = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // Writes without a system call.
    let mut mapped = python(
        "import mmap, os\nf = open('file', 'w+b')\nwhile True:\n\
         \x20f.truncate(1 << 20)\n m = mmap.mmap(f.fileno(), 1 << 20)\n m[:] = b'x' * (1 << 20)\n\
         \x20m.close()\n f.truncate(0)",
        Variant::Plain,
    );
    mapped.job.cwd = on_disk.path().into();
    let specs = vec![
        python("f = open('/dev/null', 'wb')\nwhile True: f.write(b'x' * (1 << 20))", Variant::Plain),
        // Children that the run reaps, and children that the helper reaps.
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
    for (n, observation) in run_all(specs.into_iter().map(limited).collect()).iter().enumerate() {
        assert_eq!(
            observation.end,
            RunEnd::TooMuch(Limit::Written(16 * MIB)),
            "{n}: {}",
            text(&observation.stderr)
        );
    }
}

#[test]
fn a_file_over_the_size_limit_is_reported_as_a_limit() {
    let outcome = run(sh("exec truncate -s 10T $HOME/file", Variant::Plain));
    assert_eq!(outcome.end, RunEnd::TooMuch(Limit::File(4 << 30)), "{}", text(&outcome.stderr));
}

#[test]
fn setup_calls_have_the_limits_of_the_run() {
    let mut after = limited(python("print(1)", Variant::Plain));
    let script = format!("import time\n{USE_MEMORY}{SLEEP}");
    after.job.setup.push(SetupCall {
        args: vec!["-c".into(), script.into()],
        env: Vec::new(),
        interrupt: None,
    });
    let outcome = run(after);
    assert_eq!(
        (outcome.end, text(&outcome.stdout)),
        (RunEnd::TooMuch(Limit::Memory(64 * MIB)), String::new())
    );
}

#[test]
fn a_trusted_tool_has_no_limits() {
    let limits = Limits { memory: 1, processes: 0, written: 0 };
    let job = Job::new("/bin/sleep", ["0.4"], "/", Duration::from_secs(60));
    let observation = Runner::new(options()).run_trusted(Job { limits, ..job.clone() }).unwrap();
    assert_eq!(observation.end, RunEnd::Exited(0));
}

#[test]
fn a_limit_in_an_older_recording_is_an_output_limit() {
    let read = |text: &str| serde_json::from_str::<RunEnd>(text).unwrap();
    assert_eq!(read(r#"{"TooMuch":65536}"#), RunEnd::TooMuch(Limit::Output(65536)));
    let limits = [Limit::Memory(1), Limit::Processes(2), Limit::Written(3), Limit::File(4), Limit::Machine];
    for limit in limits.into_iter().chain([Limit::Output(5)]) {
        let end = RunEnd::TooMuch(limit);
        assert_eq!(read(&serde_json::to_string(&end).unwrap()), end);
    }
}

/// Mount point of the control groups, version 2.
fn cgroup_root() -> Option<PathBuf> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mount = mounts.lines().find(|line| line.contains(" - cgroup2 "))?;
    Some(mount.split(' ').nth(4)?.into())
}

/// Folder of the control group of a process, from the text of its /proc/PID/cgroup.
fn group_path(groups: &Path, text: &str) -> Option<PathBuf> {
    let relative = text.lines().find_map(|line| line.strip_prefix("0::/"))?;
    Some(groups.join(relative))
}

#[test]
fn each_run_has_its_own_control_group_where_possible() {
    let Some(groups) = cgroup_root() else { return eprintln!("skipped: there are no groups of version 2") };
    let specs =
        vec![sh("cat /proc/self/cgroup", Variant::Plain), sh("setsid cat /proc/self/cgroup", Variant::Plain)];
    let run_groups: Vec<PathBuf> = run_all(specs)
        .iter()
        .filter_map(|observation| group_path(&groups, &text(&observation.stdout)))
        .collect();
    if !run_groups.iter().any(|group| group.to_str().unwrap().contains("agentnative-")) {
        return eprintln!("skipped: no group can be made here: {run_groups:?}");
    }
    assert_eq!(run_groups.len(), 2);
    assert_ne!(run_groups[0], run_groups[1]);
    for group in run_groups {
        assert!(!group.exists() && !group.parent().unwrap().exists(), "{} is left", group.display());
    }
}

#[test]
fn processes_of_a_killed_helper_are_killed_by_the_next_one() {
    let own = std::fs::read_to_string("/proc/self/cgroup").unwrap();
    let Some(own) = cgroup_root().and_then(|groups| group_path(&groups, &own)) else {
        return eprintln!("skipped: there are no groups of version 2");
    };
    let left = own.join(format!("agentnative-test-{}", std::process::id()));
    if std::fs::create_dir(&left).is_err() {
        return eprintln!("skipped: no group can be made here");
    }
    std::fs::create_dir(left.join("0")).unwrap();
    let mut survivor = std::process::Command::new("sleep").arg("100").spawn().unwrap();
    std::fs::write(left.join("0/cgroup.procs"), survivor.id().to_string()).unwrap();
    run_all(vec![sh("exit 0", Variant::Plain)]);
    assert_eq!(survivor.wait().unwrap().signal(), Some(9));
    run_all(vec![sh("exit 0", Variant::Plain)]);
    assert!(!left.exists());
}
