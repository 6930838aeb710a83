//! Finds the members and the target folder of a Cargo workspace without running Cargo: an untrusted folder can choose
//! which program runs as `cargo`.

use super::cargo::{DEPENDENCY_TABLES, dependencies, package};
use super::files::{matching_folders, normalize_lexically, toml, value_at};
use super::package::{Bin, Package};
use ::toml::{Table, Value};
use agentnative_contract::error::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A Cargo workspace. A package outside a workspace counts as a workspace with one member.
#[derive(Debug)]
pub struct CargoWorkspace {
    /// Canonical path of the root folder.
    pub root: PathBuf,
    /// Member packages, in the order in which Cargo finds them.
    pub members: Vec<CargoMember>,
}

/// A member package of a workspace.
#[derive(Debug)]
pub struct CargoMember {
    /// Canonical path of the package's folder.
    pub folder: PathBuf,
    /// Package name.
    pub name: String,
    /// Programs of the package.
    pub bins: Vec<Bin>,
    /// Value of `default-run` in the manifest: the program that `cargo run` starts.
    pub default_run: Option<String>,
    /// Whether `cargo build` in the root folder of the workspace builds this package.
    pub is_default: bool,
}

/// Reads the package in `folder`; returns `None` if there is none.
///
/// # Errors
/// Of kind `Config`, with file and line, if the manifest cannot be read or is not TOML.
pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(manifest) = toml(&folder.join("Cargo.toml"))? else { return Ok(None) };
    Ok(package(&manifest, folder, workspace(folder).as_ref()))
}

impl CargoWorkspace {
    /// Reads the workspace of which `folder` is the root or a member. If there is none, the package in `folder` counts
    /// as a workspace with one member.
    ///
    /// # Errors
    /// Of kind `Config`, with file and line, if a manifest of the workspace cannot be read or is not TOML.
    pub fn read(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        if let Some(workspace) = workspace(&folder) {
            let found = Self::from_root(&workspace)?;
            // A folder below a workspace root need not be a member.
            if workspace.0 == folder || found.members.iter().any(|member| member.folder == folder) {
                return Ok(found);
            }
        }
        let manifest = toml(&folder.join("Cargo.toml"))?;
        let own = manifest.and_then(|manifest| member(&manifest, &folder, None));
        Ok(Self { root: folder, members: own.into_iter().collect() })
    }

    fn from_root(workspace: &(PathBuf, Value)) -> Result<Self> {
        let (root, table) = workspace;
        let folders = |key| strings(table, key).flat_map(|pattern| matching_folders(root, pattern));
        let mut pending: Vec<PathBuf> = folders("members").chain([root.clone()]).collect();
        pending.reverse();
        let (mut members, mut visited): (Vec<CargoMember>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        while let Some(folder) = pending.pop() {
            let Ok(folder) = folder.canonicalize() else { continue };
            if visited.contains(&folder) || folder != *root && is_excluded(workspace, &folder) {
                continue;
            }
            let Some(manifest) = toml(&folder.join("Cargo.toml"))? else { continue };
            // Path dependencies below the root are members, too.
            let paths = dependencies(&manifest, &folder, Some(workspace), &DEPENDENCY_TABLES)
                .filter_map(|found| found.folder);
            let mut below: Vec<PathBuf> =
                paths.map(|path| normalize_lexically(&path)).filter(|path| path.starts_with(root)).collect();
            below.reverse();
            pending.append(&mut below);
            members.extend(member(&manifest, &folder, Some(workspace)));
            visited.push(folder);
        }
        let defaults: Option<Vec<PathBuf>> = match table.get("default-members") {
            Some(_) => {
                Some(folders("default-members").filter_map(|folder| folder.canonicalize().ok()).collect())
            }
            None => members.iter().find(|member| member.folder == *root).map(|own| vec![own.folder.clone()]),
        };
        if let Some(defaults) = defaults {
            members.iter_mut().for_each(|member| member.is_default = defaults.contains(&member.folder));
        }
        Ok(Self { root: root.clone(), members })
    }

    /// Returns the folder that Cargo builds into when it is called in `folder`: the one in `CARGO_TARGET_DIR` or
    /// `CARGO_BUILD_TARGET_DIR`, else in the nearest Cargo configuration file, else `target` in the root folder. `env`
    /// looks up environment variables.
    ///
    /// # Errors
    /// Of kind `Config`, with file and line, if a configuration file cannot be read or is not TOML.
    pub fn target_folder(&self, folder: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        if let Some(target) = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].into_iter().find_map(set) {
            return Ok(folder.join(target));
        }
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let home =
            set("CARGO_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(set("HOME")?).join(".cargo")));
        for configuration in folder.ancestors().map(|above| above.join(".cargo")).chain(home) {
            for file in ["config", "config.toml"] {
                let Some(table) = toml(&configuration.join(file))? else { continue };
                if let Some(target) = value_at(&table, &["build", "target-dir"]).and_then(Value::as_str) {
                    return Ok(configuration.parent().unwrap_or(&configuration).join(target));
                }
            }
        }
        Ok(self.root.join("target"))
    }
}

fn member(manifest: &Table, folder: &Path, workspace: Option<&(PathBuf, Value)>) -> Option<CargoMember> {
    let package = package(manifest, folder, workspace)?;
    let default_run =
        value_at(manifest, &["package", "default-run"]).and_then(Value::as_str).map(str::to_owned);
    let name = package.name?;
    Some(CargoMember { folder: folder.to_owned(), name, bins: package.bins, default_run, is_default: true })
}

/// Returns the canonical root folder of the Cargo workspace around `folder`; `None` if there is none.
pub fn workspace_root(folder: &Path) -> Option<PathBuf> {
    workspace(folder).map(|(root, _)| root)
}

/// Returns the Cargo workspace around `folder`: its canonical root folder, and the `[workspace]` table of its manifest.
pub(super) fn workspace(folder: &Path) -> Option<(PathBuf, Value)> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find_map(|above| {
        let mut manifest = toml(&above.join("Cargo.toml")).ok()??;
        if let Some(table) = manifest.remove("workspace") {
            let workspace = (above.to_owned(), table);
            return (above == folder || !is_excluded(&workspace, &folder)).then_some(workspace);
        }
        // A package can name its workspace in `package.workspace`.
        let path = value_at(&manifest, &["package", "workspace"])?.as_str()?;
        let root = above.join(path).canonicalize().ok()?;
        Some((root.clone(), toml(&root.join("Cargo.toml")).ok()??.remove("workspace")?))
    })
}

/// Returns whether the workspace excludes this folder: `exclude` names it or a folder above it, and `members` names
/// neither.
fn is_excluded((root, workspace): &(PathBuf, Value), folder: &Path) -> bool {
    let names =
        |key| strings(workspace, key).any(|path| folder.starts_with(normalize_lexically(&root.join(path))));
    names("exclude") && !names("members")
}

/// Returns the strings in the array at `key`; none if there is no such array.
fn strings<'t>(table: &'t Value, key: &str) -> impl Iterator<Item = &'t str> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
