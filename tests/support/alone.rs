//! A test in a process of its own, so that what it measures of the process is its own, and what it takes is not counted
//! as that of others.

use std::process::Command;

const ALONE: &str = "AGENTNATIVE_TEST_ALONE";

/// Runs `body` in another process: this test program with the test of this name alone, given with its
/// modules.
pub fn alone(name: &str, body: impl FnOnce()) {
    if std::env::var_os(ALONE).is_some() {
        return body();
    }
    let mut program = Command::new(std::env::current_exe().unwrap());
    let output = program.args(["--exact", name, "--nocapture"]).env(ALONE, "1").output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
