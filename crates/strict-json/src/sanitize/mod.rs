//! Sanitises untrusted text for a terminal.
//!
//! Text from a program, a file, a file name or the network has to be sanitised before a user sees it. Characters that
//! could move the cursor, recolour, reorder or hide text are escaped, never dropped:
//!
//! - C0 controls, DEL, C1 controls and bytes that are not UTF-8: each byte as `\x1b`;
//! - bidirectional and zero-width controls, line separators and tag characters: as `\u{202e}`.
//!
//! A backslash stays as it is, so text that is already safe does not change. If the text has no backslashes, the
//! original can be restored exactly: each `\xNN` is one byte, each `\u{…}` one character.
//!
//! [`strip_terminal_formatting()`] drops terminal formatting instead, for text that a program parses.

mod commands;
mod excerpt;
mod plain;

pub use commands::command_starts;
pub use commands::escape_commands;
pub use excerpt::excerpt;
pub use plain::strip_terminal_formatting;

use std::borrow::Cow;
use std::fmt;
use std::fmt::Write as _;

/// Returns whether a character has to be escaped: all C0 (also `\n` and `\t`), DEL, C1, and the invisible controls that
/// reorder, hide or break text.
pub const fn is_unsafe(c: char) -> bool {
    matches!(c,
        '\0'..='\x1f' | '\x7f'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        // Tags: invisible to people, but language models read them.
        | '\u{e0000}'..='\u{e007f}')
}

/// Sanitises text that may have several lines: `\n` and `\t` stay.
pub fn sanitize_text(input: impl AsRef<[u8]>) -> String {
    escape(input.as_ref(), |c| matches!(c, '\n' | '\t'))
}

/// Sanitises text for one line: `\n` and `\t` are escaped as well.
pub fn sanitize_line(input: impl AsRef<[u8]>) -> String {
    escape(input.as_ref(), |_| false)
}

/// Sanitises text for one line of at most `max` characters (at least 1). Text that is cut ends in `…`.
pub fn sanitize_capped(input: impl AsRef<[u8]>, max: usize) -> String {
    let input = input.as_ref();
    // A character has at most four bytes, so more bytes than these are not needed.
    let head = &input[..input.len().min(max.saturating_add(1).saturating_mul(4))];
    let mut out = String::new();
    let mut count = 0;
    let mut cut = 0; // length of `out` that leaves one character for the `…`
    for unit in units(head) {
        let before = out.len();
        unit.push(&mut out);
        count += out[before..].chars().count();
        if count < max {
            cut = out.len();
        }
        if count > max {
            out.truncate(cut);
            out.push('…');
            return out;
        }
    }
    out
}

/// Converts bytes to the text of a JSON string. Escapes only bytes that are not UTF-8, as `\xNN`; the JSON writer
/// escapes all other characters that need it.
pub fn lossless(input: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(input) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(escape(input, |_| true)),
    }
}

/// Sanitises text like [`sanitize_text()`], but keeps colours (`ESC [ … m`) if `color` is set.
pub fn sanitize_rendered(input: &str, color: bool) -> String {
    if !color {
        return sanitize_text(input);
    }
    let mut out = String::with_capacity(input.len());
    let mut rest = input;
    while let Some(at) = rest.find('\x1b') {
        let sequence = rest[at..].strip_prefix("\x1b[").and_then(|tail| {
            let digits = tail.find(|c: char| !c.is_ascii_digit() && c != ';')?;
            tail[digits..].starts_with('m').then_some(digits + 3)
        });
        out.push_str(&sanitize_text(&rest[..at]));
        let end = at + sequence.unwrap_or(1);
        match sequence {
            Some(_) => out.push_str(&rest[at..end]),
            None => out.push_str("\\x1b"),
        }
        rest = &rest[end..];
    }
    out.push_str(&sanitize_text(rest));
    out
}

/// A character of the input, or a byte that is not valid UTF-8.
#[derive(Clone, Copy)]
enum Unit {
    Char(char),
    /// A byte that is not part of a valid UTF-8 character.
    Invalid(u8),
}

impl Unit {
    /// Returns the number of bytes that the unit has in the input.
    const fn len(self) -> usize {
        match self {
            Self::Char(c) => c.len_utf8(),
            Self::Invalid(_) => 1,
        }
    }

    /// Appends the unit to `out`, escaped if it is not safe in a line.
    fn push(self, out: &mut String) {
        match self {
            Self::Invalid(byte) => push_bytes(out, &[byte]),
            Self::Char(c) if !is_unsafe(c) => out.push(c),
            Self::Char(c @ ..'\u{a0}') => push_bytes(out, c.encode_utf8(&mut [0; 4]).as_bytes()),
            Self::Char(c) => push_fmt(out, format_args!("\\u{{{:x}}}", u32::from(c))),
        }
    }
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        push_fmt(out, format_args!("\\x{byte:02x}"));
    }
}

fn push_fmt(out: &mut String, arguments: fmt::Arguments<'_>) {
    out.write_fmt(arguments).expect("writing to a String cannot fail");
}

/// Returns the characters and invalid bytes of `input`, in order.
fn units(input: &[u8]) -> impl Iterator<Item = Unit> {
    input.utf8_chunks().flat_map(|chunk| {
        chunk.valid().chars().map(Unit::Char).chain(chunk.invalid().iter().map(|byte| Unit::Invalid(*byte)))
    })
}

fn escape(input: &[u8], keep: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(input.len());
    for unit in units(input) {
        match unit {
            Unit::Char(c) if keep(c) => out.push(c),
            unit => unit.push(&mut out),
        }
    }
    out
}
