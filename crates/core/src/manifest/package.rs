//! The kinds of manifests, and the package data that they declare.

use crate::model::Language;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A kind of package manifest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum ManifestKind {
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

impl ManifestKind {
    /// All kinds of manifests.
    pub const ALL: [Self; 4] = [Self::Cargo, Self::Npm, Self::Python, Self::Go];

    /// Returns the file name of this kind of manifest.
    pub const fn file_name(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo.toml",
            Self::Npm => "package.json",
            Self::Python => "pyproject.toml",
            Self::Go => "go.mod",
        }
    }

    /// Returns the programming language of packages with this kind of manifest.
    pub const fn language(self) -> Language {
        match self {
            Self::Cargo => Language::Rust,
            Self::Npm => Language::TypeScript,
            Self::Python => Language::Python,
            Self::Go => Language::Go,
        }
    }
}

/// A package, as its manifest describes it.
#[derive(Debug, Clone, Default)]
pub struct Package {
    /// Kind of the manifest.
    pub manifest: ManifestKind,
    /// File name of the manifest.
    pub file: &'static str,
    /// Package name.
    pub name: Option<String>,
    /// Whether the package is, or may be, a program.
    pub is_program: bool,
    /// Programs that the package contains.
    pub bins: Vec<Bin>,
    /// Packages that the manifest requires; read only for Cargo packages.
    pub dependencies: Vec<Dependency>,
    /// Entry points that the manifest declares.
    pub entry_points: Vec<PackageEntry>,
    /// Patterns of the folders and files with code, in the syntax of a `.gitignore`. If empty, any file can contain
    /// code.
    pub sources: Vec<String>,
    /// Folders of the workspace members.
    pub members: Vec<PathBuf>,
    /// Command that builds the package, for messages.
    pub build: String,
}

/// A program in a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bin {
    /// Name of the program.
    pub name: String,
    /// Entry-point file relative to the package's folder, if the manifest names it.
    pub path: Option<PathBuf>,
}

/// The entry point of a program: where its code starts. Patterns have the syntax of a `.gitignore`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackageEntry {
    /// Name in the manifest: a file, or `module:function`.
    pub name: String,
    /// Patterns of files that may be the entry point.
    pub files: Vec<String>,
    /// Patterns of source files from which the entry point may be built.
    pub sources: Vec<String>,
    /// Whether the entry point is in a folder for build products.
    pub is_build_product: bool,
}

/// A dependency in a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dependency {
    /// Language of the manifest.
    pub language: Language,
    /// Package name in the registry.
    pub name: String,
    /// Whether the dependency is a package of the same repository. Such a package can contain code of the program that
    /// is not read with the code of this package.
    pub own: bool,
    /// Folder of the dependency, if the manifest names it.
    #[serde(skip)]
    pub folder: Option<PathBuf>,
}

impl Package {
    /// Returns the language of the package's code.
    pub fn language(&self) -> Language {
        self.manifest.language()
    }

    /// Creates a package without contents for a manifest of this kind.
    pub(super) fn new(manifest: ManifestKind) -> Self {
        Self { manifest, file: manifest.file_name(), ..Self::default() }
    }
}
