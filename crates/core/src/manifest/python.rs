//! Reads Python packages: `pyproject.toml`, and the older `setup.py` and `setup.cfg`.

use super::files::{text, toml, value_at};
use super::package::{Bin, ManifestKind, Package, PackageEntry};
use ::toml::{Table, Value};
use agentnative_contract::error::Result;
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(manifest) = toml(&folder.join("pyproject.toml"))? else { return Ok(None) };
    let poetry = value_at(&manifest, &["tool", "poetry"]);
    let setup = folder.join("setup.py").is_file() || folder.join("setup.cfg").is_file();
    if manifest.get("project").is_none() && poetry.is_none() && !setup {
        return Ok(None);
    }
    let tables =
        [value_at(&manifest, &["project", "scripts"]), value_at(&manifest, &["tool", "poetry", "scripts"])];
    let scripts: BTreeMap<&String, &Value> =
        tables.into_iter().flatten().filter_map(Value::as_table).flat_map(Table::iter).collect();
    let target =
        |value: &&Value| value.as_str().or_else(|| value.get("callable")?.as_str()).map(str::to_owned);
    let targets = scripts.values().filter_map(target);
    let starts: Vec<PackageEntry> = targets.map(|target| start(&target)).collect();
    let dependencies = poetry.and_then(|poetry| poetry.get("dependencies"));
    let build = if folder.join("uv.lock").is_file() {
        "uv sync"
    } else if dependencies.is_some_and(Value::is_table) {
        "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install"
    } else {
        "python3 -m venv .venv && .venv/bin/pip install -e ."
    };
    let bin = |name: &&String| Bin { name: (*name).clone(), path: None };
    let name = [value_at(&manifest, &["project", "name"]), value_at(&manifest, &["tool", "poetry", "name"])];
    Ok(Some(Package {
        name: name.into_iter().flatten().find_map(Value::as_str).map(str::to_owned),
        is_program: !starts.is_empty(),
        bins: scripts.keys().map(bin).collect(),
        entry_points: starts,
        build: build.to_owned(),
        ..Package::new(ManifestKind::Python)
    }))
}

/// Reads the package in `setup.cfg` or `setup.py`. Its entry points are the lines `name = package.module:function` of
/// `console_scripts`.
pub(super) fn read_setup_package(folder: &Path) -> Option<Package> {
    let (file, text) = ["setup.cfg", "setup.py"]
        .into_iter()
        .filter_map(|file| Some((file, text(&folder.join(file)).ok()??)))
        .max_by_key(|(_, text)| text.contains("console_scripts"))?;
    let part = text.split_once("console_scripts").map_or("", |(_, part)| part);
    let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let targets = part.match_indices(':').filter_map(|(at, _)| {
        let before = &part[..at];
        let start = before.rfind(|c| !name(c)).map_or(0, |at| at + 1);
        let spaced = before[..start].trim_end().ends_with('=');
        let function: String = part[at..].chars().skip(1).take_while(|c| name(*c)).collect();
        spaced.then(|| format!("{}:{function}", &before[start..]))
    });
    let starts: Vec<PackageEntry> = targets.map(|target| self::start(&target)).collect();
    Some(Package {
        file,
        is_program: !starts.is_empty(),
        entry_points: starts,
        ..Package::new(ManifestKind::Python)
    })
}

/// Returns the normalized names of the packages that `pyproject.toml`, `requirements.txt`, `setup.cfg`, `setup.py` and
/// `Pipfile` require.
pub(super) fn requirements(folder: &Path) -> Vec<String> {
    let read = |file: &str| text(&folder.join(file)).ok().flatten();
    let tables = |file: &str| toml(&folder.join(file)).ok().flatten().unwrap_or_default();
    let (project, pipfile) = (tables("pyproject.toml"), tables("Pipfile"));
    let in_lists = value_at(&project, &["project", "dependencies"]);
    let extras = value_at(&project, &["project", "optional-dependencies"]).and_then(Value::as_table);
    let lists = in_lists.into_iter().chain(extras.into_iter().flat_map(Table::values));
    let in_lists = lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str).map(str::to_owned);
    let in_tables = [value_at(&project, &["tool", "poetry", "dependencies"]), pipfile.get("packages")];
    let in_tables =
        in_tables.into_iter().flatten().filter_map(Value::as_table).flat_map(Table::keys).cloned();
    let lines = read("requirements.txt").unwrap_or_default();
    let lines = lines.lines().filter(|line| !line.trim_start().starts_with(['#', '-'])).map(str::to_owned);
    let install_requires =
        ["setup.cfg", "setup.py"].into_iter().filter_map(read).flat_map(|text| install_requires(&text));
    let all = in_lists.chain(in_tables).chain(lines).chain(install_requires);
    all.map(|requirement| package_name(&requirement)).filter(|name| !name.is_empty()).collect()
}

/// Returns the requirements in `install_requires`: the strings of a list in `setup.py`, or the indented lines in
/// `setup.cfg`.
fn install_requires(text: &str) -> Vec<String> {
    let Some((_, rest)) = text.split_once("install_requires") else { return Vec::new() };
    match rest.trim_start().strip_prefix('=').map(str::trim_start) {
        Some(list) if list.starts_with('[') => {
            let list = list.split(']').next().unwrap_or_default();
            list.split(['"', '\'']).skip(1).step_by(2).map(str::to_owned).collect()
        }
        _ => {
            let lines = rest.lines().skip(1).take_while(|line| line.starts_with([' ', '\t']));
            lines.map(|line| line.trim().to_owned()).collect()
        }
    }
}

/// Returns the normalized package name of a requirement: `typer` for `Typer[all]>=0.9; python_version>"3.8"`.
fn package_name(requirement: &str) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = requirement.trim().split(|c| !is_name(c)).next().unwrap_or_default();
    let parts = name.split(['-', '_', '.']).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Returns the entry point for a function in a manifest, such as `package.module:function`.
fn start(target: &str) -> PackageEntry {
    let path = target.split(':').next().unwrap_or(target).trim().replace('.', "/");
    let files = vec![format!("**/{path}.py"), format!("**/{path}/__init__.py")];
    PackageEntry { name: target.trim().to_owned(), files, ..PackageEntry::default() }
}
