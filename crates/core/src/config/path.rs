//! Checks paths in the configuration that must stay below its folder: files of the home, and workspaces.

use super::Workspace;
use super::section::Section;
use agentnative_contract::spanned_toml::{Table, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Maximum number of files in a workspace.
const MAX_FILES: usize = 2000;
/// Maximum size of a workspace or home, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Returns whether a path is relative and contains no `..`, so that it stays below its base folder. Does not resolve
/// symbolic links.
pub(super) fn is_below(name: &str) -> bool {
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !name.is_empty() && !name.contains('\0') && Path::new(name).components().all(inside)
}

/// Returns the path of the file or folder `name` in `root`. Reports an error if the path is outside `root` or does not
/// exist; `expected` describes what the configuration should contain instead.
fn path_below(value: &Value<'_>, name: &str, root: &Path, expected: &str) -> Option<PathBuf> {
    if !is_below(name) {
        return value.report(&format!("{name:?} is outside the folder of this file; expected {expected}"));
    }
    let path = root.join(name);
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(real), Ok(root)) if real.starts_with(&root) => Some(path),
        (Err(error), _) => value.report(&format!("cannot read `{name}`: {error}; expected {expected}")),
        _ => value.report(&format!("`{name}` is outside the folder of this file; expected {expected}")),
    }
}

pub(super) fn workspace(value: &Value<'_>, root: &Path) -> Option<Workspace> {
    const EXPECTED: &str =
        "the path of a folder below the folder of this file, or `true` for an empty workspace";
    let Some(name) = value.inner.as_str() else { return Some(Workspace::Empty) };
    let folder = path_below(value, name, root, EXPECTED)?;
    if !folder.is_dir() {
        return value.report(&format!("`{name}` is not a folder; expected {EXPECTED}"));
    }
    match check_copyable(&folder) {
        Ok(()) => Some(Workspace::Copy(folder)),
        Err(reason) => value.report(&format!(
            "`{name}` cannot be copied for each run: {reason}; expected at most 2,000 files and 64 MiB, and no link out of the folder"
        )),
    }
}

/// Checks whether a folder can be copied for each run; if not, the error is the reason.
fn check_copyable(folder: &Path) -> Result<(), String> {
    let relative = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let real = folder.canonicalize().map_err(|error| error.to_string())?;
    let (mut folders, mut files, mut bytes) = (vec![folder.to_owned()], 0, 0);
    while let Some(current) = folders.pop() {
        let unreadable = |error| format!("{} cannot be read: {error}", relative(&current));
        for entry in fs::read_dir(&current).map_err(unreadable)? {
            let (path, metadata) =
                entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))).map_err(unreadable)?;
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            if metadata.is_symlink() && !link_stays_in(&path, folder, &real) {
                return Err(format!("the link {} is broken or points outside the folder", relative(&path)));
            }
            if !metadata.is_symlink() && !metadata.is_file() {
                return Err(format!("{} is neither a file nor a folder", relative(&path)));
            }
            files += 1;
            bytes += metadata.len();
            if files > MAX_FILES {
                return Err("it contains more than 2,000 files".to_owned());
            }
            if bytes > MAX_BYTES {
                return Err("it contains more than 64 MiB".to_owned());
            }
        }
    }
    Ok(())
}

/// Returns whether a copy of `folder` contains a working copy of this symbolic link. The link must be relative, and
/// neither its components nor its canonical path may leave the folder. `real` is the canonical path of `folder`.
fn link_stays_in(link: &Path, folder: &Path, real: &Path) -> bool {
    let (Ok(target), Ok(canonical)) = (fs::read_link(link), link.canonicalize()) else { return false };
    let parent = link.parent().and_then(|parent| parent.strip_prefix(folder).ok());
    let mut depth = parent.map_or(0, |below| below.components().count());
    for part in target.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    canonical.starts_with(real)
}

/// Parses the table `home` of a target. Returns a map from the path in the home folder of a run to the file that is
/// copied there.
pub(super) fn home(target: &Section<'_>, root: &Path) -> Option<BTreeMap<String, PathBuf>> {
    const FILE: &str = "the path of a file below the folder of this file";
    let value = Table::get(target, "home")?;
    let entries = value.inner.as_table()?;
    let mut home = BTreeMap::new();
    let mut bytes = 0;
    for key in entries.keys() {
        let name: &str = key.get_ref();
        let home_path: PathBuf =
            Path::new(name).components().filter(|part| *part != Component::CurDir).collect();
        let nested = |other: &String| {
            let other = Path::new(other);
            other.starts_with(&home_path) || home_path.starts_with(other)
        };
        if !is_below(name) || home_path.as_os_str().is_empty() {
            let message = format!(
                "{name:?} is not a file path in the home folder; expected a relative path without `..`"
            );
            value.diagnostics.add(&key.span(), message);
            continue;
        }
        if let Some(other) = home.keys().find(|other| nested(other)) {
            let message = format!("{name:?} and {other:?} cannot both be files; expected one of them");
            value.diagnostics.add(&key.span(), message);
        }
        let file = value.child(name);
        let Some(path) = file.inner.as_str().and_then(|text| path_below(&file, text, root, FILE)) else {
            continue;
        };
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => {
                bytes += metadata.len();
                home.insert(home_path.to_string_lossy().into_owned(), path);
            }
            _ => drop(file.report::<()>(&format!("{} is not a file; expected {FILE}", path.display()))),
        }
    }
    if bytes > MAX_BYTES {
        return value.report("the files of `home` exceed 64 MiB");
    }
    Some(home)
}
