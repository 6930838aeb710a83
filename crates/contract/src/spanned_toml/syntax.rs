//! Finds the syntax errors of a TOML file, at most one per statement. After an unclosed bracket, the parser finds
//! errors in all following lines; these are suppressed.

use super::Span;
use toml::de::DeTable;

/// A statement of TOML: a header such as `[package]`, or a key with its value.
struct Statement {
    span: Span,
    /// The offset of a bracket or string that the statement does not close, and the message about it.
    unclosed: Option<(usize, &'static str)>,
}

/// Returns the syntax errors of a text that the TOML parser rejects.
pub(super) fn errors(text: &str) -> Vec<(Span, String)> {
    let statements = statements(text);
    let mut errors = Vec::new();
    let mut rest = text.to_owned();
    for Statement { span, unclosed } in &statements {
        let Some((start, message)) = unclosed else { continue };
        let statement = text[span.clone()].trim_end();
        let first = parser_errors(statement).into_iter().next().filter(|(at, _)| at.start < statement.len());
        errors.push(match first {
            Some((at, message)) => (span.start + at.start..span.start + at.end, message),
            None => (*start..*start, (*message).to_owned()),
        });
        let spaces: String = text[span.clone()].chars().map(blank_of_length).collect();
        rest.replace_range(span.clone(), &spaces);
    }
    let mut last = None;
    for (at, message) in parser_errors(&rest) {
        let statement = statements.iter().rposition(|statement| statement.span.start <= at.start);
        if statement.is_none() || statement != last {
            errors.push((at, message));
        }
        last = statement;
    }
    errors
}

/// Returns all errors of the TOML parser, sorted by place.
fn parser_errors(text: &str) -> Vec<(Span, String)> {
    let (_, errors) = DeTable::parse_recoverable(text);
    let place = |error: &toml::de::Error| (error.span().unwrap_or_default(), error.message().to_owned());
    let mut errors: Vec<(Span, String)> = errors.iter().map(place).collect();
    errors.sort_by_key(|(at, _)| at.start);
    errors
}

/// Returns white space of the same length in bytes as `char`; a newline stays.
fn blank_of_length(char: char) -> String {
    if char == '\n' { "\n".to_owned() } else { " ".repeat(char.len_utf8()) }
}

/// Splits the text of a TOML file into statements.
fn statements(text: &str) -> Vec<Statement> {
    let mut statements = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let statement = statement(text, start);
        start = statement.span.end;
        statements.push(statement);
    }
    statements
}

/// Returns the statement that begins at offset `start`. It ends with its line, or with the line that closes its last
/// bracket. If an earlier line begins another statement, this one ends before that line and its bracket is unclosed.
fn statement(text: &str, start: usize) -> Statement {
    let is_header = text[start..].trim_start().starts_with('[');
    let mut open: Vec<(usize, char)> = Vec::new();
    let unclosed = |open: &[(usize, char)]| {
        let (at, bracket) = open.last()?;
        Some((
            *at,
            if *bracket == '[' {
                "unclosed array, expected `]`"
            } else {
                "unclosed inline table, expected `}`"
            },
        ))
    };
    let mut at = start;
    while let Some(char) = text[at..].chars().next() {
        match char {
            '\n' if open.is_empty() || is_header => {
                return Statement { span: start..at + 1, unclosed: None };
            }
            '\n' if begins_statement(
                &text[start..at],
                text[at + 1..].lines().next().unwrap_or_default(),
                &open,
            ) =>
            {
                return Statement { span: start..at + 1, unclosed: unclosed(&open) };
            }
            '#' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            '"' | '\'' => match string_length(&text[at..]) {
                Some(length) => {
                    at += length;
                    continue;
                }
                None => {
                    let unclosed = Some((at, "unclosed string, expected three quotes"));
                    return Statement { span: start..text.len(), unclosed };
                }
            },
            '[' | '{' => open.push((at, char)),
            ']' | '}' => _ = open.pop(),
            _ => {}
        }
        at += char.len_utf8();
    }
    Statement { span: start..text.len(), unclosed: unclosed(&open).filter(|_| !is_header) }
}

