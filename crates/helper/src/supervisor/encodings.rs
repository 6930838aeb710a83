//! The encodings in which output may contain a secret, by accident or because a program leaks it on purpose.

use crate::LeakEncoding;
use std::fmt::Write as _;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const UPPER: &[u8; 16] = b"0123456789ABCDEF";
const LOWER: &[u8; 16] = b"0123456789abcdef";

/// Returns the encodings in which programs print a secret by accident (plain, Base64 and percent encoding), each with
/// its kind.
pub(super) fn careless_encodings(secret: &[u8]) -> Vec<(LeakEncoding, Vec<u8>)> {
    let mut forms = vec![(LeakEncoding::Plain, secret.to_vec())];
    for shift in 0..3 {
        let standard = base64_part(secret, shift);
        let url = standard.iter().map(|byte| match byte {
            b'+' => b'-',
            b'/' => b'_',
            other => *other,
        });
        forms.push((LeakEncoding::Base64, url.collect()));
        forms.push((LeakEncoding::Base64, standard));
    }
    for digits in [UPPER, LOWER] {
        let percent = percent_encoded(secret, digits);
        if percent != secret {
            forms.push((LeakEncoding::Percent, percent));
        }
    }
    forms.sort();
    forms.dedup();
    forms
}

/// Returns all encodings of a secret: the careless ones, hexadecimal, reversed, and escaped as in JSON strings.
pub(super) fn all_encodings(secret: &[u8]) -> Vec<Vec<u8>> {
    let mut forms: Vec<_> = careless_encodings(secret).into_iter().map(|(_, form)| form).collect();
    forms.extend([UPPER, LOWER].map(|digits| hexadecimal(secret, digits)));
    forms.push(secret.iter().rev().copied().collect());
    if let Ok(text) = std::str::from_utf8(secret) {
        forms.push(text.chars().rev().collect::<String>().into());
        forms.extend(in_json(text));
    }
    forms.sort();
    forms.dedup();
    forms
}

/// Returns the part of a Base64 text that depends only on the secret, if the encoded data has `shift` bytes before the
/// secret.
fn base64_part(secret: &[u8], shift: usize) -> Vec<u8> {
    let bits: Vec<u8> = secret.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1)).collect();
    // Bits before the first character that depends only on the secret.
    let skipped = (6 - shift * 8 % 6) % 6;
    let whole = bits[skipped..].chunks_exact(6);
    whole.map(|six| BASE64[six.iter().fold(0, |value, bit| value << 1 | usize::from(*bit))]).collect()
}

fn percent_encoded(secret: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~".contains(byte);
    let encode = |byte: &u8| match is_plain(byte) {
        true => vec![*byte],
        false => [&b"%"[..], &hexadecimal(&[*byte], digits)].concat(),
    };
    secret.iter().flat_map(encode).collect()
}

fn hexadecimal(bytes: &[u8], digits: &[u8; 16]) -> Vec<u8> {
    bytes.iter().flat_map(|byte| [digits[usize::from(byte >> 4)], digits[usize::from(byte & 15)]]).collect()
}

/// Returns the contents of a JSON string for this text in two forms: with only the necessary escapes, and with all
/// characters escaped that are not ASCII.
fn in_json(text: &str) -> [Vec<u8>; 2] {
    let quoted = serde_json::Value::from(text).to_string();
    let inner = &quoted[1..quoted.len() - 1];
    let mut ascii = String::new();
    for unit in inner.encode_utf16() {
        match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => ascii.push(char::from(byte)),
            // Writing to a string does not fail.
            _ => write!(ascii, "\\u{unit:04x}").unwrap_or_default(),
        }
    }
    [inner.into(), ascii.into()]
}
