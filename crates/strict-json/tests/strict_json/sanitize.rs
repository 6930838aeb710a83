//! Tests that sanitised text is safe and that no bytes are lost.

use proptest::prelude::*;
use strict_json::sanitize::{
    escape_commands, excerpt, is_unsafe, lossless, sanitize_capped, sanitize_line, sanitize_rendered,
    sanitize_text,
};

#[test]
fn controls_are_escaped() {
    for (input, expected) in [
        (&b"plain \xc3\xa4 \xe4\xb8\xad"[..], "plain ä 中"),
        (b"\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        (b"a\r\x07\x00\x7f", r"a\x0d\x07\x00\x7f"),
        (b"\xc2\x9b2J", r"\xc2\x9b2J"),
        (b"\x9b2J \xff\xfe", r"\x9b2J \xff\xfe"),
        ("\u{202e}evil\u{2066}".as_bytes(), r"\u{202e}evil\u{2066}"),
        ("a\u{200b}b\u{feff}c\u{61c}d\u{2028}".as_bytes(), r"a\u{200b}b\u{feff}c\u{61c}d\u{2028}"),
        ("\u{e0041}".as_bytes(), r"\u{e0041}"),
        (br"back\slash", r"back\slash"),
        (b"torn \xe4\xb8", r"torn \xe4\xb8"),
        (b"", ""),
    ] {
        assert_eq!(sanitize_text(input), expected);
        assert_eq!(sanitize_line(input), expected);
    }
}

#[test]
fn control_characters_are_unsafe_and_ordinary_text_is_safe() {
    let forbidden = (0..=0x1f)
        .chain(0x7f..=0x9f)
        .chain([0x61c, 0xfeff])
        .chain(0x200b..=0x200f)
        .chain(0x2028..=0x202e)
        .chain(0x2060..=0x2069);
    for c in forbidden.filter_map(char::from_u32) {
        assert!(is_unsafe(c), "{:x}", u32::from(c));
    }
    for c in " ~aé中🦀\u{a0}\u{301}\u{2027}\u{202f}\u{3000}·…✓".chars() {
        assert!(!is_unsafe(c), "{:x}", u32::from(c));
    }
}

#[test]
fn line_feeds_and_tabs_stay_in_text_only() {
    assert_eq!(sanitize_text("a\n\tb"), "a\n\tb");
    assert_eq!(sanitize_line("a\n\tb"), r"a\x0a\x09b");
}

#[test]
fn capping_counts_escaped_characters() {
    assert_eq!(sanitize_capped("abcdef", 6), "abcdef");
    assert_eq!(sanitize_capped("abcdefg", 6), "abcde…");
    assert_eq!(sanitize_capped("\x1b\x1b\x1b", 6), r"\x1b…");
    assert_eq!(sanitize_capped("中中中", 2), "中…");
}

#[test]
fn ci_commands_are_escaped() {
    for (input, expected) in [
        ("::error file=x::boom", r"\x3a:error file=x::boom"),
        ("a\n \t::set-output name=x::y\nb", "a\n \t\\x3a:set-output name=x::y\nb"),
        ("\u{a0}::warning::x", "\u{a0}\\x3a:warning::x"),
        ("text ##[error]boom ##[group]", r"text \x23#[error]boom \x23#[group]"),
        ("##vso[task.setvariable]x", r"\x23#vso[task.setvariable]x"),
        ("####[x]", r"##\x23#[x]"),
        ("std::io::Error", "std::io::Error"),
        ("## Heading [link]", "## Heading [link]"),
        ("a: ::x", "a: ::x"),
    ] {
        assert_eq!(escape_commands(input), expected);
        assert_eq!(escape_commands(expected), expected, "stays as it is");
    }
}

#[test]
fn rendered_text_keeps_only_colours_and_only_if_enabled() {
    let input = "\x1b[1;31mred\x1b[0m \x1b[2J \x1b[31 \x1b]0;t\x07 \x1b[m\x1b";
    assert_eq!(
        sanitize_rendered(input, true),
        "\x1b[1;31mred\x1b[0m \\x1b[2J \\x1b[31 \\x1b]0;t\\x07 \x1b[m\\x1b"
    );
    assert!(!sanitize_rendered(input, false).contains('\x1b'));
    assert_eq!(sanitize_rendered("ä\n\tb", false), "ä\n\tb");
}

#[test]
fn excerpts_show_the_line_and_the_byte() {
    assert_eq!(excerpt(b"short", 2, 80), ("short".into(), 2));
    assert_eq!(excerpt(b"short", 5, 80), ("short".into(), 5), "at the end");
    assert_eq!(excerpt(b"short", 99, 80), ("short".into(), 5), "past the end");
    assert_eq!(excerpt(b"", 0, 80), (String::new(), 0));
    assert_eq!(excerpt(b"one\ntwo\nthree", 5, 80), ("two".into(), 1), "only the line");
    assert_eq!(excerpt(b"one\n\nthree", 4, 80), (String::new(), 0), "an empty line");
    assert_eq!(excerpt(b"one\ntwo", 3, 80), ("one".into(), 3), "at the line feed");
    assert_eq!(excerpt(b"\x1b[31mred", 5, 80), (r"\x1b[31mred".into(), 8), "after an escape");
    assert_eq!(excerpt("ää中x".as_bytes(), 5, 80), ("ää中x".into(), 2), "inside a character");
    assert_eq!(excerpt(b"\t\"a\": 1\r", 7, 80), ("\t\"a\": 1\\x0d".into(), 7), "tabs stay");
}

#[test]
fn long_lines_are_cut_on_both_sides() {
    let mut input = vec![b'a'; 100_000];
    input[50_000] = b'X';
    let (shown, caret) = excerpt(&input, 50_000, 40);
    assert_eq!(shown.chars().count(), 40);
    assert!(shown.starts_with("…a") && shown.ends_with("a…"), "{shown}");
    assert_eq!(shown.chars().nth(caret), Some('X'));

    let (shown, caret) = excerpt(&input, 0, 40);
    assert!(shown.starts_with('a') && shown.ends_with('…'));
    assert_eq!(caret, 0);

    let (shown, caret) = excerpt(&input, 99_999, 40);
    assert!(shown.starts_with('…') && shown.ends_with('a'));
    assert_eq!(caret, shown.chars().count() - 1);
}

#[test]
fn excerpts_can_begin_inside_a_character() {
    for shift in 0..4 {
        let input = "x".repeat(shift) + &"🦀".repeat(1000);
        let (shown, caret) = excerpt(input.as_bytes(), shift + 2000, 20);
        assert_eq!(shown.trim_matches(['…', '🦀']), "", "{shown}");
        assert_eq!(shown.chars().nth(caret), Some('🦀'));
    }
}

/// Generates bytes with many unsafe characters and CI commands.
fn unsafe_text() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<u8>().prop_map(|byte| vec![byte]),
        any::<char>().prop_map(|c| c.to_string().into_bytes()),
        (0x2000u32..0x2070).prop_map(|c| char::from_u32(c).unwrap().to_string().into_bytes()),
        prop::sample::select(vec![
            "\x1b[2J",
            "::",
            "##[",
            "\n",
            "\t",
            "\r",
            "\u{9b}",
            "\u{e0061}",
            "a",
            " ",
            "#",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// Restores the original of sanitised text, if that has no backslash.
fn unescape(safe: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut rest = safe;
    while let Some(c) = rest.chars().next() {
        if let Some(hex) = rest.strip_prefix("\\x") {
            out.push(u8::from_str_radix(&hex[..2], 16).unwrap());
            rest = &hex[2..];
        } else if let Some(hex) = rest.strip_prefix("\\u{") {
            let (digits, after) = hex.split_once('}').unwrap();
            let c = char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap();
            out.extend(c.to_string().as_bytes());
            rest = after;
        } else {
            out.extend(c.to_string().as_bytes());
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

proptest! {
    #[test]
    fn sanitised_text_is_safe(input in unsafe_text(), max in 1usize..50) {
        prop_assert!(!sanitize_line(&input).contains(is_unsafe));
        prop_assert!(!sanitize_capped(&input, max).contains(is_unsafe));
        prop_assert!(sanitize_capped(&input, max).chars().count() <= max);
        let safe = sanitize_text(&input);
        prop_assert!(!safe.contains(|c| is_unsafe(c) && c != '\n' && c != '\t'));
        prop_assert_eq!(sanitize_rendered(&safe, true), safe.clone());
        prop_assert_eq!(sanitize_text(&safe), safe.clone());
        let broken = escape_commands(&safe).into_owned();
        prop_assert_eq!(escape_commands(&broken), broken.as_str());
        for shown in broken.lines() {
            prop_assert!(!shown.trim_start().starts_with("::") && !shown.contains("##["));
        }
    }

    #[test]
    fn sanitised_text_can_be_restored(input in unsafe_text()) {
        let input: Vec<u8> = input.into_iter().filter(|byte| *byte != b'\\').collect();
        prop_assert_eq!(unescape(&sanitize_line(&input)), input.clone());
        prop_assert_eq!(unescape(&escape_commands(&sanitize_text(&input))), input.clone());
        prop_assert_eq!(unescape(&lossless(&input)), input.clone());
    }

    #[test]
    fn excerpts_are_safe_and_limited_and_point_to_the_byte(
        input in unsafe_text(), repeat in 1usize..20, index in any::<prop::sample::Index>(), max in 0usize..60,
    ) {
        let input = input.repeat(repeat);
        let byte = index.index(input.len() + 1);
        let (shown, caret) = excerpt(&input, byte, max);
        prop_assert!(!shown.contains(|c| is_unsafe(c) && c != '\t'));
        let count = shown.chars().count();
        prop_assert!(count <= max.max(16), "{} > {}", count, max);
        prop_assert!(caret <= count);
        // The caret is at the first character of the escaped form of the byte.
        let from = input[..byte].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
        let to = input[byte..].iter().position(|b| *b == b'\n').map_or(input.len(), |at| byte + at);
        if byte < to {
            let escape = |bytes: &[u8]| sanitize_line(bytes).replace("\\x09", "\t");
            let escaped_line = escape(&input[from..to]);
            let start = (from..=byte).rev().find(|at| {
                escaped_line == escape(&input[from..*at]) + &escape(&input[*at..to])
            }).unwrap();
            let expected = escape(&input[start..to]).chars().next();
            prop_assert_eq!(shown.chars().nth(caret), expected);
        } else {
            prop_assert_eq!(caret, count);
        }
    }
}
