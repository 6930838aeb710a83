//! The fresh folder of one run: its home, its runtime folder, its temporary files, its workspace.

use super::copy::copy_folder;
use super::removal::{self, remove};
use super::stalled::replace_text;
use super::tripwires;
use crate::{Area, Job, Purpose, Template, Trip, Variant, Workspace};
use rustix::fs::{Mode, OFlags};
use std::cell::RefCell;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// More of the log of tripwires is not read, in bytes.
const MOST_LOG: u64 = 64 * 1024;
/// A file that is invalid in every format of configuration files.
const INVALID: &[u8] = b"\0\xff[{(<=: \n";

/// The parent of the folders of all runs, for this user only; removed at the end.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    next: AtomicU32,
    /// Locked as long as this process has it; none when the folder was removed.
    owner: RefCell<Option<File>>,
}

impl Root {
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(removal::PREFIX).permissions(Permissions::from_mode(0o700));
        let folder = builder.tempdir()?;
        let owner = removal::own(folder.path())?;
        let root = Self {
            path: folder.keep().canonicalize()?,
            next: AtomicU32::new(0),
            owner: RefCell::new(Some(owner)),
        };
        removal::sweep(&std::env::temp_dir());
        make(&root.tripwires())?;
        for purpose in Purpose::ALL {
            for name in purpose.programs() {
                let mut options = OpenOptions::new();
                let options = options.write(true).create_new(true).mode(0o700);
                options
                    .open(root.tripwires().join(name))?
                    .write_all(tripwires::script(purpose).as_bytes())?;
            }
        }
        Ok(root)
    }

    /// Removes it with all that could not be removed after its run; gives its path if something stays.
    pub fn remove(&self) -> Option<&Path> {
        // Removing takes a descriptor, which there may be none of.
        drop(self.owner.take());
        (!remove(&self.path)).then_some(&self.path)
    }

    /// The programs on tripwires, which all runs share.
    pub fn tripwires(&self) -> PathBuf {
        self.path.join("trip")
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where large captures go.
    pub fn spool(&self) -> &Path {
        &self.path
    }

    /// The path of a folder that is not there yet. They all have the same length, so that a table with a
    /// path in it looks the same in each run.
    pub fn next(&self) -> PathBuf {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        self.path.join(format!("{number:06}"))
    }
}

/// Makes a template at `path`, where nothing is yet.
pub(super) fn keep(template: &Template, path: &Path) -> io::Result<()> {
    make(path)?;
    match template {
        Template::Folder(from) => copy_folder(Path::new(from), path),
        Template::Files(files) => {
            files.iter().try_for_each(|file| write(&path.join(&file.path), &file.bytes))
        }
    }
}

/// Writes a file for this user only, in place of what is there.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        DirBuilder::new().mode(0o700).recursive(true).create(parent)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
}

fn make(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)
}

impl Drop for Root {
    fn drop(&mut self) {
        if self.owner.get_mut().is_some() {
            self.remove();
        }
    }
}

/// The fresh folder of one run.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A fresh folder at `path`, with what a job starts with.
    pub fn fresh(path: PathBuf, job: &Job, tripwires: &Path) -> io::Result<Self> {
        make(&path)?;
        let folder = Self { path };
        if !job.trusted {
            folder.set_tripwires(tripwires, &job.own_programs)?;
        }
        for path in [folder.home(), folder.runtime(), folder.temporary()] {
            make(&path)?;
        }
        if let Some(home) = &job.home {
            copy_folder(Path::new(home), &folder.home())?;
        }
        if job.variant == Variant::Xdg {
            folder.move_from_home()?;
        }
        if let Some(file) = job.config_file.as_ref().filter(|_| job.variant == Variant::Bare) {
            write(&folder.home().join(file), INVALID)?;
        }
        if let Some(workspace) = &job.workspace {
            make(&folder.workspace())?;
            if let Workspace::Copy(template) = workspace {
                copy_folder(Path::new(template), &folder.workspace())?;
            }
        }
        Ok(folder)
    }

    /// Puts the folders of the XDG variables beside the home, with what its template has in them.
    fn move_from_home(&self) -> io::Result<()> {
        make(&self.area(Area::Xdg))?;
        for ((_, from), (_, to)) in self.xdg(Variant::Plain).into_iter().zip(self.xdg(Variant::Xdg)) {
            match fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// Where the folders of the XDG variables are: the home, as these are by default, or a folder beside it.
    pub fn xdg(&self, variant: Variant) -> [(&'static str, PathBuf); 4] {
        let [config, cache, data, state] = match variant {
            Variant::Xdg => ["config", "cache", "data", "state"].map(|name| self.area(Area::Xdg).join(name)),
            _ => [".config", ".cache", ".local/share", ".local/state"].map(|name| self.home().join(name)),
        };
        [
            ("XDG_CONFIG_HOME", config),
            ("XDG_CACHE_HOME", cache),
            ("XDG_DATA_HOME", data),
            ("XDG_STATE_HOME", state),
        ]
    }

    /// The folder of an area that snapshots are made of.
    pub fn area(&self, area: Area) -> PathBuf {
        match area {
            Area::Workspace => self.workspace(),
            Area::Home => self.home(),
            Area::Xdg => self.path.join("xdg"),
        }
    }

    pub fn runtime(&self) -> PathBuf {
        self.path.join("run")
    }

    pub fn temporary(&self) -> PathBuf {
        self.path.join("tmp")
    }

    /// The programs on tripwires as this run finds them: their log is beside them.
    pub fn tripwires(&self) -> PathBuf {
        self.path.join("trip")
    }

    /// Writes the file with the secret of a job; the job with its path in its place.
    pub fn place_secret(&self, job: &Job) -> io::Result<Option<Job>> {
        let Some((secret, place)) =
            job.secret.as_ref().and_then(|secret| Some((secret, secret.file.as_ref()?)))
        else {
            return Ok(None);
        };
        let path = self.path.join("secret");
        // As editors leave it.
        write(&path, &[secret.value.as_bytes(), b"\n"].concat())?;
        let mut job = job.clone();
        let placed = |arg: &OsString| replace_text(arg, place.as_bytes(), path.as_os_str().as_bytes());
        job.args = job.args.iter().map(placed).collect();
        Ok(Some(job))
    }

    fn set_tripwires(&self, all: &Path, but: &[String]) -> io::Result<()> {
        if but.is_empty() {
            return symlink(all, self.tripwires());
        }
        make(&self.tripwires())?;
        let names = Purpose::ALL.into_iter().flat_map(|purpose| purpose.programs());
        let mut set = names.filter(|name| !but.iter().any(|own| own == *name));
        set.try_for_each(|name| symlink(all.join(name), self.tripwires().join(name)))
    }

    /// The calls of these programs; none where there were none on PATH, or their log cannot be read.
    pub fn trips(&self) -> Option<Vec<Trip>> {
        self.tripwires().symlink_metadata().ok()?;
        let file = match open_itself(&self.path.join("trip.log")) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(Vec::new()),
            Err(_) => return None,
        };
        let mut log = Vec::new();
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        file.take(MOST_LOG).read_to_end(&mut log).ok().map(|_| tripwires::read(&log))
    }

    /// Where a job starts that has a workspace.
    pub fn workspace(&self) -> PathBuf {
        self.path.join("work")
    }
}

/// Opens a file to read it, never what a link leads to, and without waiting: a target may have put anything in its
/// place, also a pipe that nobody writes.
pub(super) fn open_itself(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove(&self.path);
    }
}
