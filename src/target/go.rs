//! `go.mod`: the main packages of the module, in its folder and in `cmd`.

use super::project::{Binary, newest, read};
use agentnative_contract::error::Result;
use std::path::{Path, PathBuf};

pub(super) fn binaries(folder: &Path) -> Result<Vec<Binary>> {
    let text = read(&folder.join("go.mod"))?;
    let mut binaries = Vec::new();
    if is_main(folder) {
        let name = module_name(&text).unwrap_or_else(|| file_name(folder));
        let build = format!("go build -o bin/{name} .");
        let built = newest([folder.join(&name), folder.join("bin").join(&name)]);
        binaries.push(binary(folder, name, built, build));
    }
    let entries = std::fs::read_dir(folder.join("cmd")).into_iter().flatten().flatten();
    let mut commands: Vec<_> = entries.map(|entry| entry.path()).filter(|path| is_main(path)).collect();
    commands.sort();
    for path in commands {
        let name = file_name(&path);
        let build = format!("go build -o bin/{name} ./cmd/{name}");
        let places = [folder.join(&name), folder.join("bin").join(&name), path.join(&name)];
        binaries.push(binary(folder, name, newest(places), build));
    }
    Ok(binaries)
}

fn binary(module: &Path, name: String, built: Option<PathBuf>, build: String) -> Binary {
    let folder = module.to_owned();
    Binary { name, package: None, folder, built, interpreter: None, default: false, own: true, build }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// What `go build` calls the binary of the module's own folder: the last part of the module's path
/// that is no version.
fn module_name(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let path = line.split("//").next()?.trim().trim_matches(['"', '`']);
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    path.rsplit('/').find(|part| !part.is_empty() && !is_version(part)).map(str::to_owned)
}

/// Whether a folder holds Go files of package main, apart from tests and those that no build takes.
fn is_main(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let sources = entries.map(|entry| entry.path()).filter(|path| {
        let name = file_name(path);
        name.ends_with(".go") && !name.ends_with("_test.go") && !name.starts_with(['_', '.'])
    });
    sources.filter_map(|path| std::fs::read_to_string(path).ok()).any(|text| {
        let ignored =
            text.lines().any(|line| matches!(line.trim(), "//go:build ignore" | "// +build ignore"));
        let package = text.lines().map(str::trim).find(|line| line.starts_with("package "));
        !ignored && package.is_some_and(|line| line.split_whitespace().nth(1) == Some("main"))
    })
}
