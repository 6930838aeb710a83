//! `pyproject.toml`, and before it `setup.py` and `setup.cfg`.

use super::{Bin, Manifest, Package, at, text, toml};
use ::toml::{Table, Value};
use agentnative_contract::error::Result;
use std::collections::BTreeMap;
use std::path::Path;

pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(manifest) = toml(&folder.join("pyproject.toml"))? else { return Ok(None) };
    let poetry = at(&manifest, &["tool", "poetry"]);
    let setup = folder.join("setup.py").is_file() || folder.join("setup.cfg").is_file();
    if manifest.get("project").is_none() && poetry.is_none() && !setup {
        return Ok(None);
    }
    let tables = [at(&manifest, &["project", "scripts"]), at(&manifest, &["tool", "poetry", "scripts"])];
    let scripts: BTreeMap<&String, &Value> =
        tables.into_iter().flatten().filter_map(Value::as_table).flat_map(Table::iter).collect();
    let target =
        |value: &&Value| value.as_str().or_else(|| value.get("callable")?.as_str()).map(str::to_owned);
    let targets = scripts.values().filter_map(target);
    let entries: Vec<String> = targets.flat_map(|target| module_files(&target)).collect();
    let dependencies = poetry.and_then(|poetry| poetry.get("dependencies"));
    let build = if folder.join("uv.lock").is_file() {
        "uv sync"
    } else if dependencies.is_some_and(Value::is_table) {
        "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install"
    } else {
        "python3 -m venv .venv && .venv/bin/pip install -e ."
    };
    let bin = |name: &&String| Bin { name: (*name).clone(), path: None };
    let name = [at(&manifest, &["project", "name"]), at(&manifest, &["tool", "poetry", "name"])];
    Ok(Some(Package {
        name: name.into_iter().flatten().find_map(Value::as_str).map(str::to_owned),
        is_program: !entries.is_empty(),
        bins: scripts.keys().map(bin).collect(),
        entries,
        build: build.to_owned(),
        ..Package::new(Manifest::Python)
    }))
}

/// `setup.py` and `setup.cfg`: `name = package.module:function` lines of their entry points.
pub(super) fn setup(folder: &Path) -> Option<Package> {
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
        spaced.then(|| &before[start..])
    });
    let entries: Vec<String> = targets.flat_map(module_files).collect();
    Some(Package { file, is_program: !entries.is_empty(), entries, ..Package::new(Manifest::Python) })
}

/// The files that `package.module:function` may mean.
fn module_files(target: &str) -> [String; 2] {
    let path = target.split(':').next().unwrap_or(target).trim().replace('.', "/");
    [format!("**/{path}.py"), format!("**/{path}/__init__.py")]
}
