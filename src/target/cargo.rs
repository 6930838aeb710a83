//! `Cargo.toml`: what `cargo metadata` says of its binaries and where they are built.

use super::binaries::{Binary, newest};
use super::find::Tool;
use agentnative_contract::error::{Error, Result};
use serde::Deserialize;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
    workspace_root: PathBuf,
    #[serde(default)]
    workspace_default_members: Vec<String>,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    manifest_path: PathBuf,
    default_run: Option<String>,
    targets: Vec<CargoTarget>,
}

#[derive(Deserialize)]
struct CargoTarget {
    name: String,
    kind: Vec<String>,
}

pub(super) fn binaries(folder: &Path, tool: Tool<'_>) -> Result<Vec<Binary>> {
    let command = ["cargo", "metadata", "--format-version", "1", "--no-deps"].map(OsString::from);
    let output = tool(&command, folder)?;
    let metadata: Metadata = serde_json::from_slice(&output).map_err(|error| {
        Error::config(format!("cargo metadata in {} printed no metadata: {error}", folder.display()))
    })?;
    let is_here = |path: &Path| same(path, folder);
    let declares = |package: &Package| package.targets.iter().any(CargoTarget::is_bin);
    let here = metadata.packages.iter().find(|package| package.manifest_path.parent().is_some_and(is_here));
    let at_root = is_here(&metadata.workspace_root);
    let own = |package: &Package| match here {
        Some(here) if declares(here) || !at_root => here.id == package.id,
        _ => {
            let members = &metadata.workspace_default_members;
            members.is_empty() || members.contains(&package.id)
        }
    };
    let several = metadata.packages.len() > 1;
    let binary = |package: &Package, name: &str| Binary {
        name: name.to_owned(),
        package: several.then(|| package.name.clone()),
        folder: package.folder(folder),
        built: newest(["debug", "release"].map(|profile| metadata.target_directory.join(profile).join(name))),
        interpreter: None,
        default: package.default_run.as_deref() == Some(name),
        own: own(package),
        build: if several { format!("cargo build -p {}", package.name) } else { "cargo build".to_owned() },
    };
    let mut binaries = Vec::new();
    for package in &metadata.packages {
        let bins = package.targets.iter().filter(|target| target.is_bin());
        binaries.extend(bins.map(|target| binary(package, &target.name)));
    }
    Ok(binaries)
}

impl CargoTarget {
    fn is_bin(&self) -> bool {
        self.kind.iter().any(|kind| kind == "bin")
    }
}

impl Package {
    /// Its folder, spelt from `root` on when it is in it, whatever links lead there.
    fn folder(&self, root: &Path) -> PathBuf {
        let own = self.manifest_path.parent().unwrap_or(root);
        let real = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        own.strip_prefix(real)
            .map_or_else(|_| own.to_owned(), |below| root.join(below).components().collect())
    }
}

/// Whether two paths name one folder, whatever links lead there.
fn same(a: &Path, b: &Path) -> bool {
    a == b || matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}
