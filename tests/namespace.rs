//! The checker in a process namespace of its own, as many builders run it: the leader of its session is
//! outside, and has no number there.

use std::process::{Command, Output};

/// `agentnative check` of a command that leaves a process behind, below `unshare` with these options and
/// after `before`. `None`, and a word about it, where this user may make no namespace.
fn check_in(namespace: &[&str], before: &str) -> Option<Output> {
    let unshare = |command: &[&str]| {
        let all = [&["-U", "-r", "-p", "-f"], namespace, command].concat();
        Command::new("unshare").args(all).output()
    };
    if !unshare(&["true"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no process namespace can be made here");
        return None;
    }
    let script = format!("{before} exec \"$0\" \"$@\"");
    let left = "sleep 60 >/dev/null 2>&1 & echo '{}'";
    let check =
        [env!("CARGO_BIN_EXE_agentnative"), "check", "--json", "--check", "p2-completes", "--probe", "list"];
    Some(unshare(&[&["sh", "-c", &script], &check[..], &["--", "sh", "-c", left]].concat()).unwrap())
}

#[test]
fn the_session_leader_may_be_outside() {
    let Some(output) = check_in(&["--mount-proc"], "") else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["data"]["results"][0]["status"], "fail", "{report:#}");
}

#[test]
fn a_foreign_proc_is_told_at_once() {
    let Some(output) = check_in(&[], "") else { return };
    let words = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("/proc does not show the processes of this process namespace"), "{words}");
}

/// The helper then comes from a file, of which nothing stays.
#[test]
fn programs_in_memory_may_be_refused() {
    let folder = tempfile::tempdir().unwrap();
    let refuse = format!("echo 2 >/proc/sys/vm/memfd_noexec; TMPDIR={}", folder.path().display());
    let Some(output) = check_in(&["--mount-proc"], &refuse) else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["data"]["results"][0]["status"], "fail", "{report:#}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
