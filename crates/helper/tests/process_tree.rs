//! All processes that a command started are found and killed. A single test, since it affects its whole process.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use agentnative_helper::process_tree::{become_reaper, descendants, kill_descendants, wait_until_ended};
use rustix::process::{Pid, getpid};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn all_descendants_of_a_command_are_killed() {
    become_reaper().unwrap();
    let script = "(setsid sleep 1000 &) ; sleep 1000 & exec sleep 1000";
    let mut child = Command::new("/bin/sh").args(["-c", script]).process_group(0).spawn().unwrap();
    let leader = Pid::from_child(&child);
    let until = Instant::now() + Duration::from_secs(60);
    while descendants(getpid()).len() < 3 {
        assert!(Instant::now() < until, "{:?}", descendants(getpid()));
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!wait_until_ended(leader, Instant::now() + Duration::from_millis(50)));
    kill_descendants(leader);
    assert_eq!(descendants(getpid()), []);
    assert!(wait_until_ended(leader, Instant::now() + Duration::from_secs(60)));
    // The leader is not reaped.
    assert_eq!(child.wait().unwrap().code(), None);
}
