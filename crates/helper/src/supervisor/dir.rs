//! A folder held by a descriptor. Every operation is relative to it and follows no symbolic link.
//!
//! A run may replace anything in a folder that it can write to, at any moment. Each call resolves a path anew, so a
//! path may lead elsewhere by then; a descriptor still refers to the same folder (CVE-2022-21658). Therefore this
//! process accesses such folders only through this module.

use crate::sys::{self, none_if_missing};
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps, fchmod, fstat, futimens,
    mkdirat, openat, readlinkat, renameat_with, statat, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;
use rustix::path::Arg;
use std::ffi::{CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path};

/// Maximum depth of nested folders that are walked: each level holds a descriptor.
pub(super) const MAX_DEPTH: usize = 256;

/// A folder that is held by an open descriptor.
#[derive(Debug)]
pub(super) struct Dir(OwnedFd);

pub(super) struct DirEntry {
    pub name: CString,
    pub is_folder: bool,
}

impl DirEntry {
    pub fn os_name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.to_bytes())
    }
}

impl AsFd for Dir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Dir {
    /// Opens a folder at a path that no run can change. Follows symbolic links.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    /// Opens the subfolder with this name.
    pub fn open_folder(&self, name: impl Arg) -> io::Result<Self> {
        self.open_at(name, OFlags::RDONLY | OFlags::DIRECTORY).map(Self)
    }

    /// Gives the owner of a subfolder all permissions on it, and opens it.
    pub fn grant_and_open_folder(&self, name: impl Arg) -> io::Result<Self> {
        let held = self.open_at(name, OFlags::PATH | OFlags::DIRECTORY)?;
        if Mode::from_raw_mode(fstat(&held)?.st_mode) & Mode::RWXU != Mode::RWXU {
            sys::set_mode(&held, Mode::RWXU)?;
        }
        Self(held).open_folder(".")
    }

    fn open_at(&self, name: impl Arg, flags: OFlags) -> io::Result<OwnedFd> {
        Ok(openat(&self.0, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?)
    }

    /// Creates a subfolder that only this user can access, and opens it.
    pub fn make_folder(&self, name: impl Arg + Copy) -> io::Result<Self> {
        mkdirat(&self.0, name, Mode::RWXU)?;
        self.open_folder(name)
    }

    /// Creates a file for writing. Fails if the name exists.
    pub fn create(&self, name: impl Arg, mode: Mode) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(openat(&self.0, name, flags, mode)?.into())
    }

    /// Opens the file with this name for reading. Does not block on a pipe without a writer.
    pub fn open_file(&self, name: impl Arg) -> io::Result<File> {
        self.open_at(name, OFlags::RDONLY | OFlags::NONBLOCK).map(File::from)
    }

    /// Opens the file at a path relative to this folder for reading.
    pub fn read_below(&self, path: &Path) -> io::Result<File> {
        let (parent, name) = self.parent_of(path)?;
        parent.as_ref().unwrap_or(self).open_file(name)
    }

    pub fn remove_below(&self, path: &Path) -> io::Result<()> {
        let (parent, name) = self.parent_of(path)?;
        parent.as_ref().unwrap_or(self).remove_file(name)
    }

