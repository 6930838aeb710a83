//! The code of the package that builds the target: its languages, where it is, where it begins.

use super::exclusions::patterns;
use super::language::ROWS;
use crate::manifest::{Dependency, Package, packages};
use crate::model::Language;
use ignore::gitignore::Gitignore;
use std::path::{Path, PathBuf};

/// The code of a package, as far as its manifests tell.
#[derive(Debug)]
pub struct PackageCode {
    /// Its folder.
    pub folder: PathBuf,
    /// Name of the manifest that evidence about the package as a whole names, when there is one.
    pub manifest: Option<&'static str>,
    /// The languages that the target is built from; empty when no manifest tells: then any.
    pub languages: Vec<Language>,
    /// What it depends on, where a manifest is needed to tell.
    pub dependencies: Vec<Dependency>,
    /// The folder that the program is built into, when its code is not there: see [`super::Facts::built`].
    pub built: Option<String>,
    entries: Vec<Gitignore>,
    /// By language, whether the manifest tells where the program starts.
    tells_entry: Vec<bool>,
    /// By language, where the code is, when the manifest tells.
    sources: Vec<Option<Gitignore>>,
}

impl PackageCode {
    /// The package in `folder`. A manifest that cannot be read counts as none.
    pub fn of(folder: &Path) -> Self {
        let mut packages = packages(folder);
        if packages.iter().any(|package| package.is_program) {
            packages.retain(|package| package.is_program);
        }
        let mut languages: Vec<Language> = packages.iter().map(Package::language).collect();
        languages.sort_unstable();
        languages.dedup();
        let entries = ROWS.iter().map(|row| {
            let own = packages.iter().filter(|package| package.language() == row.language);
            let own = own.flat_map(|package| &package.entries).map(String::as_str);
            patterns(folder, &row.entry_files.iter().copied().chain(own).collect::<Vec<_>>())
        });
        let sources = ROWS.iter().map(|row| {
            let own = packages.iter().filter(|package| package.language() == row.language);
            let own: Vec<&str> = own.flat_map(|package| &package.sources).map(String::as_str).collect();
            (!own.is_empty()).then(|| patterns(folder, &own))
        });
        let tells_entry = ROWS.iter().map(|row| {
            packages.iter().any(|package| package.language() == row.language && !package.entries.is_empty())
        });
        Self {
            built: packages.iter().find_map(|package| package.built.clone()),
            tells_entry: tells_entry.collect(),
            sources: sources.collect(),
            entries: entries.collect(),
            manifest: packages.first().map(|package| package.file),
            dependencies: packages.iter().flat_map(|package| package.dependencies.clone()).collect(),
            folder: folder.to_owned(),
            languages,
        }
    }

    /// Whether the folder is a package itself, and not only a workspace around some.
    pub fn is_one(&self) -> bool {
        !self.languages.is_empty()
    }

    /// Whether this file is where the manifest has the code of its language.
    pub(super) fn is_source(&self, language: Language, path: &Path) -> bool {
        let sources = self.sources[language as usize].as_ref();
        sources.is_none_or(|sources| sources.matched_path_or_any_parents(path, false).is_ignore())
    }

    /// Whether the manifest tells where a program in this language starts.
    pub(super) fn tells_entry(&self, language: Language) -> bool {
        self.tells_entry[language as usize]
    }

    /// Whether the program starts and ends in this file.
    pub(super) fn is_entry(&self, language: Language, name: &str) -> bool {
        self.entries[language as usize].matched_path_or_any_parents(name, false).is_ignore()
    }
}
