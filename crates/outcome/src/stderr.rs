//! Standard error of an agent: lines of text among JSON objects.

use serde::de::IgnoredAny;
use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use strict_json::sanitize;

/// Of a longer line, or of an object of more bytes, the rest is passed over.
const MAX: u64 = 1 << 20;
/// The last lines are kept up to here, in bytes.
const MAX_TAIL: usize = 4 << 10;

/// The last lines of text.
#[derive(Debug, Default)]
pub(super) struct Tail {
    lines: VecDeque<String>,
    bytes: usize,
}

impl Tail {
    /// Takes a line, without its escapes.
    pub(super) fn push(&mut self, line: &[u8]) {
        let mut line = sanitize::plain(line).trim().to_owned();
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

    /// The lines, if there are any.
    pub(super) fn text(&self) -> Option<String> {
        (!self.lines.is_empty()).then(|| Vec::from_iter(self.lines.iter().map(String::as_str)).join("\n"))
    }
}

/// Reads to the end and gives each object that begins a line to `object`, which says whether it is an event,
/// and each other line to `text`.
pub(super) fn read(
    input: impl Read,
    mut object: impl FnMut(&[u8]) -> io::Result<bool>,
    mut text: impl FnMut(&[u8]),
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let mut pending = Vec::new();
    let mut more = true;
    let mut say = |lines: &mut Vec<u8>| {
        lines.split(|byte| *byte == b'\n').for_each(&mut text);
        lines.clear();
    };
    while more {
        let begins = input.fill_buf()?.first() == Some(&b'{');
        if begins || pending.len() as u64 > MAX {
            say(&mut pending);
        }
        let from = pending.len();
        more = line(&mut input, &mut pending)?;
        // An object ends a line, and one of several lines in a line of its own.
        let whole = pending.first() == Some(&b'{')
            && (begins || pending[from..].trim_ascii_start().starts_with(b"}"))
            && serde_json::from_slice::<IgnoredAny>(&pending).is_ok();
        if whole && object(&pending)? {
            pending.clear();
        } else if whole || pending.first() != Some(&b'{') || !more {
            say(&mut pending);
        }
    }
    Ok(())
}

/// Appends the next line; false at the end.
fn line(input: &mut impl BufRead, to: &mut Vec<u8>) -> io::Result<bool> {
    input.by_ref().take(MAX).read_until(b'\n', to)?;
    if to.last() != Some(&b'\n') {
        input.skip_until(b'\n')?;
    }
    Ok(!input.fill_buf()?.is_empty())
}
