//! Benchmark of the strict JSON reader on about 150 MB of event lines, compared with `serde_json`.
//!
//! `cargo bench --bench json` prints the median of five measurements, in MB (10^6 bytes) per second.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

use strict_json::{ReadOptions, read_document, read_lines, read_value};

const BYTES: usize = 150_000_000;
const RUNS: usize = 5;

/// A linear congruential generator with a fixed seed, so that each run of the benchmark reads the same bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Returns event lines in the style of coding agents: steps, texts, tool calls with output, token counts.
fn events() -> String {
    const WORDS: [&str; 12] = [
        "the",
        "reader",
        "fn main()",
        "let value =",
        "\\n",
        "test result: ok.",
        "\\\"quoted\\\"",
        "été",
        "src/json/mod.rs",
        "0x1f",
        "->",
        "\\t",
    ];
    let mut random = Random(7);
    let mut lines = String::with_capacity(BYTES + 100_000);
    let mut number = 0u64;
    while lines.len() < BYTES {
        number += 1;
        let time = 1_760_000_000_000 + number * 137;
        let part = format!("prt_{:016x}", number * 0x9e37_79b9);
        let mut text = String::new();
        let words = if random.below(20) == 0 { 400 } else { 10 + random.below(50) };
        for _ in 0..words {
            text.push_str(WORDS[usize::try_from(random.below(12)).expect("below 12")]);
            text.push(' ');
        }
        let head = format!("\"timestamp\":{time},\"sessionID\":\"ses_4f1c9a2be7d0\"");
        let ids = format!(
            "\"id\":\"{part}\",\"sessionID\":\"ses_4f1c9a2be7d0\",\"messageID\":\"msg_{number:012x}\""
        );
        let line = match random.below(4) {
            0 => format!(
                "{{\"type\":\"step_start\",{head},\"part\":{{{ids},\"type\":\"step-start\",\"snapshot\":null}}}}"
            ),
            1 => format!(
                "{{\"type\":\"text\",{head},\"part\":{{{ids},\"type\":\"text\",\"text\":\"{text}\",\"time\":{{\"start\":{time},\"end\":{}}}}}}}",
                time + 90
            ),
            2 => format!(
                "{{\"type\":\"tool_use\",{head},\"part\":{{{ids},\"type\":\"tool\",\"tool\":\"bash\",\"callID\":\"call_{number}\",\"state\":{{\"status\":\"completed\",\"input\":{{\"command\":\"cargo test\",\"timeout\":120000}},\"output\":\"{text}\",\"metadata\":{{\"exit\":0,\"truncated\":false}},\"title\":\"Runs tests\"}}}}}}"
            ),
            _ => format!(
                "{{\"type\":\"step_finish\",{head},\"part\":{{{ids},\"type\":\"step-finish\",\"reason\":\"stop\",\"cost\":0.0{},\"tokens\":{{\"input\":{},\"output\":{},\"reasoning\":0,\"cache\":{{\"read\":{},\"write\":0}}}}}}}}",
                random.below(9999),
                random.below(90_000),
                random.below(5000),
                random.below(50_000)
            ),
        };
        writeln!(lines, "{line}").expect("writing to a String succeeds");
    }
    lines
}

fn measure(name: &str, bytes: usize, mut run: impl FnMut()) {
    let mut seconds: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    println!("{name:<40} {:>7.0} MB/s", bytes as f64 / 1e6 / seconds[RUNS / 2]);
}

fn main() {
    let options = ReadOptions::default();
    let lines = events();
    let records = lines.lines().count();
    println!("{records} lines, {} bytes", lines.len());
    measure("read_lines", lines.len(), || {
        let summary = read_lines(lines.as_bytes(), &options, &mut ()).expect("reading from memory succeeds");
        assert!(summary.problems.is_empty() && summary.complete == records as u64, "{:?}", summary.problems);
    });
    let document = format!("[{}]", lines.trim_end().replace('\n', ",\n  "));
    measure("read_document", document.len(), || {
        let summary =
            read_document(document.as_bytes(), &options, &mut ()).expect("reading from memory succeeds");
        assert!(summary.problems.is_empty() && summary.complete == 1, "{:?}", summary.problems);
    });
    measure("read_value", document.len(), || {
        let read = read_value(document.as_bytes(), &options, u64::MAX).expect("reading from memory succeeds");
        assert!(black_box(read).value.is_some());
    });
    measure("serde_json IgnoredAny per line", lines.len(), || {
        for line in lines.lines() {
            let read: serde::de::IgnoredAny = serde_json::from_str(line).expect("the lines are JSON");
            black_box(read);
        }
    });
    measure("serde_json IgnoredAny per line, from bytes", lines.len(), || {
        for line in lines.as_bytes().split_inclusive(|byte| *byte == b'\n') {
            let read: serde::de::IgnoredAny = serde_json::from_slice(line).expect("the lines are JSON");
            black_box(read);
        }
    });
    measure("serde_json Value of the document", document.len(), || {
        let read: serde_json::Value = serde_json::from_str(&document).expect("the document is JSON");
        black_box(read);
    });
}
