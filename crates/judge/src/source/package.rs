//! The code of the package that builds the target: its languages, files and entries.

use super::exclusions::{patterns, relative_path};
use super::language::ROWS;
use agentnative_core::manifest::{
    Dependency, ManifestKind, Package, PackageEntry, packages_in, workspace_root,
};
use agentnative_core::model::Language;
use ignore::gitignore::Gitignore;
use std::path::{Path, PathBuf};

/// The code of a package, as its manifests describe it.
#[derive(Debug)]
pub struct PackageCode {
    /// Folder of the package.
    pub folder: PathBuf,
    /// Prefix of the names of files in the package, relative to the checked package, such as `../core/`. Empty for the
    /// checked package itself.
    pub prefix: String,
    /// True for a library from which the checked package is built. Programs in it are not part of the target.
    pub is_library: bool,
    /// File name of the manifest, such as `Cargo.toml`, if there is one. Evidence about the package as a whole names
    /// it.
    pub manifest: Option<&'static str>,
    /// Languages from which the target is built. If no manifest declares them, the list is empty and all languages
    /// count.
    pub languages: Vec<Language>,
    /// Dependencies in the manifests.
    pub dependencies: Vec<Dependency>,
    /// Entry points of programs. The first matcher of each matches its files, the second the sources from which these
    /// files may be built.
    pub starts: Vec<(PackageEntry, Gitignore, Gitignore)>,
    /// Matchers of files, one for each language.
    places: Vec<LanguageFiles>,
}

/// The files of a language in a package.
#[derive(Debug)]
struct LanguageFiles {
    /// Matches files in which the program starts.
    entries: Gitignore,
    /// True if the manifest declares the entry points of this language.
    declares_entry: bool,
    /// Matches files with code; `None` if the manifest does not declare them.
    sources: Option<Gitignore>,
}

impl PackageCode {
    /// Returns the package in `folder`, followed by the packages of the same workspace from which it is built (path
    /// dependencies in Cargo manifests). An unreadable manifest counts as missing.
    pub fn all(folder: &Path) -> Vec<Self> {
        let mut manifests = packages_in(folder);
        if manifests.iter().any(|package| package.is_program) {
            manifests.retain(|package| package.is_program);
        }
        let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let root = workspace_root(folder).unwrap_or_else(|| real.clone());
        let mut all = vec![Self::new(folder.to_owned(), manifests)];
        let mut known = vec![real.clone()];
        let mut index = 0;
        while let Some(package) = all.get_mut(index) {
            let mut libraries = Vec::new();
            for dependency in &mut package.dependencies {
                let named = dependency.folder.take().and_then(|folder| folder.canonicalize().ok());
                let Some(folder) = named.filter(|folder| folder.starts_with(&root)) else { continue };
                let Some(manifest) = ManifestKind::Cargo.read(&folder).ok().flatten() else { continue };
                dependency.own = false;
                if !known.contains(&folder) {
                    let prefix = relative_path(&real, &folder).map(|path| path + "/").unwrap_or_default();
                    let library = Self::new(folder.clone(), vec![manifest]);
                    libraries.push(Self { prefix, is_library: true, ..library });
                    known.push(folder);
                }
            }
            all.extend(libraries);
            index += 1;
        }
        all
    }

    fn new(folder: PathBuf, packages: Vec<Package>) -> Self {
        let mut languages: Vec<Language> = packages.iter().map(Package::language).collect();
        languages.sort_unstable();
        languages.dedup();
        let places = ROWS.iter().map(|row| {
            let own = || packages.iter().filter(|package| package.language() == row.language);
            let starts = own().flat_map(|package| &package.entry_points);
            let entries: Vec<&str> = starts.flat_map(|start| &start.files).map(String::as_str).collect();
            let sources: Vec<&str> = own().flat_map(|package| &package.sources).map(String::as_str).collect();
            LanguageFiles {
                entries: patterns(&folder, &[row.entry_files, &entries].concat()),
                declares_entry: !entries.is_empty(),
                sources: (!sources.is_empty()).then(|| patterns(&folder, &sources)),
            }
        });
        let matcher =
            |lines: &[String]| patterns(&folder, &lines.iter().map(String::as_str).collect::<Vec<_>>());
        let starts = packages.iter().flat_map(|package| &package.entry_points);
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

    /// True if the folder is itself a package, and not only a workspace.
    pub fn is_package(&self) -> bool {
        !self.languages.is_empty()
    }

    /// True if a file is code of the package according to its manifest. Also true if the manifest declares no files of
    /// this language.
    pub(super) fn is_source(&self, language: Language, path: &Path) -> bool {
        let sources = self.places[language as usize].sources.as_ref();
        sources.is_none_or(|sources| sources.matched_path_or_any_parents(path, false).is_ignore())
    }

    /// True if the manifest declares an entry point of a program in this language.
    pub(super) fn declares_entry(&self, language: Language) -> bool {
        self.places[language as usize].declares_entry
    }

    /// True if the program starts and ends in this file.
    pub(super) fn is_entry(&self, language: Language, path: &Path) -> bool {
        self.places[language as usize].entries.matched_path_or_any_parents(path, false).is_ignore()
    }
}
