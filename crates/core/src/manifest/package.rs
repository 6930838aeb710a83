//! The kinds of manifests, and the facts of a package that they declare.

use crate::model::Language;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

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
    pub(super) fn new(manifest: Manifest) -> Self {
        Self { manifest, file: manifest.file_name(), ..Self::default() }
    }
}
