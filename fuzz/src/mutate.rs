//! Mutates inputs by their structure (values, members and lines of JSON, TOML and text) and by their bytes.

use crate::corpus::{self, MAX_INPUT};
use crate::rng::Rng;
use std::ops::Range;

/// Values that programs often process incorrectly.
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

/// Bytes with a special meaning.
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
enum TokenKind {
    /// A scalar, or an array or object with its brackets.
    Value,
    /// A key and its value.
    Member,
    /// A line with its line break.
    Line,
}

#[derive(Clone)]
struct Token {
    kind: TokenKind,
    /// Range of bytes in the input.
    span: Range<usize>,
}

/// An array or object that is being parsed, or the top level.
#[derive(Default)]
struct Level {
    start: usize,
    /// Start of the last value, which may be a key.
    last: Option<usize>,
    /// Start of the key of the next value.
    key: Option<usize>,
}

/// Mutates an input one to four times, with parts of `other` and with `words` of the input language.
#[must_use]
pub fn mutate(rng: &mut Rng, input: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut parts: Vec<Vec<u8>> = corpus::parts(input).map(<[u8]>::to_vec).collect();
    for _ in 0..=rng.below(4) {
        let part = rng.below(parts.len());
        let mutated = if rng.below(3) > 0 {
            mutate_tokens(rng, &parts[part], other, words)
        } else {
            mutate_bytes(rng, &parts[part], other)
        };
        parts[part] = mutated;
    }
    let mut mutated = corpus::join(&parts);
    mutated.truncate(MAX_INPUT);
    mutated
}

fn mutate_tokens(rng: &mut Rng, input: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let own_tokens = tokens(input);
    if own_tokens.is_empty() {
        return mutate_bytes(rng, input, other);
    }
    let token = rng.choose(&own_tokens).clone();
    let choose_same_kind = |tokens: &[Token], rng: &mut Rng| {
        let same_kind: Vec<&Token> = tokens.iter().filter(|other| other.kind == token.kind).collect();
        (!same_kind.is_empty()).then(|| (*rng.choose(&same_kind)).clone())
    };
    let span = token.span.clone();
    match rng.below(9) {
        0 | 1 => replace(input, span, rng.choose(VALUES).as_bytes()),
        2 if !words.is_empty() => replace(input, span, rng.choose(words).as_bytes()),
        3 if !words.is_empty() => {
            let word = *rng.choose(words);
            let addition =
                if token.kind == TokenKind::Line { word.to_owned() + "\n" } else { format!(", {word}") };
            replace(input, span.end..span.end, addition.as_bytes())
        }
        4 => choose_same_kind(&own_tokens, rng)
            .map_or_else(Vec::new, |own| replace(input, span, &input[own.span])),
        5 => match choose_same_kind(&tokens(other), rng) {
            Some(foreign) => replace(input, span, &other[foreign.span]),
            None => replace(input, span, b""),
        },
        6 => {
            let next = input[span.end..].iter().position(|byte| !byte.is_ascii_whitespace());
            let comma_length =
                next.filter(|index| input[span.end + index] == b',').map_or(0, |index| index + 1);
            replace(input, span.start..span.end + comma_length, b"")
        }
        7 => {
            let mut separator: &[u8] = if token.kind == TokenKind::Line { b"" } else { b"," };
            let times = 1 << rng.below(4);
            let copies: Vec<u8> = (0..times)
                .flat_map(|_| [std::mem::take(&mut separator), &input[span.clone()]].concat())
                .collect();
            replace(input, span.end..span.end, &copies)
        }
        _ => {
            let (prefix, suffix) =
                *rng.choose(&[("[", "]"), ("{\"a\":", "}"), ("{\"not\":", "}"), ("\"", "\"")]);
            let (prefix, suffix) = (prefix.as_bytes(), suffix.as_bytes());
            replace(input, span.clone(), &[prefix, &input[span], suffix].concat())
        }
    }
}

fn mutate_bytes(rng: &mut Rng, input: &[u8], other: &[u8]) -> Vec<u8> {
    let from = rng.below(input.len() + 1);
    let length = if rng.below(4) == 0 { rng.below(256) } else { rng.below(5) };
    let to = input.len().min(from + length);
    let mut mutated = input.to_vec();
    match rng.below(6) {
        0 if from < to => {
            mutated[from] ^= 1 << rng.below(8);
            mutated
        }
        1 => replace(input, from..to, b""),
        2 => replace(input, from..from, &input[from..to].repeat(1 << rng.below(6))),
        3 if !other.is_empty() => {
            let start = rng.below(other.len());
            let end = other.len().min(start + length * 4);
            replace(input, from..to, &other[start..end])
        }
        4 => {
            mutated.truncate(from);
            mutated
        }
        _ => replace(input, from..from, BYTES[rng.below(BYTES.len())]),
    }
}

fn replace(input: &[u8], span: Range<usize>, replacement: &[u8]) -> Vec<u8> {
    [&input[..span.start], replacement, &input[span.end..]].concat()
}

/// Splits a text that may be JSON or TOML into tokens.
fn tokens(input: &[u8]) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut levels = vec![Level::default()];
    let (mut position, mut line_start) = (0, 0);
    while position < input.len() {
        let start = position;
        position += 1;
        match input[start] {
            b'{' | b'[' => levels.push(Level { start, ..Level::default() }),
            b'}' | b']' if levels.len() > 1 => {
                let opened = levels.pop().map_or(start, |level| level.start);
                add_value(&mut tokens, &mut levels, opened..position);
            }
            quote @ (b'"' | b'\'') => {
                while position < input.len() && input[position] != quote && input[position] != b'\n' {
                    position += 1 + usize::from(input[position] == b'\\');
                }
                position = input.len().min(position + 1);
                add_value(&mut tokens, &mut levels, start..position);
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
                tokens.push(Token { kind: TokenKind::Line, span: line_start..position });
                line_start = position;
                if let [top] = levels.as_mut_slice() {
                    (top.key, top.last) = (None, None);
                }
            }
            byte if is_word(byte) => {
                position += input[position..].iter().take_while(|byte| is_word(**byte)).count();
                add_value(&mut tokens, &mut levels, start..position);
            }
            _ => {}
        }
    }
    tokens
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.' | b'$' | 0x80..)
}

/// Adds a value, and a member if a key precedes it.
fn add_value(tokens: &mut Vec<Token>, levels: &mut [Level], span: Range<usize>) {
    if let Some(level) = levels.last_mut() {
        level.last = Some(span.start);
        if let Some(key) = level.key.take() {
            tokens.push(Token { kind: TokenKind::Member, span: key..span.end });
        }
    }
    tokens.push(Token { kind: TokenKind::Value, span });
}
