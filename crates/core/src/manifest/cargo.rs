//! Reads the package in a `Cargo.toml`.

use super::files::{entries, normalize_lexically, value_at};
use super::package::{Bin, Dependency, ManifestKind, Package, PackageEntry};
use crate::model::Language;
use ::toml::{Table, Value};
use std::path::{Path, PathBuf};

pub(super) const DEPENDENCY_TABLES: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];

/// Returns the package that `manifest`, the `Cargo.toml` in `folder`, declares; `None` if it declares none. `workspace`
/// is the root folder of the workspace, with the `[workspace]` table of its manifest.
pub(super) fn package(
    manifest: &Table,
    folder: &Path,
    workspace: Option<&(PathBuf, Value)>,
) -> Option<Package> {
    let name = value_at(manifest, &["package", "name"]).and_then(Value::as_str)?;
    let declared = manifest.get("bin").and_then(Value::as_array);
    let path = |table: &Value| Some(table.get("path")?.as_str()?.trim_start_matches("./").to_owned());
    let bin_paths: Vec<String> = declared.into_iter().flatten().filter_map(path).collect();
    let lib_path = manifest.get("lib").and_then(path);
    let code_folders =
        bin_paths.iter().chain(&lib_path).map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let mut sources: Vec<String> = code_folders.chain(["src"]).map(|folder| format!("/{folder}/")).collect();
    if sources.iter().any(|folder| folder == "//") {
        sources.clear();
    }
    let is_program =
        declared.is_some() || folder.join("src/main.rs").is_file() || folder.join("src/bin").is_dir();
    let own = |dependency: Dependency| Dependency {
        own: dependency.folder.is_some()
            // `NAME-core` belongs to NAME, also in a published manifest, which has no paths.
            || dependency.name.strip_prefix(name).is_some_and(|rest| rest.starts_with(['-', '_'])),
        ..dependency
    };
    Some(Package {
        name: Some(name.to_owned()),
        is_program,
        bins: bins(manifest, name, folder, workspace),
        dependencies: dependencies(manifest, folder, workspace, &DEPENDENCY_TABLES[..1]).map(own).collect(),
        entry_points: bin_paths.iter().map(start).collect(),
        sources,
        ..Package::new(ManifestKind::Cargo)
    })
}

/// Returns the programs of a package: the declared ones, then those that Cargo discovers by their paths.
fn bins(manifest: &Table, name: &str, folder: &Path, workspace: Option<&(PathBuf, Value)>) -> Vec<Bin> {
    let bin = |table: &Value| {
        let path = table.get("path").and_then(Value::as_str).map(|path| normalize_lexically(Path::new(path)));
        Some(Bin { name: table.get("name")?.as_str()?.to_owned(), path })
    };
    let declared = manifest.get("bin").and_then(Value::as_array);
    let mut bins: Vec<Bin> = declared.into_iter().flatten().filter_map(bin).collect();
    let edition = match value_at(manifest, &["package", "edition"]) {
        Some(Value::Table(_)) => {
            workspace.and_then(|(_, workspace)| workspace.get("package")?.get("edition"))
        }
        edition => edition,
    };
    let is_2015 = edition.and_then(Value::as_str).is_none_or(|edition| edition == "2015");
    let autobins = value_at(manifest, &["package", "autobins"]).and_then(Value::as_bool);
    if autobins.unwrap_or(declared.is_none() || !is_2015) {
        let main = Bin { name: name.to_owned(), path: Some("src/main.rs".into()) };
        let discovered = |entry: PathBuf| {
            let is_folder = entry.is_dir();
            let name = if is_folder { entry.file_name() } else { entry.file_stem() }?.to_str()?.to_owned();
            let file = if is_folder { entry.join("main.rs") } else { entry };
            let is_code = file.extension().is_some_and(|extension| extension == "rs");
            is_code.then(|| Bin { name, path: file.strip_prefix(folder).ok().map(Path::to_owned) })
        };
        let others = entries(&folder.join("src/bin")).into_iter().filter_map(discovered);
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

fn start(path: &String) -> PackageEntry {
    PackageEntry { name: path.clone(), files: vec![format!("/{path}")], ..PackageEntry::default() }
}

/// Returns the dependencies in the tables `kinds`, such as `dev-dependencies`, including those for single platforms
/// (`[target.PLATFORM.dependencies]`). For a dependency with `workspace = true`, reads the table of the workspace.
pub(super) fn dependencies(
    manifest: &Table,
    folder: &Path,
    workspace: Option<&(PathBuf, Value)>,
    kinds: &[&str],
) -> impl Iterator<Item = Dependency> {
    let targets = manifest.get("target").and_then(Value::as_table);
    let platform_tables = targets.into_iter().flat_map(Table::values).filter_map(Value::as_table);
    let tables =
        platform_tables.chain([manifest]).flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)));
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
