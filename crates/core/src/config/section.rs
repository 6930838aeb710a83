//! A table of the file that accepts exactly the keys of the reference.

use super::reference::keys_of;
use agentnative_contract::spanned_toml::{Table, Value};
use std::ops::Deref;

/// A table at its place in the reference.
pub(super) struct Section<'a> {
    table: Table<'a>,
    keys: Vec<&'static str>,
}

impl<'a> Section<'a> {
    /// The table as that of `path`; notes every key that the reference does not have there.
    pub(super) fn new(table: Table<'a>, path: &str) -> Self {
        let keys = keys_of(path);
        table.allow_with(&keys, |name| belongs_elsewhere(name, path));
        Self { table, keys }
    }

    /// The value of `key`, which the reference has.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.assert_known(key);
        self.table.get(key)
    }

    /// The value of `key`, which the reference has; noted if it is missing.
    pub(super) fn require(&self, key: &str, expected: &str) -> Option<Value<'a>> {
        self.assert_known(key);
        self.table.require(key, expected)
    }

    fn assert_known(&self, key: &str) {
        debug_assert!(self.keys.contains(&key), "`{key}` is read and not in keys.toml");
    }
}

/// Returns where a key belongs that stands in the table at `path`: in the other of [target] and [[probe]].
fn belongs_elsewhere(name: &str, path: &str) -> Option<String> {
    let (other, title) = match path {
        "probe" => ("target", "[target]"),
        "target" => ("probe", "[[probe]]"),
        _ => return None,
    };
    keys_of(other).contains(&name).then(|| format!("`{name}` is a key of {title}"))
}

impl<'a> Deref for Section<'a> {
    type Target = Table<'a>;

    fn deref(&self) -> &Table<'a> {
        &self.table
    }
}

/// At least one argument, the first of them not empty.
pub(super) fn argv(value: &Value<'_>) -> Option<Vec<String>> {
    let words: Vec<String> = value.arguments()?.into_iter().map(|word| word.text).collect();
    match words.first() {
        Some(first) if !first.is_empty() => Some(words),
        _ => value.fault("expected at least one word, and a non-empty first word"),
    }
}
