//! Whose configurations and manifests count: they are code that is executed, so another user must not place them in a
//! folder above the target.

use crate::files::{MAX_TEXT, read};
use agentnative_contract::error::{Error, ErrorKind, Result};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// `start` (its folder, if it is a file) and the folders above it, up to and with the root of the
/// repository: the first that holds a `.git`. Without one, up to the root of the file system.
pub fn folders_above(start: &Path) -> Vec<PathBuf> {
    let absolute = std::path::absolute(start).unwrap_or_else(|_| start.to_owned());
    let mut folders = Vec::new();
    for folder in absolute.ancestors().skip(usize::from(!absolute.is_dir())) {
        folders.push(folder.to_owned());
        if folder.join(".git").exists() {
            break;
        }
    }
    folders
}

/// The folders that a search from `start` upwards looks into: [`folders_above`], up to and with the first that others
/// may write to.
pub fn searched_folders(start: &Path) -> Vec<PathBuf> {
    let mut folders = folders_above(start);
    let is_open = |folder: &PathBuf| folder.metadata().is_ok_and(|found| writers(&found).is_some());
    if let Some(last) = folders.iter().position(is_open) {
        folders.truncate(last + 1);
    }
    folders
}

/// Refuses a file that a search from the folder `start` found, if another user can have written it. It and its folder
/// belong to this user or to root, or, where root searches, to the owner of `start`; and nobody else may write to
/// them.
///
/// # Errors
/// Of kind `Config`, with the owner; permission, when the owner cannot be told.
pub fn check_owner(file: &Path, start: &Path) -> Result<()> {
    let metadata =
        |path: &Path| path.metadata().map_err(|error| Error::io(ErrorKind::Config, "read", path, &error));
    let in_folder = |path: &Path| if path.as_os_str().is_empty() { Path::new(".") } else { path }.to_owned();
    let (folder, start) = (in_folder(file.parent().unwrap_or(file)), in_folder(start));
    let user = rustix::process::geteuid().as_raw();
    let mut trusted = vec![0, user];
    if user == 0 {
        trusted.push(metadata(&start)?.uid());
    }
    for (path, it) in [(file, "it".to_owned()), (&folder, format!("its folder {}", folder.display()))] {
        let found = metadata(path)?;
        let why = match writers(&found) {
            _ if !trusted.contains(&found.uid()) => format!("{it} belongs to {}", named_user(found.uid())),
            // What is no regular file is refused when it is read.
            _ if !found.is_dir() && !found.is_file() => continue,
            Some(writers) => format!("{writers} may write to {it}"),
            None => continue,
        };
        return Err(Error::config(format!("{} is not used: {why}", file.display())));
    }
    Ok(())
}

/// Who may write to a file or folder beside its owner: everybody, or a group that is not the owner's alone.
fn writers(found: &Metadata) -> Option<String> {
    match found.mode() {
        mode if mode & 0o002 != 0 => Some("everybody".to_owned()),
        mode if mode & 0o020 != 0 && !is_private(found.gid(), found.uid()) => {
            Some(format!("the group {}", named(GROUPS, found.gid())))
        }
        _ => None,
    }
}

/// Users as `name:x:uid:gid:…` and groups as `name:x:gid:member,…`.
const USERS: &str = "/etc/passwd";
const GROUPS: &str = "/etc/group";

/// Whether a group is the primary one of its owner, and of nobody else. A user that is not listed has the group of its
/// own number.
fn is_private(group: u32, owner: u32) -> bool {
    let users = table(USERS);
    let number = |row: &[String], at: usize| row.get(at).and_then(|field| field.parse::<u32>().ok());
    let (own, others): (Vec<_>, Vec<_>) = users.iter().partition(|row| number(row, 2) == Some(owner));
    let is_primary = match own.first() {
        Some(row) => number(row, 3) == Some(group),
        None => group == owner,
    };
    let is_own = |name: &str| own.iter().any(|row| row[0] == name);
    let has_others = table(GROUPS).iter().filter(|row| number(row, 2) == Some(group)).any(|row| {
        row.get(3).is_some_and(|members| members.split(',').any(|name| !name.is_empty() && !is_own(name)))
    });
    is_primary && !has_others && !others.iter().any(|row| number(row, 3) == Some(group))
}

fn named_user(user: u32) -> String {
    format!("the user {}", named(USERS, user))
}

/// A number with its name, where the table has one.
fn named(file: &str, number: u32) -> String {
    let number = number.to_string();
    match table(file).into_iter().find(|row| row.get(2) == Some(&number)) {
        Some(row) => format!("{} ({number})", row[0]),
        None => number,
    }
}

/// The rows of a table of the system; none where it cannot be read.
fn table(file: &str) -> Vec<Vec<String>> {
    let bytes = read(Path::new(file), MAX_TEXT).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(|line| line.split(':').map(str::to_owned).collect()).collect()
}
