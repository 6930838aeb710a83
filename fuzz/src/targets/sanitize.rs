//! The sanitizer: the output cannot control a terminal or a CI log, and safe text is unchanged.

use crate::{Target, corpus};
use strict_json::sanitize::{
    escape_commands, excerpt, is_unsafe, lossless, sanitize_capped, sanitize_line, sanitize_rendered,
    sanitize_text, strip_terminal_formatting,
};

pub const TARGET: Target = Target {
    name: "sanitize",
    run,
    seeds: || corpus::texts(&["fixtures/clis", "fixtures/outcome"], &["cli", ".txt", ".stdout", ".md"]),
    words: &[
        "\x1b[2J",
        "\x1b]0;t\x07",
        "::error::",
        "##[group]",
        "\u{202e}",
        "\u{e0041}",
        "\u{9b}2J",
        "\\x1b",
    ],
};

fn run(bytes: &[u8]) {
    let safe = sanitize_text(bytes);
    assert!(!safe.contains(|c| is_unsafe(c) && !matches!(c, '\n' | '\t')), "{safe:?}");
    assert_eq!(sanitize_text(&safe), safe);
    assert_eq!(sanitize_rendered(&safe, true), safe);
    let one = sanitize_line(bytes);
    assert!(!one.contains(is_unsafe), "{one:?}");
    assert_eq!(sanitize_line(&one), one);
    if let Ok(input) = std::str::from_utf8(bytes) {
        if !input.contains(is_unsafe) {
            assert_eq!((input, input), (one.as_str(), safe.as_str()));
        }
        assert!(!sanitize_rendered(input, false).contains(|c| is_unsafe(c) && !matches!(c, '\n' | '\t')));
        assert_only_colours(&sanitize_rendered(input, true));
    }
    let broken = escape_commands(&safe).into_owned();
    assert_eq!(escape_commands(&broken), broken);
    for shown in broken.lines() {
        assert!(!shown.trim_start().starts_with("::") && !shown.contains("##["), "{shown:?}");
    }
    let unstyled = strip_terminal_formatting(bytes);
    assert!(!unstyled.contains(|c: char| c.is_control() && c != '\n'), "{unstyled:?}");
    assert!(lossless(bytes).len() >= bytes.len());
    for max in [1, 2, 16, 60, 1 + bytes.len() % 200] {
        let short = sanitize_capped(bytes, max);
        assert!(!short.contains(is_unsafe) && short.chars().count() <= max, "{short:?}");
        assert!(short == one || short.ends_with('…'));
        for offset in [0, bytes.len() / 2, bytes.len()] {
            let (shown, caret) = excerpt(bytes, offset, max);
            assert!(!shown.contains(|c| is_unsafe(c) && c != '\t'), "{shown:?}");
            let count = shown.chars().count();
            assert!(count <= max.max(16) && caret <= count, "{shown:?} {caret}");
        }
    }
}

/// Asserts that all escape sequences are colours.
fn assert_only_colours(shown: &str) {
    for (index, _) in shown.match_indices('\x1b') {
        let rest = shown[index..].strip_prefix("\x1b[").unwrap_or_else(|| panic!("{shown:?}"));
        assert!(
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m'),
            "{shown:?}"
        );
    }
    let other = |c| is_unsafe(c) && !matches!(c, '\n' | '\t' | '\x1b');
    assert!(!shown.contains(other), "{shown:?}");
}
