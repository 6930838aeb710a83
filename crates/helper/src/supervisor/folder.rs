//! The fresh folder of one run: its home, its runtime folder, its temporary files, its workspace.

use super::dir::{Copying, Dir};
use super::removal::{self, remove};
use super::stalled::replace_text;
use super::tripwires;
use crate::sys::{self, EMPTY, MACHINE, present};
use crate::{Area, Job, Purpose, Template, Trip, Variant, Workspace};
use rustix::fs::{Mode, fstat};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Beside the folder of all runs, no more entries are looked at.
const MAX_BESIDE: usize = 10_000;
/// More of the log of tripwires is not read, in bytes.
const MOST_LOG: u64 = 64 * 1024;
/// A file that is invalid in every format of configuration files.
const INVALID: &[u8] = b"\0\xff[{(<=: \n";

/// The parent of the folders of all runs, for this user only; removed at the end.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    dir: Arc<Dir>,
    parent: Dir,
    next: AtomicU32,
    /// Locked as long as this process has it; none when the folder was removed.
    owner: RefCell<Option<File>>,
}

impl Root {
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(removal::PREFIX).permissions(Permissions::from_mode(0o700));
        let folder = builder.tempdir()?;
        let path = folder.path().canonicalize()?;
        let parent = Dir::open(path.parent().ok_or(io::ErrorKind::NotFound)?)?;
        let dir = Dir::open(&path)?;
        let owner = removal::own(&dir)?;
        for name in [MACHINE, EMPTY] {
            dir.make_folder(name)?;
        }
        let tripwires = dir.make_folder(TRIPWIRES)?;
        for purpose in Purpose::ALL {
            for name in purpose.programs() {
                let script = tripwires::script(purpose);
                tripwires.create(*name, Mode::RWXU)?.write_all(script.as_bytes())?;
            }
        }
        removal::sweep(&std::env::temp_dir());
        let _kept = folder.keep();
        let next = AtomicU32::new(0);
        Ok(Self { path, dir: Arc::new(dir), parent, next, owner: RefCell::new(Some(owner)) })
    }

    /// Removes it with all that could not be removed after its run; gives its path if something stays.
    pub fn remove(&self) -> Option<&Path> {
        // Removing takes a descriptor, which there may be none of.
        drop(self.owner.take());
        let name = self.path.file_name().unwrap_or_default();
        (!remove(&self.parent, name)).then_some(&self.path)
    }

    /// The programs on tripwires, which all runs share.
    pub fn tripwires(&self) -> PathBuf {
        self.path.join(TRIPWIRES)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the folders of the runs that other processes of this user make.
    pub fn others(&self) -> Vec<PathBuf> {
        let above = self.path.parent().unwrap_or(&self.path);
        let entries = self.parent.entries().into_iter().flatten().flatten();
        let folders =
            entries.take(MAX_BESIDE).filter(|entry| entry.is_folder).map(|entry| above.join(entry.os_name()));
        folders
            .filter(|path| {
                *path != self.path && removal::is_ours(&self.parent, path.file_name().unwrap_or_default())
            })
            .collect()
    }

    /// Where large captures go.
    pub fn spool(&self) -> &Path {
        &self.path
    }

    /// Reserves a folder that is not there yet. The paths of all have the same length, so that a table with a path in it
    /// looks the same in each run.
    pub fn next(&self) -> Place {
        let name = format!("{:06}", self.next.fetch_add(1, Ordering::Relaxed));
        Place { path: self.path.join(&name), root: Arc::clone(&self.dir), name }
    }
}

/// The folder of the programs on tripwires, in that of all runs and in that of each.
const TRIPWIRES: &str = "trip";

/// A folder of more files, folders and links, or of more bytes, is not copied for a run that declares no workspace.
const MAX_ENTRIES: usize = 20_000;
const MAX_BYTES: u64 = 256 << 20;

/// Where a folder is to be made, in the folder of all runs.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub path: PathBuf,
    root: Arc<Dir>,
    name: String,
}

