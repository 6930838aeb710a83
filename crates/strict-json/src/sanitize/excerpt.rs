//! Shortens a long line to an excerpt around one byte.

use super::{Unit, units};

/// Minimum length of an excerpt, in characters; the longest escape fits with an ellipsis on both sides.
const MIN_CHARS: usize = 16;

/// Returns an excerpt of the line that contains the byte at offset `byte`: sanitised, in at most `max` characters (at
/// least 16). Also returns the 0-based index of the character for that byte in the excerpt.
///
/// `input` may have several lines; only the line with the byte is used. If the offset is at or past the end of the
/// line, the index is the one after the last character. `…` replaces text that is cut. Tabs stay; all other unsafe
/// characters are escaped. Only about `8 * max` bytes are read, however long the line is.
pub fn excerpt(input: impl AsRef<[u8]>, byte: usize, max: usize) -> (String, usize) {
    let input = input.as_ref();
    let max = max.max(MIN_CHARS);
    let reach = max.saturating_mul(4).saturating_add(4);
    let byte = byte.min(input.len());

    // Each unit has at most 4 bytes and becomes at least one character, so this window covers at least the excerpt.
    let mut from = byte.saturating_sub(reach);
    let line_start = memchr::memrchr(b'\n', &input[from..byte]).map(|at| from + at + 1);
    let mut cut_left = line_start.is_none() && from > 0;
    from = line_start.unwrap_or(from);
    if cut_left {
        from += input[from..byte].iter().take(3).take_while(|b| **b & 0xc0 == 0x80).count();
    }
    let to = byte.saturating_add(reach).min(input.len());
    let line_end = memchr::memchr(b'\n', &input[byte..to]).map(|at| byte + at);
    let mut cut_right = line_end.is_none() && to < input.len();
    let to = line_end.unwrap_or(to);

    let mut pieces: Vec<(String, usize)> = Vec::new();
    let mut caret_piece = None;
    let mut at = from;
    for unit in units(&input[from..to]) {
        at += unit.len();
        if caret_piece.is_none() && at > byte {
            caret_piece = Some(pieces.len());
        }
        let mut piece = String::new();
        match unit {
            Unit::Char('\t') => piece.push('\t'),
            unit => unit.push(&mut piece),
        }
        let chars = piece.chars().count();
        pieces.push((piece, chars));
    }
    let caret_piece = caret_piece.unwrap_or(pieces.len());

    let total = |pieces: &[(String, usize)]| pieces.iter().map(|(_, chars)| chars).sum::<usize>();
    let (mut first, mut last) = (0, pieces.len());
    if cut_left || cut_right || total(&pieces) > max {
        let room = max - 2; // for an ellipsis at each end
        let left = total(&pieces[..caret_piece]);
        last = count_fitting(pieces[caret_piece..].iter(), room - left.min(room / 2)).max(1) + caret_piece;
        last = last.min(pieces.len());
        first = caret_piece
            - count_fitting(pieces[..caret_piece].iter().rev(), room - total(&pieces[caret_piece..last]));
        cut_left |= first > 0;
        cut_right |= last < pieces.len();
    }

    let mut out = String::new();
    if cut_left {
        out.push('…');
    }
    let caret = usize::from(cut_left) + total(&pieces[first..caret_piece]);
    out.extend(pieces[first..last].iter().map(|(piece, _)| piece.as_str()));
    if cut_right {
        out.push('…');
    }
    (out, caret)
}

/// Returns how many pieces, from the first on, fit into `max` characters. A piece is a text with its number of
/// characters.
fn count_fitting<'a>(pieces: impl Iterator<Item = &'a (String, usize)>, max: usize) -> usize {
    let mut used = 0;
    pieces
        .take_while(|(_, chars)| {
            used += chars;
            used <= max
        })
        .count()
}
