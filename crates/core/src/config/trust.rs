//! Decides which configurations and manifests are trusted. They name code that is executed, so another user must not be
//! able to place them in a folder above the target.

use crate::files::{MAX_TEXT_BYTES, read};
use agentnative_contract::error::{Error, ErrorKind, Result};
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Returns the folder `start`, or the folder of the file `start`, and the folders above it, the innermost first. The
/// last one is the root of the repository, which contains `.git`, or else the root of the file system.
pub fn ancestors_in_repository(start: &Path) -> Vec<PathBuf> {
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

/// Returns the folders in which a search from `start` upwards looks for files. They are the
/// [`ancestors_in_repository`], up to and including the first one that other users may write to.
pub fn searched_folders(start: &Path) -> Vec<PathBuf> {
    let mut folders = ancestors_in_repository(start);
    let is_shared = |folder: &PathBuf| {
        folder.metadata().is_ok_and(|metadata| describe_other_writers(&metadata).is_some())
    };
    if let Some(last) = folders.iter().position(is_shared) {
        folders.truncate(last + 1);
    }
    folders
}

/// Rejects a file if another user may have written it. `start` is the folder from which the search found the file. The
/// file and its folder must belong to this user, to root, or to the owner of `start` if root searches; and no other
/// user may have the permission to write to them.
///
/// # Errors
/// Of kind `Config` for such a file, with its owner or writers. If its metadata cannot be read, of kind `Auth` without
/// the permission for it and else `Config`.
pub fn check_owner(file: &Path, start: &Path) -> Result<()> {
    let read_metadata =
        |path: &Path| path.metadata().map_err(|error| Error::io(ErrorKind::Config, "read", path, &error));
    let in_folder = |path: &Path| if path.as_os_str().is_empty() { Path::new(".") } else { path }.to_owned();
    let (folder, start) = (in_folder(file.parent().unwrap_or(file)), in_folder(start));
    let user = rustix::process::geteuid().as_raw();
    let mut trusted = vec![0, user];
    if user == 0 {
        trusted.push(read_metadata(&start)?.uid());
    }
    for (path, subject) in [(file, "it".to_owned()), (&folder, format!("its folder {}", folder.display()))] {
        let metadata = read_metadata(path)?;
        let reason = match describe_other_writers(&metadata) {
            _ if !trusted.contains(&metadata.uid()) => {
                format!("{subject} belongs to {}", user_name(metadata.uid()))
            }
            // Reading rejects a file that is not regular.
            _ if !metadata.is_dir() && !metadata.is_file() => continue,
            Some(writers) => format!("{writers} can write to {subject}"),
            None => continue,
        };
        return Err(Error::config(format!("{} is not trusted: {reason}", file.display())));
    }
    Ok(())
}

/// Describes who except the owner may write to a file or folder: all users, or a group with other members. `None` if
/// only the owner may write.
fn describe_other_writers(metadata: &Metadata) -> Option<String> {
    match metadata.mode() {
        mode if mode & 0o002 != 0 => Some("all users".to_owned()),
        mode if mode & 0o020 != 0 && !is_private_group(metadata.gid(), metadata.uid()) => {
            Some(format!("the group {}", with_name(GROUPS, metadata.gid())))
        }
        _ => None,
    }
}

/// The database of users, with lines `name:x:uid:gid:…`.
const USERS: &str = "/etc/passwd";
/// The database of groups, with lines `name:x:gid:member,…`.
const GROUPS: &str = "/etc/group";

/// Returns whether a group is the primary group of `owner` and has no other members. If `/etc/passwd` does not list the
/// owner, the primary group is the one with the same number.
fn is_private_group(group: u32, owner: u32) -> bool {
    let users = read_rows(USERS);
    let number = |row: &[String], column: usize| row.get(column).and_then(|field| field.parse::<u32>().ok());
    let (owner_rows, other_rows): (Vec<_>, Vec<_>) =
        users.iter().partition(|row| number(row, 2) == Some(owner));
    let is_primary = match owner_rows.first() {
        Some(row) => number(row, 3) == Some(group),
        None => group == owner,
    };
    let is_owner = |name: &str| owner_rows.iter().any(|row| row[0] == name);
    let has_others = read_rows(GROUPS).iter().filter(|row| number(row, 2) == Some(group)).any(|row| {
        row.get(3).is_some_and(|members| members.split(',').any(|name| !name.is_empty() && !is_owner(name)))
    });
    is_primary && !has_others && !other_rows.iter().any(|row| number(row, 3) == Some(group))
}

fn user_name(user: u32) -> String {
    format!("the user {}", with_name(USERS, user))
}

/// Returns the name and the number of a user or group; only the number if `file` does not list it.
fn with_name(file: &str, number: u32) -> String {
    let number = number.to_string();
    match read_rows(file).into_iter().find(|row| row.get(2) == Some(&number)) {
        Some(row) => format!("{} ({number})", row[0]),
        None => number,
    }
}

/// Returns the rows of a file such as `/etc/passwd`, split at colons; no rows if the file cannot be read.
fn read_rows(file: &str) -> Vec<Vec<String>> {
    let bytes = read(Path::new(file), MAX_TEXT_BYTES).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    text.lines().map(|line| line.split(':').map(str::to_owned).collect()).collect()
}