impl Place {
    /// Makes a template here.
    pub fn keep(&self, template: &Template) -> io::Result<()> {
        let folder = self.root.make_folder(&*self.name)?;
        match template {
            Template::Folder { from, is_bounded } => {
                let from = Path::new(from);
                // What answers nothing, such as the mount of a dead server, would hold up all.
                if sys::has_mounts_below(from)? {
                    let message = format!("{} has mounts below, which are not copied", from.display());
                    return Err(io::Error::new(io::ErrorKind::Unsupported, message));
                }
                let root = fstat(&*self.root)?;
                let without = Some((root.st_dev, root.st_ino));
                let left = is_bounded.then_some((MAX_ENTRIES, MAX_BYTES));
                Dir::open(from)?.copy_into(&folder, &mut Copying { left, without })
            }
            Template::Files(files) => {
                files.iter().try_for_each(|file| write(&folder, Path::new(&file.path), &file.bytes))
            }
        }
    }
}

/// Writes a file for this user only, where there is none yet, with the folders that it is in.
fn write(folder: &Dir, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let made = folder.make_folders(path.parent().unwrap_or(Path::new("")))?;
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    made.as_ref().unwrap_or(folder).create(name, Mode::RUSR | Mode::WUSR)?.write_all(bytes)
}

impl Drop for Root {
    fn drop(&mut self) {
        if self.owner.get_mut().is_some() {
            self.remove();
        }
    }
}

/// The fresh folder of one run, and beside it one for what the run does not change.
#[derive(Debug)]
pub(super) struct Folder {
    place: Place,
    dir: Dir,
    private: Dir,
}

impl Folder {
    /// Makes a fresh folder with what a job starts with.
    pub fn fresh(place: Place, job: &Job, tripwires: &Path) -> io::Result<Self> {
        let dir = place.root.make_folder(&*place.name)?;
        let private = place.root.make_folder(&*private_name(&place))?;
        let folder = Self { place, dir, private };
        if !job.trusted {
            folder.set_tripwires(tripwires, &job.own_programs)?;
        }
        let home = folder.dir.make_folder(HOME)?;
        folder.dir.make_folder("run")?;
        folder.dir.make_folder("tmp")?;
        if let Some(template) = &job.home {
            Dir::open(Path::new(template))?.copy_into(&home, &mut Copying::default())?;
        }
        if job.variant == Variant::Xdg {
            folder.move_from_home(&home)?;
        }
        if let Some(workspace) = &job.workspace {
            let made = folder.dir.make_folder(WORKSPACE)?;
            if let Workspace::Copy(template) = workspace {
                Dir::open(Path::new(template))?.copy_into(&made, &mut Copying::default())?;
            }
        }
        Ok(folder)
    }

    /// Puts an invalid configuration file where the target looks for its own, if the run is to find one there. The
    /// calls before the run have found what was there.
    pub fn place_config_file(&self, job: &Job) -> io::Result<()> {
        let Some(file) = job.config_file.as_ref().filter(|_| job.variant == Variant::Bare) else {
            return Ok(());
        };
        let (home, file) = (self.dir.folder(HOME)?, Path::new(file));
        present(home.remove_below(file))?;
        write(&home, file, INVALID)
    }

