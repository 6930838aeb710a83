//! Loads the examples of the bundled contracts that `expected.toml` lists.

use json_patch::Patch;
use serde_json::{Deserializer, Value};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// The folder of the bundled contracts.
pub const CONTRACTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/contracts");

/// The examples of a contract.
pub struct Examples {
    folder: PathBuf,
    expected: Table,
}

/// The output of an example.
pub struct ExampleData {
    pub text: String,
    /// Whether the output is JSON Lines; otherwise it is one document.
    pub is_lines: bool,
}

impl Examples {
    pub fn of(contract: &str) -> Self {
        let folder = Path::new(CONTRACTS).join(contract).join("examples");
        let text = fs::read_to_string(folder.join("expected.toml")).unwrap();
        Self { folder, expected: text.parse().unwrap() }
    }

    /// Returns the complete `expected.toml`.
    pub const fn expected(&self) -> &Table {
        &self.expected
    }

    /// Returns the expectations of the `valid` or the `invalid` examples.
    pub fn table(&self, kind: &str) -> &Table {
        self.expected[kind].as_table().unwrap()
    }

    /// Returns the files that the examples use, relative to the folder.
    pub fn named_files(&self) -> BTreeSet<String> {
        let of_kind = |kind| self.table(kind).keys().filter_map(move |name| self.file(kind, name));
        ["valid", "invalid"].into_iter().flat_map(of_kind).collect()
    }

    /// Returns the existing files, relative to the folder.
    pub fn files(&self) -> BTreeSet<String> {
        let of_kind = |kind| {
            let entries = fs::read_dir(self.folder.join(kind)).into_iter().flatten();
            entries.map(move |entry| format!("{kind}/{}", entry.unwrap().file_name().to_str().unwrap()))
        };
        ["valid", "invalid"].into_iter().flat_map(of_kind).collect()
    }

    /// Returns the output of an example; `None` for a run without data.
    pub fn data(&self, kind: &str, name: &str) -> Option<ExampleData> {
        let file = self.file(kind, name)?;
        let text = fs::read_to_string(self.folder.join(&file)).unwrap();
        let is_lines = file.ends_with(".jsonl");
        let text = match self.table(kind)[name].get("patch") {
            Some(patch) => patched(&text, is_lines, patch.as_str().unwrap()),
            None => text,
        };
        Some(ExampleData { text, is_lines })
    }

    /// Returns the file with the data of an example: the named one, or the default.
    fn file(&self, kind: &str, name: &str) -> Option<String> {
        match self.table(kind)[name].get("data") {
            Some(data) => Some(data.as_str().unwrap().to_owned()).filter(|data| !data.is_empty()),
            None => Some(format!("{kind}/{name}")),
        }
    }
}

/// Applies a JSON Patch (RFC 6902) to the document, or to the array of the records.
fn patched(text: &str, is_lines: bool, patch: &str) -> String {
    let patch: Patch = serde_json::from_str(patch).unwrap();
    let values = Deserializer::from_str(text).into_iter::<Value>().map(Result::unwrap);
    if !is_lines {
        let mut document = values.last().unwrap();
        json_patch::patch(&mut document, &patch).unwrap();
        return format!("{document}\n");
    }
    let mut records = Value::Array(values.collect());
    json_patch::patch(&mut records, &patch).unwrap();
    records.as_array().unwrap().iter().map(|record| format!("{record}\n")).collect()
}
