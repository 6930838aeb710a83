//! Numbers of things, and their names, in messages.

use std::fmt::Display;

/// A number of things: `counted(1, "run")` is `1 run`, any other number has the plural.
pub fn counted(count: impl Display + PartialEq + From<u8>, what: &str) -> String {
    let ending = if count == 1.into() { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// The first `most` of some names in backticks, and how many more there are.
pub fn named(names: impl ExactSizeIterator<Item = impl Display>, most: usize) -> String {
    let more = names.len().saturating_sub(most);
    let first: Vec<String> = names.take(most).map(|name| format!("`{name}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// Names as alternatives: `a, b or c`.
pub fn alternatives(names: Vec<String>) -> String {
    if names.is_empty() { "nothing".to_owned() } else { listed(names, "or") }
}

/// Words in a sentence: `a, b and c`.
pub fn listed(mut words: Vec<String>, conjunction: &str) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} {conjunction} {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}
