//! The pages about the skeletons of `agentnative init --skeleton`: their files.

use super::markdown::fence;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the skeletons, with a folder for each, in the repository.
const FOLDER: &str = "examples/skeletons";
/// The page that links to each skeleton.
pub(super) const GUIDE: &str = "build-a-cli.md";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FOLDER)
}

/// Returns the files below a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let failed = |error| format!("{}: {error}", folder.display());
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.is_dir() { all.extend(files(&path)?) } else { all.push(path) }
    }
    all.sort();
    Ok(all)
}

/// Returns the names of the skeletons and their pages. The files that all skeletons have are on the page `common`.
pub(super) fn pages() -> Result<Vec<(String, String)>, String> {
    let mut pages = Vec::new();
    let mut folders: Vec<PathBuf> = fs::read_dir(folder())
        .map_err(|error| format!("{FOLDER}: {error}"))?
        .filter_map(|entry| Some(entry.ok()?.path()).filter(|path| path.is_dir()))
        .collect();
    folders.sort();
    for folder in folders {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut page = match name.as_str() {
            "common" => "# common\n\nThe files that each skeleton has, unless it has one of the same name.\n"
                .to_owned(),
            _ => format!(
                "# {name}\n\n`agentnative init --skeleton {name} DIR` writes these files, and those of [common](common.md). The [guide](../{GUIDE}) describes what they implement.\n"
            ),
        };
        for path in files(&folder)? {
            let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let shown =
                path.strip_prefix(&folder).unwrap_or(&path).to_string_lossy().replace(".template.", ".");
            let language = match path.extension().and_then(|extension| extension.to_str()) {
                Some("rs") => "rust,ignore,noplayground",
                Some("py") => "python",
                Some("js") => "javascript",
                Some("mod" | "tsv") => "text",
                Some("md") => "markdown",
                Some(extension) => extension,
                None => "bash",
            };
            _ = write!(page, "\n## `{shown}`\n{}", fence(language, &text));
        }
        pages.push((name, page));
    }
    Ok(pages)
}

/// Replaces the folders of the skeletons in the guide by links to their pages.
pub(super) fn with_links(guide: &str, names: impl Iterator<Item = String>) -> String {
    names.fold(guide.to_owned(), |text, name| {
        text.replace(&format!("`{FOLDER}/{name}`"), &format!("[files](skeletons/{name}.md)"))
    })
}
