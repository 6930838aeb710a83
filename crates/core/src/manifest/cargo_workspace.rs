//! The workspace of a `Cargo.toml`: its members, and the folder that Cargo builds into. Cargo itself is not run: in a
//! foreign folder, it can be a program that this folder chooses.

use super::cargo::{KINDS, dependencies, package};
use super::files::{at, matching_folders, normal, toml};
use super::package::{Bin, Package};
use ::toml::{Table, Value};
use agentnative_contract::error::Result;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A workspace of Cargo. A package alone is one as well.
#[derive(Debug)]
pub struct CargoWorkspace {
    /// Its folder, without links.
    pub root: PathBuf,
    /// Its packages, in the order in which Cargo finds them.
    pub members: Vec<CargoMember>,
}

/// A package of a workspace.
#[derive(Debug)]
pub struct CargoMember {
    /// Its folder, without links.
    pub folder: PathBuf,
    /// Its name.
    pub name: String,
    /// Its programs.
    pub bins: Vec<Bin>,
    /// The program that `cargo run` takes.
    pub default_run: Option<String>,
    /// Cargo builds it when it is called in the folder of the workspace.
    pub is_default: bool,
}

/// The package in `folder`; none where there is none.
///
/// # Errors
/// Of kind `Config`, with the place: the manifest cannot be read, or is not TOML.
pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(manifest) = toml(&folder.join("Cargo.toml"))? else { return Ok(None) };
    Ok(package(&manifest, folder, workspace(folder).as_ref()))
}

impl CargoWorkspace {
    /// The workspace of the package in `folder`, or of the workspace that it is the root of.
    ///
    /// # Errors
    /// Of kind `Config`, with the place: a manifest of it cannot be read, or is not TOML.
    pub fn read(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        if let Some(workspace) = workspace(&folder) {
            let found = Self::of(&workspace)?;
            // A folder below a workspace need not be a member of it.
            if workspace.0 == folder || found.members.iter().any(|member| member.folder == folder) {
                return Ok(found);
            }
        }
        let manifest = toml(&folder.join("Cargo.toml"))?;
        let own = manifest.and_then(|manifest| member(&manifest, &folder, None));
        Ok(Self { root: folder, members: own.into_iter().collect() })
    }

    fn of(workspace: &(PathBuf, Value)) -> Result<Self> {
        let (root, table) = workspace;
        let folders = |key| strings(table, key).flat_map(|pattern| matching_folders(root, pattern));
        let mut left: Vec<PathBuf> = folders("members").chain([root.clone()]).collect();
        left.reverse();
        let (mut members, mut seen): (Vec<CargoMember>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        while let Some(folder) = left.pop() {
            let Ok(folder) = folder.canonicalize() else { continue };
            if seen.contains(&folder) || folder != *root && is_excluded(workspace, &folder) {
                continue;
            }
            let Some(manifest) = toml(&folder.join("Cargo.toml"))? else { continue };
            // What members depend on below the workspace are members, too.
            let paths =
                dependencies(&manifest, &folder, Some(workspace), &KINDS).filter_map(|found| found.folder);
            let mut below: Vec<PathBuf> =
                paths.map(|path| normal(&path)).filter(|path| path.starts_with(root)).collect();
            below.reverse();
            left.append(&mut below);
            members.extend(member(&manifest, &folder, Some(workspace)));
            seen.push(folder);
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

    /// The folder that Cargo builds into when it is called in `folder`: that of its variables (`env` looks them up),
    /// else of the nearest of its configuration files, else `target`.
    ///
    /// # Errors
    /// Of kind `Config`, with the place: such a file cannot be read, or is not TOML.
    pub fn target_folder(&self, folder: &Path, env: &dyn Fn(&str) -> Option<OsString>) -> Result<PathBuf> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty());
        if let Some(named) = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].into_iter().find_map(set) {
            return Ok(folder.join(named));
        }
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let home =
            set("CARGO_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(set("HOME")?).join(".cargo")));
        for configuration in folder.ancestors().map(|above| above.join(".cargo")).chain(home) {
            for file in ["config", "config.toml"] {
                let Some(table) = toml(&configuration.join(file))? else { continue };
                if let Some(named) = at(&table, &["build", "target-dir"]).and_then(Value::as_str) {
                    return Ok(configuration.parent().unwrap_or(&configuration).join(named));
                }
            }
        }
        Ok(self.root.join("target"))
    }
}

fn member(manifest: &Table, folder: &Path, workspace: Option<&(PathBuf, Value)>) -> Option<CargoMember> {
    let package = package(manifest, folder, workspace)?;
    let default_run = at(manifest, &["package", "default-run"]).and_then(Value::as_str).map(str::to_owned);
    let name = package.name?;
    Some(CargoMember { folder: folder.to_owned(), name, bins: package.bins, default_run, is_default: true })
}

/// The folder of the workspace around `folder`, without links; none where there is no workspace.
pub fn workspace_root(folder: &Path) -> Option<PathBuf> {
    workspace(folder).map(|(root, _)| root)
}

/// The workspace around `folder`: its folder, and what its manifest says of it.
pub(super) fn workspace(folder: &Path) -> Option<(PathBuf, Value)> {
    let folder = folder.canonicalize().ok()?;
    folder.ancestors().find_map(|above| {
        let mut manifest = toml(&above.join("Cargo.toml")).ok()??;
        if let Some(table) = manifest.remove("workspace") {
            let workspace = (above.to_owned(), table);
            return (above == folder || !is_excluded(&workspace, &folder)).then_some(workspace);
        }
        // A package may name the workspace that it is in.
        let named = at(&manifest, &["package", "workspace"])?.as_str()?;
        let root = above.join(named).canonicalize().ok()?;
        Some((root.clone(), toml(&root.join("Cargo.toml")).ok()??.remove("workspace")?))
    })
}

/// Whether a workspace leaves this folder out.
fn is_excluded((root, workspace): &(PathBuf, Value), folder: &Path) -> bool {
    let names = |key| strings(workspace, key).any(|path| folder.starts_with(normal(&root.join(path))));
    names("exclude") && !names("members")
}

/// The texts of an array.
fn strings<'t>(table: &'t Value, key: &str) -> impl Iterator<Item = &'t str> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}
