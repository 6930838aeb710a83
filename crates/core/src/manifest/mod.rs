//! What manifests say: the package in a folder, its programs, what it depends on, where its code begins.

mod cargo;
mod cargo_workspace;
mod files;
mod go;
mod npm;
mod package;
mod python;

pub use cargo_workspace::{CargoMember, CargoWorkspace, workspace_root};
pub use files::normal;
pub use go::{go_files, go_module, is_go_main, is_go_program};
pub use npm::is_built;
pub use package::{Bin, Dependency, Manifest, Package, Start};

use crate::model::HelpLanguage;
use agentnative_contract::error::Result;
use files::text;
use std::path::Path;

impl Manifest {
    /// The package in `folder`; none where there is no manifest of this kind, or one without a package.
    ///
    /// # Errors
    /// Of kind `Config`, with the place: it cannot be read, or is not of its syntax.
    pub fn read(self, folder: &Path) -> Result<Option<Package>> {
        match self {
            Self::Cargo => cargo_workspace::read(folder),
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
            let package = cargo_workspace::read(folder).ok().flatten().unwrap_or_default();
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
