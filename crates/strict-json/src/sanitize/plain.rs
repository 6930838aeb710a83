//! Removes terminal formatting from text.

/// Removes terminal escapes and overstriking and expands tabs to spaces, for programs that parse the text.
pub fn strip_terminal_formatting(input: impl AsRef<[u8]>) -> String {
    let text = String::from_utf8_lossy(input.as_ref());
    let mut clean = String::with_capacity(text.len());
    let mut column = 0_usize;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\x1b' => skip_escape(&mut chars),
            // A manual page prints a bold `x` as `x`, backspace, `x`.
            '\x08' => {
                if clean.pop().is_some_and(|char| char == '\n') {
                    clean.push('\n');
                } else {
                    column = column.saturating_sub(1);
                }
            }
            '\t' => {
                let width = 8 - column % 8;
                clean.extend(std::iter::repeat_n(' ', width));
                column += width;
            }
            '\n' => {
                clean.push('\n');
                column = 0;
            }
            char if char.is_control() => {}
            char => {
                clean.push(char);
                column += 1;
            }
        }
    }
    clean
}

/// Skips the part of an escape sequence after ESC: a control sequence, an operating system command, or one character.
fn skip_escape(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match chars.next() {
        Some('[') => while chars.next().is_some_and(|char| !('@'..='~').contains(&char)) {},
        Some(']') => {
            while let Some(char) = chars.next() {
                if char == '\x07' || (char == '\x1b' && chars.next_if_eq(&'\\').is_some()) {
                    break;
                }
            }
        }
        _ => {}
    }
}