    /// Opens the folder that contains `path`, a path relative to this folder. Returns it with the name of the entry in
    /// it; `None` stands for this folder itself.
    fn parent_of<'p>(&self, path: &'p Path) -> io::Result<(Option<Self>, &'p OsStr)> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        Ok((
            self.descend(path.parent().unwrap_or(Path::new("")), |folder, name| folder.open_folder(name))?,
            name,
        ))
    }

    /// Creates the missing folders of a path relative to this folder, and opens the last one. Returns `None` for an
    /// empty path, which stands for this folder itself.
    pub fn make_folders(&self, path: &Path) -> io::Result<Option<Self>> {
        self.descend(path, |folder, name| match mkdirat(folder, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => folder.open_folder(name),
            Err(error) => Err(error.into()),
        })
    }

    fn descend(
        &self,
        path: &Path,
        open: impl Fn(&Self, &OsStr) -> io::Result<Self>,
    ) -> io::Result<Option<Self>> {
        let mut inner = None;
        for component in path.components() {
            let Component::Normal(name) = component else { return Err(io::ErrorKind::InvalidInput.into()) };
            inner = Some(open(inner.as_ref().unwrap_or(self), name)?);
        }
        Ok(inner)
    }

    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<DirEntry>>> {
        let held = self.0.try_clone()?;
        let list = rustix::fs::Dir::read_from(&held)?;
        let entry = move |entry: rustix::io::Result<rustix::fs::DirEntry>| {
            let entry = entry?;
            let kind = match entry.file_type() {
                // Some file systems do not report the type here.
                FileType::Unknown => FileType::from_raw_mode(
                    statat(&held, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW)?.st_mode,
                ),
                kind => kind,
            };
            Ok(DirEntry { name: entry.file_name().to_owned(), is_folder: kind.is_dir() })
        };
        let is_listed = |entry: &rustix::io::Result<rustix::fs::DirEntry>| {
            entry.as_ref().map_or(true, |entry| ![&b"."[..], b".."].contains(&entry.file_name().to_bytes()))
        };
        Ok(list.filter(is_listed).map(entry))
    }

    /// Returns the metadata of the entry with this name, without following a symbolic link.
    pub fn stat(&self, name: impl Arg) -> io::Result<Stat> {
        Ok(statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Returns the target of the symbolic link with this name.
    pub fn link_target(&self, name: impl Arg) -> io::Result<CString> {
        Ok(readlinkat(&self.0, name, Vec::new())?)
    }

    /// Creates a symbolic link with this name that points to `to`.
    pub fn make_link(&self, to: impl Arg, name: impl Arg) -> io::Result<()> {
        Ok(symlinkat(to, &self.0, name)?)
    }

    /// Removes an entry that is not a folder.
    pub fn remove_file(&self, name: impl Arg) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub fn remove_folder(&self, name: impl Arg) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    /// Moves the entry `name` into `folder` under the name `new`. Fails if `new` exists there.
    pub fn move_to(&self, name: impl Arg + Copy, folder: &Self, new: impl Arg + Copy) -> io::Result<()> {
        match renameat_with(&self.0, name, &folder.0, new, RenameFlags::NOREPLACE) {
            // Not every file system supports this flag.
            Err(Errno::INVAL | Errno::NOSYS) => match folder.stat(new) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => Ok(rustix::fs::renameat(&self.0, name, &folder.0, new)?),
            },
            moved => Ok(moved?),
        }
    }

    /// Sets the time of the last change and of the last access of an entry. Does not follow a symbolic link.
    pub fn set_time(&self, name: impl Arg, time: Timespec) -> io::Result<()> {
        let times = Timestamps { last_access: time, last_modification: time };
        Ok(utimensat(&self.0, name, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Sets the permissions and the times of this folder to those in `stat`.
    fn set_permissions_and_times(&self, stat: &Stat) -> io::Result<()> {
        fchmod(&self.0, permissions(stat))?;
        Ok(futimens(&self.0, &times(stat))?)
    }

    /// Copies the contents of this folder into `to`, with permissions and times. Symbolic links stay links.
    ///
    /// # Errors
    /// If an entry cannot be copied, is nested too deep, or exceeds the limits.
    pub fn copy_into(&self, to: &Self, copy: &mut CopyOptions) -> io::Result<()> {
        self.copy_level(to, copy, 0)
    }

    fn copy_level(&self, to: &Self, copy: &mut CopyOptions, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other(format!("folders are nested more than {MAX_DEPTH} levels deep")));
        }
        for entry in self.entries()? {
            let name = &entry?.name;
            let found = self.stat(name)?;
            if copy.without == Some((found.st_dev, found.st_ino)) {
                continue;
            }
            copy.count(u64::try_from(found.st_size).unwrap_or(0))?;
            match FileType::from_raw_mode(found.st_mode) {
                FileType::Symlink => to.make_link(&self.link_target(name)?, name)?,
                FileType::Directory => {
                    let made = to.make_folder(name)?;
                    self.open_folder(name)?.copy_level(&made, copy, depth + 1)?;
                    made.set_permissions_and_times(&found)?;
                }
                FileType::RegularFile => {
                    let mut copy = to.create(name, Mode::RUSR | Mode::WUSR)?;
                    io::copy(&mut self.open_file(name)?, &mut copy)?;
                    fchmod(&copy, permissions(&found))?;
                    futimens(&copy, &times(&found))?;
                }
                // Pipes and sockets belong to running programs.
                _ if copy.left.is_some() => {}
                _ => {
                    let message =
                        format!("{} is neither a file, a folder nor a link", name.to_string_lossy());
                    return Err(io::Error::new(io::ErrorKind::Unsupported, message));
                }
            }
        }
        Ok(())
    }

    /// Calls `visit` for all entries below this folder in the order of their names, for each folder before its
    /// contents.
    ///
    /// # Errors
    /// If a folder cannot be read, is nested too deep or has too many entries; and the first error of `visit`.
    pub fn walk(&self, visit: &mut Visit<'_>) -> io::Result<()> {
        self.walk_level(Path::new(""), visit, 0)
    }

    fn walk_level(&self, path: &Path, visit: &mut Visit<'_>, depth: usize) -> io::Result<()> {
        if depth > MAX_DEPTH {
            return Err(io::Error::other("folders are nested too deeply"));
        }
        let mut names: Vec<OsString> = Vec::new();
        for entry in self.entries()? {
            names.push(entry?.os_name().to_owned());
            if names.len() > MAX_ENTRIES {
                return Err(io::Error::other("a folder has too many entries"));
            }
        }
        names.sort_unstable();
        for name in names {
            // A run in progress may have removed the entry.
            let Some(found) = none_if_missing(self.stat(&name))? else { continue };
            let path = path.join(&name);
            visit(self, &name, &path, &found)?;
            if FileType::from_raw_mode(found.st_mode).is_dir()
                && let Some(folder) = none_if_missing(self.open_folder(&name))?
            {
                folder.walk_level(&path, visit, depth + 1)?;
            }
        }
        Ok(())
    }
}

/// Options for copying a folder.
#[derive(Debug, Default)]
pub(super) struct CopyOptions {
    /// Number of entries and number of bytes that may still be copied; `None` without limits. With limits, an entry
    /// that is not a file, folder or symbolic link is skipped; without, it is an error.
    pub left: Option<(usize, u64)>,
    /// Device and inode of a folder that is skipped.
    pub without: Option<(u64, u64)>,
}

impl CopyOptions {
    fn count(&mut self, size: u64) -> io::Result<()> {
        if let Some((entries, bytes)) = self.left {
            let left = entries.checked_sub(1).zip(bytes.checked_sub(size));
            self.left = Some(left.ok_or(io::ErrorKind::QuotaExceeded)?);
        }
        Ok(())
    }
}

/// Maximum number of entries of one folder in a walk.
const MAX_ENTRIES: usize = 100_000;

/// A function that is called for each entry of a walk. Its arguments are the folder that contains the entry, the name
/// of the entry, its path from the start of the walk, and its metadata.
pub(super) type Visit<'v> = dyn FnMut(&Dir, &OsStr, &Path, &Stat) -> io::Result<()> + 'v;

pub(super) fn permissions(stat: &Stat) -> Mode {
    Mode::from_raw_mode(stat.st_mode & 0o7777)
}

fn times(stat: &Stat) -> Timestamps {
    let at = |sec, nsec| Timespec { tv_sec: sec, tv_nsec: i64::try_from(nsec).unwrap_or(0) };
    Timestamps {
        last_access: at(stat.st_atime, stat.st_atime_nsec),
        last_modification: at(stat.st_mtime, stat.st_mtime_nsec),
    }
}
