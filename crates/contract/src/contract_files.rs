//! The files of a contract as data. The contract can be compiled from them without the file system.

use super::contract::{CONTRACT_FILE, Contract};
use super::sources::FileStore;
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// All files from which a contract is compiled, except those of bundled contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractFiles {
    /// Path of the main file: `contract.toml`, or a schema file.
    pub main: String,
    /// The name of the requested version; `None` for the main version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The text of each file, by its path relative to the folder of `main`.
    pub files: BTreeMap<String, String>,
}

impl Contract {
    /// Returns the files of the contract; `None` for a bundled contract, which its name identifies.
    pub fn files(&self) -> Option<ContractFiles> {
        if let FileStore::Bundle(_) = self.sources.store() {
            return None;
        }
        let files = self.sources.files().into_iter();
        // The strict reader accepts UTF-8 only.
        let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let mut files: BTreeMap<String, String> =
            files.filter_map(|(uri, file)| Some((FileStore::path(&uri)?, text(&file.text)))).collect();
        let (main, version) = match &self.text {
            Some((text, version)) => {
                files.insert(CONTRACT_FILE.to_owned(), text.clone());
                (CONTRACT_FILE.to_owned(), version.clone())
            }
            None => (self.spec.schema.clone()?, None),
        };
        Some(ContractFiles { main, version, files })
    }

    /// Compiles a contract from `files` alone, without the file system. `name` is the original name of the contract.
    ///
    /// # Errors
    /// Of kind `Config`, with the place of each problem.
    pub fn from_files(name: &str, files: &ContractFiles) -> Result<Self> {
        let store = FileStore::Memory(Arc::new(files.files.clone()));
        match files.files.get(CONTRACT_FILE).filter(|_| files.main == CONTRACT_FILE) {
            Some(text) => Self::from_toml(text, Path::new(CONTRACT_FILE), store, files.version.as_deref()),
            None => Self::from_schema(name.to_owned(), &files.main, store),
        }
    }
}
