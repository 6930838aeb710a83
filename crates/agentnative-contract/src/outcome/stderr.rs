//! Standard error of an agent: lines of text among events.

use std::io::{self, Read};
use strict_json::sanitize;

/// A line of text is kept up to here, in bytes.
const LINE: usize = 2_000;

/// Where a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum At {
    /// Only white space has come.
    Start,
    /// In an event, which begins with `{`.
    Event,
    /// In text.
    Text,
}

/// Reads events and leaves empty lines in the place of text, which is given to `text` line by line.
pub(super) struct Events<R, F> {
    input: R,
    text: F,
    at: At,
    line: Vec<u8>,
}

impl<R: Read, F: FnMut(&str)> Events<R, F> {
    pub(super) fn new(input: R, text: F) -> Self {
        Self { input, text, at: At::Start, line: Vec::new() }
    }

    /// What is left of a byte.
    fn passed(&mut self, byte: u8) -> bool {
        if byte == b'\n' {
            self.end_line();
            return true;
        }
        if self.at == At::Start && !byte.is_ascii_whitespace() {
            self.at = if byte == b'{' { At::Event } else { At::Text };
        }
        if self.at == At::Text && self.line.len() < LINE {
            self.line.push(byte);
        }
        self.at != At::Text
    }

    fn end_line(&mut self) {
        let line = sanitize::plain(&self.line);
        if !line.trim().is_empty() {
            (self.text)(line.trim());
        }
        self.line.clear();
        self.at = At::Start;
    }
}

impl<R: Read, F: FnMut(&str)> Read for Events<R, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.input.read(buffer)?;
            if count == 0 {
                self.end_line();
                return Ok(0);
            }
            let mut kept = 0;
            for at in 0..count {
                let byte = buffer[at];
                if self.passed(byte) {
                    buffer[kept] = byte;
                    kept += 1;
                }
            }
            // Nothing would be the end.
            if kept > 0 {
                return Ok(kept);
            }
        }
    }
}

/// Whether a line says that something failed.
pub(super) fn is_error(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ["error", "fatal", "panic"].iter().any(|word| line.starts_with(word)) || line.contains("error:")
}
