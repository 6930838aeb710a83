//! Finds the built files, or the build commands, of the programs that manifests declare.

use super::binary::{Binary, is_executable, newest, start_of};
use super::cargo;
use super::env::Env;
use crate::manifest::{Bin, ManifestKind, Package};
use agentnative_contract::error::Result;
use std::path::{Path, PathBuf};

/// Returns the programs that the manifest in `folder` declares, each with its built file if there is one.
pub(super) fn binaries(manifest: ManifestKind, folder: &Path, env: Env<'_>) -> Result<Vec<Binary>> {
    if manifest == ManifestKind::Cargo {
        return cargo::binaries(folder, env);
    }
    let Some(package) = manifest.read(folder)? else { return Ok(Vec::new()) };
    let to_binary = match manifest {
        ManifestKind::Npm => return npm(&package, folder),
        ManifestKind::Go => go,
        ManifestKind::Cargo | ManifestKind::Python => python,
    };
    Ok(package.bins.iter().map(|bin| to_binary(&package, bin, folder)).collect())
}

fn python(package: &Package, bin: &Bin, folder: &Path) -> Binary {
    let built = newest([".venv/bin", "venv/bin"].map(|place| folder.join(place).join(&bin.name)));
    Binary::new(bin, folder, built, package.build.clone())
}

fn go(_: &Package, bin: &Bin, folder: &Path) -> Binary {
    let name = &bin.name;
    let own = bin.path.as_ref().map(|path| folder.join(path).join(name));
    let built = newest([folder.join(name), folder.join("bin").join(name)].into_iter().chain(own));
    let package = bin.path.as_ref().map_or_else(|| ".".to_owned(), |path| format!("./{}", path.display()));
    Binary::new(bin, folder, built, format!("go build -o bin/{name} {package}"))
}

/// Returns the programs of the npm package in `folder` and of the packages in its workspaces.
fn npm(package: &Package, folder: &Path) -> Result<Vec<Binary>> {
    let mut binaries = package_binaries(package, folder, folder);
    let has_own = !binaries.is_empty();
    for member in &package.members {
        let Some(package) = ManifestKind::Npm.read(member)? else { continue };
        binaries.extend(package_binaries(&package, member, folder).into_iter().map(|binary| Binary {
            package: package.name.clone(),
            own: !has_own,
            ..binary
        }));
    }
    Ok(binaries)
}

/// Returns the programs of the package in `folder`. Their links in `node_modules/.bin` can be in `folder` or in `root`,
/// the root of the workspace.
fn package_binaries(package: &Package, folder: &Path, root: &Path) -> Vec<Binary> {
    let binary = |bin: &Bin| {
        let script = bin.path.as_ref().map(|path| folder.join(path)).filter(|script| script.is_file());
        let links = [folder, root].map(|folder| folder.join("node_modules/.bin").join(&bin.name));
        let link = links.into_iter().find(|link| link.is_file());
        Binary {
            interpreter: script.as_ref().filter(|script| !runs_by_itself(script)).map(|_| "node"),
            // Like npx: the program with the name of the package.
            default: package.short_name() == Some(&*bin.name),
            ..Binary::new(bin, folder, script.or(link), package.build.clone())
        }
    };
    package.bins.iter().map(binary).collect()
}

impl Binary {
    fn new(bin: &Bin, folder: &Path, built: Option<PathBuf>, build: String) -> Self {
        Self {
            name: bin.name.clone(),
            package: None,
            folder: folder.to_owned(),
            built,
            interpreter: None,
            default: false,
            own: true,
            build,
        }
    }
}

/// Returns whether a script can be executed by itself: it is executable and has a `#!` line.
fn runs_by_itself(script: &Path) -> bool {
    start_of(script).starts_with(b"#!") && is_executable(script)
}
