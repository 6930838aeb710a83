//! Exclusions of the file walk: foreign code, files that are not part of the program, ignored files.

use agentnative_core::files::{MAX_TEXT_BYTES, read};
use agentnative_core::manifest::workspace_root;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::{DirEntry, Match, WalkBuilder};
use std::collections::HashMap;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use strict_json::sanitize;

/// Patterns of folders without code of the project, such as dependencies and build output. They are never entered.
pub(super) const VENDORED: &[&str] = &[
    "node_modules/",
    "bower_components/",
    "site-packages/",
    "__pycache__/",
    "__pypackages__/",
    "vendor/",
    "_vendor/",
    "vendored/",
    "third_party/",
    "third-party/",
    "/target/",
    "/dist/",
    "/build/",
    "/out/",
    "/coverage/",
    "/htmlcov/",
    "/venv/",
    "/env/",
];

/// Patterns of folders whose code is not part of the program: tests, examples, documentation, development tools.
pub(super) const NON_PRODUCT: &[&str] = &[
    "tests/",
    "test/",
    "!cmd/test/",
    "!cmds/test/",
    "!commands/test/",
    "!subcommands/test/",
    "__tests__/",
    "__mocks__/",
    "__fixtures__/",
    "*_test/",
    "*_tests/",
    "testdata/",
    "testutil/",
    "testutils/",
    "mock/",
    "mocks/",
    "*mock/",
    "fixtures/",
    "benches/",
    "benchmarks/",
    "examples/",
    "/bench/",
    "/benchmark/",
    "/example/",
    "/demo/",
    "/demos/",
    "/docs/",
    "/doc/",
    "/website/",
    "/site/",
    "/scripts/",
    "/script/",
    "/tools/",
    "/dev/",
    "/devtools/",
    "/hack/",
    "/ci/",
    "/e2e/",
    "/spec/",
    "/specs/",
    "/fuzz/",
    "/xtask/",
    "/contrib/",
    "/integration/",
];

/// Compiles `lines` as patterns, like those of a `.gitignore` file in the folder `root`.
pub(super) fn patterns(root: &Path, lines: &[&str]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    for line in lines {
        // Some come from manifests: a path that is not a valid pattern matches nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// Creates a walk in `root` that follows no links, and omits hidden files, files that version control ignores, and
/// entries that `enter` rejects.
pub(super) fn walker(root: &Path, enter: impl Fn(&DirEntry) -> bool + Send + Sync + 'static) -> WalkBuilder {
    let mut walker = WalkBuilder::new(root);
    let ignored = GitignoreTree::new(root);
    walker.follow_links(false).standard_filters(false).hidden(true);
    walker.filter_entry(move |entry| enter(entry) && (entry.depth() == 0 || !ignored.contains(entry)));
    walker
}

/// The patterns of the `.gitignore` files in and above a folder. A file that is not regular or is too large excludes
/// nothing.
struct GitignoreTree {
    /// The root folder of the walk, first as given, then as an absolute path.
    root: (PathBuf, PathBuf),
    /// For each folder: its patterns, and true if the folder is the root of a repository.
    folders: Mutex<HashMap<PathBuf, Arc<(Gitignore, bool)>>>,
}

impl GitignoreTree {
    fn new(root: &Path) -> Self {
        let absolute = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        Self { root: (root.to_owned(), absolute), folders: Mutex::default() }
    }

    fn contains(&self, entry: &DirEntry) -> bool {
        let (root, absolute) = &self.root;
        let path = absolute.join(entry.path().strip_prefix(root).unwrap_or(entry.path()));
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        for folder in path.ancestors().skip(1) {
            let patterns = self.patterns(folder);
            let (gitignore, is_repository) = &*patterns;
            match gitignore.matched(&path, is_folder) {
                Match::None if !is_repository => {}
                decided => return decided.is_ignore(),
            }
        }
        false
    }

    fn patterns(&self, folder: &Path) -> Arc<(Gitignore, bool)> {
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = folders.get(folder) {
            return Arc::clone(known);
        }
        let bytes = read(&folder.join(".gitignore"), MAX_TEXT_BYTES).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
        let found = Arc::new((patterns(folder, &lines), folder.join(".git").exists()));
        folders.insert(folder.to_owned(), Arc::clone(&found));
        found
    }
}

/// Returns the relative path from a folder to a file or another folder, such as `../core/lib.rs`, for messages. `None`
/// if they have no common parent.
pub(super) fn relative_path(from: &Path, to: &Path) -> Option<String> {
    let up = from.ancestors().position(|above| to.starts_with(above))?;
    let below = to.strip_prefix(from.ancestors().nth(up)?).ok()?.as_os_str().as_bytes();
    Some(format!("{}{}", "../".repeat(up), sanitize::lossless(below)))
}

/// Returns the path of a file or folder relative to the package, as in
/// [`CodeSpan::file`](agentnative_core::facts::CodeSpan::file). `None` if it is outside of the package and outside of its
/// workspace.
pub fn name_in(package: &Path, path: &Path) -> Option<String> {
    let known = path.starts_with(package) || path.canonicalize().ok()?.starts_with(workspace_root(package)?);
    if known { relative_path(package, path) } else { None }
}
