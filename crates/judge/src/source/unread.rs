//! Finds entry points of the program, and files that it imports, that were not read.

use super::exclusions::walker;
use super::file::{FileFacts, is_generated};
use super::imports::SCRIPTS;
use super::name_in;
use super::package::PackageCode;
use super::walk::SourceFile;
use agentnative_core::facts::{UnreadCode, UnreadReason};
use agentnative_core::manifest::{
    go_file_texts, go_module_path, is_build_folder, is_go_program, normalize_lexically,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The import graph of the code: its files, which of them are generated, and their imports.
pub(super) struct ImportGraph<'f, 'p> {
    files: &'f [SourceFile<'p>],
    generated: BTreeSet<&'f Path>,
    imports: BTreeSet<(&'f str, &'f Path, bool, String)>,
    /// Folders of Go packages that are programs.
    go_programs: BTreeSet<&'f Path>,
}

impl<'f, 'p> ImportGraph<'f, 'p> {
    /// Creates a graph of files without imports.
    pub fn new(files: &'f [SourceFile<'p>]) -> Self {
        Self { files, generated: BTreeSet::new(), imports: BTreeSet::new(), go_programs: BTreeSet::new() }
    }

    /// Adds a file with its imports and other facts.
    pub fn add(&mut self, file: &'f SourceFile<'p>, facts: &FileFacts) {
        if facts.generated {
            self.generated.insert(&file.path);
        }
        let entry = file.package.is_entry(file.language, &file.path);
        let imports = facts.imports.iter().map(|name| (&*file.name, &*file.path, entry, name.clone()));
        self.imports.extend(imports);
        self.go_programs.extend(file.path.parent().filter(|_| facts.is_main));
    }

    /// Returns the entry points and imports of the program in `package` that were not read.
    pub fn unread(&self, package: &PackageCode) -> Vec<UnreadCode> {
        let own: Vec<&Path> = self
            .files
            .iter()
            .filter(|file| std::ptr::eq(file.package, package))
            .map(|file| &*file.path)
            .collect();
        let mut unread = Vec::new();
        let mut has_source = false;
        for (start, files, sources) in &package.starts {
            let is = |path: &&Path| files.matched_path_or_any_parents(path, false).is_ignore();
            let is_source = |path: &&Path| sources.matched_path_or_any_parents(path, false).is_ignore();
            let written = || own.iter().copied().filter(|path| !self.generated.contains(path));
            has_source |= written().any(|path| is_source(&path));
            if written().any(|path| is(&path) || is_source(&path)) {
                continue;
            }
            let why = match own.iter().copied().any(|path| is(&path)) {
                true => UnreadReason::Generated,
                false if start.is_build_product => UnreadReason::Built,
                false => UnreadReason::NotFound,
            };
            unread.push(UnreadCode { name: start.name.clone(), importer: None, why });
        }
        if !has_source {
            let stems: BTreeSet<PathBuf> = own.iter().flat_map(|path| import_paths(path)).collect();
            let by_path = self.imports.iter().filter(|(_, path, ..)| !is_go(path));
            let imports = by_path.filter_map(|(importer, path, entry, name)| {
                let why = why_unread(&package.folder, &stems, path, *entry, name)?;
                Some(UnreadCode { name: name.clone(), importer: Some((*importer).to_owned()), why })
            });
            unread.extend(imports);
        }
        if own.iter().any(|path| is_go(path)) {
            unread.extend(self.unread_go(package, &own));
        }
        unread
    }

    /// Returns the unread code of a Go program: packages of its module that it imports, directly or indirectly, or the
    /// program itself.
    fn unread_go(&self, package: &PackageCode, own: &[&Path]) -> Vec<UnreadCode> {
        let unread = |name: String, importer| UnreadCode { name, importer, why: UnreadReason::NotFound };
        if !self.go_programs.iter().any(|main| main.starts_with(&package.folder)) {
            let start = go_main(&package.folder).and_then(|main| name_in(&package.folder, &main));
            return start.map(|start| unread(start, None)).into_iter().collect();
        }
        let Some(module) = go_module_path(&package.folder) else { return Vec::new() };
        let mut imports: BTreeMap<&Path, Vec<(&str, &str)>> = BTreeMap::new();
        for (importer, path, _, name) in self.imports.iter().filter(|(_, path, ..)| is_go(path)) {
            imports.entry(path.parent().unwrap_or(path)).or_default().push((importer, name));
        }
        let read_folders: BTreeSet<&Path> =
            own.iter().filter(|path| is_go(path)).filter_map(|path| path.parent()).collect();
        let mut pending: Vec<PathBuf> = self.go_programs.iter().map(|main| main.to_path_buf()).collect();
        let mut visited: BTreeSet<PathBuf> = pending.iter().cloned().collect();
        let mut found = Vec::new();
        while let Some(folder) = pending.pop() {
            for (importer, name) in imports.get(&*folder).into_iter().flatten() {
                let Some(below) = name.strip_prefix(&module).filter(|rest| rest.starts_with('/')) else {
                    continue;
                };
                let folder = package.folder.join(&below[1..]);
                if !visited.insert(folder.clone()) {
                    continue;
                }
                if read_folders.contains(&*folder) {
                    pending.push(folder);
                } else if go_file_texts(&folder).iter().any(|text| !is_generated(text)) {
                    found.push(unread(below[1..].to_owned(), Some((*importer).to_owned())));
                }
            }
        }
        found
    }
}

fn is_go(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "go")
}

/// Returns the first folder under `folder` that contains a Go program.
fn go_main(folder: &Path) -> Option<PathBuf> {
    let foreign = ["vendor", "node_modules", "testdata"];
    let mut folders = walker(folder, move |entry| {
        entry.file_type().is_some_and(|kind| kind.is_dir())
            && !foreign.iter().any(|name| entry.file_name() == *name)
    });
    folders.sort_by_file_name(Ord::cmp);
    let mut folders = folders.build().flatten().map(ignore::DirEntry::into_path);
    folders.find(|folder| is_go_program(folder))
}

/// Returns the paths by which imports name a file: the path without its extension and, for an index file such as
/// `index.ts`, its folder.
fn import_paths(path: &Path) -> Vec<PathBuf> {
    let stem = path.with_extension("");
    let is_index = stem.file_name().is_some_and(|name| name == "index" || name == "__init__");
    let folder = stem.parent().filter(|_| is_index).map(Path::to_owned);
    std::iter::once(stem).chain(folder).collect()
}

/// Returns why an imported file was not read; `None` if it was read or is foreign code.
fn why_unread(
    folder: &Path,
    stems: &BTreeSet<PathBuf>,
    importer: &Path,
    is_entry: bool,
    name: &str,
) -> Option<UnreadReason> {
    let path = normalize_lexically(&importer.parent()?.join(name));
    let is_script =
        path.extension().and_then(|extension| extension.to_str()).is_some_and(|e| SCRIPTS.contains(&e));
    if stems.contains(&path) || is_script && stems.contains(&path.with_extension("")) {
        return None;
    }
    let first = path.strip_prefix(folder).ok().and_then(|below| below.components().next());
    let first = first.and_then(|part| part.as_os_str().to_str()).unwrap_or_default();
    if first == "node_modules" {
        return None;
    }
    if is_build_folder(first) {
        Some(UnreadReason::Built)
    } else {
        is_entry.then_some(UnreadReason::NotFound)
    }
}
