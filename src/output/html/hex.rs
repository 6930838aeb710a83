//! The bytes around a fault, as a table of hexadecimal numbers.

use serde::Serialize;
use std::fmt::Write as _;

/// Bytes in a row.
pub(super) const WIDTH: u64 = 16;
/// Rows before and behind that of the fault.
const AROUND: u64 = 2;

/// One row: its offset, the bytes as numbers and as characters; each before, at and behind the fault.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    offset: String,
    bytes: Marked,
    text: Marked,
}

/// A text of which a part may be marked.
#[derive(Debug, Default, Serialize)]
pub(super) struct Marked {
    pub before: String,
    pub mark: String,
    pub after: String,
}

/// Where the rows around this offset begin, and how many bytes they have.
pub(super) const fn window(offset: u64) -> (u64, u64) {
    let start = (offset - offset % WIDTH).saturating_sub(AROUND * WIDTH);
    (start, (2 * AROUND + 1) * WIDTH)
}

/// The rows of these bytes, which begin at `start` in their stream; the byte at `fault` is marked.
pub(super) fn rows(bytes: &[u8], start: u64, fault: u64) -> Vec<Row> {
    let mut at = start;
    let mut rows = Vec::new();
    for chunk in bytes.chunks(WIDTH as usize) {
        let mut row = Row { offset: format!("{at:08x}"), bytes: Marked::default(), text: Marked::default() };
        for byte in chunk {
            let (bytes, text) = (&mut row.bytes, &mut row.text);
            let (bytes, text) = match at.cmp(&fault) {
                std::cmp::Ordering::Less => (&mut bytes.before, &mut text.before),
                std::cmp::Ordering::Equal => (&mut bytes.mark, &mut text.mark),
                std::cmp::Ordering::Greater => (&mut bytes.after, &mut text.after),
            };
            if at % WIDTH == WIDTH / 2 {
                bytes.push(' ');
            }
            // Writing to a string never fails.
            let _ = write!(bytes, "{byte:02x} ");
            text.push(if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '·' });
            at += 1;
        }
        rows.push(row);
    }
    rows
}
