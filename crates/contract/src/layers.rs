//! A `contract.toml` with the changes of one of its versions applied.

use super::read_values::{non_empty_string, tables};
use super::version::ContractVersion;
use crate::spanned_toml::{Table, Value, collect_all, name_hint};
use semver::VersionReq;

/// Keys of `[[versions]]` that describe the version itself.
const VERSION_KEYS: [&str; 4] = ["version", "range", "drift", "drops"];
/// Arrays of tables that a version extends, each with the key that identifies a table.
pub(super) const EXTENDED_TABLES: [(&str, &str); 3] =
    [("rule", "id"), ("condition", "name"), ("finding", "id")];
/// Keys that a version replaces.
const REPLACED_KEYS: [&str; 7] = ["title", "origin", "framing", "schema", "ask", "errors", "events"];

/// A file, optionally overridden by the table of a version.
pub(super) struct Layers<'l, 'a> {
    pub file: &'l Table<'a>,
    pub version: Option<&'l Table<'a>>,
    /// Names of the tables that the version removes.
    drops: Vec<String>,
}

impl<'l, 'a> Layers<'l, 'a> {
    /// The file without a version.
    pub fn new(file: &'l Table<'a>) -> Self {
        Self { file, version: None, drops: Vec::new() }
    }

    /// The file as changed by the version.
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
        Self { file, version: Some(version), drops: drops.unwrap_or_default() }
    }

    /// Returns the value of a key: the version's, or else the file's.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.version.and_then(|version| version.get(key)).or_else(|| self.file.get(key))
    }

    /// As [`Layers::get`]; reports a missing key.
    pub fn require(&self, key: &str, expected: &str) -> Option<Value<'a>> {
        self.get(key).or_else(|| self.file.require(key, expected))
    }

    /// Returns the tables of `[[name]]`: those of the file that the version does not drop, then the version's.
    pub fn tables(&self, name: &str) -> Vec<Table<'a>> {
        let key = EXTENDED_TABLES.iter().find(|(list, _)| *list == name).map_or("id", |(_, key)| key);
        let dropped = |table: &Table<'a>| {
            let id = table.get(key).and_then(|value| value.inner.as_str().map(str::to_owned));
            id.is_some_and(|id| self.drops.contains(&id))
        };
        let mut found = tables(self.file, name);
        found.retain(|table| !dropped(table));
        found.extend(self.version.iter().flat_map(|version| tables(version, name)));
        found
    }
}

/// Parses the keys of a `[[versions]]` table that describe the version itself.
pub(super) fn parse_version(table: &Table<'_>) -> Option<ContractVersion> {
    let lists = EXTENDED_TABLES.map(|(list, _)| list);
    table.allow(&[&VERSION_KEYS[..], &REPLACED_KEYS, &lists].concat());
    let name = table.require("version", "a version number").and_then(|value| non_empty_string(&value));
    let range = table.require("range", "a range of versions").and_then(|value| {
        let range = non_empty_string(&value)?;
        match VersionReq::parse(&range) {
            Ok(_) => Some(range),
            Err(_) => value.report("expected a range of versions, such as \">=0.42, <0.44\""),
        }
    });
    let drift = table.get("drift").and_then(|value| non_empty_string(&value));
    Some(ContractVersion { version: name?, range: range?, drift })
}

/// Returns whether a `[[versions]]` table changes the contract.
pub(super) fn changes_contract(table: &Table<'_>) -> bool {
    let mut keys = table.entries.keys().map(|key| key.get_ref().to_string());
    keys.any(|key| key == "drops" || !VERSION_KEYS.contains(&key.as_str()))
}