/// Returns the length in bytes of the string at the start of a text, with its quotes. A single-line string ends with
/// its line. Returns `None` for an unclosed multi-line string.
fn string_length(text: &str) -> Option<usize> {
    let quote = &text[..1];
    let three = quote.repeat(3);
    let (closing, is_multi_line) = if text.starts_with(&three) { (&*three, true) } else { (quote, false) };
    let mut at = closing.len();
    while let Some(char) = text[at..].chars().next() {
        if text[at..].starts_with(closing) {
            return Some(at + closing.len());
        }
        if char == '\n' && !is_multi_line {
            return Some(at);
        }
        at += char.len_utf8();
        if char == '\\' && quote == "\"" {
            at += text[at..].chars().next().filter(|next| *next != '\n').map_or(0, char::len_utf8);
        }
    }
    (!is_multi_line).then_some(at)
}

/// Returns whether `line` begins a statement, because it cannot continue the open brackets. `before` is the text of the
/// statement before this line.
fn begins_statement(before: &str, line: &str, open: &[(usize, char)]) -> bool {
    let is_key = |char: char| char.is_ascii_alphanumeric() || "_-. ".contains(char);
    let line = line.trim();
    let inner = line.trim_start_matches('[');
    if inner.len() < line.len() {
        let name = inner.split(']').next().unwrap_or_default().trim();
        let rest = inner[inner.find(']').unwrap_or(inner.len())..].trim_start_matches(']').trim_start();
        return name.starts_with(|char: char| char.is_ascii_alphabetic())
            && name.chars().all(is_key)
            && !["true", "false", "inf", "nan"].contains(&name)
            && (rest.is_empty() || rest.starts_with('#'));
    }
    let key = line.split_once('=').map_or("", |(key, _)| key);
    // In an inline table, a key can follow the bracket or a comma.
    let is_inline_key =
        open.last().is_some_and(|(_, bracket)| *bracket == '{') && before.trim_end().ends_with([',', '{']);
    !is_inline_key && !key.trim().is_empty() && key.chars().all(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the line and message of each error.
    fn errors_by_line(text: &str) -> Vec<(usize, String)> {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        errors(text).into_iter().map(|(at, message)| (line(at.start), message)).collect()
    }

    #[test]
    fn an_unclosed_bracket_is_one_error_at_the_bracket() {
        let array = "unclosed array, expected `]`";
        let table = "unclosed inline table, expected `}`";
        let rest = "\nz = 1\n\n[[probe]]\nname = \"x\"\nargs = [\"list\"]\n";
        for (text, line, message) in [
            ("a = [\"x\"", 1, array),
            ("c = 1\na = [\n  \"x\", # ] \"\n  [1],\n", 2, array),
            ("a = { b = [\"x\"", 1, array),
            ("a = { b = [\"x\"]", 1, table),
            ("a = [\n  { b = 1,\n", 2, table),
            ("a = ['[x', ']'", 1, array),
        ] {
            let with_rest = format!("{text}{rest}");
            assert_eq!(errors_by_line(&with_rest), [(line, message.to_owned())], "{with_rest}");
            assert_eq!(errors_by_line(text), [(line, message.to_owned())], "{text}");
        }
        let text = "a = 1\ns = \"\"\"\nx = [\n";
        assert_eq!(errors_by_line(text), [(2, "unclosed string, expected three quotes".to_owned())]);
    }

    #[test]
    fn each_invalid_statement_has_one_error() {
        let text =
            "a = [\"x]\nb = \nc = [1 2 3]\nd = [\n[e]\nf = [\n  1,\n  [2],\n]\nh = \"x\ni = [\"y\"\n[[g]\n";
        let mut lines: Vec<usize> = errors_by_line(text).into_iter().map(|(line, _)| line).collect();
        lines.sort_unstable();
        assert_eq!(lines, [1, 2, 3, 4, 10, 11, 12]);
    }

    #[test]
    fn every_rejected_text_has_an_error() {
        let pieces =
            ["[", "]", "{", "}", "\"", "'", "\"\"\"", "'''", "\\", "\n", "a = ", "#", "ä", "[[x]]\n", ","];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    for fourth in ["", "\n", "\"", "é"] {
                        let text = format!("{first}{second}{third}{fourth}");
                        let is_rejected = !parser_errors(&text).is_empty();
                        assert!(!is_rejected || !errors(&text).is_empty(), "{text:?}");
                    }
                }
            }
        }
    }
}
