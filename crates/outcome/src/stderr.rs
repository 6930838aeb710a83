//! Reads the stderr of an agent: lines of text and JSON objects.

use serde::de::IgnoredAny;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use strict_json::sanitize;

/// Maximum length of a line or an object on stderr, in bytes; the rest is skipped.
const MAX_LENGTH: u64 = 1 << 20;
/// Maximum size of all kept lines together, in bytes.
const MAX_TAIL: usize = 4 << 10;

/// The last lines of text on stderr.
#[derive(Debug, Default)]
pub(super) struct StderrTail {
    lines: VecDeque<String>,
    bytes: usize,
}

impl StderrTail {
    /// Adds a line of text. Escape sequences of terminals are removed, and blank lines are ignored.
    pub(super) fn push(&mut self, line: &[u8]) {
        let mut line = sanitize::strip_terminal_formatting(line).trim().to_owned();
        if line.is_empty() {
            return;
        }
        line.truncate(line.floor_char_boundary(MAX_TAIL));
        self.bytes += line.len() + usize::from(!self.lines.is_empty());
        self.lines.push_back(line);
        while self.bytes > MAX_TAIL
            && let Some(first) = self.lines.pop_front()
        {
            self.bytes -= first.len() + 1;
        }
    }

    /// Returns the kept lines, joined with newlines; `None` if there are none.
    pub(super) fn text(&self) -> Option<String> {
        (!self.lines.is_empty()).then(|| Vec::from_iter(self.lines.iter().map(String::as_str)).join("\n"))
    }
}

/// Reads stderr to its end. Passes each JSON object at the start of a line to `on_object`, which returns true if it is
/// an event. Passes all other lines to `on_text`.
pub(super) fn read(
    input: impl Read,
    mut on_object: impl FnMut(&[u8]) -> io::Result<bool>,
    mut on_text: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut pending = Vec::new();
    let mut more = true;
    let mut flush_text = |lines: &mut Vec<u8>| {
        lines.split(|byte| *byte == b'\n').for_each(&mut on_text);
        lines.clear();
    };
    while more {
        let begins_object = input.fill_buf()?.first() == Some(&b'{');
        if begins_object || pending.len() as u64 > MAX_LENGTH {
            flush_text(&mut pending);
        }
        let from = pending.len();
        more = read_line(&mut input, &mut pending)?;
        // An object ends at the end of a line; one over several lines ends with a line that begins with its bracket.
        let is_object = pending.first() == Some(&b'{')
            && (begins_object || pending[from..].trim_ascii_start().starts_with(b"}"))
            && serde_json::from_slice::<IgnoredAny>(&pending).is_ok();
        if is_object && on_object(&pending)? {
            pending.clear();
        } else if is_object || pending.first() != Some(&b'{') || !more {
            flush_text(&mut pending);
        }
    }
    Ok(())
}

/// Appends the next line to `buffer`. Returns false if no further line follows.
fn read_line(input: &mut impl BufRead, buffer: &mut Vec<u8>) -> io::Result<bool> {
    input.by_ref().take(MAX_LENGTH).read_until(b'\n', buffer)?;
    if buffer.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(!input.fill_buf()?.is_empty())
}
