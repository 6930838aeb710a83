//! Recordings: rejected with an error, or judged by all checks.

use crate::{Target, corpus};
use agentnative::catalogue;
use agentnative::check::{Recording, judge};

pub const TARGET: Target = Target {
    name: "recording",
    run,
    seeds: || corpus::texts(&["fixtures/transcripts", "fuzz/seeds/recording"], &[".jsonl"]),
    words: &["\"exited\": 0", "\"signaled\": 9", "\"timed-out\"", "\"variant\": \"tty\"", "\"nth\": 2"],
};

fn run(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("recording");
    std::fs::write(&path, bytes).expect("a fresh folder can be written");
    let Ok(recording) = Recording::read(&path) else { return };
    let checks: Vec<_> = catalogue::checks().iter().collect();
    if let Ok(report) = judge(&recording, &checks) {
        assert_eq!(report.results.len(), checks.len());
        serde_json::to_string(&report).expect("a report can be written");
    }
}
