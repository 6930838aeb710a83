//! The errors of syntax in a TOML file: one for each statement that has any. A bracket that is not closed takes the
//! lines behind it for its own, and the parser then finds errors in all of them; they are not told.

use super::Span;
use toml::de::DeTable;

/// A statement: a header, or a key with its value.
struct Statement {
    span: Span,
    /// What it does not close: where that is, and what is wrong with it.
    open: Option<(usize, &'static str)>,
}

/// The errors of syntax in a text that has some, with their places.
pub(super) fn errors(text: &str) -> Vec<(Span, String)> {
    let statements = statements(text);
    let mut errors = Vec::new();
    let mut rest = text.to_owned();
    for Statement { span, open } in &statements {
        let Some((opened, message)) = open else { continue };
        let own = text[span.clone()].trim_end();
        let first = parsed(own).into_iter().next().filter(|(at, _)| at.start < own.len());
        errors.push(match first {
            Some((at, message)) => (span.start + at.start..span.start + at.end, message),
            None => (*opened..*opened, (*message).to_owned()),
        });
        let blank: String = text[span.clone()].chars().map(blank).collect();
        rest.replace_range(span.clone(), &blank);
    }
    let mut told = None;
    for (at, message) in parsed(&rest) {
        let of = statements.iter().rposition(|statement| statement.span.start <= at.start);
        if of.is_none() || of != told {
            errors.push((at, message));
        }
        told = of;
    }
    errors
}

/// What the parser finds.
fn parsed(text: &str) -> Vec<(Span, String)> {
    let (_, errors) = DeTable::parse_recoverable(text);
    let place = |error: &toml::de::Error| (error.span().unwrap_or_default(), error.message().to_owned());
    let mut errors: Vec<(Span, String)> = errors.iter().map(place).collect();
    errors.sort_by_key(|(at, _)| at.start);
    errors
}

/// White space of the same length.
fn blank(char: char) -> String {
    if char == '\n' { "\n".to_owned() } else { " ".repeat(char.len_utf8()) }
}

/// The statements of a text.
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

/// The statement that begins at `start`. It ends with its line, or with that which closes its last bracket; or
/// where a line begins another statement, with the bracket open.
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
            '\n' if open.is_empty() || is_header => return Statement { span: start..at + 1, open: None },
            '\n' if begins(&text[start..at], text[at + 1..].lines().next().unwrap_or_default(), &open) => {
                return Statement { span: start..at + 1, open: unclosed(&open) };
            }
            '#' => {
                at += text[at..].find('\n').unwrap_or(text.len() - at);
                continue;
            }
            '"' | '\'' => match string(&text[at..]) {
                Some(length) => {
                    at += length;
                    continue;
                }
                None => {
                    let open = Some((at, "unclosed string, expected three quotes"));
                    return Statement { span: start..text.len(), open };
                }
            },
            '[' | '{' => open.push((at, char)),
            ']' | '}' => _ = open.pop(),
            _ => {}
        }
        at += char.len_utf8();
    }
    Statement { span: start..text.len(), open: unclosed(&open).filter(|_| !is_header) }
}

/// The length of the string that a text begins with; one of one line ends with its line. None where one of
/// several lines has no end.
fn string(text: &str) -> Option<usize> {
    let quote = &text[..1];
    let three = quote.repeat(3);
    let (closing, many) = if text.starts_with(&three) { (&*three, true) } else { (quote, false) };
    let mut at = closing.len();
    while let Some(char) = text[at..].chars().next() {
        if text[at..].starts_with(closing) {
            return Some(at + closing.len());
        }
        if char == '\n' && !many {
            return Some(at);
        }
        at += char.len_utf8();
        if char == '\\' && quote == "\"" {
            at += text[at..].chars().next().filter(|next| *next != '\n').map_or(0, char::len_utf8);
        }
    }
    (!many).then_some(at)
}

/// Whether a line begins a statement, since it can be no part of what was opened `before`.
fn begins(before: &str, line: &str, open: &[(usize, char)]) -> bool {
    let is_key = |char: char| char.is_ascii_alphanumeric() || "_-. ".contains(char);
    let line = line.trim();
    let inner = line.trim_start_matches('[');
    if inner.len() < line.len() {
        let name = inner.split(']').next().unwrap_or_default().trim();
        let behind = inner[inner.find(']').unwrap_or(inner.len())..].trim_start_matches(']').trim_start();
        return name.starts_with(|char: char| char.is_ascii_alphabetic())
            && name.chars().all(is_key)
            && !["true", "false", "inf", "nan"].contains(&name)
            && (behind.is_empty() || behind.starts_with('#'));
    }
    let key = line.split_once('=').map_or("", |(key, _)| key);
    // A key can stand in an inline table, behind its bracket or a comma.
    let fits =
        open.last().is_some_and(|(_, bracket)| *bracket == '{') && before.trim_end().ends_with([',', '{']);
    !fits && !key.trim().is_empty() && key.chars().all(is_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line and message of each error.
    fn told(text: &str) -> Vec<(usize, String)> {
        let line = |at: usize| text[..at].matches('\n').count() + 1;
        errors(text).into_iter().map(|(at, message)| (line(at.start), message)).collect()
    }

    #[test]
    fn a_bracket_that_is_not_closed_is_told_where_it_was_opened_and_alone() {
        let array = "unclosed array, expected `]`";
        let table = "unclosed inline table, expected `}`";
        let behind = "\nz = 1\n\n[[probe]]\nname = \"x\"\nargs = [\"list\"]\n";
        for (text, line, message) in [
            ("a = [\"x\"", 1, array),
            ("c = 1\na = [\n  \"x\", # ] \"\n  [1],\n", 2, array),
            ("a = { b = [\"x\"", 1, array),
            ("a = { b = [\"x\"]", 1, table),
            ("a = [\n  { b = 1,\n", 2, table),
            ("a = ['[x', ']'", 1, array),
        ] {
            let with_rest = format!("{text}{behind}");
            assert_eq!(told(&with_rest), [(line, message.to_owned())], "{with_rest}");
            assert_eq!(told(text), [(line, message.to_owned())], "{text}");
        }
        let text = "a = 1\ns = \"\"\"\nx = [\n";
        assert_eq!(told(text), [(2, "unclosed string, expected three quotes".to_owned())]);
    }

    #[test]
    fn each_statement_has_its_own_error_and_no_other() {
        let text =
            "a = [\"x]\nb = \nc = [1 2 3]\nd = [\n[e]\nf = [\n  1,\n  [2],\n]\nh = \"x\ni = [\"y\"\n[[g]\n";
        let mut lines: Vec<usize> = told(text).into_iter().map(|(line, _)| line).collect();
        lines.sort_unstable();
        assert_eq!(lines, [1, 2, 3, 4, 10, 11, 12]);
    }

    #[test]
    fn the_text_may_be_anything() {
        let pieces =
            ["[", "]", "{", "}", "\"", "'", "\"\"\"", "'''", "\\", "\n", "a = ", "#", "ä", "[[x]]\n", ","];
        for first in pieces {
            for second in pieces {
                for third in pieces {
                    for fourth in ["", "\n", "\"", "é"] {
                        let text = format!("{first}{second}{third}{fourth}");
                        let is_wrong = !parsed(&text).is_empty();
                        assert!(!is_wrong || !errors(&text).is_empty(), "{text:?}");
                    }
                }
            }
        }
    }
}
