//! Lines of what a run printed: which of them says something, which gives the reason, and how one is shown.

use agentnative_core::run::Bytes;
use strict_json::sanitize;

/// The longest excerpt, in characters.
pub(super) const EXCERPT: usize = 100;
/// How many bytes around a place are looked at for its line.
pub(super) const WINDOW: u64 = 512;

/// Whether a line has a letter or a digit in it, and is no rule or frame.
pub fn has_words(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// The line of a program's last words that gives the reason, counted from 0: the one that is called an error, else
/// the last where a usage or a traceback comes first, else the first.
pub(super) fn reason_line(lines: &[String]) -> Option<usize> {
    let first = lines.iter().position(|line| has_words(line))?;
    let last = lines
        .iter()
        .rposition(|line| has_words(line) && line.starts_with(|start: char| !start.is_whitespace()));
    let opens_with = |word: &str| lines[first].trim_start().to_lowercase().starts_with(word);
    if opens_with("traceback") {
        return last;
    }
    let names_error = |line: &String| {
        let line = line.trim_start().to_lowercase();
        line.starts_with("error") || ["error:", "fatal:"].iter().any(|word| line.contains(word))
    };
    let error = lines.iter().position(names_error);
    error.or_else(|| last.filter(|_| opens_with("usage"))).or(Some(first))
}

/// The line around `offset`, fit to be shown, and the character of it that the offset is at.
pub(super) fn excerpt(bytes: &Bytes, offset: u64) -> (String, usize) {
    let from = offset.saturating_sub(WINDOW);
    let mut window = vec![0; (WINDOW * 2) as usize];
    // An unreadable capture shows as an empty excerpt; the place itself is still named.
    let n = bytes.read_at(from, &mut window).unwrap_or(0);
    window.truncate(n);
    let at = ((offset - from) as usize).min(n);
    let start = window[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let end = window[at..].iter().position(|byte| *byte == b'\n').map_or(n, |newline| at + newline);
    sanitize::excerpt(&window[start..end], at - start, EXCERPT)
}
