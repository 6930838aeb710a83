//! Parses a file, or a table that is a part of one.

use super::diagnostics::Diagnostics;
use super::value::{Table, Value};
use super::{json, syntax};
use crate::error::Result;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parses the text of the file at `path` and passes its table to `parse`.
///
/// # Errors
/// Of kind `Config`, with all syntax errors, or else with all diagnostics of `parse`.
pub fn parse_file<T>(text: &str, path: &Path, parse: impl FnOnce(Table<'_>) -> T) -> Result<T> {
    let faults = Diagnostics::new(path, text);
    let table = document(text, &faults);
    // The rest of a file with syntax errors would cause false diagnostics.
    if let Some(error) = faults.error() {
        return Err(error);
    }
    concluded(parse(Table::new(&faults, "the file", table.span(), table.get_ref())), &faults)
}

/// The same for a table that is a part of the file at `path`, TOML or JSON (a `.json`): the one at these `keys`,
/// one inside the other; in JSON it is a top-level member. None where there is no such part.
pub fn parse_part<T>(
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
        file = document(text, &faults);
        (format!("[{}]", keys.join(".")), at(file.get_ref(), keys))
    };
    match (found, faults.error()) {
        // Where the part is missing, the rest of a TOML file is for others to judge; JSON was not judged.
        (None, None) => Ok(None),
        (None, Some(_)) if !is_json => Ok(None),
        (_, Some(error)) => Err(error),
        (Some(found), None) => {
            let value = Value::new(&faults, title.clone(), found.span(), found.get_ref());
            let parsed = value.table(&title, "a table").map(parse);
            concluded(parsed, &faults)
        }
    }
}

/// The TOML document; its errors of syntax are noted.
fn document<'t>(text: &'t str, faults: &Diagnostics<'_>) -> Spanned<DeTable<'t>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        syntax::errors(text).into_iter().for_each(|(span, message)| faults.add(&span, message));
    }
    table
}

/// The value at these keys, one inside the other.
fn at<'v, 't>(file: &'v DeTable<'t>, keys: &[&str]) -> Option<&'v Spanned<DeValue<'t>>> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(file.get(*first)?, |value, key| value.get_ref().get(*key))
}

fn concluded<T>(parsed: T, faults: &Diagnostics<'_>) -> Result<T> {
    faults.error().map_or(Ok(parsed), Err)
}
