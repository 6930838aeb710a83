//! `Cargo.toml`, without what only Cargo itself can tell.

use super::{Bin, Dependency, Manifest, Package, Start, at, toml};
use crate::model::Language;
use ::toml::{Table, Value};
use agentnative_contract::error::Result;
use std::path::{Path, PathBuf};

pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(manifest) = toml(&folder.join("Cargo.toml"))? else { return Ok(None) };
    let Some(name) = at(&manifest, &["package", "name"]).and_then(Value::as_str) else { return Ok(None) };
    let declared = manifest.get("bin").and_then(Value::as_array);
    let path = |table: &Value| Some(table.get("path")?.as_str()?.trim_start_matches("./").to_owned());
    let bin_paths: Vec<String> = declared.into_iter().flatten().filter_map(path).collect();
    let lib_path = manifest.get("lib").and_then(path);
    let around =
        bin_paths.iter().chain(&lib_path).map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let mut sources: Vec<String> = around.chain(["src"]).map(|folder| format!("/{folder}/")).collect();
    if sources.iter().any(|folder| folder == "//") {
        sources.clear();
    }
    let bin = |table: &Value| {
        let name = table.get("name")?.as_str()?.to_owned();
        Some(Bin { name, path: path(table).map(Into::into) })
    };
    let is_program =
        declared.is_some() || folder.join("src/main.rs").is_file() || folder.join("src/bin").is_dir();
    Ok(Some(Package {
        name: Some(name.to_owned()),
        is_program,
        bins: declared.into_iter().flatten().filter_map(bin).collect(),
        dependencies: dependencies(&manifest, name, folder),
        starts: bin_paths.iter().map(start).collect(),
        sources,
        ..Package::new(Manifest::Cargo)
    }))
}

fn start(path: &String) -> Start {
    Start { name: path.clone(), files: vec![format!("/{path}")], ..Start::default() }
}

/// `NAME-core` belongs to NAME, also in a manifest as a registry has it, without paths.
fn dependencies(manifest: &Table, own_name: &str, folder: &Path) -> Vec<Dependency> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let tables = targets.into_iter().flat_map(Table::values).filter_map(|target| target.get("dependencies"));
    let tables = tables.chain(manifest.get("dependencies")).filter_map(Value::as_table);
    let workspace = workspace(folder);
    let shared = |name: &str| {
        let (root, workspace) = workspace.as_ref()?;
        Some((root.as_path(), workspace.get("dependencies")?.get(name)?))
    };
    let dependencies = tables.flatten().map(|(name, value)| {
        let inherited = value.get("workspace").is_some().then(|| shared(name)).flatten();
        let (base, value) = inherited.unwrap_or((folder, value));
        let path = value.get("path").and_then(Value::as_str);
        Dependency {
            language: Language::Rust,
            name: value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned(),
            own: path.is_some()
                || name.strip_prefix(own_name).is_some_and(|rest| rest.starts_with(['-', '_'])),
            folder: path.map(|path| base.join(path)),
        }
    });
    dependencies.collect()
}

/// The folder of the workspace around `folder`, without links; none where there is no workspace.
pub fn workspace_root(folder: &Path) -> Option<PathBuf> {
    workspace(folder).map(|(root, _)| root)
}

/// The workspace around `folder`: its folder, and what its manifest says of it.
fn workspace(folder: &Path) -> Option<(PathBuf, Value)> {
    let folder = std::fs::canonicalize(folder).ok()?;
    folder.ancestors().find_map(|above| {
        let mut manifest = toml(&above.join("Cargo.toml")).ok()??;
        Some((above.to_owned(), manifest.remove("workspace")?))
    })
}
