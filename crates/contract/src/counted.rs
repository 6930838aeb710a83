//! Formats counts and lists of names for messages.

use std::fmt::Display;

/// Formats a count with its noun: `counted(1, "run")` is `1 run`; any other number has the plural.
pub fn counted(count: impl Display + PartialEq + From<u8>, noun: &str) -> String {
    let ending = if count == 1.into() { "" } else { "s" };
    format!("{count} {noun}{ending}")
}

/// Lists the first `max` names in backticks, separated by commas, and the number of the others (`and 3 more`).
pub fn list_names(names: impl ExactSizeIterator<Item = impl Display>, max: usize) -> String {
    let more = names.len().saturating_sub(max);
    let first: Vec<String> = names.take(max).map(|name| format!("`{name}`")).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", first.join(", "))
}

/// Joins names as alternatives: `a, b or c`. Without names, returns `nothing`.
pub fn alternatives(names: Vec<String>) -> String {
    if names.is_empty() { "nothing".to_owned() } else { join_words(names, "or") }
}

/// Joins words with a conjunction: `a, b and c`.
pub fn join_words(mut words: Vec<String>, conjunction: &str) -> String {
    match words.pop() {
        Some(last) if !words.is_empty() => format!("{} {conjunction} {last}", words.join(", ")),
        last => last.unwrap_or_default(),
    }
}