    /// Puts the folders of the XDG variables beside the home, with what its template has in them.
    fn move_from_home(&self, home: &Dir) -> io::Result<()> {
        let xdg = self.dir.make_folder(XDG)?;
        for ((_, from), (_, to)) in XDG_IN_HOME.into_iter().zip(XDG_BESIDE_HOME) {
            let from = Path::new(from);
            let parent = match from.parent().filter(|parent| parent.parent().is_some()) {
                Some(parent) => present(home.folder(parent))?,
                None => None,
            };
            let name = from.file_name().unwrap_or_default();
            present(parent.as_ref().unwrap_or(home).move_to(name, &xdg, to))?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.place.path
    }

    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns what the folders of the run occupy, with what it changes in its start folder.
    pub fn dirs(&self) -> [&Dir; 2] {
        [&self.dir, &self.private]
    }

    pub fn home(&self) -> PathBuf {
        self.path().join(HOME)
    }

    /// Where the folders of the XDG variables are: the home, as these are by default, or a folder beside it.
    pub fn xdg(&self, variant: Variant) -> [(&'static str, PathBuf); 4] {
        let (parent, names) = match variant {
            Variant::Xdg => (self.path().join(XDG), XDG_BESIDE_HOME),
            _ => (self.home(), XDG_IN_HOME),
        };
        names.map(|(variable, name)| (variable, parent.join(name)))
    }

    /// Opens the folder of an area that snapshots are made of; `None` if the run removed it.
    pub fn area(&self, area: Area) -> io::Result<Option<Dir>> {
        present(self.dir.folder(Self::name_of(area)))
    }

    /// Returns the name of that folder.
    pub const fn name_of(area: Area) -> &'static str {
        match area {
            Area::Workspace => WORKSPACE,
            Area::Home => HOME,
            Area::Xdg => XDG,
        }
    }

    pub fn runtime(&self) -> PathBuf {
        self.path().join("run")
    }

    pub fn temporary(&self) -> PathBuf {
        self.path().join("tmp")
    }

    /// The programs on tripwires as this run finds them: their log is beside them.
    pub fn tripwires(&self) -> PathBuf {
        self.path().join(TRIPWIRES)
    }

    /// Writes the file with the secret of a job; the job with its path in its place.
    pub fn place_secret(&self, job: &Job) -> io::Result<Option<Job>> {
        let Some((secret, place)) =
            job.secret.as_ref().and_then(|secret| Some((secret, secret.file.as_ref()?)))
        else {
            return Ok(None);
        };
        let path = self.secret();
        // As editors leave it.
        write(&self.private, Path::new(SECRET), &[secret.value.as_bytes(), b"\n"].concat())?;
        let mut job = job.clone();
        let placed = |arg: &OsString| replace_text(arg, place.as_bytes(), path.as_os_str().as_bytes());
        job.args = job.args.iter().map(placed).collect();
        Ok(Some(job))
    }

    /// Where the file with the secret is.
    pub fn secret(&self) -> PathBuf {
        self.private_path().join(SECRET)
    }

    /// The folder beside that of the run, which the run does not see but for what is shown to it.
    pub fn private_path(&self) -> PathBuf {
        self.path().with_file_name(private_name(&self.place))
    }

    fn set_tripwires(&self, all: &Path, but: &[String]) -> io::Result<()> {
        if but.is_empty() {
            return self.dir.make_link(all, TRIPWIRES);
        }
        let made = self.dir.make_folder(TRIPWIRES)?;
        let names = Purpose::ALL.into_iter().flat_map(|purpose| purpose.programs());
        let mut set = names.filter(|name| !but.iter().any(|own| own == *name));
        set.try_for_each(|name| made.make_link(all.join(name), *name))
    }

    /// The calls of these programs; none where there were none on PATH, or their log cannot be read.
    pub fn trips(&self) -> Option<Vec<Trip>> {
        self.dir.stat(TRIPWIRES).ok()?;
        let Some(file) = present(self.dir.read("trip.log")).ok()? else { return Some(Vec::new()) };
        let mut log = Vec::new();
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        file.take(MOST_LOG).read_to_end(&mut log).ok().map(|_| tripwires::read(&log))
    }

    /// Whether there is anything in the workspace.
    pub fn has_written(&self) -> bool {
        let workspace = self.area(Area::Workspace).ok().flatten();
        workspace.is_some_and(|folder| folder.entries().is_ok_and(|mut entries| entries.next().is_some()))
    }

    /// Where a job starts that has a workspace.
    pub fn workspace(&self) -> PathBuf {
        self.path().join(WORKSPACE)
    }
}

const HOME: &str = "home";
const WORKSPACE: &str = "work";
const XDG: &str = "xdg";
const SECRET: &str = "secret";
/// The folders of the XDG variables below the home, as they are by default.
const XDG_IN_HOME: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];
/// The same below a folder beside the home.
const XDG_BESIDE_HOME: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_STATE_HOME", "state"),
];

fn private_name(place: &Place) -> String {
    format!("{}.private", place.name)
}

impl Drop for Folder {
    fn drop(&mut self) {
        let root = &self.place.root;
        remove(root, OsStr::new(&self.place.name));
        remove(root, OsStr::new(&private_name(&self.place)));
    }
}
