//! Parses the key `contract` of a probe or of a target.

use super::section::Section;
use super::{Contracts, ValidationContext, contract_path};
use agentnative_contract::spanned_toml::{Value, name_hint};
use agentnative_contract::{Contract, split_version};
use std::path::Path;

pub(super) fn parse(probe: &Section<'_>, root: &Path, known: &ValidationContext<'_>) -> Contracts {
    let Some(value) = probe.get("contract") else { return Contracts::default() };
    let Some(table) = probe.section("contract") else {
        return by_name(&value, root, known).unwrap_or_default();
    };
    if table.entries.is_empty() {
        value.report::<()>("`contract` is empty; expected `json`, `jsonl` or both");
    }
    let name_of = |key| Some(find(&table.get(key)?, root, known)?.0);
    Contracts { json: name_of("json"), jsonl: name_of("jsonl") }
}

/// Loads the contract that `value`, the key `contract` of a target, names. Returns its name and the contract. Reports a
/// contract that is unknown or invalid and returns `None`.
pub(super) fn for_target(
    value: &Value<'_>,
    root: &Path,
    known: &ValidationContext<'_>,
) -> Option<(String, Contract)> {
    let (name, _) = find(value, root, known)?;
    match Contract::by_name(root, &name) {
        Ok(contract) => Some((name, contract)),
        Err(error) => {
            let first = error.issues.first().map(|issue| format!(": {}", issue.message)).unwrap_or_default();
            value.report(&format!("{}{first}", error.message))
        }
    }
}

/// Returns the contracts of a probe that names a single contract. A schema file describes one document, so it applies
/// to `json` only. Any other contract has a part for each format.
fn by_name(value: &Value<'_>, root: &Path, known: &ValidationContext<'_>) -> Option<Contracts> {
    let (name, is_schema) = find(value, root, known)?;
    let jsonl = (!is_schema).then(|| name.clone());
    Some(Contracts { json: Some(name), jsonl })
}

/// Returns the name of the contract in `value`, and whether it is a schema file. Reports a contract that does not exist
/// and returns `None`.
fn find(value: &Value<'_>, root: &Path, known: &ValidationContext<'_>) -> Option<(String, bool)> {
    let name = value.inner.as_str()?.to_owned();
    if let Some(path) = contract_path(root, &name) {
        let versioned = || root.join(split_version(&name).0).metadata();
        return match path.metadata().or_else(|error| versioned().map_err(|_| error)) {
            Ok(found) => Some((name, found.is_file())),
            Err(error) => value.report(&format!(
                "cannot read `{name}`: {error}; expected a contract folder or a schema file at {}",
                path.display()
            )),
        };
    }
    if known.contracts.contains(&split_version(&name).0) {
        return Some((name, false));
    }
    let near = name_hint(&name, known.contracts.iter().copied());
    value.report(&format!("unknown contract `{name}`; {near} (a path contains a `/` or ends in .json)"))
}
