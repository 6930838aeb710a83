//! The code of the package that builds the target: its languages, where it is, where it begins.

use super::exclusions::{patterns, relative};
use super::language::ROWS;
use agentnative_core::manifest::{Dependency, Manifest, Package, Start, packages, workspace_root};
use agentnative_core::model::Language;
use ignore::gitignore::Gitignore;
use std::path::{Path, PathBuf};

/// The code of a package, as far as its manifests tell.
#[derive(Debug)]
pub struct PackageCode {
    /// Its folder.
    pub folder: PathBuf,
    /// What stands before the paths in it, in the eyes of the package that is looked at, such as `../core/`.
    pub prefix: String,
    /// It is a library that the package is built with: where programs start in it is no part of the target.
    pub is_library: bool,
    /// Name of the manifest that evidence about the package as a whole names, when there is one.
    pub manifest: Option<&'static str>,
    /// The languages that the target is built from; empty when no manifest tells: then any.
    pub languages: Vec<Language>,
    /// What it depends on, where a manifest is needed to tell.
    pub dependencies: Vec<Dependency>,
    /// Where programs start, each with a matcher of its files, and of those that it may be built from.
    pub starts: Vec<(Start, Gitignore, Gitignore)>,
    /// By language, what the manifest tells.
    places: Vec<Places>,
}

/// Where the code of a language is in a package.
#[derive(Debug)]
struct Places {
    /// Where the program starts.
    entries: Gitignore,
    /// Whether it is the manifest that tells.
    tells_entry: bool,
    /// Where the code is, when the manifest tells.
    sources: Option<Gitignore>,
}

impl PackageCode {
    /// The package in `folder`, and then the packages of the same workspace that it is built with: those that
    /// manifests of Cargo name by their path. A manifest that cannot be read counts as none.
    pub fn all(folder: &Path) -> Vec<Self> {
        let mut manifests = packages(folder);
        if manifests.iter().any(|package| package.is_program) {
            manifests.retain(|package| package.is_program);
        }
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let root = workspace_root(folder).unwrap_or_else(|| real.clone());
        let mut all = vec![Self::of(folder.to_owned(), manifests)];
        let mut known = vec![real.clone()];
        let mut at = 0;
        while let Some(package) = all.get_mut(at) {
            let mut libraries = Vec::new();
            for dependency in &mut package.dependencies {
                let named = dependency.folder.take().and_then(|folder| folder.canonicalize().ok());
                let Some(folder) = named.filter(|folder| folder.starts_with(&root)) else { continue };
                let Some(manifest) = Manifest::Cargo.read(&folder).ok().flatten() else { continue };
                dependency.own = false;
                if !known.contains(&folder) {
                    let prefix = relative(&real, &folder).map(|path| path + "/").unwrap_or_default();
                    let library = Self::of(folder.clone(), vec![manifest]);
                    libraries.push(Self { prefix, is_library: true, ..library });
                    known.push(folder);
                }
            }
            all.extend(libraries);
            at += 1;
        }
        all
    }

    fn of(folder: PathBuf, packages: Vec<Package>) -> Self {
        let mut languages: Vec<Language> = packages.iter().map(Package::language).collect();
        languages.sort_unstable();
        languages.dedup();
        let places = ROWS.iter().map(|row| {
            let own = || packages.iter().filter(|package| package.language() == row.language);
            let starts = own().flat_map(|package| &package.starts);
            let entries: Vec<&str> = starts.flat_map(|start| &start.files).map(String::as_str).collect();
            let sources: Vec<&str> = own().flat_map(|package| &package.sources).map(String::as_str).collect();
            Places {
                entries: patterns(&folder, &[row.entry_files, &entries].concat()),
                tells_entry: !entries.is_empty(),
                sources: (!sources.is_empty()).then(|| patterns(&folder, &sources)),
            }
        });
        let matcher =
            |lines: &[String]| patterns(&folder, &lines.iter().map(String::as_str).collect::<Vec<_>>());
        let starts = packages.iter().flat_map(|package| &package.starts);
        let starts = starts.map(|start| (start.clone(), matcher(&start.files), matcher(&start.sources)));
        Self {
            places: places.collect(),
            prefix: String::new(),
            is_library: false,
            starts: starts.collect(),
            manifest: packages.first().map(|package| package.file),
            dependencies: packages.into_iter().flat_map(|package| package.dependencies).collect(),
            folder,
            languages,
        }
    }

    /// Whether the folder is a package itself, and not only a workspace around some.
    pub fn is_one(&self) -> bool {
        !self.languages.is_empty()
    }

    /// Whether this file is where the manifest has the code of its language.
    pub(super) fn is_source(&self, language: Language, path: &Path) -> bool {
        let sources = self.places[language as usize].sources.as_ref();
        sources.is_none_or(|sources| sources.matched_path_or_any_parents(path, false).is_ignore())
    }

    /// Whether the manifest tells where a program in this language starts.
    pub(super) fn tells_entry(&self, language: Language) -> bool {
        self.places[language as usize].tells_entry
    }

    /// Whether the program starts and ends in this file.
    pub(super) fn is_entry(&self, language: Language, path: &Path) -> bool {
        self.places[language as usize].entries.matched_path_or_any_parents(path, false).is_ignore()
    }
}
