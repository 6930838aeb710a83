//! Classifies strings: detects formats such as `uuid`, words that may be names, and keys that are data.

use serde::{Deserialize, Serialize};

/// A set of string formats. Bit `n` is the format with index `n` in [`FORMAT_NAMES`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Formats(u8);

/// Names of the formats, the preferred one first.
const FORMAT_NAMES: [&str; 3] = ["date-time", "uuid", "uri"];

impl Formats {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(7);

    /// Returns the formats that are in both sets.
    pub fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the name of the preferred format in the set; `None` if the set is empty.
    pub fn name(self) -> Option<&'static str> {
        FORMAT_NAMES.iter().enumerate().find(|(bit, _)| self.0 & (1 << bit) != 0).map(|(_, name)| *name)
    }
}

/// Returns the formats that a text certainly has. Every validator of these formats accepts it.
#[inline]
pub(crate) fn detect_formats(text: &str) -> Formats {
    let bytes = text.as_bytes();
    let found = match bytes.len() {
        20..=40 if bytes[4] == b'-' && is_date_time(bytes) => 1,
        36 if bytes[8] == b'-' && is_uuid(bytes) => 2,
        9..=2048 if bytes[0].is_ascii_lowercase() && is_uri(bytes) => 4,
        _ => 0,
    };
    Formats(found)
}

/// Returns whether a text is a date and time as in RFC 3339: `YYYY-MM-DDTHH:MM:SS[.f]` with `Z` or an offset. Leap
/// seconds are rejected.
fn is_date_time(text: &[u8]) -> bool {
    let number = |from: usize, to: usize| {
        let digits = &text[from..to];
        let all = digits.iter().all(u8::is_ascii_digit);
        all.then(|| digits.iter().fold(0_u32, |sum, digit| sum * 10 + u32::from(digit - b'0')))
    };
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if separators.iter().any(|(index, mark)| text[*index] != *mark) {
        return false;
    }
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return false,
    };
    let clock = [(11, 23), (14, 59), (17, 59)];
    if !(1..=days).contains(&day)
        || clock.iter().any(|(index, max)| number(*index, index + 2).is_none_or(|n| n > *max))
    {
        return false;
    }
    let mut rest = &text[19..];
    if let [b'.', fraction @ ..] = rest {
        let digits = fraction.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if !(1..=9).contains(&digits) {
            return false;
        }
        rest = &fraction[digits..];
    }
    match rest {
        [b'Z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => {
            let digits = [a, b, c, d].iter().all(|byte| byte.is_ascii_digit());
            digits && (*a < b'2' || *a == b'2' && *b < b'4') && *c < b'6'
        }
        _ => false,
    }
}

fn is_uuid(text: &[u8]) -> bool {
    text.iter().enumerate().all(|(index, byte)| match index {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    })
}

/// Returns whether a text is a URI (RFC 3986) of the form `scheme://host[:port]` with an optional path. Only simple
/// host names are accepted.
fn is_uri(text: &[u8]) -> bool {
    let scheme = text.iter().take(16).take_while(|byte| byte.is_ascii_lowercase()).count();
    let Some(rest) = text[scheme..].strip_prefix(b"://") else { return false };
    let end = rest.iter().position(|byte| b"/?#".contains(byte)).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    let mut parts = authority.splitn(2, |byte| *byte == b':');
    let host = parts.next().unwrap_or_default();
    let is_host_valid = host.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(byte));
    let is_port_valid = parts.next().is_none_or(|port| {
        (1..=4).contains(&port.len()) && port.iter().all(u8::is_ascii_digit)
            || port.len() == 5 && port.iter().all(u8::is_ascii_digit) && port <= b"65535".as_slice()
    });
    let mut hex_digits = 0;
    let mut fragments = 0;
    let is_path_valid = path.iter().all(|byte| {
        fragments += u32::from(*byte == b'#');
        if hex_digits > 0 {
            hex_digits -= 1;
            return byte.is_ascii_hexdigit();
        }
        hex_digits = if *byte == b'%' { 2 } else { 0 };
        byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?#%".contains(byte)
    });
    (!host.is_empty() || scheme == 4 && text.starts_with(b"file"))
        && is_host_valid
        && is_port_valid
        && is_path_valid
        && hex_digits == 0
        && fragments < 2
}

/// Maximum length of a text that counts as a word, in bytes.
const MAX_WORD_BYTES: usize = 64;

/// Returns whether a text can be the name of a type, such as `tool-call`: it begins with a letter, is short, and has no
/// spaces.
#[inline]
pub(crate) fn is_word(text: &str) -> bool {
    let bytes = text.as_bytes();
    (1..=MAX_WORD_BYTES).contains(&bytes.len())
        && bytes[0].is_ascii_alphabetic()
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(byte))
}

/// Returns whether a word can belong to a closed set, such as the values of an `enum`. Words with digits or slashes
/// cannot, because they may be identifiers, versions or paths.
pub(crate) fn is_choice(word: &str) -> bool {
    word.len() <= 32 && word.bytes().all(|byte| byte.is_ascii_alphabetic() || b"_-.:".contains(&byte))
}

/// Returns whether a key looks like data instead of a name. Such keys are paths, addresses, dates, identifiers or names
/// of model versions, such as `gpt-4o`.
pub(crate) fn is_data_key(key: &str) -> bool {
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    // A part of the key begins with a digit: `gpt-4o`, `gemini-2.5-pro`.
    let has_version =
        || key.split(['-', '.']).any(|part| part.starts_with(|first: char| first.is_ascii_digit()));
    key.is_empty() || digits >= 4 || has_version() || key.bytes().any(|byte| b"/\\@ :".contains(&byte))
}
