//! The checker in a process namespace, as in many build environments: the leader of its session is outside of the
//! namespace and has no process number in it.

use std::process::{Command, Output};

/// Checks a command that leaves a process behind, in the namespaces of these `unshare` options; the shell runs `setup`
/// first. Returns `None`, with a notice on stderr, if this user may not create namespaces.
fn check_in(namespace_options: &[&str], setup: &str) -> Option<Output> {
    let unshare = |command: &[&str]| {
        let args = [&["-U", "-r", "-p", "-f"], namespace_options, command].concat();
        Command::new("unshare").args(args).output()
    };
    if !unshare(&["true"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no process namespace can be made here");
        return None;
    }
    let script = format!("{setup} exec \"$0\" \"$@\"");
    let leaves_process = "sleep 60 >/dev/null 2>&1 & echo '{}'";
    let check =
        [env!("CARGO_BIN_EXE_agentnative"), "check", "--json", "--check", "p2-completes", "--probe", "list"];
    Some(
        unshare(&[&["sh", "-c", &script], &check[..], &["--", "sh", "-c", leaves_process]].concat()).unwrap(),
    )
}

#[test]
fn the_session_leader_may_be_outside_of_the_namespace() {
    let Some(output) = check_in(&["--mount-proc"], "") else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["data"]["results"][0]["status"], "fail", "{report:#}");
}

#[test]
fn a_proc_of_another_namespace_is_an_error() {
    let Some(output) = check_in(&[], "") else { return };
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("/proc does not show the processes of this process namespace"), "{stderr}");
}

/// The helper is then run from a temporary file, which is removed.
#[test]
fn a_system_without_executable_memory_files_is_supported() {
    let folder = tempfile::tempdir().unwrap();
    let setup = format!("echo 2 >/proc/sys/vm/memfd_noexec; TMPDIR={}", folder.path().display());
    let Some(output) = check_in(&["--mount-proc"], &setup) else { return };
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    assert_eq!(report["data"]["results"][0]["status"], "fail", "{report:#}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
