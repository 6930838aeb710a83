//! Selects the files of the program's code.

use super::exclusions::{NON_PRODUCT, VENDORED, patterns, walker};
use super::language::{self, ROWS};
use super::package::PackageCode;
use agentnative_contract::error::{Error, Result};
use agentnative_core::facts::Excluded;
use agentnative_core::files;
use agentnative_core::manifest::has_package;
use agentnative_core::model::Language;
use ast_grep_language::SupportLang;
use ignore::DirEntry;
use ignore::gitignore::Gitignore;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use strict_json::sanitize;

pub(super) struct SourceFile<'p> {
    pub package: &'p PackageCode,
    pub path: PathBuf,
    /// Path of the file relative to the checked package, as in `Span::file`.
    pub name: String,
    pub language: Language,
    pub grammar: SupportLang,
    /// Size in bytes.
    pub size: u64,
}

/// Returns the source files of `package`, without ignored files, hidden files, foreign code, tests and nested packages.
/// Symbolic links are not followed. `excluded` counts the excluded files.
pub(super) fn walk<'p>(package: &'p PackageCode, excluded: &mut Excluded) -> Result<Vec<SourceFile<'p>>> {
    let root = package.folder.clone();
    if !root.is_dir() {
        return Err(Error::general(format!(
            "{} is not a folder",
            sanitize::sanitize_line(root.as_os_str().as_bytes())
        )));
    }
    let vendored = patterns(&root, VENDORED);
    let nested = package.is_package();
    let enter = move |entry: &DirEntry| {
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        let inside = entry.depth() > 0 && is_folder;
        !(inside && (vendored.matched(entry.path(), true).is_ignore() || nested && has_package(entry.path())))
    };
    let entries = walker(&root, enter).build();
    let non_product = patterns(&root, NON_PRODUCT);
    let rows: Vec<_> =
        ROWS.iter().map(|row| (patterns(&root, row.non_product), patterns(&root, row.generated))).collect();
    let mut files = Vec::new();
    for entry in entries {
        let Ok(entry) = entry else {
            excluded.folders += 1;
            continue;
        };
        let Some(kind) = entry.file_type() else { continue };
        if kind.is_symlink() {
            excluded.links += 1;
        }
        if !kind.is_file() {
            continue;
        }
        let Some((language, grammar)) = recognise(&entry) else { continue };
        if !package.languages.is_empty() && !package.languages.contains(&language) {
            continue;
        }
        let path = entry.path();
        let (row_non_product, row_generated) = &rows[language as usize];
        let matches = |patterns: &Gitignore| patterns.matched_path_or_any_parents(path, false).is_ignore();
        if matches(row_generated) {
            excluded.generated += 1;
        } else if !package.is_source(language, path)
            || package.is_library && package.is_entry(language, path)
            || matches(row_non_product)
            || matches(&non_product)
        {
            excluded.non_product += 1;
        } else {
            let name = path.strip_prefix(&root).unwrap_or(path).as_os_str().as_bytes();
            files.push(SourceFile {
                package,
                name: format!("{}{}", package.prefix, sanitize::lossless(name)),
                size: entry.metadata().map_or(0, |metadata| metadata.len()),
                path: path.to_owned(),
                language,
                grammar,
            });
        }
    }
    Ok(files)
}

/// Recognizes the language of a file by its name, or, for an executable without an extension, by its first line.
fn recognise(entry: &DirEntry) -> Option<(Language, SupportLang)> {
    let name = entry.file_name().to_string_lossy();
    if name.contains('.') {
        return language::by_name(&name);
    }
    let mode = entry.metadata().ok()?.permissions().mode();
    if mode & 0o111 == 0 {
        return None;
    }
    let mut head = [0; 128];
    let read = files::open(entry.path()).ok()?.read(&mut head).ok()?;
    language::by_shebang(&head[..read])
}
