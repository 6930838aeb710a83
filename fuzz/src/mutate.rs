//! Changes inputs by what they are made of: values, members and lines of JSON, TOML and text; and bytes.

use crate::corpus::{self, LONGEST};
use crate::dice::Dice;
use std::ops::Range;

/// Values that programs get wrong.
const VALUES: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "1",
    "-1",
    "1.0",
    "1.5",
    "0.1",
    "0.01",
    "1e2",
    "1E+2",
    "1e-400",
    "1e400",
    "-1e400",
    "5e-324",
    "1.7976931348623157e308",
    "0.30000000000000004",
    "9007199254740991",
    "9007199254740992",
    "9007199254740993",
    "-9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.1234567890123456789",
    "NaN",
    "-Infinity",
    "00",
    "null",
    "true",
    "false",
    "{}",
    "[]",
    "[[]]",
    "\"\"",
    "\"a\"",
    "\"type\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\\uD83D\"",
    "\"\\u001b[31m\"",
    "\"\u{202e}\"",
    "\"::error::x\"",
    "\"/a/~0~1\"",
    "\"../x\"",
    "\"é\"",
    "\"\u{feff}\"",
    "\"$ref\"",
    "'a'",
    "1979-05-27",
];

/// Bytes that are likely to matter.
const BYTES: &[&[u8]] = &[
    b"\n",
    b"\r",
    b"\r\n",
    b"\t",
    b" ",
    b"\0",
    b"\x1b",
    b"\x08",
    b"\x7f",
    b"\xff",
    b"\xc3",
    b"\xe2\x80",
    b"\xf0\x9f\x98\x80",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\xc2\x9b",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b"\\",
    b",",
    b":",
    b"=",
    b"#",
    b"-",
    b"--",
    b"$",
    b"\\u",
    b"\\x",
    b"data:",
    b"::",
    b"##[",
    b"<",
    b">",
    b"|",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A scalar, or all between two brackets and those.
    Value,
    /// A key and its value.
    Member,
    /// A line and what ends it.
    Line,
}

/// A piece of an input.
#[derive(Clone)]
struct Token {
    kind: Kind,
    place: Range<usize>,
}

/// One that is being read: what stands between two brackets, or at the top.
#[derive(Default)]
struct Level {
    start: usize,
    /// The value that was read last, which may turn out to be a key.
    last: Option<usize>,
    key: Option<usize>,
}

/// An input that was changed one to four times. `other` gives it pieces, and so do the `words` of its language.
#[must_use]
pub fn mutate(dice: &mut Dice, input: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = corpus::parts(input).map(<[u8]>::to_vec).collect();
    for _ in 0..=dice.below(4) {
        let part = dice.below(parts.len());
        let changed = if dice.below(3) > 0 {
            change_tokens(dice, &parts[part], other, words)
        } else {
            change_bytes(dice, &parts[part], other)
        };
        parts[part] = changed;
    }
    let mut all = corpus::join(&parts);
    all.truncate(LONGEST);
    all
}

fn change_tokens(dice: &mut Dice, input: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let all = tokens(input);
    if all.is_empty() {
        return change_bytes(dice, input, other);
    }
    let token = dice.of(&all).clone();
    let alike = |tokens: &[Token], dice: &mut Dice| {
        let alike: Vec<&Token> = tokens.iter().filter(|other| other.kind == token.kind).collect();
        (!alike.is_empty()).then(|| (*dice.of(&alike)).clone())
    };
    let place = token.place.clone();
    match dice.below(9) {
        0 | 1 => replace(input, place, dice.of(VALUES).as_bytes()),
        2 if !words.is_empty() => replace(input, place, dice.of(words).as_bytes()),
        3 if !words.is_empty() => {
            let word = *dice.of(words);
            let more = if token.kind == Kind::Line { word.to_owned() + "\n" } else { format!(", {word}") };
            replace(input, place.end..place.end, more.as_bytes())
        }
        4 => alike(&all, dice).map_or_else(Vec::new, |own| replace(input, place, &input[own.place])),
        5 => match alike(&tokens(other), dice) {
            Some(foreign) => replace(input, place, &other[foreign.place]),
            None => replace(input, place, b""),
        },
        6 => {
            let comma = input[place.end..].iter().position(|byte| !byte.is_ascii_whitespace());
            let comma = comma.filter(|at| input[place.end + at] == b',').map_or(0, |at| at + 1);
            replace(input, place.start..place.end + comma, b"")
        }
        7 => {
            let mut again: &[u8] = if token.kind == Kind::Line { b"" } else { b"," };
            let times = 1 << dice.below(4);
            let copies: Vec<u8> = (0..times)
                .flat_map(|_| [std::mem::take(&mut again), &input[place.clone()]].concat())
                .collect();
            replace(input, place.end..place.end, &copies)
        }
        _ => {
            let (before, behind) =
                *dice.of(&[("[", "]"), ("{\"a\":", "}"), ("{\"not\":", "}"), ("\"", "\"")]);
            let (before, behind) = (before.as_bytes(), behind.as_bytes());
            replace(input, place.clone(), &[before, &input[place], behind].concat())
        }
    }
}

