//! A hex dump of the bytes around a problem.

use serde::Serialize;
use std::fmt::Write as _;

/// Number of bytes per row.
pub(super) const ROW_BYTES: u64 = 16;
/// Number of rows that are shown before and after the row with the problem.
const CONTEXT_ROWS: u64 = 2;

/// A row of a hex dump: the offset of its first byte, its bytes in hexadecimal, and its bytes as characters. The byte
/// with the problem is marked.
#[derive(Debug, Serialize)]
pub(super) struct HexRow {
    offset: String,
    bytes: Marked,
    text: Marked,
}

/// Text with an optional marked part.
#[derive(Debug, Default, Serialize)]
pub(super) struct Marked {
    pub before: String,
    pub mark: String,
    pub after: String,
}

/// Returns the start and the length, in bytes, of the part of a stream that is shown for a problem at this offset.
pub(super) const fn shown_range(offset: u64) -> (u64, u64) {
    let start = (offset - offset % ROW_BYTES).saturating_sub(CONTEXT_ROWS * ROW_BYTES);
    (start, (2 * CONTEXT_ROWS + 1) * ROW_BYTES)
}

/// Formats bytes as rows of a hex dump. `start` is the offset of the first byte in its stream; the byte at offset
/// `fault` is marked.
pub(super) fn rows(bytes: &[u8], start: u64, fault: u64) -> Vec<HexRow> {
    let mut offset = start;
    let mut rows = Vec::new();
    for chunk in bytes.chunks(ROW_BYTES as usize) {
        let mut row =
            HexRow { offset: format!("{offset:08x}"), bytes: Marked::default(), text: Marked::default() };
        for byte in chunk {
            let (bytes, text) = (&mut row.bytes, &mut row.text);
            let (bytes, text) = match offset.cmp(&fault) {
                std::cmp::Ordering::Less => (&mut bytes.before, &mut text.before),
                std::cmp::Ordering::Equal => (&mut bytes.mark, &mut text.mark),
                std::cmp::Ordering::Greater => (&mut bytes.after, &mut text.after),
            };
            if offset % ROW_BYTES == ROW_BYTES / 2 {
                bytes.push(' ');
            }
            // Writing to a string cannot fail.
            let _ = write!(bytes, "{byte:02x} ");
            text.push(if byte.is_ascii_graphic() || *byte == b' ' { char::from(*byte) } else { '·' });
            offset += 1;
        }
        rows.push(row);
    }
    rows
}
