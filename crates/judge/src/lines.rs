//! Finds lines in the output of a run, such as the line that states why the run failed, and cuts excerpts.

use agentnative_core::run::Bytes;
use strict_json::sanitize;

/// Maximum length of an excerpt, in characters.
pub(super) const MAX_EXCERPT: usize = 100;
/// Maximum length of a quotation in a message, in characters.
const MAX_QUOTED: usize = 60;
/// Number of bytes before and after a position that are read to find the line at the position.
pub(super) const WINDOW: u64 = 512;

/// True if a line contains a letter or a digit, which a line such as `-----` does not.
pub fn has_words(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// Returns the index (from 0) of the line that states why a program failed. If the output begins with a traceback, this
/// is the last line. Otherwise it is the first line that is marked as an error, such as `error: no such file`. Without
/// one, it is the last line after a usage text, else the first line. `None` if no line has words.
pub(super) fn reason_line(lines: &[String]) -> Option<usize> {
    let first = lines.iter().position(|line| has_words(line))?;
    let last = lines
        .iter()
        .rposition(|line| has_words(line) && line.starts_with(|start: char| !start.is_whitespace()));
    let opens_with = |word: &str| lines[first].trim_start().to_lowercase().starts_with(word);
    if opens_with("traceback") {
        return last;
    }
    let is_marked_error = |line: &String| {
        let line = line.trim_start().to_lowercase();
        line.starts_with("error") || ["error:", "fatal:"].iter().any(|word| line.contains(word))
    };
    let error = lines.iter().position(is_marked_error);
    error.or_else(|| last.filter(|_| opens_with("usage"))).or(Some(first))
}

/// Returns a text of the target as the end of a message: after a colon, in quotes, sanitized and shortened.
pub fn quotation(text: &str) -> String {
    let line = sanitize::sanitize_line(text.trim());
    format!(": \"{}\"", sanitize::sanitize_capped(&line, MAX_QUOTED))
}

/// Returns an excerpt of the line that contains the byte at `offset`, sanitized for terminals, and the index of the
/// character at `offset` in the excerpt.
pub(super) fn excerpt(bytes: &Bytes, offset: u64) -> (String, usize) {
    let from = offset.saturating_sub(WINDOW);
    let mut window = vec![0; (WINDOW * 2) as usize];
    // An unreadable capture has an empty excerpt; the position is still reported.
    let n = bytes.read_at(from, &mut window).unwrap_or(0);
    window.truncate(n);
    let index = ((offset - from) as usize).min(n);
    let start = window[..index].iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1);
    let end = window[index..].iter().position(|byte| *byte == b'\n').map_or(n, |newline| index + newline);
    sanitize::excerpt(&window[start..end], index - start, MAX_EXCERPT)
}
