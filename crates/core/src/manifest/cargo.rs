//! `Cargo.toml` of a package.

use super::files::{at, entries, normal};
use super::package::{Bin, Dependency, Manifest, Package, Start};
use crate::model::Language;
use ::toml::{Table, Value};
use std::path::{Path, PathBuf};

/// The kinds of dependencies.
pub(super) const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// The package of a manifest in `folder`, of a workspace with its folder.
pub(super) fn package(
    manifest: &Table,
    folder: &Path,
    workspace: Option<&(PathBuf, Value)>,
) -> Option<Package> {
    let name = at(manifest, &["package", "name"]).and_then(Value::as_str)?;
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
    let is_program =
        declared.is_some() || folder.join("src/main.rs").is_file() || folder.join("src/bin").is_dir();
    let own = |dependency: Dependency| Dependency {
        own: dependency.folder.is_some()
            // `NAME-core` belongs to NAME, also in a manifest as a registry has it, without paths.
            || dependency.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', '_'])),
        ..dependency
    };
    Some(Package {
        name: Some(name.to_owned()),
        is_program,
        bins: bins(manifest, name, folder, workspace),
        dependencies: dependencies(manifest, folder, workspace, &KINDS[..1]).map(own).collect(),
        starts: bin_paths.iter().map(start).collect(),
        sources,
        ..Package::new(Manifest::Cargo)
    })
}

/// The programs of a package: those that the manifest declares, then those that Cargo finds by their place.
fn bins(manifest: &Table, name: &str, folder: &Path, workspace: Option<&(PathBuf, Value)>) -> Vec<Bin> {
    let bin = |table: &Value| {
        let path = table.get("path").and_then(Value::as_str).map(|path| normal(Path::new(path)));
        Some(Bin { name: table.get("name")?.as_str()?.to_owned(), path })
    };
    let declared = manifest.get("bin").and_then(Value::as_array);
    let mut bins: Vec<Bin> = declared.into_iter().flatten().filter_map(bin).collect();
    let edition = match at(manifest, &["package", "edition"]) {
        Some(Value::Table(_)) => {
            workspace.and_then(|(_, workspace)| workspace.get("package")?.get("edition"))
        }
        edition => edition,
    };
    let is_2015 = edition.and_then(Value::as_str).is_none_or(|edition| edition == "2015");
    let finds = at(manifest, &["package", "autobins"]).and_then(Value::as_bool);
    if finds.unwrap_or(declared.is_none() || !is_2015) {
        let main = Bin { name: name.to_owned(), path: Some("src/main.rs".into()) };
        let of_entry = |entry: PathBuf| {
            let is_folder = entry.is_dir();
            let name = if is_folder { entry.file_name() } else { entry.file_stem() }?.to_str()?.to_owned();
            let file = if is_folder { entry.join("main.rs") } else { entry };
            let is_code = file.extension().is_some_and(|extension| extension == "rs");
            is_code.then(|| Bin { name, path: file.strip_prefix(folder).ok().map(Path::to_owned) })
        };
        let others = entries(&folder.join("src/bin")).into_iter().filter_map(of_entry);
        for bin in std::iter::once(main).chain(others) {
            let is_file = bin.path.as_ref().is_some_and(|path| folder.join(path).is_file());
            let is_known = |known: &Bin| known.name == bin.name || known.path == bin.path;
            if is_file && !bins.iter().any(is_known) {
                bins.push(bin);
            }
        }
    }
    bins
}

fn start(path: &String) -> Start {
    Start { name: path.clone(), files: vec![format!("/{path}")], ..Start::default() }
}

/// The dependencies of these kinds, those for single platforms among them. One that the manifest of the workspace
/// describes is as it is there.
pub(super) fn dependencies(
    manifest: &Table,
    folder: &Path,
    workspace: Option<&(PathBuf, Value)>,
    kinds: &[&str],
) -> impl Iterator<Item = Dependency> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let of_targets = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let tables =
        of_targets.chain([manifest]).flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)));
    let shared = move |name: &str| {
        let (root, workspace) = workspace?;
        Some((root.as_path(), workspace.get("dependencies")?.get(name)?))
    };
    tables.filter_map(Value::as_table).flatten().map(move |(name, value)| {
        let inherited = value.get("workspace").is_some().then(|| shared(name)).flatten();
        let (base, value) = inherited.unwrap_or((folder, value));
        Dependency {
            language: Language::Rust,
            name: value.get("package").and_then(Value::as_str).unwrap_or(name).to_owned(),
            own: false,
            folder: value.get("path").and_then(Value::as_str).map(|path| base.join(path)),
        }
    })
}
