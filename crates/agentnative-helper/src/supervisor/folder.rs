//! The fresh folder of one run: its home, its runtime folder, its temporary files.

use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The parent of the folders of all runs, for this user only; removed at the end.
#[derive(Debug)]
pub(super) struct Root {
    dir: tempfile::TempDir,
    next: AtomicU32,
}

impl Root {
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("agentnative-").permissions(Permissions::from_mode(0o700));
        Ok(Self { dir: builder.tempdir()?, next: AtomicU32::new(0) })
    }

    /// Where large captures go.
    pub fn spool(&self) -> &Path {
        self.dir.path()
    }

    /// A fresh folder. All their paths have the same length, so that a table with a path in it looks
    /// the same in each run.
    pub fn fresh(&self) -> io::Result<Folder> {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let folder = Folder { path: self.dir.path().join(format!("{number:06}")) };
        for path in [folder.path.clone(), folder.home(), folder.runtime(), folder.temporary()] {
            DirBuilder::new().mode(0o700).create(path)?;
        }
        Ok(folder)
    }
}

impl Drop for Root {
    fn drop(&mut self) {
        // What could not be removed after its run gets a second chance.
        remove(self.dir.path());
    }
}

/// The fresh folder of one run.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    pub fn runtime(&self) -> PathBuf {
        self.path.join("run")
    }

    pub fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a folder with all that is in it, also what its owner may not read. What cannot be removed
/// stays.
fn remove(path: &Path) {
    if fs::remove_dir_all(path).is_err() {
        open_up(path);
        fs::remove_dir_all(path).unwrap_or_default();
    }
}

/// Gives the owner all rights on each folder below `path`.
fn open_up(path: &Path) {
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        // Not through a link: only what `symlink_metadata` says is a folder comes here.
        fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap_or_default();
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        folders.extend(entries.filter(|e| e.file_type().is_ok_and(|t| t.is_dir())).map(|e| e.path()));
    }
}
