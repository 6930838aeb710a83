//! Benchmark of judging a recording of a command that prints 1 GB of events, with validation against their contract.
//!
//! `cargo bench --bench judge [-- FILE]` checks a command that prints the JSON lines of FILE, by default the stream of
//! `opencode_stream.py`, which needs the recordings in `../shared/captures`. It judges the recording by all checks of
//! principle 2 three times, and prints the best speed, in MB (10^6 bytes) of the file per second of wall-clock time,
//! and the peak memory.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use agentnative::catalogue::{Check, checks};
use agentnative::check::{Recording, judge};
use agentnative::{CheckId, Status};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Size of the stream of `opencode_stream.py`.
const MEGABYTES: &str = "1000";

const CONFIG: &str = r#"
[target]
command = ["./print"]
formats.jsonl = ["--output", "jsonl"]

[[probe]]
name = "events"
args = ["events"]
formats = ["jsonl"]
contract = "opencode-events"
"#;

fn main() {
    let file = std::env::args().skip(1).find(|arg| arg != "--bench").map(PathBuf::from);
    let folder = tempfile::tempdir().expect("a folder can be created");
    let folder = folder.path();
    let Some(file) = file.or_else(|| write_opencode_stream(folder)) else {
        return println!("skipped: `../shared/captures`, the recordings for the stream, does not exist");
    };
    let bytes = fs::metadata(&file).expect("the file exists").len();
    write_command(folder, &file);
    let recording = folder.join("recording.jsonl");
    let mut check = Command::new(env!("CARGO_BIN_EXE_agentnative"));
    check
        .args(["check", "--quiet", "--principle", "2", "--isolation", "none", "--timeout", "100", "--record"])
        .arg(&recording);
    check.current_dir(folder).output().expect("the program can be started");

    let recording = Recording::read(&recording).expect("a recording was written");
    let checks: Vec<&Check> = checks().iter().filter(|check| check.principle == 2).collect();
    let mut best = f64::MAX;
    for _ in 0..3 {
        let clock = Instant::now();
        let report = judge(&recording, &checks).expect("the recording can be judged");
        best = best.min(clock.elapsed().as_secs_f64());
        let stream = report.results.iter().find(|result| result.id == CheckId::P2ContractStream);
        assert!(stream.is_some_and(|result| result.status == Status::Pass), "{stream:?}");
    }
    let (speed, runs) = (bytes as f64 / 1e6 / best, recording.observations.len());
    println!(
        "{} MB printed, {runs} runs: {best:.2} s, {speed:.0} MB/s {:7.1} MiB",
        bytes / 1_000_000,
        peak_memory()
    );
}

/// Writes a command that prints `file`, and its configuration.
fn write_command(folder: &Path, file: &Path) {
    let file = file.canonicalize().expect("the file exists");
    let command = folder.join("print");
    let text = format!(
        "#!/bin/sh\nif [ \"$*\" = 'events --output jsonl' ]; then exec cat '{}'; fi\necho 'usage: print events' >&2\nexit 2\n",
        file.display()
    );
    fs::write(&command, text).expect("the file can be written");
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("the mode can be set");
    fs::write(folder.join("agentnative.toml"), CONFIG).expect("the file can be written");
}

/// Writes the stream of `opencode_stream.py`, and returns its path; `None` if its recordings do not exist.
fn write_opencode_stream(folder: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recordings = root.join("../shared/captures");
    let file = folder.join("stream.jsonl");
    let mut script = Command::new("python3");
    script.arg(root.join("benches/opencode_stream.py")).arg(&recordings).arg(MEGABYTES);
    recordings.is_dir().then(|| {
        let output = File::create(&file).expect("the file can be written");
        assert!(script.stdout(output).status().expect("python3 is installed").success());
        file
    })
}

/// Returns the peak resident memory of this process, in MiB.
fn peak_memory() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
