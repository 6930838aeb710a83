//! Reads `package.json`: its programs, entry points and workspaces.

use super::files::{entries, json, matching_folders};
use super::package::{Bin, ManifestKind, Package, PackageEntry};
use agentnative_contract::error::Result;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

const BUILD_FOLDERS: [&str; 3] = ["dist", "build", "out"];
/// Folders that by convention contain the source code of build products.
const SOURCE_FOLDERS: [&str; 3] = ["/src/", "/source/", "/packages/"];

pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(manifest) = json(&folder.join("package.json"))? else { return Ok(None) };
    let bins = bins(folder, &manifest);
    let paths = || bins.iter().filter_map(|bin| bin.path.as_ref()?.to_str());
    let main = manifest.get("main").and_then(Value::as_str);
    let starts: Vec<PackageEntry> = paths().map(start).collect();
    // Other files next to the manifest are scripts for development.
    let mut sources: Vec<String> = starts.iter().flat_map(|start| start.files.clone()).collect();
    if !bins.is_empty() {
        sources.push(format!("/{}", main.unwrap_or("index.js").trim_start_matches("./")));
        sources.extend(["/*/", "/index.*", "/cli.*", "/main.*", "/app.*"].map(str::to_owned));
    }
    let built_main = main.map(start).filter(|start| start.is_build_product);
    let has_build = manifest.get("scripts").and_then(|scripts| scripts.get("build")).is_some();
    Ok(Some(Package {
        name: manifest.get("name").and_then(Value::as_str).map(str::to_owned),
        is_program: !bins.is_empty(),
        entry_points: starts.into_iter().chain(built_main).collect(),
        sources,
        members: members(folder, &manifest),
        build: if has_build { "npm install && npm run build" } else { "npm install" }.to_owned(),
        bins,
        ..Package::new(ManifestKind::Npm)
    }))
}

/// Returns the entry point for a file that the manifest names, such as `dist/cli.js`. If the file is a build product,
/// its source is a file of the same name or any file in a conventional source folder.
fn start(path: &str) -> PackageEntry {
    let path = path.trim_start_matches("./");
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let (folder, inner) = stem.split_once('/').unwrap_or(("", stem));
    let mut sources = SOURCE_FOLDERS.map(str::to_owned).to_vec();
    sources.extend([format!("/{inner}.*"), format!("/lib/{inner}.*")]);
    PackageEntry {
        name: path.to_owned(),
        files: vec![format!("/{path}"), format!("/{stem}.*"), format!("/src/{inner}.*")],
        sources,
        is_build_product: is_build_folder(folder),
    }
}

/// Returns whether a top-level folder of this name contains build products.
pub fn is_build_folder(folder: &str) -> bool {
    BUILD_FOLDERS.contains(&folder)
}

impl Package {
    /// Returns the package name without its scope: `tool` for `@org/tool`. If the manifest does not name a program, npm
    /// gives it this name.
    pub fn short_name(&self) -> Option<&str> {
        self.name.as_deref().and_then(unscoped)
    }
}

fn unscoped(name: &str) -> Option<&str> {
    name.rsplit('/').next().filter(|name| !name.is_empty())
}

fn bins(folder: &Path, manifest: &Map<String, Value>) -> Vec<Bin> {
    let bin = |name: String, path: PathBuf| Bin { name, path: Some(path) };
    match manifest.get("bin") {
        Some(Value::String(script)) => {
            let name = manifest.get("name").and_then(Value::as_str).and_then(unscoped);
            let name = name.map_or_else(|| stem(Path::new(script)), str::to_owned);
            vec![bin(name, script.into())]
        }
        Some(Value::Object(bins)) => bins
            .iter()
            .filter_map(|(name, script)| Some(bin(name.clone(), script.as_str()?.into())))
            .collect(),
        _ => {
            let directory = manifest.get("directories").and_then(|directories| directories.get("bin"));
            let directory = directory.and_then(Value::as_str).unwrap_or_default();
            let files = if directory.is_empty() { Vec::new() } else { entries(&folder.join(directory)) };
            let below = |file: PathBuf| Path::new(directory).join(file.file_name().unwrap_or_default());
            files.into_iter().map(|file| bin(stem(&file), below(file))).collect()
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the names of the packages that `package.json` requires. Development dependencies are included: a bundled
/// program needs its packages only when it is built.
pub(super) fn requirements(folder: &Path) -> Vec<String> {
    let manifest = json(&folder.join("package.json")).ok().flatten().unwrap_or_default();
    let kinds = ["dependencies", "optionalDependencies", "devDependencies"];
    let tables = kinds.iter().filter_map(|kind| manifest.get(*kind)?.as_object());
    tables.flat_map(Map::keys).cloned().collect()
}

/// Returns the folders that match the `workspaces` of the manifest and contain a `package.json`.
fn members(folder: &Path, manifest: &Map<String, Value>) -> Vec<PathBuf> {
    let list = match manifest.get("workspaces") {
        Some(Value::Object(object)) => object.get("packages"),
        other => other,
    };
    let patterns = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let folders = patterns.flat_map(|pattern| matching_folders(folder, pattern));
    folders.filter(|folder| folder.join("package.json").is_file()).collect()
}
