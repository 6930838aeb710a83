//! The helper process, from the side of its caller.

use super::{run, sh};
use crate::runs::{options, text};
use agentnative::model::Variant;
use agentnative::run::{RunEnd, Runner};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Signal, getrlimit, kill_process, pidfd_open};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Starts a daemon in a new session, prints its process ID, and exits.
const LEAVES_A_DAEMON: &str = "setsid sleep 1000 >/dev/null 2>&1 & echo $!; sleep 0.2";

#[test]
fn a_runner_can_be_used_from_any_thread() {
    let make = || {
        let mut runner = Runner::new(options());
        runner.start().unwrap();
        runner
    };
    // The thread that starts the helper ends before the first run.
    let mut runner = std::thread::spawn(make).join().unwrap();
    let outputs = std::thread::spawn(move || {
        let mut run = || runner.run_all(vec![sh("echo a", Variant::Plain)], &mut |_| {}).unwrap();
        [run(), run()].map(|finished| text(&finished.observations[0].stdout))
    });
    assert_eq!(outputs.join().unwrap(), ["a\n", "a\n"]);
}

#[test]
fn two_runners_kill_only_their_own_processes() {
    let runs = |_| {
        std::thread::spawn(|| {
            let specs = vec![sh(LEAVES_A_DAEMON, Variant::Plain); 6];
            Runner::new(options()).run_all(specs, &mut |_| {}).unwrap()
        })
    };
    for finished in [(); 2].map(runs) {
        for observation in finished.join().unwrap().observations {
            assert_eq!(observation.end, RunEnd::Exited(0));
            assert_eq!(observation.left_behind.len(), 1, "{:?}", observation.left_behind);
        }
    }
}

#[test]
fn children_limits_and_signals_of_the_caller_are_unchanged() {
    let caught = || {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let signals = status.lines().filter(|line| line.starts_with("Sig"));
        signals.skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    let before = (getrlimit(Resource::Nofile), caught());
    let mut ended = Command::new("/bin/sh").args(["-c", "exit 7"]).spawn().unwrap();
    let mut running = Command::new("/bin/sh").args(["-c", "sleep 1; exit 8"]).spawn().unwrap();
    assert_eq!(run(sh(LEAVES_A_DAEMON, Variant::Plain)).left_behind.len(), 1);
    assert_eq!(ended.wait().unwrap().code(), Some(7));
    assert_eq!(running.wait().unwrap().code(), Some(8));
    assert_eq!((getrlimit(Resource::Nofile), caught()), before);
}

#[test]
fn a_killed_helper_is_an_error() {
    let mut runner = Runner::new(options());
    for script in ["kill -KILL $PPID; exec sleep 1000", "exit 0"] {
        let failed = runner.run_all(vec![sh(script, Variant::Plain)], &mut |_| {}).unwrap_err();
        assert!(failed.message.contains("the helper process for runs ended"), "{}", failed.message);
    }
}

#[test]
fn signals_from_a_target_to_its_parent_have_no_effect() {
    let outcome =
        run(sh("for s in INT TERM HUP QUIT USR1; do kill -$s $PPID; done; echo on", Variant::Plain));
    assert_eq!((outcome.end, text(&outcome.stdout)), (RunEnd::Exited(0), "on\n".into()));
}

#[test]
fn no_process_survives_a_killed_caller() {
    if std::env::var_os("AGAIN").is_some() {
        let mut wanted = sh("setsid sleep 1000 & echo $! $$ $PPID >new; mv new pids; wait", Variant::Plain);
        wanted.job.cwd = std::env::current_dir().unwrap().into();
        run(wanted);
        return;
    }
    let (folder, temporary) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut caller = Command::new(std::env::current_exe().unwrap());
    caller.args(["--exact", "run::helper::no_process_survives_a_killed_caller"]).current_dir(folder.path());
    let mut caller = caller.env("AGAIN", "1").env("TMPDIR", temporary.path()).spawn().unwrap();
    let pids = wait_for(&folder.path().join("pids"));
    let handles: Vec<_> = pids
        .split_whitespace()
        .map(|pid| pidfd_open(Pid::from_raw(pid.parse().unwrap()).unwrap(), PidfdFlags::empty()).unwrap())
        .collect();
    assert_eq!(handles.len(), 3);
    kill_process(Pid::from_child(&caller), Signal::KILL).unwrap();
    caller.wait().unwrap();
    for handle in handles {
        let mut wait = [PollFd::new(&handle, PollFlags::IN)];
        let limit = Timespec { tv_sec: 60, tv_nsec: 0 };
        assert_eq!(poll(&mut wait, Some(&limit)), Ok(1), "a process is still running");
    }
    assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "files are left");
}

fn wait_for(file: &Path) -> String {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match std::fs::read_to_string(file) {
            Ok(text) => return text,
            Err(_) => assert!(Instant::now() < until, "there is no {}", file.display()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
