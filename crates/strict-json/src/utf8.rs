//! Bytes that are valid UTF-8: as text, as code points, and the noncharacters among them.

/// Bytes that the input has validated, as text.
pub(super) fn text(bytes: &[u8]) -> &str {
    simdutf8::basic::from_utf8(bytes).expect("the input validates its bytes and tokens end at characters")
}

/// The first code point of valid UTF-8.
pub(super) fn decode(bytes: &[u8]) -> u32 {
    let length = match bytes.first() {
        Some(0..0x80) | None => 1,
        Some(0x80..0xe0) => 2,
        Some(0xe0..0xf0) => 3,
        Some(0xf0..) => 4,
    };
    let text = bytes.get(..length).and_then(|bytes| std::str::from_utf8(bytes).ok());
    text.and_then(|text| text.chars().next()).map_or(0xfffd, u32::from)
}

/// How many bytes of valid UTF-8 fit into `room`, at a character's end.
pub(super) fn fitting(run: &[u8], room: usize) -> usize {
    if run.len() <= room {
        return run.len();
    }
    (0..=room).rev().find(|end| run[*end] & 0xc0 != 0x80).unwrap_or(0)
}

/// The index of the first noncharacter (U+FDD0 to U+FDEF, U+xxFFFE, U+xxFFFF) at or behind `from` in
/// valid UTF-8, or `usize::MAX`.
pub(super) fn find_noncharacter(bytes: &[u8], from: usize) -> usize {
    // All noncharacters have one of these bytes behind their first; few other characters do.
    for found in memchr::memchr2_iter(0xb7, 0xbf, bytes.get(from..).unwrap_or_default()) {
        let index = from + found;
        let start = (index.saturating_sub(2)..index).rev().find(|i| bytes[*i] & 0xc0 != 0x80);
        if let Some(start) = start
            && bytes[start] >= 0xef
            && is_noncharacter(decode(&bytes[start..]))
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
