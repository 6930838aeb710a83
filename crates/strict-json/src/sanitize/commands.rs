//! Lines that a CI log reader would take for commands.

use std::borrow::Cow;

/// Byte positions in `line` at which a CI command begins: `::` after leading white space, and
/// `##[` (or `##word[`) anywhere.
///
/// Source: GitHub Actions runner (`::name::`, `##[name]`) and Azure Pipelines (`##vso[…]`).
pub fn command_starts(line: &str) -> impl Iterator<Item = usize> + '_ {
    let lead = line.len() - line.trim_start().len();
    let colons = line[lead..].starts_with("::").then_some(lead);
    let hashes = line.match_indices('#').filter_map(|(at, _)| {
        let after = line[at..].strip_prefix("##")?;
        after.trim_start_matches(|c: char| c.is_ascii_alphanumeric()).starts_with('[').then_some(at)
    });
    colons.into_iter().chain(hashes)
}

/// Text whose lines no CI log reader takes for commands: the first `:` or `#` is spelt out as
/// `\x3a` or `\x23`. Safe text comes out unchanged.
pub fn break_commands(text: &str) -> Cow<'_, str> {
    let mut out = String::new();
    let mut done = 0;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        for at in command_starts(line).map(|at| start + at) {
            out.push_str(&text[done..at]);
            out.push_str(if text[at..].starts_with(':') { "\\x3a" } else { "\\x23" });
            done = at + 1;
        }
        start += line.len();
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}
