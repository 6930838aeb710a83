//! `package.json`: `bin`, of the package or of its workspaces.

use super::project::{Binary, read};
use agentnative_contract::error::{Error, Issue, Place, Result};
use rustix::fs::{Access, access};
use serde_json::{Map, Value};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

pub(super) fn binaries(folder: &Path) -> Result<Vec<Binary>> {
    let manifest = manifest(folder)?;
    let mut binaries = of_package(folder, folder, &manifest);
    let has_own = !binaries.is_empty();
    for member in workspaces(folder, &manifest) {
        let manifest = self::manifest(&member)?;
        let package = manifest.get("name").and_then(Value::as_str).map(str::to_owned);
        let of_member = of_package(&member, folder, &manifest);
        binaries.extend(of_member.into_iter().map(|binary| Binary {
            package: package.clone(),
            own: !has_own,
            ..binary
        }));
    }
    Ok(binaries)
}

fn manifest(folder: &Path) -> Result<Map<String, Value>> {
    let path = folder.join("package.json");
    serde_json::from_str(&read(&path)?).map_err(|error| {
        let place = Place { file: path.clone(), line: error.line(), column: error.column() };
        Error::config(format!("{} is not a JSON object", path.display()))
            .issues(vec![Issue { place: Some(place), message: error.to_string() }])
    })
}

/// The binaries of one package, which may be installed in `root` too.
fn of_package(folder: &Path, root: &Path, manifest: &Map<String, Value>) -> Vec<Binary> {
    let has_build = manifest.get("scripts").and_then(|scripts| scripts.get("build")).is_some();
    let build = if has_build { "npm install && npm run build" } else { "npm install" };
    let package = short_name(manifest);
    let binary = |(name, script): (String, PathBuf)| {
        let script = Some(folder.join(script)).filter(|script| script.is_file());
        let links = [folder, root].map(|folder| folder.join("node_modules/.bin").join(&name));
        let link = links.into_iter().find(|link| link.is_file());
        let interpreter = script.as_ref().filter(|script| !runs_by_itself(script)).map(|_| "node");
        Binary {
            package: None,
            folder: folder.to_owned(),
            built: script.or(link),
            interpreter,
            // As npx chooses: the one that is called as the package.
            default: package == Some(&*name),
            own: true,
            build: build.to_owned(),
            name,
        }
    };
    scripts(folder, manifest).into_iter().map(binary).collect()
}

/// The package's name without its scope.
fn short_name(manifest: &Map<String, Value>) -> Option<&str> {
    manifest.get("name")?.as_str()?.rsplit('/').next().filter(|name| !name.is_empty())
}

/// Names and scripts, relative to the package.
fn scripts(folder: &Path, manifest: &Map<String, Value>) -> Vec<(String, PathBuf)> {
    match manifest.get("bin") {
        Some(Value::String(script)) => {
            let name = short_name(manifest).map(str::to_owned);
            let name = name.unwrap_or_else(|| stem(Path::new(script)));
            vec![(name, script.into())]
        }
        Some(Value::Object(bins)) => {
            bins.iter().filter_map(|(name, script)| Some((name.clone(), script.as_str()?.into()))).collect()
        }
        _ => {
            let directory = manifest.get("directories").and_then(|directories| directories.get("bin"));
            let files = directory.and_then(Value::as_str).map(|directory| files(&folder.join(directory)));
            files.into_iter().flatten().map(|file| (stem(&file), file)).collect()
        }
    }
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// What is in a folder, sorted by name.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    files
}

/// The folders of the workspaces: each is named, or all in one folder are: `packages/*`.
fn workspaces(folder: &Path, manifest: &Map<String, Value>) -> Vec<PathBuf> {
    let list = match manifest.get("workspaces") {
        Some(Value::Object(object)) => object.get("packages"),
        other => other,
    };
    let patterns = list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let folders = patterns.flat_map(|pattern| match pattern.strip_suffix("/*") {
        Some(parent) => files(&folder.join(parent)),
        None => vec![folder.join(pattern)],
    });
    folders.filter(|folder| folder.join("package.json").is_file()).collect()
}

/// Whether a script may be executed and says what executes it.
fn runs_by_itself(script: &Path) -> bool {
    let mut start = [0; 2];
    let read = File::open(script).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *b"#!" && access(script, Access::EXEC_OK).is_ok()
}
