//! What of the program was not read: where it starts, and where its code goes on.

use super::file::Read;
use super::package::PackageCode;
use super::walk::SourceFile;
use super::{Unread, WhyUnread};
use crate::manifest::{is_built, normal};
use crate::model::Language;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Extensions of files that an import of JavaScript may name.
const SCRIPTS: [&str; 8] = ["js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx"];

/// The ways through the code: which files there are, which of them a program wrote, what they import.
pub(super) struct Ways<'f, 'p> {
    files: &'f [SourceFile<'p>],
    generated: BTreeSet<&'f Path>,
    imports: BTreeSet<(&'f str, &'f Path, bool, String)>,
}

impl<'f, 'p> Ways<'f, 'p> {
    /// Those through files of which nothing is known yet.
    pub fn of(files: &'f [SourceFile<'p>]) -> Self {
        Self { files, generated: BTreeSet::new(), imports: BTreeSet::new() }
    }

    /// Adds what a file gave.
    pub fn add(&mut self, file: &'f SourceFile<'p>, read: &Read) {
        if read.generated {
            self.generated.insert(&file.path);
        }
        let entry = file.package.is_entry(file.language, &file.path);
        let imports = read.imports.iter().map(|name| (&*file.name, &*file.path, entry, name.clone()));
        self.imports.extend(imports);
    }

    /// What of the program in `package` was not read.
    pub fn unread(&self, package: &PackageCode) -> Vec<Unread> {
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
                true => WhyUnread::Generated,
                false if start.is_built => WhyUnread::Built,
                false => WhyUnread::NotFound,
            };
            unread.push(Unread { name: start.name.clone(), importer: None, why });
        }
        if !has_source {
            let stems: BTreeSet<PathBuf> = own.iter().flat_map(|path| stems(path)).collect();
            let imports = self.imports.iter().filter_map(|(importer, path, entry, name)| {
                let why = not_read(&package.folder, &stems, path, *entry, name)?;
                Some(Unread { name: name.clone(), importer: Some((*importer).to_owned()), why })
            });
            unread.extend(imports);
        }
        unread
    }
}

/// What a file is imported as: its path without extension; its folder where it stands for that.
fn stems(path: &Path) -> Vec<PathBuf> {
    let stem = path.with_extension("");
    let whole = stem.file_name().is_some_and(|name| name == "index" || name == "__init__");
    let folder = stem.parent().filter(|_| whole).map(Path::to_owned);
    std::iter::once(stem).chain(folder).collect()
}

/// Why what a file imports was not read; none where it was, or is other people's.
fn not_read(
    folder: &Path,
    stems: &BTreeSet<PathBuf>,
    importer: &Path,
    is_entry: bool,
    name: &str,
) -> Option<WhyUnread> {
    let path = normal(&importer.parent()?.join(name));
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
    if is_built(first) { Some(WhyUnread::Built) } else { is_entry.then_some(WhyUnread::NotFound) }
}

/// The files beside this one that it imports, as relative paths, where its language says so by paths. Of a
/// module of Python, those that the function is imported from which the program starts in.
pub(super) fn imports(text: &str, file: &SourceFile<'_>) -> Vec<String> {
    match file.language {
        Language::TypeScript => of_scripts(text),
        Language::Python if file.package.is_entry(file.language, &file.path) => {
            let functions = file.package.starts.iter().filter_map(|(start, ..)| start.name.split_once(':'));
            let functions: BTreeSet<&str> = functions.map(|(_, function)| function.trim()).collect();
            text.lines().filter_map(|line| of_python(line.trim(), &functions)).collect()
        }
        Language::Python | Language::Go | Language::Rust => Vec::new(),
    }
}

fn of_scripts(text: &str) -> Vec<String> {
    let quoted = ['"', '\''].into_iter().flat_map(|quote| {
        text.match_indices(quote).filter_map(move |(at, _)| {
            let rest = &text[at + 1..];
            if !(rest.starts_with("./") || rest.starts_with("../")) {
                return None;
            }
            let before = text[..at].trim_end();
            let before = before.strip_suffix('(').map_or(before, str::trim_end);
            let imports = ["from", "import", "require"].iter().any(|word| before.ends_with(word));
            imports.then(|| rest.lines().next()?.split(quote).next()).flatten()
        })
    });
    // Data and styles are no code.
    let is_code = |name: &&str| {
        let file = name.rsplit('/').next().unwrap_or_default();
        file.trim_start_matches('.')
            .rsplit_once('.')
            .is_none_or(|(_, extension)| SCRIPTS.contains(&extension))
    };
    quoted.filter(is_code).map(str::to_owned).collect()
}

/// `from .module import function`, as the path of the module.
fn of_python(line: &str, functions: &BTreeSet<&str>) -> Option<String> {
    let (module, names) = line.strip_prefix("from ")?.split_once(" import ")?;
    let named = |word: &str| functions.contains(word.split_whitespace().last().unwrap_or_default());
    if !names.trim_matches(['(', ')', ' ']).split(',').any(named) {
        return None;
    }
    let below = module.trim().trim_start_matches('.');
    let dots = module.trim().len() - below.len();
    (dots > 0 && !below.is_empty())
        .then(|| format!("./{}{}", "../".repeat(dots - 1), below.replace('.', "/")))
}
