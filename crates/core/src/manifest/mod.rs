//! Reads package manifests: the package in a folder, its programs, dependencies and entry points.

mod cargo;
mod cargo_workspace;
mod files;
mod go;
mod npm;
mod package;
mod python;

pub use cargo_workspace::{CargoMember, CargoWorkspace, workspace_root};
pub use files::normalize_lexically;
pub use go::{go_file_texts, go_module_path, is_go_main, is_go_program};
pub use npm::is_build_folder;
pub use package::{Bin, Dependency, ManifestKind, Package, PackageEntry};

use crate::model::HelpLanguage;
use agentnative_contract::error::Result;
use files::text;
use std::path::Path;

impl ManifestKind {
    /// Reads the package in `folder`; returns `None` if there is no manifest of this kind, or it declares no package.
    ///
    /// # Errors
    /// Of kind `Config`, with file and line, if the manifest cannot be read or has a syntax error.
    pub fn read(self, folder: &Path) -> Result<Option<Package>> {
        match self {
            Self::Cargo => cargo_workspace::read(folder),
            Self::Npm => npm::read(folder),
            Self::Python => python::read(folder),
            Self::Go => go::read(folder),
        }
    }
}

/// Returns the packages that the manifests in `folder` declare, including `setup.py` and `setup.cfg`. Unreadable
/// manifests are skipped: source code can be checked even if the package cannot be built.
pub fn packages_in(folder: &Path) -> Vec<Package> {
    let read = |manifest: ManifestKind| manifest.read(folder).ok().flatten();
    let [cargo, npm, python, go] = ManifestKind::ALL.map(read);
    [cargo, python, python::read_setup_package(folder), go, npm].into_iter().flatten().collect()
}

/// Returns the names of the packages on which the program in `folder` depends, according to the manifests of its
/// language. Unreadable manifests are skipped.
pub fn requirements(language: HelpLanguage, folder: &Path) -> Vec<String> {
    match language {
        HelpLanguage::Rust => {
            let package = cargo_workspace::read(folder).ok().flatten().unwrap_or_default();
            package.dependencies.into_iter().map(|dependency| dependency.name).collect()
        }
        HelpLanguage::Python => python::requirements(folder),
        HelpLanguage::Go => go::requirements(folder),
        HelpLanguage::Node => npm::requirements(folder),
        HelpLanguage::Shell => Vec::new(),
    }
}

/// Returns whether a manifest in this folder declares a package, not only tool settings.
pub fn has_package(folder: &Path) -> bool {
    let contains_any = |file: &str, words: &[&str]| {
        let text = text(&folder.join(file)).ok().flatten();
        text.is_some_and(|text| words.iter().any(|word| text.contains(word)))
    };
    contains_any("Cargo.toml", &["[package]"])
        || contains_any("pyproject.toml", &["[project]", "[tool.poetry]"])
        || contains_any("package.json", &["\"version\"", "\"workspaces\""])
        || folder.join("go.mod").is_file()
        || folder.join("setup.py").is_file()
}
