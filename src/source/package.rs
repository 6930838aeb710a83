//! The package that builds the target: its languages, its entry points, its dependencies.

use super::Dependency;
use super::exclusions::{patterns, read_up_to};
use super::language::ROWS;
use crate::report::Language;
use ignore::gitignore::Gitignore;
use serde_json::Value as Json;
use std::path::{Path, PathBuf};

/// Manifests larger than this are not read, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// Folders that a package of npm is built into.
const BUILT: [&str; 3] = ["dist", "build", "out"];
/// Folders that by custom hold the source of what is built.
const SOURCES: [&str; 3] = ["src", "source", "packages"];

/// A package, as far as its manifests tell.
#[derive(Debug)]
pub struct Package {
    /// Its folder.
    pub folder: PathBuf,
    /// Name of the manifest that evidence about the package as a whole names, when there is one.
    pub manifest: Option<&'static str>,
    /// The languages that the target is built from; empty when no manifest tells: then any.
    pub languages: Vec<Language>,
    /// What it depends on, where a manifest is needed to tell.
    pub dependencies: Vec<Dependency>,
    /// The folder that the program is built into, when its code is not there: see [`super::Facts::built`].
    pub built: Option<String>,
    entries: Vec<Gitignore>,
    /// By language, whether the manifest tells where the program starts.
    told: Vec<bool>,
    /// By language, where the code is, when the manifest tells.
    sources: Vec<Option<Gitignore>>,
}

/// What one manifest tells.
struct Manifest {
    file: &'static str,
    language: Language,
    /// It declares a program.
    program: bool,
    /// Patterns of the files that the program starts in.
    entries: Vec<String>,
    /// Patterns of where the code is; empty: anywhere.
    sources: Vec<String>,
    dependencies: Vec<Dependency>,
    /// As [`Package::built`].
    built: Option<String>,
}

impl Package {
    /// The package in `folder`. A manifest that cannot be read counts as none.
    pub fn of(folder: &Path) -> Self {
        let readers = [cargo, python, setup, go, npm];
        let mut manifests: Vec<Manifest> = readers.iter().filter_map(|read| read(folder)).collect();
        if manifests.iter().any(|manifest| manifest.program) {
            manifests.retain(|manifest| manifest.program);
        }
        let mut languages: Vec<Language> = manifests.iter().map(|manifest| manifest.language).collect();
        languages.sort_unstable();
        languages.dedup();
        let entries = ROWS.iter().map(|row| {
            let own = manifests.iter().filter(|manifest| manifest.language == row.language);
            let own = own.flat_map(|manifest| &manifest.entries).map(String::as_str);
            patterns(folder, &row.entry_files.iter().copied().chain(own).collect::<Vec<_>>())
        });
        let sources = ROWS.iter().map(|row| {
            let own = manifests.iter().filter(|manifest| manifest.language == row.language);
            let own: Vec<&str> = own.flat_map(|manifest| &manifest.sources).map(String::as_str).collect();
            (!own.is_empty()).then(|| patterns(folder, &own))
        });
        let told = ROWS.iter().map(|row| {
            manifests.iter().any(|manifest| manifest.language == row.language && !manifest.entries.is_empty())
        });
        Self {
            built: manifests.iter().find_map(|manifest| manifest.built.clone()),
            told: told.collect(),
            sources: sources.collect(),
            entries: entries.collect(),
            manifest: manifests.first().map(|manifest| manifest.file),
            dependencies: manifests.iter().flat_map(|manifest| manifest.dependencies.clone()).collect(),
            folder: folder.to_owned(),
            languages,
        }
    }

    /// Whether the folder is a package itself, and not only a workspace around some.
    pub fn is_one(&self) -> bool {
        !self.languages.is_empty()
    }

    /// Whether a package of its own is in this folder.
    pub(super) fn is_in(folder: &Path) -> bool {
        let says = |file: &str, words: &[&str]| {
            text(&folder.join(file)).is_some_and(|text| words.iter().any(|word| text.contains(word)))
        };
        says("Cargo.toml", &["[package]"])
            || says("pyproject.toml", &["[project]", "[tool.poetry]"])
            || says("package.json", &["\"version\"", "\"workspaces\""])
            || folder.join("go.mod").is_file()
            || folder.join("setup.py").is_file()
    }

