//! Tests that outcomes need constant memory, as counted by the allocator.

use crate::own_process::in_own_process;
use agentnative_outcome::{Collector, OutcomeOptions};
use peak_alloc::PeakAlloc;
use std::fmt::Write as _;
use std::io::{self, Read};

/// A reader of `count` events, each generated when it is read.
struct Events<F> {
    generate: F,
    next: u64,
    count: u64,
    buffer: String,
    at: usize,
}

impl<F: FnMut(u64, &mut String)> Read for Events<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buffer.len() && self.next < self.count {
            self.buffer.clear();
            self.at = 0;
            (self.generate)(self.next, &mut self.buffer);
            self.next += 1;
        }
        let read = (&self.buffer.as_bytes()[self.at..]).read(buffer)?;
        self.at += read;
        Ok(read)
    }
}

fn outcome_of(
    count: u64,
    generate: impl FnMut(u64, &mut String),
) -> (agentnative_outcome::RunOutcome, usize) {
    (read(count, generate).outcome().unwrap(), MEMORY.peak_usage())
}

fn read(count: u64, generate: impl FnMut(u64, &mut String)) -> Collector {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read(Events { generate, next: 0, count, buffer: String::new(), at: 0 }, "").unwrap();
    collector
}

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn memory_does_not_grow_with_the_stream() {
    in_own_process("memory::memory_does_not_grow_with_the_stream", || {
        let output = "output with \\\"quotes\\\" and\\nnewlines é ".repeat(200);
        // Messages with texts, each dropped at the next one.
        let messages = |count| {
            outcome_of(count, |number, out| {
                writeln!(out, r#"{{"type":"message.updated","properties":{{"info":{{"id":"m{number}","sessionID":"s","role":"assistant"}}}}}}"#).unwrap();
                writeln!(out, r#"{{"type":"message.part.updated","properties":{{"part":{{"id":"p{number}","sessionID":"s","messageID":"m{number}","type":"text","text":"{output}"}}}}}}"#).unwrap();
            })
        };
        let before = MEMORY.current_usage();
        let (outcome, after) = messages(3_000);
        assert!(outcome.success && outcome.message.is_some());
        assert!(after - before < 1 << 20, "{} bytes more than before", after - before);
        // Text of unknown messages, tool calls with one id, retries, lines that are not JSON.
        let (outcome, after) = outcome_of(3_000, |number, out| {
            writeln!(out, r#"{{"type":"message.part.updated","properties":{{"part":{{"id":"p{number}","sessionID":"s","messageID":"u{number}","type":"text","text":"{output}"}}}}}}"#).unwrap();
            writeln!(out, r#"{{"type":"message.part.updated","properties":{{"part":{{"id":"p","sessionID":"s","messageID":"m","type":"tool","callID":"c","tool":"bash","state":{{"status":"running","input":{{"command":"{output}"}},"metadata":{{"output":"{output}"}}}}}}}}}}"#).unwrap();
            writeln!(out, r#"{{"type":"session.status","properties":{{"sessionID":"s","status":{{"type":"retry","message":"{output}","attempt":1}}}}}}"#).unwrap();
            writeln!(out, "no JSON {output}").unwrap();
        });
        assert_eq!(outcome.tool_calls.len(), 1);
        assert!(after - before < 2 << 20, "{} bytes more than before", after - before);
        // 70 MB in one line: as a needed text, as another text, as an array.
        for (head, body, tail) in [
            (
                r#"{"type":"message.part.updated","properties":{"part":{"id":"p","sessionID":"s","messageID":"m","type":"text","text":""#,
                output.as_str(),
                "\"}}}",
            ),
            (
                r#"{"type":"message.part.updated","properties":{"part":{"id":"p","state":{"output":""#,
                output.as_str(),
                "\"}}}}",
            ),
            (r#"{"type":"x","properties":{"patterns":["0""#, ",\"element\"", "]}}"),
        ] {
            let body = body.repeat(100_000 / body.len());
            let collector = read(702, |number, out| match number {
                0 => out.push_str(head),
                701 => out.push_str(tail),
                _ => out.push_str(&body),
            });
            let error = format!("{:?}", collector.outcome().unwrap_err());
            assert!(error.contains("line 1 is skipped: it is longer than 64 MiB"), "{error}");
        }
        // Events that are built as values: messages that repeat texts, then 60 MB of text and of numbers in one event.
        let (outcome, _) = outcome_of(3_000, |number, out| {
            match number {
            0 => writeln!(out, r#"{{"type":"session","version":3,"id":"s"}}"#).unwrap(),
            _ => writeln!(out, r#"{{"type":"message_end","message":{{"role":"assistant","content":[{{"type":"text","text":"{output}"}}]}},"messages":["{output}","{output}"]}}"#).unwrap(),
        }
        });
        assert_eq!(outcome.metrics.unwrap().steps.map(|steps| steps.0), Some(2_999.0));
        for (body, warning) in [
            (output.as_str(), "line 2 has a text over 1 MiB, which was truncated"),
            ("\",0,1,2,3,4,5,6,7,8,9,\"", "line 2 is skipped: its values take more than 4 MiB"),
        ] {
            let body = body.repeat(20_000 / body.len());
            let (outcome, _) = outcome_of(1003, |number, out| match number {
                0 => out.push_str("{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n"),
                1 => out.push_str("{\"type\":\"message_end\",\"message\":{\"content\":[\""),
                1002 => out.push_str("\"]}}\n"),
                _ => out.push_str(&body),
            });
            assert_eq!(outcome.warnings, [warning]);
        }
        // Events of a message without an id, which does not end.
        let (outcome, _) = outcome_of(3_000, |number, out| {
            match number {
            0 => writeln!(out, r#"{{"type":"system","subtype":"init","session_id":"s","claude_code_version":"2"}}"#).unwrap(),
            _ => writeln!(out, r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":""}},{{"type":"text","text":"{output}"}}]}}}}"#).unwrap(),
        }
        });
        assert!(outcome.message.unwrap().len() > 4_000_000);
        assert_eq!(outcome.warnings, ["the message is longer than 4 MiB and was truncated"]);
        let grown = MEMORY.peak_usage() - before;
        assert!(grown < 16 << 20, "{grown} bytes more than before");
    });
}
