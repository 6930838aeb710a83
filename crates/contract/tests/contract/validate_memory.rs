//! Tests that validation takes constant memory, as measured by the allocator.

use crate::own_process::in_own_process;
use agentnative_contract::{Contract, RunExit, Settings, Validation, Verdict};
use peak_alloc::PeakAlloc;
use std::fs;
use std::io::{self, Read};

fn verdict(contract: &Contract, reader: impl Read + Send, threads: usize) -> Verdict {
    let settings =
        Settings { framing: contract.framing(), max_errors: 20, exit: RunExit::default(), threads };
    Validation::new(contract, settings).validate(reader, &mut |_| ()).unwrap()
}

/// A reader of generated input.
struct Generated<F> {
    next: F,
    rest: Vec<u8>,
}

impl<F: FnMut() -> Option<Vec<u8>>> Read for Generated<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.rest.is_empty() {
            self.rest = (self.next)().unwrap_or_default();
        }
        let length = self.rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&self.rest[..length]);
        self.rest.drain(..length);
        Ok(length)
    }
}

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

#[test]
fn memory_does_not_grow_with_the_input() {
    in_own_process("validate_memory::memory_does_not_grow_with_the_input", || {
        let folder = tempfile::tempdir().unwrap();
        let schema = folder.path().join("s.json");
        fs::write(&schema, r#"{"type": "array", "items": {"required": ["type"]}}"#).unwrap();
        let array = Contract::load(&schema).unwrap();
        let events = Contract::bundled("opencode-events").unwrap();
        let line =
            format!("{{\"type\":\"server.connected\",\"properties\":{{\"text\":\"{}\"}}}}", "x".repeat(1000));
        let before = MEMORY.current_usage();
        let mut left = 100_000;
        let elements = Generated {
            rest: b"[0".to_vec(),
            next: || {
                left -= 1;
                (left >= 0).then(|| if left == 0 { b"]".to_vec() } else { format!(",{line}").into_bytes() })
            },
        };
        assert_eq!(verdict(&array, elements, 1).errors.len(), 0);
        // A line of 100 MB: only the beginning and the length of its text are kept.
        let mut left = 100_000;
        let long = Generated {
            rest: b"{\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"".to_vec(),
            next: || {
                left -= 1;
                (left >= 0).then(|| {
                    if left == 0 { b"\"}}\n{\"type\":1}\n".to_vec() } else { "x".repeat(1000).into_bytes() }
                })
            },
        };
        let found = verdict(&events, long, 2);
        let places: Vec<_> = found
            .errors
            .iter()
            .map(|finding| (finding.line, finding.column, finding.rule.as_str()))
            .collect();
        assert_eq!(
            places,
            [(Some(1), Some(50), "session-first"), (Some(2), Some(9), "event-type")],
            "{:?}",
            found.errors
        );
        let mut left = 100_000;
        let lines = Generated {
            rest: Vec::new(),
            next: || {
                left -= 1;
                (left > 0).then(|| format!("{line}\n").into_bytes())
            },
        };
        assert_eq!(verdict(&events, lines, 2).records, 99_999);
        let grown = MEMORY.peak_usage() - before;
        assert!(grown < 64 << 20, "{grown} bytes");
        // A document of the wrong type is kept in memory, but not copied for the message.
        fs::write(&schema, r#"{"type": "object"}"#).unwrap();
        let object = Contract::load(&schema).unwrap();
        let mut left = 500_000;
        let elements = Generated {
            rest: b"[0".to_vec(),
            next: || {
                left -= 1;
                (left >= 0)
                    .then(|| if left == 0 { b"]".to_vec() } else { b",{\"a\":1,\"b\":\"text\"}".to_vec() })
            },
        };
        let found = verdict(&object, elements, 1);
        assert_eq!(found.errors[0].message, "expected an object, found an array");
        let grown = MEMORY.peak_usage() - before;
        assert!(grown < 128 << 20, "{grown} bytes");
    });
}