    /// Whether this file is where the manifest has the code of its language.
    pub(super) fn is_source(&self, language: Language, path: &Path) -> bool {
        let sources = self.sources[language as usize].as_ref();
        sources.is_none_or(|sources| sources.matched_path_or_any_parents(path, false).is_ignore())
    }

    /// Whether the manifest tells where a program in this language starts.
    pub(super) fn tells_entry(&self, language: Language) -> bool {
        self.told[language as usize]
    }

    /// Whether the program starts and ends in this file.
    pub(super) fn is_entry(&self, language: Language, name: &str) -> bool {
        self.entries[language as usize].matched_path_or_any_parents(name, false).is_ignore()
    }
}

fn text(path: &Path) -> Option<String> {
    String::from_utf8(read_up_to(path, MAX_MANIFEST).ok()?.ok()?).ok()
}

fn cargo(folder: &Path) -> Option<Manifest> {
    let manifest: toml::Table = text(&folder.join("Cargo.toml"))?.parse().ok()?;
    // `NAME-core` belongs to NAME, also in a manifest as a registry has it, without paths.
    let own_name = manifest.get("package")?.get("name")?.as_str()?;
    let bins = manifest.get("bin").and_then(toml::Value::as_array);
    let path = |table: &toml::Value| Some(table.get("path")?.as_str()?.trim_start_matches("./").to_owned());
    let bin_paths: Vec<String> = bins.into_iter().flatten().filter_map(path).collect();
    let lib_path = manifest.get("lib").and_then(path);
    let around =
        bin_paths.iter().chain(&lib_path).map(|path| path.rsplit_once('/').map_or("", |(folder, _)| folder));
    let mut sources: Vec<String> = around.chain(["src"]).map(|folder| format!("/{folder}/")).collect();
    if sources.iter().any(|folder| folder == "//") {
        sources.clear();
    }
    let program = bins.is_some() || folder.join("src/main.rs").is_file() || folder.join("src/bin").is_dir();
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let tables =
        targets.into_iter().flat_map(toml::Table::values).filter_map(|target| target.get("dependencies"));
    let tables = tables.chain(manifest.get("dependencies")).filter_map(toml::Value::as_table);
    let shared = shared_dependencies(folder);
    let dependencies = tables.flatten().map(|(name, value)| {
        let inherited = value.get("workspace").is_some().then(|| shared.as_ref()?.get(name)).flatten();
        let value = inherited.unwrap_or(value);
        Dependency {
            language: Language::Rust,
            name: value.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned(),
            own: value.get("path").is_some()
                || name.strip_prefix(own_name).is_some_and(|rest| rest.starts_with(['-', '_'])),
        }
    });
    let dependencies = dependencies.collect();
    let entries = bin_paths.iter().map(|path| format!("/{path}")).collect();
    let built = None;
    Some(Manifest {
        file: "Cargo.toml",
        language: Language::Rust,
        program,
        entries,
        sources,
        dependencies,
        built,
    })
}

/// The dependencies that the workspace around `folder` gives to its packages.
fn shared_dependencies(folder: &Path) -> Option<toml::Table> {
    let folder = std::fs::canonicalize(folder).ok()?;
    folder.ancestors().find_map(|above| {
        let manifest: toml::Table = text(&above.join("Cargo.toml"))?.parse().ok()?;
        manifest.get("workspace")?.get("dependencies")?.as_table().cloned()
    })
}

