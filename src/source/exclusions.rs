//! What is looked at of a folder: not other people's code, not what is beside the program, no large files.

use crate::manifest::workspace_root;
use ignore::WalkBuilder;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use strict_json::sanitize;

/// Folders that hold no code of the project: never entered.
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

/// Folders whose code is not the program's: tests, examples, documentation, helpers of its authors.
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

/// A matcher of patterns as in a `.gitignore` in `root`.
pub(super) fn patterns(root: &Path, lines: &[&str]) -> Gitignore {
    let mut builder = GitignoreBuilder::new(root);
    for line in lines {
        // Some come from manifests: a path that is no pattern matches nothing.
        let _ = builder.add_line(None, line);
    }
    builder.build().unwrap_or_else(|_| Gitignore::empty())
}

/// A walk in `root` that follows no links and leaves out what version control ignores there.
pub(super) fn walker(root: &Path) -> WalkBuilder {
    let mut walker = WalkBuilder::new(root);
    walker.follow_links(false).require_git(false).git_global(false).git_exclude(false).ignore(false);
    walker
}

/// The path from one folder to another or a file, for people; none where they have no folder in common.
pub(super) fn relative(from: &Path, to: &Path) -> Option<String> {
    let up = from.ancestors().position(|above| to.starts_with(above))?;
    let below = to.strip_prefix(from.ancestors().nth(up)?).ok()?.as_os_str().as_bytes();
    Some(format!("{}{}", "../".repeat(up), sanitize::lossless(below)))
}

/// A file or folder as [`Span::file`](super::Span::file) names it; none where it is neither in the package
/// nor in its workspace.
pub fn name_in(package: &Path, path: &Path) -> Option<String> {
    let known = path.starts_with(package) || path.canonicalize().ok()?.starts_with(workspace_root(package)?);
    if known { relative(package, path) } else { None }
}

/// The bytes of a file that is not larger than `limit`; `Err` with its size when it is.
pub(super) fn read_up_to(path: &Path, limit: u64) -> std::io::Result<Result<Vec<u8>, u64>> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    if size > limit {
        return Ok(Err(size));
    }
    // It may grow while it is read.
    bytes.reserve(usize::try_from(size).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > limit { Err(fs::metadata(path)?.len()) } else { Ok(bytes) })
}
