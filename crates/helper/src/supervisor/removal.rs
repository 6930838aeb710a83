//! Removes the folders of runs, whatever a target put into them, and the folders of helpers that were killed.

use super::dir::Dir;
use rustix::fs::{FlockOperation, Mode, flock, fstat};
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// Prefix of the name of a helper's temporary folder, which contains the folders of all its runs.
pub(super) const FOLDER_PREFIX: &str = "agentnative-";
/// Name of the file in a helper's temporary folder that the helper keeps locked.
const LOCK_FILE: &str = ".agentnative-owner";
/// Maximum duration of the removal of a folder. Entries that are left after this time stay.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(20);
/// Maximum duration of the removal of the folders of ended helpers. It is short, since a run waits meanwhile.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(2);
/// Minimum age of a folder that can be considered abandoned. The owner of a newer folder may not have locked it yet.
const MIN_AGE: Duration = Duration::from_secs(60);

/// Marks a helper's temporary folder as owned by this process, until the returned file is closed.
pub(super) fn lock_folder(folder: &Dir) -> io::Result<File> {
    let file = folder.create(LOCK_FILE, Mode::RUSR | Mode::WUSR)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Removes the folders of helpers that have ended from `temporary`, the folder for temporary files.
pub(super) fn remove_abandoned_folders(temporary: &Path) {
    let deadline = Instant::now() + SWEEP_TIMEOUT;
    let Ok(temporary) = Dir::open(temporary) else { return };
    for entry in temporary.entries().into_iter().flatten().flatten() {
        let name = entry.os_name();
        if entry.is_folder && is_runs_folder(&temporary, name) && is_abandoned(&temporary, name) {
            remove_until(&temporary, name, deadline);
        }
    }
}

/// Whether an entry of `parent` is the temporary folder of a helper of this user, judged by its name and its owner.
pub(super) fn is_runs_folder(parent: &Dir, name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes())
        && parent.stat(name).is_ok_and(|found| found.st_uid == rustix::process::geteuid().as_raw())
}

/// Whether a folder is the temporary folder of a helper that has ended. False for a very new folder.
fn is_abandoned(parent: &Dir, name: &OsStr) -> bool {
    let Ok(folder) = parent.open_folder(name) else { return false };
    let Ok(found) = fstat(&folder) else { return false };
    let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(found.st_mtime).unwrap_or(0));
    let is_old = modified.elapsed().is_ok_and(|age| age > MIN_AGE);
    is_old
        && found.st_uid == rustix::process::geteuid().as_raw()
        && folder
            .open_file(LOCK_FILE)
            .is_ok_and(|owner| flock(&owner, FlockOperation::NonBlockingLockExclusive).is_ok())
}

/// Removes the entry `name` of `parent` and its contents, even if their owner may not read them. Returns whether the
/// entry is gone: what cannot be removed stays.
pub(super) fn remove(parent: &Dir, name: &OsStr) -> bool {
    remove_until(parent, name, Instant::now() + REMOVAL_TIMEOUT);
    parent.stat(name).is_err()
}

/// Removes an entry and its contents until the deadline. Moves each nested folder up before emptying it, so that
/// neither memory nor descriptors grow with the depth.
fn remove_until(parent: &Dir, name: &OsStr, deadline: Instant) {
    let Ok(top) = parent.grant_and_open_folder(name) else {
        // A run may have replaced it by a link or a file.
        parent.remove_file(name).unwrap_or_default();
        return;
    };
    let mut moved = 0;
    let mut pending: Vec<CString> = Vec::new();
    let mut is_over = || Instant::now() >= deadline;
    if remove_contents(&top, &mut is_over, &mut |name| pending.push(name.to_owned())) {
        while let Some(name) = pending.pop() {
            let Ok(folder) = top.grant_and_open_folder(&name) else { continue };
            let mut up = |name: &CString| pending.extend(move_up(&folder, name, &top, &mut moved));
            if !remove_contents(&folder, &mut is_over, &mut up) {
                return;
            }
            top.remove_folder(&name).unwrap_or_default();
        }
    }
    parent.remove_folder(name).unwrap_or_default();
}

/// Removes the files and the empty subfolders of a folder. Calls `left` with the names of the other subfolders. Returns
/// false if the time is over.
fn remove_contents(folder: &Dir, is_over: &mut dyn FnMut() -> bool, left: &mut dyn FnMut(&CString)) -> bool {
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

/// Moves the subfolder `name` of `parent` directly into `top`, and returns its new name: a number that is counted in
/// `moved`.
fn move_up(parent: &Dir, name: &CString, top: &Dir, moved: &mut u64) -> Option<CString> {
    // Moving changes its entry `..`, so it has to be writable.
    parent.grant_and_open_folder(name).ok()?;
    loop {
        let place = CString::new(moved.to_string()).ok()?;
        *moved += 1;
        match parent.move_to(name, top, &place) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            moved => return moved.ok().map(|()| place),
        }
    }
}
