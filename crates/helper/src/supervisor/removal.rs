//! Removes the folders of runs: whatever a target has made in them, and those whose owner was killed.

use super::dir::Dir;
use rustix::fs::{FlockOperation, Mode, flock, fstat};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

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

/// Marks a folder as owned by this process, until the file is closed.
pub(super) fn own(folder: &Dir) -> io::Result<File> {
    let file = folder.create(OWNER, Mode::RUSR | Mode::WUSR)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Removes what earlier owners left behind that are gone.
pub(super) fn sweep(temporary: &Path) {
    let deadline = Instant::now() + SWEEP;
    let Ok(temporary) = Dir::open(temporary) else { return };
    for entry in temporary.entries().into_iter().flatten().flatten() {
        let name = entry.os_name();
        if entry.is_folder && is_ours(&temporary, name) && is_abandoned(&temporary, name) {
            remove_until(&temporary, name, deadline);
        }
    }
}

/// Whether an entry of `parent` is a folder of runs of this user, by its name and its owner.
pub(super) fn is_ours(parent: &Dir, name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(PREFIX.as_bytes())
        && parent.stat(name).is_ok_and(|found| found.st_uid == rustix::process::geteuid().as_raw())
}

/// Whether a folder is one of ours that nobody owns any more.
fn is_abandoned(parent: &Dir, name: &OsStr) -> bool {
    let Ok(folder) = parent.folder(name) else { return false };
    let Ok(found) = fstat(&folder) else { return false };
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(found.st_mtime).unwrap_or(0));
    let settled = modified.elapsed().is_ok_and(|age| age > SETTLED);
    settled
        && found.st_uid == rustix::process::geteuid().as_raw()
        && folder
            .read(OWNER)
            .is_ok_and(|owner| flock(&owner, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Removes an entry of `parent` with all that is in it, also what its owner may not read. Returns whether it is gone: what
/// cannot be removed stays.
pub(super) fn remove(parent: &Dir, name: &OsStr) -> bool {
    remove_until(parent, name, Instant::now() + LONGEST);
    parent.stat(name).is_err()
}

/// Folders are moved up before they are emptied: neither memory nor descriptors grow with the depth.
fn remove_until(parent: &Dir, name: &OsStr, deadline: Instant) {
    let Ok(top) = parent.folder_with_all_rights(name) else {
        // It may be a link or a file by now.
        parent.remove_file(name).unwrap_or_default();
        return;
    };
    let mut moved = 0;
    let mut pending: Vec<CString> = Vec::new();
    let mut is_over = || Instant::now() >= deadline;
    if empty(&top, &mut is_over, &mut |name| pending.push(name.to_owned())) {
        while let Some(name) = pending.pop() {
            let Ok(folder) = top.folder_with_all_rights(&name) else { continue };
            let mut up = |name: &CString| pending.extend(move_up(&folder, name, &top, &mut moved));
            if !empty(&folder, &mut is_over, &mut up) {
                return;
            }
            top.remove_folder(&name).unwrap_or_default();
        }
    }
    parent.remove_folder(name).unwrap_or_default();
}

/// Removes what is in a folder but for the folders that are not empty, whose names `left` gets. Returns whether there was
/// time for all.
fn empty(folder: &Dir, is_over: &mut dyn FnMut() -> bool, left: &mut dyn FnMut(&CString)) -> bool {
    for entry in folder.entries().into_iter().flatten().flatten() {
        if is_over() {
            return false;
        }
        if !entry.is_folder {
            folder.remove_file(&entry.name).unwrap_or_default();
        } else if folder.remove_folder(&entry.name).is_err() {
            left(&entry.name);
        }
    }
    true
}

/// Moves a folder right into `top`, and returns its name there.
fn move_up(parent: &Dir, name: &CString, top: &Dir, moved: &mut u64) -> Option<CString> {
    // Its entry `..` changes with it.
    parent.folder_with_all_rights(name).ok()?;
    loop {
        let place = CString::new(moved.to_string()).ok()?;
        *moved += 1;
        match parent.move_to(name, top, &place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            moved => return moved.ok().map(|()| place),
        }
    }
}
