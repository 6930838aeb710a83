//! What manifests say: the package in a folder, its programs, what it depends on, where its code begins.

mod cargo;
mod cargo_workspace;
mod go;
mod npm;
mod python;

pub use cargo_workspace::{CargoMember, CargoWorkspace, workspace_root};
pub use go::{go_files, go_module, is_go_main, is_go_program};
pub use npm::is_built;

use crate::files::{MAX_TEXT, read_if_any};
use crate::model::{HelpLanguage, Language, matches};
use agentnative_contract::error::{Error, ErrorKind, Issue, Place, Result};
use agentnative_contract::spanned_toml::place;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf};
use walkdir::{DirEntry, WalkDir};

/// The kinds of manifests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Manifest {
    /// `Cargo.toml`.
    #[default]
    Cargo,
    /// `package.json`.
    Npm,
    /// `pyproject.toml`.
    Python,
    /// `go.mod`.
    Go,
}

impl Manifest {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Cargo, Self::Npm, Self::Python, Self::Go];

    /// Name of the manifest's file.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo.toml",
            Self::Npm => "package.json",
            Self::Python => "pyproject.toml",
            Self::Go => "go.mod",
        }
    }

    /// The language that it builds.
    pub const fn language(self) -> Language {
        match self {
            Self::Cargo => Language::Rust,
            Self::Npm => Language::TypeScript,
            Self::Python => Language::Python,
            Self::Go => Language::Go,
        }
    }

    /// The package in `folder`; none where there is no manifest of this kind, or one without a package.
    ///
    /// # Errors
    /// Of kind `Config`, with the place: it cannot be read, or is not of its syntax.
    pub fn read(self, folder: &Path) -> Result<Option<Package>> {
        match self {
            Self::Cargo => cargo::read(folder),
            Self::Npm => npm::read(folder),
            Self::Python => python::read(folder),
            Self::Go => go::read(folder),
        }
    }
}

/// The packages in `folder` by its manifests, also by `setup.py` and `setup.cfg`. A manifest that cannot be
/// read counts as none: code can be read where its own tools do not work.
pub fn packages(folder: &Path) -> Vec<Package> {
    let read = |manifest: Manifest| manifest.read(folder).ok().flatten();
    let [cargo, npm, python, go] = Manifest::ALL.map(read);
    [cargo, python, python::setup(folder), go, npm].into_iter().flatten().collect()
}

/// The names of the packages that the program in `folder` requires, as the manifests of its language name them. A
/// manifest that cannot be read names none.
pub fn requirements(language: HelpLanguage, folder: &Path) -> Vec<String> {
    match language {
        HelpLanguage::Rust => {
            let package = cargo::read(folder).ok().flatten().unwrap_or_default();
            package.dependencies.into_iter().map(|dependency| dependency.name).collect()
        }
        HelpLanguage::Python => python::requirements(folder),
        HelpLanguage::Go => go::requirements(folder),
        HelpLanguage::Node => npm::requirements(folder),
        HelpLanguage::Shell => Vec::new(),
    }
}

/// Whether a package of its own is in this folder, and not only settings of tools.
pub fn is_package(folder: &Path) -> bool {
    let says = |file: &str, words: &[&str]| {
        let text = text(&folder.join(file)).ok().flatten();
        text.is_some_and(|text| words.iter().any(|word| text.contains(word)))
    };
    says("Cargo.toml", &["[package]"])
        || says("pyproject.toml", &["[project]", "[tool.poetry]"])
        || says("package.json", &["\"version\"", "\"workspaces\""])
        || folder.join("go.mod").is_file()
        || folder.join("setup.py").is_file()
}

/// A package, as far as its manifest tells.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// The manifest's kind.
    pub manifest: Manifest,
    /// Name of the manifest's file.
    pub file: &'static str,
    /// Its name.
    pub name: Option<String>,
    /// It is, or may be, a program.
    pub is_program: bool,
    /// The programs that it declares.
    pub bins: Vec<Bin>,
    /// What it depends on, where a check needs to know.
    pub dependencies: Vec<Dependency>,
    /// Where programs start, as far as the manifest tells.
    pub starts: Vec<Start>,
    /// Patterns of where the code is; empty: anywhere.
    pub sources: Vec<String>,
    /// The folders of the packages that it is a workspace of.
    pub members: Vec<PathBuf>,
    /// The command that builds it, for people.
    pub build: String,
}

