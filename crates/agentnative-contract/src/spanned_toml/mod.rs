//! Strict reading of TOML files: what is there, what was expected, and every fault on its span.

mod diagnostics;
mod nearest;
mod value;

pub use diagnostics::{Diagnostics, Span, place};
pub use nearest::nearest;
pub use value::{LONGEST, Table, Value, all, suggestion, variable_name};

use crate::error::Result;
use std::path::Path;
use toml::de::DeTable;

/// What `parse` makes of the text of the file at `path`. An error of configuration tells all errors of
/// syntax; where there are none, all that `parse` noted.
pub fn parse_file<T>(text: &str, path: &Path, parse: impl FnOnce(&Table<'_>) -> T) -> Result<T> {
    let faults = Diagnostics::new(path, text);
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        faults.add(&error.span().unwrap_or_default(), error.message());
    }
    // What is left of a file with errors of syntax would give faults that are none.
    if let Some(error) = faults.error() {
        return Err(error);
    }
    let parsed = parse(&Table::new(&faults, "the file", table.span(), table.get_ref()));
    match faults.error() {
        Some(error) => Err(error),
        None => Ok(parsed),
    }
}
