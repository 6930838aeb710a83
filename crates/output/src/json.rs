//! Serialises values as JSON that is safe for a terminal: unsafe characters are written as `\u` escapes, so nothing is
//! lost.

use agentnative_contract::error::{Error, Result};
use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::io::{self, Write};
use strict_json::sanitize::{command_starts, is_unsafe};

/// Serialises `value` as one line of JSON, without a line feed. Fails if `value` has a map whose keys are not strings,
/// or if its serialisation fails.
pub fn to_string<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let mut out = Vec::new();
    value
        .serialize(&mut Serializer::with_formatter(&mut out, SafeFormatter))
        .map_err(|error| Error::general(format!("cannot write as JSON: {error}")))?;
    Ok(String::from_utf8(out).expect("the serializer writes whole characters"))
}

/// Serialises `value` as indented JSON, with a line feed at its end. Fails like [`to_string`].
pub fn pretty<T: Serialize + ?Sized>(value: &T) -> Result<String> {
    let text = serde_json::to_string_pretty(value)
        .map_err(|error| Error::general(format!("cannot write as JSON: {error}")))?;
    let mut out = Vec::new();
    // Nothing between the strings needs to be escaped.
    for line in text.lines() {
        // Writing to memory cannot fail.
        let _ = SafeFormatter.write_string_fragment(&mut out, line);
        out.push(b'\n');
    }
    Ok(String::from_utf8(out).expect("only whole characters are written"))
}

/// Writes compact JSON. Escapes characters that are unsafe on a terminal ([`is_unsafe`]), and the `#` of CI commands
/// such as `##[group]`.
struct SafeFormatter;

impl Formatter for SafeFormatter {
    fn write_string_fragment<W: Write + ?Sized>(&mut self, writer: &mut W, text: &str) -> io::Result<()> {
        let mut hashes = command_starts(text).filter(|at| text[*at..].starts_with('#')).peekable();
        let mut written = 0;
        for (at, c) in text.char_indices() {
            if hashes.next_if_eq(&at).is_none() && !is_unsafe(c) {
                continue;
            }
            CompactFormatter.write_string_fragment(writer, &text[written..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            written = at + c.len_utf8();
        }
        CompactFormatter.write_string_fragment(writer, &text[written..])
    }
}
