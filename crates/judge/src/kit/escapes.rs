//! Escape sequences of terminals.

/// True if the bytes after an escape character move, save, hide or show the cursor, or erase text. `[2J` erases the
/// screen.
pub fn moves_cursor(sequence: &[u8]) -> bool {
    match sequence {
        [b'7' | b'8' | b'M' | b'D' | b'E' | b'c', ..] => true,
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| (0x40..=0x7e).contains(byte));
            end.is_some_and(|end| match rest[end] {
                b'A'..=b'H' | b'J' | b'K' | b'L' | b'M' | b'P' | b'S' | b'T' | b'X' | b'd' | b'f' => true,
                b's' | b'u' => end == 0,
                // The cursor visibility, and the alternate screen.
                b'h' | b'l' => matches!(&rest[..end], b"?25" | b"?1049" | b"?47"),
                _ => false,
            })
        }
        _ => false,
    }
}
