//! Readers of values in the tables of `contract.toml`.

use crate::spanned_toml::{Table, Value};

/// Returns the tables of the array of tables `[[name]]`; none if the file does not have it.
pub(super) fn tables<'a>(file: &Table<'a>, name: &str) -> Vec<Table<'a>> {
    let expected = format!("tables, each under [[{name}]]");
    let elements = file.get(name).and_then(|value| value.elements(&expected)).unwrap_or_default();
    elements.iter().filter_map(|element| element.table(&format!("[[{name}]]"), "a table")).collect()
}

/// Reads a string that is not blank; reports any other value.
pub(super) fn non_empty_string(value: &Value<'_>) -> Option<String> {
    let text = value.string("a non-empty string")?.text;
    if text.trim().is_empty() { value.report("the string is empty; expected text") } else { Some(text) }
}
