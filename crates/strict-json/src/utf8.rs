//! Helpers for valid UTF-8: text, code points and noncharacters.

/// Converts bytes that the input has already validated to text.
pub(super) fn valid_text(bytes: &[u8]) -> &str {
    simdutf8::basic::from_utf8(bytes).expect("the input validates its bytes and tokens end at characters")
}

/// Returns the first code point of valid UTF-8.
pub(super) fn first_code_point(bytes: &[u8]) -> u32 {
    let length = match bytes.first() {
        Some(0..0x80) | None => 1,
        Some(0x80..0xe0) => 2,
        Some(0xe0..0xf0) => 3,
        Some(0xf0..) => 4,
    };
    let text = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.and_then(|text| text.chars().next()).map_or(0xfffd, u32::from)
}

/// Returns the length of the longest prefix of valid UTF-8 that has at most `max` bytes and ends at a character.
pub(super) fn fitting_length(bytes: &[u8], max: usize) -> usize {
    if bytes.len() <= max {
        return bytes.len();
    }
    (0..=max).rev().find(|end| bytes[*end] & 0xc0 != 0x80).unwrap_or(0)
}

/// Returns the index of the first noncharacter (U+FDD0 to U+FDEF, U+xxFFFE, U+xxFFFF) at or after `from` in valid
/// UTF-8, or `usize::MAX`.
pub(super) fn find_noncharacter(bytes: &[u8], from: usize) -> usize {
    // All noncharacters have one of these bytes after their first byte; few other characters do.
    for found in memchr::memchr2_iter(0xb7, 0xbf, bytes.get(from..).unwrap_or_default()) {
        let index = from + found;
        let start = (index.saturating_sub(2)..index).rev().find(|i| bytes[*i] & 0xc0 != 0x80);
        if let Some(start) = start
            && bytes[start] >= 0xef
            && is_noncharacter(first_code_point(&bytes[start..]))
        {
            return start;
        }
    }
    usize::MAX
}

/// Whether RFC 7493 forbids this code point as a noncharacter.
pub(super) fn is_noncharacter(code: u32) -> bool {
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}
