//! Finds the programs of the other packages of this workspace, as `cargo test` in its root builds them.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Returns the path of the program with this name, next to the running test.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(path.is_file(), "{} is not built: run `cargo build --workspace`", path.display());
    path
}

/// Returns the root of the repository.
#[allow(dead_code, reason = "not every test program asks for it")]
pub fn repository() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|folder| folder.join("contracts/README.md").is_file()).unwrap().to_owned()
}

/// Returns the same command with stdout closed, in the same folder and with the same added environment.
pub fn without_stdout(command: &Command) -> Command {
    let mut closed = Command::new("sh");
    closed.args(["-c", r#"exec "$0" "$@" >&-"#]).arg(command.get_program()).args(command.get_args());
    closed.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    closed.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    if let Some(folder) = command.get_current_dir() {
        closed.current_dir(folder);
    }
    closed
}
