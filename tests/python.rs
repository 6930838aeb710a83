//! Runs the tests of the Python package, in `packages/python/tests`, with the program of this build.

use std::path::Path;
use std::process::Command;

#[test]
fn the_python_package_passes_its_tests() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/python");
    let programs = Path::new(env!("CARGO_BIN_EXE_agentnative")).parent().unwrap().to_str().unwrap();
    let output = Command::new("python3")
        .args(["-B", "-W", "error", "-m", "unittest", "-v", "tests.test_agentnative"])
        .current_dir(package)
        .env("PATH", format!("{programs}:{}", std::env::var("PATH").unwrap()))
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stderr.ends_with("\nOK\n"), "{stderr}");
}
