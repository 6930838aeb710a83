//! Parses a file, or a table in a file.

use super::diagnostics::Diagnostics;
use super::value::{Table, Value};
use super::{json, syntax};
use crate::error::Result;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses `text`, the contents of the TOML file at `path`, and returns what `parse` returns for the table of the file.
///
/// # Errors
/// Of kind `Config`, with all syntax errors, or else with all diagnostics of `parse`.
pub fn parse_file<T>(text: &str, path: &Path, parse: impl FnOnce(Table<'_>) -> T) -> Result<T> {
    let faults = Diagnostics::new(path, text);
    let table = parse_document(text, &faults);
    // The rest of a file with syntax errors would cause false diagnostics.
    if let Some(error) = faults.into_error() {
        return Err(error);
    }
    into_result(parse(Table::new(&faults, "the file", table.span(), table.get_ref())), &faults)
}

/// Parses one table of the TOML or JSON (`.json`) file at `path`, and returns what `parse` returns for it. Returns
/// `None` if there is no such table. `keys` are the nested keys that lead to the table, such as
/// `["package", "metadata"]`; in JSON, the first is a top-level member.
///
/// # Errors
/// The errors of [`parse_file`].
pub fn parse_table<T>(
    text: &str,
    path: &Path,
    keys: &[&str],
    parse: impl FnOnce(Table<'_>) -> T,
) -> Result<Option<T>> {
    let faults = Diagnostics::new(path, text);
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let (member, file);
    let (title, found) = if is_json {
        member = json::member(text, keys.first().unwrap_or(&""), &faults);
        (format!("`{}`", keys.join(".")), member.as_ref())
    } else {
        file = parse_document(text, &faults);
        (format!("[{}]", keys.join(".")), value_at(file.get_ref(), keys))
    };
    match (found, faults.into_error()) {
        // If the table is missing, syntax errors in a TOML file are not reported here.
        (None, None) => Ok(None),
        (None, Some(_)) if !is_json => Ok(None),
        (_, Some(error)) => Err(error),
        (Some(found), None) => {
            let value = Value::new(&faults, title.clone(), found.span(), found.get_ref());
            let parsed = value.table(&title, "a table").map(parse);
            into_result(parsed, &faults)
        }
    }
}

/// Parses a TOML document; adds syntax errors to `faults`.
fn parse_document<'t>(text: &'t str, faults: &Diagnostics<'_>) -> Spanned<DeTable<'t>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        syntax::errors(text).into_iter().for_each(|(span, message)| faults.add(&span, message));
    }
    table
}

/// Returns the value to which a path of nested keys leads; `None` if a key is missing.
fn value_at<'v, 't>(file: &'v DeTable<'t>, keys: &[&str]) -> Option<&'v Spanned<DeValue<'t>>> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(file.get(*first)?, |value, key| value.get_ref().get(*key))
}

fn into_result<T>(parsed: T, faults: &Diagnostics<'_>) -> Result<T> {
    faults.into_error().map_or(Ok(parsed), Err)
}
