//! A `contract.toml` with what one of its versions changes.

use super::read_values::{non_empty_string, tables};
use super::version::ContractVersion;
use crate::spanned_toml::{Table, Value, all, suggestion};
use semver::VersionReq;

/// Keys of `[[versions]]` beside those that it can replace.
const OWN: [&str; 4] = ["version", "range", "drift", "drops"];
/// Tables of which a version adds some, and what tells them apart.
pub(super) const LISTS: [(&str, &str); 3] = [("rule", "id"), ("condition", "name"), ("finding", "id")];
/// Keys that a version replaces.
const REPLACED: [&str; 7] = ["title", "origin", "framing", "schema", "ask", "errors", "events"];

/// The file, and the table of a version over it.
pub(super) struct Layers<'l, 'a> {
    pub file: &'l Table<'a>,
    pub version: Option<&'l Table<'a>>,
    /// What the version leaves out.
    drops: Vec<String>,
}

impl<'l, 'a> Layers<'l, 'a> {
    /// The file as it is.
    pub fn of_file(file: &'l Table<'a>) -> Self {
        Self { file, version: None, drops: Vec::new() }
    }

    /// The file as the version changes it.
    pub fn of_version(file: &'l Table<'a>, version: &'l Table<'a>) -> Self {
        let lists = LISTS.map(|(list, key)| (tables(file, list), key));
        let known = || {
            let names = lists.iter().flat_map(|(list, key)| list.iter().map(move |table| (table, *key)));
            names.filter_map(|(table, key)| table.get(key)?.inner.as_str())
        };
        let name = |value: &Value<'_>| {
            let name = non_empty_string(value)?;
            if known().any(|known| known == name) {
                return Some(name);
            }
            let near = suggestion(&name, known());
            value.fault(&format!("unknown name `{name}`: no rule, condition or finding has it; {near}"))
        };
        let drops = version.get("drops").and_then(|value| {
            all(value.elements("names of rules, conditions and findings")?.iter().map(name))
        });
        Self { file, version: Some(version), drops: drops.unwrap_or_default() }
    }

    /// The value of a key: the version's, if it has one.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        self.version.and_then(|version| version.get(key)).or_else(|| self.file.get(key))
    }

    /// The same; noted if it is not there.
    pub fn require(&self, key: &str, expected: &str) -> Option<Value<'a>> {
        self.get(key).or_else(|| self.file.require(key, expected))
    }

    /// The tables of `[[name]]`: those of the file that the version does not leave out, then its own.
    pub fn tables(&self, name: &str) -> Vec<Table<'a>> {
        let key = LISTS.iter().find(|(list, _)| *list == name).map_or("id", |(_, key)| key);
        let dropped = |table: &Table<'a>| {
            let own = table.get(key).and_then(|value| value.inner.as_str().map(str::to_owned));
            own.is_some_and(|own| self.drops.contains(&own))
        };
        let mut found = tables(self.file, name);
        found.retain(|table| !dropped(table));
        found.extend(self.version.iter().flat_map(|version| tables(version, name)));
        found
    }
}

/// What a table of `[[versions]]` says of itself.
pub(super) fn version(table: &Table<'_>) -> Option<ContractVersion> {
    let lists = LISTS.map(|(list, _)| list);
    table.allow(&[&OWN[..], &REPLACED, &lists].concat());
    let name = table.require("version", "a version number").and_then(|value| non_empty_string(&value));
    let range = table.require("range", "a range of versions").and_then(|value| {
        let range = non_empty_string(&value)?;
        match VersionReq::parse(&range) {
            Ok(_) => Some(range),
            Err(_) => value.fault("expected a range of versions, such as \">=0.42, <0.44\""),
        }
    });
    let drift = table.get("drift").and_then(|value| non_empty_string(&value));
    Some(ContractVersion { version: name?, range: range?, drift })
}

/// Whether a table of `[[versions]]` changes anything.
pub(super) fn changes(table: &Table<'_>) -> bool {
    let mut keys = table.entries.keys().map(|key| key.get_ref().to_string());
    keys.any(|key| key == "drops" || !OWN.contains(&key.as_str()))
}
