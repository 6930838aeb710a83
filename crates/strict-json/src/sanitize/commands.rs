//! Escapes text that CI systems would run as log commands.

use std::borrow::Cow;

/// Returns the byte offsets in `line` at which a CI command begins: `::` after leading white space, and `##[` (or
/// `##word[`) anywhere.
///
/// Source: GitHub Actions runner (`::name::`, `##[name]`) and Azure Pipelines (`##vso[…]`).
pub fn command_starts(line: &str) -> impl Iterator<Item = usize> + '_ {
    let indent = line.len() - line.trim_start().len();
    let colons = line[indent..].starts_with("::").then_some(indent);
    let hashes = line.match_indices('#').filter_map(|(at, _)| {
        let after = line[at..].strip_prefix("##")?;
        after.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[').then_some(at)
    });
    colons.into_iter().chain(hashes)
}

/// Escapes the first `:` or `#` of each CI command in a text as `\x3a` or `\x23`. Other text is returned unchanged.
pub fn escape_commands(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut line_start = 0;
    for line in text.split_inclusive('\n') {
        for at in command_starts(line).map(|at| line_start + at) {
            out.push_str(&text[copied..at]);
            out.push_str(if text[at..].starts_with(':') { "\\x3a" } else { "\\x23" });
            copied = at + 1;
        }
        line_start += line.len();
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}
