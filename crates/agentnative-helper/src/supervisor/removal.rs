//! Removes the folders of runs: whatever a target has made in them, and those whose owner was killed.

use super::folder::open_itself;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the names of the folders begin that the folders of runs are in.
pub(super) const PREFIX: &str = "agentnative-";
/// The file in such a folder that its owner holds locked.
const OWNER: &str = ".agentnative-owner";
/// What cannot be removed in this time stays.
const LONGEST: Duration = Duration::from_secs(20);
/// Longest time for what others have left: a run is waiting.
const SWEEP: Duration = Duration::from_secs(2);
/// A folder that changed more recently may be one whose owner has not locked it yet.
const SETTLED: Duration = Duration::from_secs(60);

/// Says that this process owns a folder, until the file is closed.
pub(super) fn own(folder: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create_new(true).mode(0o600).open(folder.join(OWNER))?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Removes what earlier owners left behind that are gone.
pub(super) fn sweep(temporary: &Path) {
    let deadline = Instant::now() + SWEEP;
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        if entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) && is_abandoned(&entry.path())
        {
            remove_until(&entry.path(), deadline);
        }
    }
}

/// Whether a folder is one of ours that nobody owns any more.
fn is_abandoned(folder: &Path) -> bool {
    let Ok(found) = folder.symlink_metadata() else { return false };
    let settled = found.modified().is_ok_and(|at| at.elapsed().is_ok_and(|age| age > SETTLED));
    if !found.is_dir() || !settled || found.uid() != rustix::process::geteuid().as_raw() {
        return false;
    }
    open_itself(&folder.join(OWNER))
        .is_ok_and(|owner| flock(&owner, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Removes a folder with all that is in it, also what its owner may not read. What cannot be removed stays; gives
/// whether nothing did.
pub(super) fn remove(path: &Path) -> bool {
    remove_until(path, Instant::now() + LONGEST);
    path.symlink_metadata().is_err()
}

/// Folders are moved up before they are emptied: so no path gets long, whatever the depth, and neither memory nor
/// descriptors grow with it.
fn remove_until(path: &Path, deadline: Instant) {
    let mut moved = 0_u64;
    let mut pending = vec![path.to_path_buf()];
    while let Some(folder) = pending.pop() {
        open_up(&folder);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if Instant::now() >= deadline {
                return;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder {
                fs::remove_file(entry.path()).unwrap_or_default();
            } else if fs::remove_dir(entry.path()).is_err() {
                pending.extend(move_up(entry.path(), path, &mut moved));
            }
        }
        if folder != path {
            fs::remove_dir(&folder).unwrap_or_default();
        }
    }
    fs::remove_dir(path).unwrap_or_default();
}

/// Moves a folder right into `top`, if it is not there already, under a name that is free.
fn move_up(folder: PathBuf, top: &Path, moved: &mut u64) -> Option<PathBuf> {
    if folder.parent() == Some(top) {
        return Some(folder);
    }
    // Its entry `..` changes with it.
    open_up(&folder);
    loop {
        let place = top.join(moved.to_string());
        *moved += 1;
        if place.symlink_metadata().is_err() {
            return fs::rename(&folder, &place).is_ok().then_some(place);
        }
    }
}

/// Gives the owner all rights on a folder.
fn open_up(folder: &Path) {
    // Not through a link that is in its place.
    if folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap_or_default();
    }
}
