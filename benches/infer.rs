//! Benchmark of schema inference: events of 21 types, flat records, and one array document, 100 MB each.
//!
//! `cargo bench --bench infer [-- MEGABYTES [FOLDER]]` prints the best of three measurements, in MB (10^6 bytes) per
//! second of wall-clock time, and the peak memory. Each case runs in a separate process. The data is kept in FOLDER,
//! so that other tools can be measured with the same data.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use agentnative_contract::Framing;
use agentnative_diff::infer::{Inference, InferenceOptions};
use std::fs::{self, File};
use std::io::{BufWriter, Result, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// Name, input file and number of threads of each case.
const CASES: [(&str, &str, usize); 6] = [
    ("events, two threads", "events.jsonl", 2),
    ("events, one thread", "events.jsonl", 1),
    ("flat records, two threads", "flat.jsonl", 2),
    ("flat records, one thread", "flat.jsonl", 1),
    ("one array document", "array.json", 1),
    ("ten times the events, two threads", "events10.jsonl", 2),
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [case, folder, "run"] = args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        return run_case(case, Path::new(folder));
    }
    let megabytes = args.first().and_then(|arg| arg.parse().ok()).unwrap_or(100);
    let temporary = tempfile::tempdir().expect("a folder can be created");
    let folder = args.get(1).map_or_else(|| temporary.path().to_owned(), PathBuf::from);
    write_all(&folder, megabytes * 1_000_000).expect("the data can be written");
    let program = std::env::current_exe().expect("this program has a path");
    for (case, ..) in CASES {
        let status = Command::new(&program).arg(case).arg(&folder).arg("run").status();
        assert!(status.expect("this program can be started").success(), "{case}");
    }
}

fn run_case(case: &str, folder: &Path) {
    let (_, file, threads) = CASES.iter().find(|(name, ..)| *name == case).expect("the case exists");
    let path = folder.join(file);
    let bytes = fs::metadata(&path).expect("the data exists").len();
    let framing = if file.ends_with("jsonl") { Framing::Lines } else { Framing::Document };
    let mut best = f64::MAX;
    for _ in 0..3 {
        let clock = Instant::now();
        let mut inference = Inference::new();
        let input = File::open(&path).expect("the data exists");
        let faults =
            inference.add_input(input, Some(framing), *threads, &mut |_| ()).expect("the data can be read");
        assert!(faults.is_empty() && inference.schema(&InferenceOptions::default()).is_object());
        best = best.min(clock.elapsed().as_secs_f64());
    }
    println!("{case:36} {:7.0} MB/s {:7.1} MiB", bytes as f64 / 1e6 / best, peak_memory());
}

/// Returns the peak resident memory of this process, in MiB.
fn peak_memory() -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = text.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<f64>().ok()).unwrap_or(0.0) / 1024.0
}

/// Writes the input files of all cases, each with about `bytes` bytes.
fn write_all(folder: &Path, bytes: usize) -> Result<()> {
    let write = |name: &str, bytes: usize, line: fn(u64) -> String| -> Result<()> {
        let mut out = BufWriter::new(File::create(folder.join(name))?);
        let array = name == "array.json";
        let mut written = 0;
        for nth in 0.. {
            let line = line(nth);
            let separator: &[u8] = if !array {
                b""
            } else if nth == 0 {
                b"["
            } else {
                b","
            };
            out.write_all(separator)?;
            out.write_all(line.as_bytes())?;
            out.write_all(b"\n")?;
            written += line.len() + 2;
            if written >= bytes {
                break;
            }
        }
        out.write_all(if array { b"]\n" } else { b"" })?;
        out.flush()
    };
    write("events.jsonl", bytes, event)?;
    write("flat.jsonl", bytes, flat)?;
    write("array.json", bytes, event)?;
    write("events10.jsonl", 10 * bytes, event)
}

fn flat(nth: u64) -> String {
    format!(
        r#"{{"id":{nth},"name":"user {nth}","email":"user{nth}@example.org","active":{},"score":{}.25,"tags":["a","b"],"address":{{"city":"Town {}","zip":"{:05}"}},"created":"2026-03-01T10:00:00Z"}}"#,
        nth.is_multiple_of(2),
        nth % 100,
        nth % 50,
        nth % 99999
    )
}

/// Returns an event of one of 21 types, in the style of an agent.
fn event(nth: u64) -> String {
    const TYPES: [&str; 21] = [
        "session.created",
        "session.updated",
        "session.status",
        "session.idle",
        "message.updated",
        "part.text",
        "part.tool",
        "part.reasoning",
        "part.step",
        "part.delta",
        "file.edited",
        "command.executed",
        "permission.asked",
        "permission.replied",
        "plan.made",
        "plan.changed",
        "cost.told",
        "file.read",
        "search.done",
        "hook.run",
        "note.taken",
    ];
    let kind = TYPES[(nth % 21) as usize];
    let words = "the reader takes a line and \\\"quotes\\\" it, src/json/mod.rs -> test result: ok.\\n";
    let text = words.repeat(1 + (nth % 7) as usize);
    let session = nth / 50;
    let tokens = r#"{"input":1000,"output":50,"reasoning":3,"cache":{"read":11,"write":0}}"#;
    let properties = match nth % 4 {
        0 => format!(
            r#""state":{{"status":"completed","output":"{text}","time":{{"start":{nth},"end":{nth}}}}}"#
        ),
        1 => format!(r#""text":"{text}","time":{{"start":{nth},"end":{nth}}}"#),
        2 => format!(r#""tokens":{tokens},"cost":0.0{nth},"model":"mock-1","path":{{"cwd":"/srv/project"}}"#),
        _ => format!(r#""files":["src/a{nth}.rs","src/b.rs"],"count":{nth},"error":null"#),
    };
    format!(
        r#"{{"id":"evt_{nth}","type":"{kind}","properties":{{"sessionID":"ses_{session:08}","messageID":"msg_{nth:08}",{properties}}}}}"#
    )
}