fn change_bytes(dice: &mut Dice, input: &[u8], other: &[u8]) -> Vec<u8> {
    let from = dice.below(input.len() + 1);
    let length = if dice.below(4) == 0 { dice.below(256) } else { dice.below(5) };
    let to = input.len().min(from + length);
    let mut changed = input.to_vec();
    match dice.below(6) {
        0 if from < to => {
            changed[from] ^= 1 << dice.below(8);
            changed
        }
        1 => replace(input, from..to, b""),
        2 => replace(input, from..from, &input[from..to].repeat(1 << dice.below(6))),
        3 if !other.is_empty() => {
            let start = dice.below(other.len());
            let end = other.len().min(start + length * 4);
            replace(input, from..to, &other[start..end])
        }
        4 => {
            changed.truncate(from);
            changed
        }
        _ => replace(input, from..from, BYTES[dice.below(BYTES.len())]),
    }
}

fn replace(input: &[u8], place: Range<usize>, with: &[u8]) -> Vec<u8> {
    [&input[..place.start], with, &input[place.end..]].concat()
}

/// The pieces of a text, as far as it looks like JSON or TOML.
fn tokens(input: &[u8]) -> Vec<Token> {
    let mut all = Vec::new();
    let mut levels = vec![Level::default()];
    let (mut at, mut line) = (0, 0);
    while at < input.len() {
        let start = at;
        at += 1;
        match input[start] {
            b'{' | b'[' => levels.push(Level { start, ..Level::default() }),
            b'}' | b']' if levels.len() > 1 => {
                let opened = levels.pop().map_or(start, |level| level.start);
                value(&mut all, &mut levels, opened..at);
            }
            quote @ (b'"' | b'\'') => {
                while at < input.len() && input[at] != quote && input[at] != b'\n' {
                    at += 1 + usize::from(input[at] == b'\\');
                }
                at = input.len().min(at + 1);
                value(&mut all, &mut levels, start..at);
            }
            b':' | b'=' => {
                if let Some(level) = levels.last_mut() {
                    level.key = level.last.take();
                }
            }
            b',' => {
                if let Some(level) = levels.last_mut() {
                    (level.key, level.last) = (None, None);
                }
            }
            b'\n' => {
                all.push(Token { kind: Kind::Line, place: line..at });
                line = at;
                if let [top] = levels.as_mut_slice() {
                    (top.key, top.last) = (None, None);
                }
            }
            byte if is_word(byte) => {
                at += input[at..].iter().take_while(|byte| is_word(**byte)).count();
                value(&mut all, &mut levels, start..at);
            }
            _ => {}
        }
    }
    all
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.' | b'$' | 0x80..)
}

/// Notes a value; with the key before it, it is a member.
fn value(all: &mut Vec<Token>, levels: &mut [Level], place: Range<usize>) {
    if let Some(level) = levels.last_mut() {
        level.last = Some(place.start);
        if let Some(key) = level.key.take() {
            all.push(Token { kind: Kind::Member, place: key..place.end });
        }
    }
    all.push(Token { kind: Kind::Value, place });
}
