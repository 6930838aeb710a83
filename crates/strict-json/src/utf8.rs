//! Helpers for valid UTF-8: text, code points and noncharacters.

/// Converts bytes that the reader has already validated to text. Panics if they are not UTF-8.
pub(super) fn valid_text(bytes: &[u8]) -> &str {
    simdutf8::basic::from_utf8(bytes).expect("the input validates its bytes and tokens end at characters")
}

/// Returns the first code point of `bytes`, which must be valid UTF-8; `0xfffd` if there is none.
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

/// Returns the length of the longest prefix of `bytes` that has at most `max` bytes and does not split a character.
/// `bytes` must be valid UTF-8.
pub(super) fn fitting_length(bytes: &[u8], max: usize) -> usize {
    if bytes.len() <= max {
        return bytes.len();
    }
    (0..=max).rev().find(|end| bytes[*end] & 0xc0 != 0x80).unwrap_or(0)
}

/// Returns the index of the first Unicode noncharacter (U+FDD0 to U+FDEF, U+xxFFFE, U+xxFFFF) at or after `from`;
/// `usize::MAX` if there is none. `bytes` must be valid UTF-8.
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

/// Returns whether a code point is a Unicode noncharacter, such as U+FFFF. RFC 7493 forbids these.
pub(super) fn is_noncharacter(code: u32) -> bool {
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}