fn python(folder: &Path) -> Option<Manifest> {
    let manifest: toml::Table = text(&folder.join("pyproject.toml"))?.parse().ok()?;
    let project = manifest.get("project");
    let poetry = manifest.get("tool").and_then(|tool| tool.get("poetry"));
    let setup = folder.join("setup.py").is_file() || folder.join("setup.cfg").is_file();
    if project.is_none() && poetry.is_none() && !setup {
        return None;
    }
    let scripts =
        [project, poetry].into_iter().flatten().filter_map(|table| table.get("scripts")?.as_table());
    let scripts = scripts
        .flat_map(toml::Table::values)
        .filter_map(|value| value.as_str().or_else(|| value.get("callable")?.as_str()));
    let entries: Vec<String> = scripts.flat_map(module_files).collect();
    Some(Manifest {
        file: "pyproject.toml",
        language: Language::Python,
        program: !entries.is_empty(),
        entries,
        sources: Vec::new(),
        dependencies: Vec::new(),
        built: None,
    })
}

/// `setup.py` and `setup.cfg`: `name = package.module:function` lines of their entry points.
fn setup(folder: &Path) -> Option<Manifest> {
    let (file, text) =
        [("setup.cfg", text(&folder.join("setup.cfg"))), ("setup.py", text(&folder.join("setup.py")))]
            .into_iter()
            .filter_map(|(file, text)| Some((file, text?)))
            .max_by_key(|(_, text)| text.contains("console_scripts"))?;
    let part = text.split_once("console_scripts").map_or("", |(_, part)| part);
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let targets = part.match_indices(':').filter_map(|(at, _)| {
        let before = &part[..at];
        let start = before.rfind(|c| !name(c)).map_or(0, |at| at + 1);
        let spaced = before[..start].trim_end().ends_with('=');
        spaced.then(|| &before[start..])
    });
    let entries: Vec<String> = targets.flat_map(module_files).collect();
    Some(Manifest {
        file,
        language: Language::Python,
        program: !entries.is_empty(),
        entries,
        sources: Vec::new(),
        dependencies: Vec::new(),
        built: None,
    })
}

/// The files that `package.module:function` may mean.
fn module_files(target: &str) -> [String; 2] {
    let path = target.split(':').next().unwrap_or(target).trim().replace('.', "/");
    [format!("**/{path}.py"), format!("**/{path}/__init__.py")]
}

fn go(folder: &Path) -> Option<Manifest> {
    folder.join("go.mod").is_file().then(|| Manifest {
        file: "go.mod",
        language: Language::Go,
        program: true,
        entries: Vec::new(),
        sources: Vec::new(),
        dependencies: Vec::new(),
        built: None,
    })
}

fn npm(folder: &Path) -> Option<Manifest> {
    let manifest: Json = serde_json::from_str(&text(&folder.join("package.json"))?).ok()?;
    let bins: Vec<&str> = match manifest.get("bin") {
        Some(Json::String(path)) => vec![path],
        Some(Json::Object(bins)) => bins.values().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    // What is published is built from a source of the same name.
    let sources = bins.iter().flat_map(|path| {
        let path = path.trim_start_matches("./");
        let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        let inner = stem.split_once('/').map_or(stem, |(_, inner)| inner);
        [format!("/{path}"), format!("/{stem}.*"), format!("/src/{inner}.*")]
    });
    let entries: Vec<String> = sources.collect();
    // Other files beside the manifest are scripts of its authors.
    let mut sources = entries.clone();
    if !bins.is_empty() {
        let main = manifest.get("main").and_then(Json::as_str).unwrap_or("index.js");
        sources.push(format!("/{}", main.trim_start_matches("./")));
        sources.extend(["/*/", "/index.*", "/cli.*", "/main.*", "/app.*"].map(str::to_owned));
    }
    // A package as it is published: no source beside what is built from it.
    let main = manifest.get("main").and_then(Json::as_str);
    let first = |path: &str| path.trim_start_matches("./").split('/').next().unwrap_or_default().to_owned();
    let mut folders = bins.iter().copied().chain(main).map(first);
    let built = folders.find(|name| BUILT.contains(&name.as_str()) && folder.join(name).is_dir());
    let built = built.filter(|_| !SOURCES.iter().any(|name| folder.join(name).is_dir()));
    Some(Manifest {
        file: "package.json",
        language: Language::TypeScript,
        program: !bins.is_empty(),
        entries,
        sources,
        dependencies: Vec::new(),
        built,
    })
}
