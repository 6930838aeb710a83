//! The part of a long line around a place.

use super::{Unit, units};

/// Smallest window: the longest escape with an ellipsis on both sides fits well.
const MIN_CHARS: usize = 16;

/// The line around byte `byte` of `input`, safe, as at most `max` characters (at least 16), and the
/// 0-based character in it at which the place is.
///
/// `input` may hold more than the line: it ends at the line feeds around the place. A place at or
/// past the end of the line is the character after its last one. A cut end is `…`. Tabs stay; all
/// else that is unsafe in a line is spelt out. Only about `8 * max` bytes are looked at, however
/// long the line is.
pub fn excerpt(input: impl AsRef<[u8]>, byte: usize, max: usize) -> (String, usize) {
    let input = input.as_ref();
    let max = max.max(MIN_CHARS);
    let reach = max.saturating_mul(4).saturating_add(4);
    let byte = byte.min(input.len());

    // Each unit has at most 4 bytes and gives at least one character, so the ends of this window lie
    // past what is shown whenever the line goes on there.
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
    let mut place = None;
    let mut at = from;
    for unit in units(&input[from..to]) {
        at += unit.len();
        if place.is_none() && at > byte {
            place = Some(pieces.len());
        }
        let mut piece = String::new();
        match unit {
            Unit::Char('\t') => piece.push('\t'),
            unit => unit.push(&mut piece),
        }
        let chars = piece.chars().count();
        pieces.push((piece, chars));
    }
    let place = place.unwrap_or(pieces.len());

    let total = |pieces: &[(String, usize)]| pieces.iter().map(|(_, chars)| chars).sum::<usize>();
    let (mut first, mut last) = (0, pieces.len());
    if cut_left || cut_right || total(&pieces) > max {
        let room = max - 2; // for an ellipsis at each end
        let left = total(&pieces[..place]);
        last = fit(pieces[place..].iter(), room - left.min(room / 2)).max(1) + place;
        last = last.min(pieces.len());
        first = place - fit(pieces[..place].iter().rev(), room - total(&pieces[place..last]));
        cut_left |= first > 0;
        cut_right |= last < pieces.len();
    }

    let mut out = String::new();
    if cut_left {
        out.push('…');
    }
    let caret = usize::from(cut_left) + total(&pieces[first..place]);
    out.extend(pieces[first..last].iter().map(|(piece, _)| piece.as_str()));
    if cut_right {
        out.push('…');
    }
    (out, caret)
}

/// How many of the pieces fit into `room` characters.
fn fit<'a>(pieces: impl Iterator<Item = &'a (String, usize)>, room: usize) -> usize {
    let mut used = 0;
    pieces
        .take_while(|(_, chars)| {
            used += chars;
            used <= room
        })
        .count()
}
