//! Placeholders in the words of explored calls, for bytes that are not text or too long for names and reports.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;

/// Stands for a control character.
pub const CONTROL_PLACEHOLDER: &str = "{agentnative:control}";
/// Stands for a lone surrogate, which is invalid in UTF-8.
pub const SURROGATE_PLACEHOLDER: &str = "{agentnative:utf8}";
/// Stands for 64 KiB of letters.
pub const LONG_PLACEHOLDER: &str = "{agentnative:64k}";

/// Each placeholder with the bytes that it stands for, and how often they are repeated.
const PLACEHOLDERS: [(&str, &[u8], usize); 3] = [
    (CONTROL_PLACEHOLDER, b"\x01", 1),
    (SURROGATE_PLACEHOLDER, b"\xED\xA0\x80", 1),
    (LONG_PLACEHOLDER, b"a", 1 << 16),
];

/// Returns whether a word contains one of the placeholders.
pub fn has_placeholder(word: &str) -> bool {
    PLACEHOLDERS.iter().any(|(placeholder, ..)| word.contains(placeholder))
}

/// Replaces the placeholder in a word such as `a{agentnative:control}b`, which contains at most one.
pub(super) fn replace_placeholder(word: String) -> OsString {
    let replaced = PLACEHOLDERS.iter().find_map(|(placeholder, bytes, count)| {
        let (before, after) = word.split_once(placeholder)?;
        Some([before.as_bytes(), &bytes.repeat(*count), after.as_bytes()].concat())
    });
    replaced.map_or_else(|| word.into(), OsString::from_vec)
}
