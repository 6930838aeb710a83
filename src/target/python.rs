//! `pyproject.toml`: its scripts, installed in the project's virtual environment.

use super::project::{Binary, newest, read};
use crate::config::place;
use agentnative_contract::error::{Error, Issue, Result};
use std::collections::BTreeSet;
use std::path::Path;
use toml::{Table, Value};

pub(super) fn binaries(folder: &Path) -> Result<Vec<Binary>> {
    let path = folder.join("pyproject.toml");
    let text = read(&path)?;
    let manifest: Table = text.parse().map_err(|error: toml::de::Error| {
        let place = Some(place(&path, &text, error.span().unwrap_or_default().start));
        Error::config(format!("{} is not TOML", path.display()))
            .issues(vec![Issue { place, message: error.message().to_owned() }])
    })?;
    let table = |keys: &[&str]| {
        let mut table = &manifest;
        for key in keys {
            table = table.get(*key)?.as_table()?;
        }
        Some(table)
    };
    let scripts = [table(&["project", "scripts"]), table(&["tool", "poetry", "scripts"])];
    let names: BTreeSet<&String> = scripts.into_iter().flatten().flat_map(Table::keys).collect();
    let build = if folder.join("uv.lock").is_file() {
        "uv sync"
    } else if table(&["tool", "poetry"])
        .and_then(|poetry| poetry.get("dependencies"))
        .is_some_and(Value::is_table)
    {
        "POETRY_VIRTUALENVS_IN_PROJECT=true poetry install"
    } else {
        "python3 -m venv .venv && .venv/bin/pip install -e ."
    };
    let binary = |name: &String| Binary {
        name: name.clone(),
        package: None,
        folder: folder.to_owned(),
        built: newest([".venv/bin", "venv/bin"].map(|bin| folder.join(bin).join(name))),
        interpreter: None,
        default: false,
        own: true,
        build: build.to_owned(),
    };
    Ok(names.into_iter().map(binary).collect())
}
