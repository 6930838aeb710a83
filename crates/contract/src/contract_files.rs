//! The files of a contract as data, to compile it again where they are not.

use super::contract::{CONTRACT_FILE, Contract};
use super::sources::Home;
use crate::error::Result;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// All files that a contract needs, except those of bundled contracts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractFiles {
    /// The file that makes the contract: `contract.toml`, or a schema file.
    pub main: String,
    /// The version that was named, if one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The text of each file, by its path relative to the folder of that one.
    pub files: BTreeMap<String, String>,
}

impl Contract {
    /// Its files; none for a bundled contract, which is known by its name.
    pub fn files(&self) -> Option<ContractFiles> {
        if let Home::Bundle(_) = self.sources.home() {
            return None;
        }
        let files = self.sources.files().into_iter();
        // A text that was read strictly is UTF-8.
        let text = |text: &[u8]| String::from_utf8_lossy(text).into_owned();
        let mut files: BTreeMap<String, String> =
            files.filter_map(|(uri, file)| Some((Home::path(&uri)?, text(&file.text)))).collect();
        let (main, version) = match &self.text {
            Some((text, version)) => {
                files.insert(CONTRACT_FILE.to_owned(), text.clone());
                (CONTRACT_FILE.to_owned(), version.clone())
            }
            None => (self.spec.schema.clone()?, None),
        };
        Some(ContractFiles { main, version, files })
    }

    /// The contract that these files make, named as it was: no other file is read. An error of configuration
    /// with the place of everything that is wrong.
    pub fn of_files(name: &str, files: &ContractFiles) -> Result<Self> {
        let home = Home::Texts(Arc::new(files.files.clone()));
        match files.files.get(CONTRACT_FILE).filter(|_| files.main == CONTRACT_FILE) {
            Some(text) => Self::from_toml(text, Path::new(CONTRACT_FILE), home, files.version.as_deref()),
            None => Self::of_schema(name.to_owned(), &files.main, home),
        }
    }
}
