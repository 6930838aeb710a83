//! Benchmark of computing an outcome from 1 GiB of events, compared with `serde_json` parsing the same events.
//!
//! `cargo bench --bench outcome [-- FILE]` prints medians of five measurements, in MB (10^6 bytes) per second of CPU
//! time, their ratios, and the memory that the outcome uses. The events come from FILE or are generated.

#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]

use agentnative_outcome::{Collector, OutcomeOptions};
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::hint::black_box;
use std::io::{self, BufRead, Read};

/// Size of the generated events, in bytes; they are repeated until the input has 1 GiB.
const BLOCK: usize = 64 << 20;
const RUNS: usize = 5;

/// A linear congruential generator with a fixed seed, so that each run of the benchmark reads the same bytes.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits fit") % limit
    }

    fn code(&mut self) -> String {
        const WORDS: [&str; 12] = [
            "fn",
            "main()",
            "let mut",
            "value =",
            "self.offset();",
            "// why",
            "\"quoted\"",
            "été",
            "src/a.rs",
            "0x1f",
            "->",
            "Ok(())",
        ];
        let length = [200, 800, 3000, 8000, 20_000][self.below(5)];
        let mut code = String::new();
        while code.len() < length {
            code.push_str("    ");
            for _ in 0..3 + self.below(9) {
                code.push_str(WORDS[self.below(WORDS.len())]);
                code.push(' ');
            }
            code.push('\n');
        }
        code
    }
}

/// Returns events in the style of opencode's server bus: each message has reasoning, three tool calls in four states
/// each, and a text in deltas.
fn events() -> String {
    let mut random = Random(7);
    let texts: Vec<String> = (0..60).map(|_| random.code()).collect();
    let mut lines = String::with_capacity(BLOCK + (1 << 20));
    let mut number = 0;
    while lines.len() < BLOCK {
        number += 1;
        let (message, time) = (format!("msg_{number:026}"), 1_795_295_464_144_u64 + number * 100);
        let mut event = |kind: &str, properties: Value| {
            let id = format!("evt_{:026}", lines.len());
            lines.push_str(&json!({ "id": id, "type": kind, "properties": properties }).to_string());
            lines.push('\n');
        };
        let session = "ses_e000d352fffeBhh3TBNPuvtgpZ";
        let part = |mut part: Value| {
            part["sessionID"] = session.into();
            part["messageID"] = message.as_str().into();
            json!({ "sessionID": session, "part": part, "time": time })
        };
        let tokens = json!({ "total": 108, "input": 90, "output": 4, "reasoning": 3, "cache": { "write": 0, "read": 11 } });
        let info = json!({ "id": message, "sessionID": session, "role": "assistant", "mode": "build", "path": { "cwd": "/srv/project", "root": "/srv/project" },
            "cost": 0.000_105_1, "tokens": tokens, "modelID": "mock-1", "providerID": "mock", "time": { "created": time } });
        event("session.status", json!({ "sessionID": session, "status": { "type": "busy" } }));
        event("message.updated", json!({ "sessionID": session, "info": info }));
        if random.below(2) == 0 {
            event(
                "message.part.updated",
                part(
                    json!({ "id": format!("r{number}"), "type": "reasoning", "text": texts[random.below(60)] }),
                ),
            );
        }
        for call in 0..3 {
            let (output, input) = (
                &texts[random.below(60)],
                json!({ "command": texts[random.below(60)][..60], "description": "say hello" }),
            );
            let states = [
                json!({ "status": "pending", "input": {}, "raw": "" }),
                json!({ "status": "running", "input": input, "time": { "start": time } }),
                json!({ "status": "running", "input": input, "metadata": { "output": output }, "time": { "start": time } }),
                json!({ "status": "completed", "input": input, "output": output, "metadata": { "output": output, "exit": 0 }, "title": "x", "time": { "start": time, "end": time + 40 } }),
            ];
            for state in states {
                event(
                    "message.part.updated",
                    part(
                        json!({ "id": format!("p{number}.{call}"), "type": "tool", "tool": "bash", "callID": format!("c{number}.{call}"), "state": state }),
                    ),
                );
            }
        }
        let (id, text) = (format!("t{number}"), &texts[random.below(60)]);
        for piece in text.split_inclusive(' ').take(30) {
            event(
                "message.part.delta",
                json!({ "sessionID": session, "messageID": message, "partID": id, "field": "text", "delta": piece }),
            );
        }
        event(
            "message.part.updated",
            part(
                json!({ "id": id, "type": "text", "text": text, "time": { "start": time, "end": time + 9 } }),
            ),
        );
        event(
            "session.updated",
            json!({ "sessionID": session, "info": { "id": session, "title": "T", "directory": "/srv/project", "time": { "created": time, "updated": time } } }),
        );
        event("session.idle", json!({ "sessionID": session }));
    }
    lines
}

/// A reader of a block of bytes that is repeated.
struct Repeat<'b> {
    block: &'b [u8],
    /// Number of repetitions left, the current one included.
    left: usize,
    offset: usize,
}

impl Read for Repeat<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.offset == self.block.len() && self.left > 1 {
            self.left -= 1;
            self.offset = 0;
        }
        let read = (&self.block[self.offset..]).read(buffer)?;
        self.offset += read;
        Ok(read)
    }
}

/// Returns the median speed of `RUNS` runs, in MB per second of CPU time.
fn measure(bytes: usize, mut run: impl FnMut()) -> f64 {
    let mut speeds: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = cpu_time();
            run();
            bytes as f64 / 1e6 / (cpu_time() - start)
        })
        .collect();
    speeds.sort_by(f64::total_cmp);
    speeds[RUNS / 2]
}

/// Returns the CPU time of this process, in seconds, with the resolution of Linux, 10 ms.
fn cpu_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace().skip(11);
    fields.take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Returns the peak resident memory of this process, in KiB.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let block =
        file.map_or_else(|| events().into_bytes(), |file| std::fs::read(file).expect("the file is readable"));
    let times = (1 << 30) / block.len();
    let before = peak_memory();
    let outcome = measure(block.len() * times, || {
        let collector = Collector::new(OutcomeOptions::default());
        let read = collector.read(Repeat { block: &block, left: times, offset: 0 }, "");
        read.expect("reading from memory succeeds");
        black_box(collector.outcome()).ok();
    });
    println!(
        "outcome of {times} x {} MB: {outcome:.0} MB/s, {} KiB more memory",
        block.len() / 1_000_000,
        peak_memory() - before
    );
    let parse = |line: &[u8]| {
        black_box(serde_json::from_slice::<IgnoredAny>(line).expect("each line is JSON"));
    };
    let stream = measure(block.len() * times, || {
        let mut reader =
            io::BufReader::with_capacity(1 << 20, Repeat { block: &block, left: times, offset: 0 });
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line).expect("reading from memory succeeds") > 0 {
            parse(&line);
            line.clear();
        }
    });
    println!(
        "serde_json on the same stream, values discarded: {stream:.0} MB/s; ratio {:.2}",
        outcome / stream
    );
    let memory = measure(block.len() * times, || {
        for _ in 0..times {
            let mut rest = &block[..];
            while let Some(end) = memchr::memchr(b'\n', rest) {
                parse(&rest[..end]);
                rest = &rest[end + 1..];
            }
        }
    });
    println!(
        "serde_json on lines in memory, values discarded: {memory:.0} MB/s; ratio {:.2}",
        outcome / memory
    );
}
