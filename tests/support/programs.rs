//! The programs of the other packages of this workspace, as `cargo test` in its root builds them.

use std::path::PathBuf;

/// The program of this name, beside the running test.
pub fn program(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let path = test.ancestors().nth(2).unwrap().join(name);
    assert!(path.is_file(), "{} is not built: run `cargo build --workspace`", path.display());
    path
}

/// The top of the repository.
#[allow(dead_code, reason = "not every test program asks for it")]
pub fn repository() -> PathBuf {
    let package = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    package.ancestors().find(|folder| folder.join("contracts/README.md").is_file()).unwrap().to_owned()
}
