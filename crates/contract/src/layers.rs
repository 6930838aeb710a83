//! A `contract.toml` with the changes of one of its versions applied.

use super::read_values::{non_empty_string, tables};
use super::version::ContractVersion;
use crate::spanned_toml::{Table, Value, collect_all, name_hint};
use semver::VersionReq;

/// Keys of a `[[versions]]` table that describe the version itself, and do not override the contract.
const VERSION_KEYS: [&str; 5] = ["version", "range", "program", "drift", "drops"];
/// Arrays of tables, such as `[[rule]]`, to which a version adds tables. Each has the key that identifies a table in
/// it.
pub(super) const EXTENDED_TABLES: [(&str, &str); 3] =
    [("rule", "id"), ("condition", "name"), ("finding", "id")];
/// Keys of a contract that a `[[versions]]` table can override.
const REPLACED_KEYS: [&str; 7] = ["title", "origin", "framing", "schema", "ask", "errors", "events"];

/// The table of a `contract.toml`, and optionally a `[[versions]]` table whose values override those of the file.
pub(super) struct Layers<'l, 'a> {
    pub file: &'l Table<'a>,
    pub version: Option<&'l Table<'a>>,
    /// Names of the rules, conditions and findings of the file that the version removes.
    dropped_names: Vec<String>,
}

impl<'l, 'a> Layers<'l, 'a> {
    /// Creates the layers of a file without a version.
    pub fn new(file: &'l Table<'a>) -> Self {
        Self { file, version: None, dropped_names: Vec::new() }
    }

    /// Creates the layers of a file and a version, whose values override those of the file.
    pub fn with_version(file: &'l Table<'a>, version: &'l Table<'a>) -> Self {
        let lists = EXTENDED_TABLES.map(|(list, key)| (tables(file, list), key));
        let known = || {
            let names = lists.iter().flat_map(|(list, key)| list.iter().map(move |table| (table, *key)));
            names.filter_map(|(table, key)| table.get(key)?.inner.as_str())
        };
        let name = |value: &Value<'_>| {
            let name = non_empty_string(value)?;
            if known().any(|known| known == name) {
                return Some(name);
            }
            let near = name_hint(&name, known());
            value.report(&format!("unknown name `{name}`: no rule, condition or finding has it; {near}"))
        };
        let drops = version.get("drops").and_then(|value| {
            collect_all(value.elements("names of rules, conditions and findings")?.iter().map(name))
        });
        Self { file, version: Some(version), dropped_names: drops.unwrap_or_default() }
    }

    /// Returns the value of a key from the version, or else from the file; `None` if neither has the key.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.version.and_then(|version| version.get(key)).or_else(|| self.file.get(key))
    }

    /// Returns the value of a key like [`Layers::get`]. If the key is missing, reports that `expected` is required.
    pub fn require(&self, key: &str, expected: &str) -> Option<Value<'a>> {
        self.get(key).or_else(|| self.file.require(key, expected))
    }

    /// Returns the tables of `[[name]]`: the tables of the file that the version does not remove, and then those of the
    /// version.
    pub fn tables(&self, name: &str) -> Vec<Table<'a>> {
        let key = EXTENDED_TABLES.iter().find(|(list, _)| *list == name).map_or("id", |(_, key)| key);
        let dropped = |table: &Table<'a>| {
            let id = table.get(key).and_then(|value| value.inner.as_str().map(str::to_owned));
            id.is_some_and(|id| self.dropped_names.contains(&id))
        };
        let mut found = tables(self.file, name);
        found.retain(|table| !dropped(table));
        found.extend(self.version.iter().flat_map(|version| tables(version, name)));
        found
    }
}

/// Parses name, range and changes of a version from its `[[versions]]` table; reports unknown keys.
pub(super) fn parse_version(table: &Table<'_>) -> Option<ContractVersion> {
    let lists = EXTENDED_TABLES.map(|(list, _)| list);
    table.report_unknown_keys(&[&VERSION_KEYS[..], &REPLACED_KEYS, &lists].concat());
    let name = table.require("version", "a version number").and_then(|value| non_empty_string(&value));
    let range = table.require("range", "a range of versions").and_then(|value| {
        let range = non_empty_string(&value)?;
        match VersionReq::parse(&range) {
            Ok(_) => Some(range),
            Err(_) => value.report("expected a range of versions, such as \">=0.42, <0.44\""),
        }
    });
    let text = |key: &str| table.get(key).and_then(|value| non_empty_string(&value));
    Some(ContractVersion { version: name?, range: range?, program: text("program"), drift: text("drift") })
}

/// Returns whether a `[[versions]]` table changes the contract: it has `drops` or keys that override the contract.
pub(super) fn changes_contract(table: &Table<'_>) -> bool {
    let mut keys = table.entries.keys().map(|key| key.get_ref().to_string());
    keys.any(|key| key == "drops" || !VERSION_KEYS.contains(&key.as_str()))
}
