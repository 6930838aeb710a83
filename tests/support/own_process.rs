//! Runs a test in a separate process, so that other tests do not affect measurements of the process.

use std::process::Command;

const CHILD_VARIABLE: &str = "AGENTNATIVE_TEST_ALONE";

/// Runs `body` in a new process of this test program that runs only the test with this name, including its modules.
pub fn in_own_process(name: &str, body: impl FnOnce()) {
    if std::env::var_os(CHILD_VARIABLE).is_some() {
        return body();
    }
    let mut program = Command::new(std::env::current_exe().unwrap());
    let output = program.args(["--exact", name, "--nocapture"]).env(CHILD_VARIABLE, "1").output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
