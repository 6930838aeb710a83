//! Finds the Python interpreter.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// Returns the path of the real interpreter, not that of a wrapper of a version manager.
pub fn program() -> PathBuf {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let find = || {
        let args = ["-c", "import sys; print(sys.executable, end='')"];
        let output = Command::new("python3").args(args).output().unwrap();
        PathBuf::from(String::from_utf8(output.stdout).unwrap())
    };
    FOUND.get_or_init(find).clone()
}
