//! Reads a Go module: `go.mod`, and the main packages in its folder and in `cmd`.

use super::files::{entries, text};
use super::package::{Bin, ManifestKind, Package};
use agentnative_contract::error::Result;
use std::path::{Path, PathBuf};

pub(super) fn read(folder: &Path) -> Result<Option<Package>> {
    let Some(text) = text(&folder.join("go.mod"))? else { return Ok(None) };
    let name = root_binary_name(&text).unwrap_or_else(|| file_name(folder));
    let own = is_go_program(folder).then(|| Bin { name: name.clone(), path: None });
    let commands = entries(&folder.join("cmd")).into_iter().filter(|path| is_go_program(path));
    let commands = commands.map(|path| {
        let name = file_name(&path);
        Bin { path: Some(Path::new("cmd").join(&name)), name }
    });
    Ok(Some(Package {
        name: Some(name.clone()),
        is_program: true,
        bins: own.into_iter().chain(commands).collect(),
        ..Package::new(ManifestKind::Go)
    }))
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns the name that `go build` gives to the binary of the module's root package: the last part of the module
/// path that is not a version.
fn root_binary_name(text: &str) -> Option<String> {
    let path = module_path(text)?;
    let is_version = |part: &str| {
        part.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
    };
    path.rsplit('/').find(|part| !part.is_empty() && !is_version(part)).map(str::to_owned)
}

/// Returns the modules that `go.mod` requires directly, without `// indirect` ones.
pub(super) fn requirements(folder: &Path) -> Vec<String> {
    let text = text(&folder.join("go.mod")).ok().flatten().unwrap_or_default();
    let mut is_block = false;
    let mut required = Vec::new();
    for line in text.lines().map(str::trim) {
        let entry = match line.strip_prefix("require") {
            Some(rest) if rest.trim() == "(" => {
                is_block = true;
                continue;
            }
            Some(rest) if rest.starts_with([' ', '\t']) => rest,
            _ if line == ")" => {
                is_block = false;
                continue;
            }
            _ if is_block => line,
            _ => continue,
        };
        if !entry.contains("// indirect") {
            required.extend(entry.split_whitespace().next().map(|path| path.trim_matches('"').to_owned()));
        }
    }
    required
}

fn module_path(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    Some(line.split("//").next()?.trim().trim_matches(['"', '`']))
}

/// Returns the path of the module in `folder`, such as `example.com/tool`, with which the import paths of its packages
/// begin; `None` if the folder is not a module.
pub fn go_module_path(folder: &Path) -> Option<String> {
    let text = text(&folder.join("go.mod")).ok()??;
    module_path(&text).map(str::to_owned)
}

/// Returns whether a folder contains a program: a Go file of package main that is neither a test nor ignored by builds.
pub fn is_go_program(folder: &Path) -> bool {
    go_file_texts(folder).iter().any(|text| {
        let mut lines = text.lines().map(str::trim);
        let is_ignored = lines.any(|line| matches!(line, "//go:build ignore" | "// +build ignore"));
        !is_ignored && is_go_main(text)
    })
}

/// Returns whether a Go file with this text belongs to package main.
pub fn is_go_main(text: &str) -> bool {
    let package = text.lines().find_map(|line| line.trim().strip_prefix("package "));
    package.is_some_and(|name| name.split_whitespace().next() == Some("main"))
}

/// Returns the texts of the Go files in a folder, without tests and without files that builds ignore by their names
/// (`_x.go`, `.x.go`).
pub fn go_file_texts(folder: &Path) -> Vec<String> {
    let is_code = |path: &PathBuf| {
        let name = file_name(path);
        name.ends_with(".go") && !name.ends_with("_test.go") && !name.starts_with(['_', '.'])
    };
    let files = entries(folder).into_iter().filter(is_code);
    files.filter_map(|path| text(&path).ok().flatten()).collect()
}
