//! Reads files with an interface.

use super::model::ProgramInterface;
use super::usage;
use agentnative_contract::error::{Error, Result};
use serde_json::Value;
use std::path::Path;

/// Maximum length of a file with an interface, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// Reads a file with an interface: a specification in the format of `usage` (a `.kdl` file, or its exported JSON), or
/// `interface.json`. Returns `None` for any other file.
///
/// # Errors
/// A configuration error with the position if a `.kdl` file or an `interface.json` is invalid.
pub fn read_interface_file(path: &Path) -> Result<Option<ProgramInterface>> {
    let is_kind = |kind| path.extension().is_some_and(|extension| extension == kind);
    let is_short = path.metadata().is_ok_and(|file| file.len() <= MAX_FILE);
    if !(is_kind("kdl") || is_kind("json")) || !is_short {
        return Ok(None);
    }
    let bytes = std::fs::read(path).map_err(|error| Error::data_file(path, &error))?;
    if is_kind("kdl") {
        return usage::from_kdl(path, &String::from_utf8_lossy(&bytes)).map(Some);
    }
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else { return Ok(None) };
    if value.get("interface").is_some_and(Value::is_number)
        && value.get("commands").is_some_and(Value::is_object)
    {
        return crate::lock::parse_file(path).map(Some);
    }
    Ok(usage::from_json(&value))
}
