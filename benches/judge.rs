//! Speed of judging a recording: a command that prints 1 GB of events, held to their contract.
//!
//! `cargo bench --bench judge [-- FILE]` checks a command that prints the JSON lines of FILE (else the real stream of
//! `opencode_stream.py`, where its recordings are beside the repository), and judges the recording by all checks of
//! principle 2, three times. It prints MB (10^6 bytes) of the file a second of the clock, at best, and the
//! greatest memory so far.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use agentnative::catalogue::{Check, checks};
use agentnative::check::{Recording, judge};
use agentnative::{CheckId, Status};
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Of the real stream.
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
    let folder = tempfile::tempdir().expect("a folder can be made");
    let folder = folder.path();
    let Some(file) = file.or_else(|| real_stream(folder)) else {
        return println!("left out: the recordings that the stream is made of are not here");
    };
    let bytes = fs::metadata(&file).expect("the file is there").len();
    write_command(folder, &file);
    let recording = folder.join("recording.jsonl");
    let mut check = Command::new(env!("CARGO_BIN_EXE_agentnative"));
    check
        .args(["check", "--quiet", "--principle", "2", "--isolation", "none", "--timeout", "100", "--record"])
        .arg(&recording);
    check.current_dir(folder).output().expect("the program can be run");

    let recording = Recording::read(&recording).expect("a recording was written");
    let checks: Vec<&Check> = checks().iter().filter(|check| check.principle == 2).collect();
    let mut best = f64::MAX;
    for _ in 0..3 {
        let clock = Instant::now();
        let report = judge(&recording, &checks).expect("it can be judged");
        best = best.min(clock.elapsed().as_secs_f64());
        let stream = report.results.iter().find(|result| result.id == CheckId::P2ContractStream);
        assert!(stream.is_some_and(|result| result.status == Status::Pass), "{stream:?}");
    }
    let (speed, runs) = (bytes as f64 / 1e6 / best, recording.observations.len());
    println!(
        "{} MB printed, {runs} runs: {best:.2} s, {speed:.0} MB/s {:7.1} MiB",
        bytes / 1_000_000,
        peak()
    );
}

/// Writes a command that prints the file, and its configuration.
fn write_command(folder: &Path, file: &Path) {
    let file = file.canonicalize().expect("the file is there");
    let command = folder.join("print");
    let text = format!(
        "#!/bin/sh\nif [ \"$*\" = 'events --output jsonl' ]; then exec cat '{}'; fi\necho 'usage: print events' >&2\nexit 2\n",
        file.display()
    );
    fs::write(&command, text).expect("it can be written");
    fs::set_permissions(&command, fs::Permissions::from_mode(0o755)).expect("it can be made executable");
    fs::write(folder.join("agentnative.toml"), CONFIG).expect("it can be written");
}

fn real_stream(folder: &Path) -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let recordings = root.join("../shared/captures");
    let file = folder.join("stream.jsonl");
    let mut script = Command::new("python3");
    script.arg(root.join("benches/opencode_stream.py")).arg(&recordings).arg(MEGABYTES);
    recordings.is_dir().then(|| {
        let output = File::create(&file).expect("it can be written");
        assert!(script.stdout(output).status().expect("python3 is there").success());
        file
    })
}

/// The greatest resident memory so far, in MiB.
fn peak() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("the system tells");
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}