/// A program that a package declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bin {
    /// Its name.
    pub name: String,
    /// The file that it starts in, relative to the package, where the manifest names it.
    pub path: Option<PathBuf>,
}

/// Where a program starts. Patterns are as in a `.gitignore`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Start {
    /// As the manifest names it: a file, or `module:function`.
    pub name: String,
    /// Patterns of the files that it may be.
    pub files: Vec<String>,
    /// Patterns of the code that it may be built from.
    pub sources: Vec<String>,
    /// It is in a folder that programs are built into.
    pub is_built: bool,
}

/// A dependency in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Language of the manifest.
    pub language: Language,
    /// Name in the registry.
    pub name: String,
    /// It is another package of the same repository, whose code is not read with this one's.
    pub own: bool,
    /// Its folder, where the manifest names it.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl Package {
    /// The language of its code.
    pub fn language(&self) -> Language {
        self.manifest.language()
    }

    /// A package of which nothing is told yet.
    fn new(manifest: Manifest) -> Self {
        Self { manifest, file: manifest.file_name(), ..Self::default() }
    }
}

/// What is in a folder, sorted by name.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    entries
}

/// The folders below `root` that a pattern of a workspace names: `*` stands for any part of a name, `**` for any
/// number of folders.
fn matching_folders(root: &Path, pattern: &str) -> Vec<PathBuf> {
    const MOST: usize = 10_000;
    let all_below = |folder: &PathBuf| -> Vec<PathBuf> {
        let entries = WalkDir::new(folder).sort_by_file_name().into_iter();
        let is_folder = |entry: &DirEntry| entry.file_type().is_dir();
        let folders = entries.filter_entry(is_folder).flatten().take(MOST);
        folders.map(DirEntry::into_path).collect()
    };
    let matching = |folder: &PathBuf, part: &str| -> Vec<PathBuf> {
        let is_called = |path: &PathBuf| {
            path.file_name().and_then(OsStr::to_str).is_some_and(|name| matches(part, name)) && path.is_dir()
        };
        entries(folder).into_iter().filter(is_called).collect()
    };
    let parts = pattern.split('/').filter(|part| !part.is_empty());
    parts.fold(vec![root.to_owned()], |found, part| match part {
        "**" => found.iter().flat_map(all_below).collect(),
        part if part.contains('*') => found.iter().flat_map(|folder| matching(folder, part)).collect(),
        part => found.iter().map(|folder| normal(&folder.join(part))).collect(),
    })
}

/// A path without `.` and `..`, as its words say: links are not looked at.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(normal.pop()),
            Component::CurDir => {}
            part => normal.push(part),
        }
    }
    normal
}

/// The text of a file; none when it is not there.
fn text(path: &Path) -> Result<Option<String>> {
    let text = read_if_any(path, MAX_TEXT)
        .and_then(|bytes| bytes.map(|bytes| String::from_utf8(bytes).map_err(io::Error::other)).transpose());
    text.map_err(|error| Error::io(ErrorKind::Config, "read", path, &error))
}

/// A TOML file; none when it is not there.
fn toml(path: &Path) -> Result<Option<toml::Table>> {
    let Some(text) = text(path)? else { return Ok(None) };
    text.parse().map(Some).map_err(|error: toml::de::Error| {
        let place = place(path, &text, error.span().unwrap_or_default().start);
        wrong(path, "TOML", place, error.message().to_owned())
    })
}

/// A JSON object; none when it is not there.
fn json(path: &Path) -> Result<Option<Map<String, Json>>> {
    let Some(text) = text(path)? else { return Ok(None) };
    serde_json::from_str(&text).map(Some).map_err(|error| {
        let place = Place { file: path.to_owned(), line: error.line(), column: error.column() };
        wrong(path, "a JSON object", place, error.to_string())
    })
}

fn wrong(path: &Path, expected: &str, place: Place, message: String) -> Error {
    Error::config(format!("{} is not {expected}", path.display()))
        .issues(vec![Issue { place: Some(place), message }])
}

/// The value at these keys, one inside the other.
fn at<'a>(table: &'a toml::Table, keys: &[&str]) -> Option<&'a toml::Value> {
    let (first, rest) = keys.split_first()?;
    rest.iter().try_fold(table.get(*first)?, |value, key| value.get(*key))
}
