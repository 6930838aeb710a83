//! A hex dump of the bytes around a problem.

use serde::Serialize;
use std::fmt::Write as _;

/// Number of bytes per row.
pub(super) const ROW_BYTES: u64 = 16;
/// Number of rows before and after that of the problem.
const CONTEXT_ROWS: u64 = 2;

/// A row: its offset, and the bytes as numbers and as characters, split at the problem.
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

/// Returns the offset and length in bytes of the rows around this offset.
pub(super) const fn window(offset: u64) -> (u64, u64) {
    let start = (offset - offset % ROW_BYTES).saturating_sub(CONTEXT_ROWS * ROW_BYTES);
    (start, (2 * CONTEXT_ROWS + 1) * ROW_BYTES)
}

/// Formats these bytes, which begin at `start` in their stream, as rows; marks the byte at `fault`.
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
