//! Paths that the file names and that may not lead out of its folder: files of the home, workspaces.

use super::Workspace;
use super::section::Section;
use agentnative_contract::spanned_toml::{Table, Value};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A workspace holds no more files.
const MOST_FILES: usize = 2000;
/// Nor more bytes; a home neither.
const MOST_BYTES: u64 = 64 << 20;

/// Whether a path names something below the folder that it is relative to, links aside.
pub(super) fn is_below(name: &str) -> bool {
    let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !name.is_empty() && !name.contains('\0') && Path::new(name).components().all(inside)
}

/// What `name` names below `root`; notes a fault where it leads elsewhere, or nothing is there.
fn below(value: &Value<'_>, name: &str, root: &Path, expected: &str) -> Option<PathBuf> {
    if !is_below(name) {
        return value.fault(&format!("{name:?} is not below this file; expected {expected}"));
    }
    let path = root.join(name);
    match (path.canonicalize(), root.canonicalize()) {
        (Ok(real), Ok(root)) if real.starts_with(&root) => Some(path),
        (Err(error), _) => value.fault(&format!("cannot read `{name}`: {error}; expected {expected}")),
        _ => value.fault(&format!("`{name}` is outside the folder of this file; expected {expected}")),
    }
}

/// `workspace` of a probe.
pub(super) fn workspace(value: &Value<'_>, root: &Path) -> Option<Workspace> {
    const EXPECTED: &str = "the path of a folder below this file, or `true` for an empty one";
    let Some(name) = value.inner.as_str() else { return Some(Workspace::Empty) };
    let folder = below(value, name, root, EXPECTED)?;
    if !folder.is_dir() {
        return value.fault(&format!("`{name}` is not a folder; expected {EXPECTED}"));
    }
    match copyable(&folder) {
        Ok(()) => Some(Workspace::Copy(folder)),
        Err(why) => value.fault(&format!(
            "`{name}` cannot be copied for each run: {why}; expected at most 2,000 files and 64 MiB, and no \
             link to a place outside the folder"
        )),
    }
}

/// Whether a folder can be copied for each run; else why not.
fn copyable(folder: &Path) -> Result<(), String> {
    let shown = |path: &Path| path.strip_prefix(folder).unwrap_or(path).display().to_string();
    let real = folder.canonicalize().map_err(|error| error.to_string())?;
    let (mut folders, mut files, mut bytes) = (vec![folder.to_owned()], 0, 0);
    while let Some(here) = folders.pop() {
        let unreadable = |error| format!("{} cannot be read: {error}", shown(&here));
        for entry in fs::read_dir(&here).map_err(unreadable)? {
            let (path, metadata) =
                entry.and_then(|entry| Ok((entry.path(), entry.metadata()?))).map_err(unreadable)?;
            if metadata.is_dir() {
                folders.push(path);
                continue;
            }
            if metadata.is_symlink() && !stays_in(&path, folder, &real) {
                return Err(format!("the link {} is broken or points outside the folder", shown(&path)));
            }
            if !metadata.is_symlink() && !metadata.is_file() {
                return Err(format!("{} is neither a file nor a folder", shown(&path)));
            }
            files += 1;
            bytes += metadata.len();
            if files > MOST_FILES {
                return Err("it contains more than 2,000 files".to_owned());
            }
            if bytes > MOST_BYTES {
                return Err("it contains more than 64 MiB".to_owned());
            }
        }
    }
    Ok(())
}

/// Whether a copy of the link leads to the copy of what it leads to now: it is relative, and leads to
/// something in the folder, by its words and in fact.
fn stays_in(link: &Path, folder: &Path, real: &Path) -> bool {
    let (Ok(target), Ok(found)) = (fs::read_link(link), link.canonicalize()) else { return false };
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
    found.starts_with(real)
}

/// Returns `home` of a target: what each path in the home is a copy of.
pub(super) fn home(target: &Section<'_>, root: &Path) -> Option<BTreeMap<String, PathBuf>> {
    const FILE: &str = "the path of a file below this one";
    let value = Table::get(target, "home")?;
    let entries = value.inner.as_table()?;
    let mut home = BTreeMap::new();
    let mut bytes = 0;
    for key in entries.keys() {
        let name: &str = key.get_ref();
        let place: PathBuf = Path::new(name).components().filter(|part| *part != Component::CurDir).collect();
        let nested = |other: &String| {
            let other = Path::new(other);
            other.starts_with(&place) || place.starts_with(other)
        };
        if !is_below(name) || place.as_os_str().is_empty() {
            let message = format!(
                "{name:?} is not a file path in the home folder; expected a relative path without `..`"
            );
            value.faults.add(&key.span(), message);
            continue;
        }
        if let Some(other) = home.keys().find(|other| nested(other)) {
            let message = format!("{name:?} and {other:?} cannot both be files; expected one of them");
            value.faults.add(&key.span(), message);
        }
        let file = value.child(name);
        let Some(path) = file.inner.as_str().and_then(|text| below(&file, text, root, FILE)) else {
            continue;
        };
        match path.metadata() {
            Ok(metadata) if metadata.is_file() => {
                bytes += metadata.len();
                home.insert(place.to_string_lossy().into_owned(), path);
            }
            _ => drop(file.fault::<()>(&format!("{} is not a file; expected {FILE}", path.display()))),
        }
    }
    if bytes > MOST_BYTES {
        return value.fault("the files of `home` exceed 64 MiB");
    }
    Some(home)
}
