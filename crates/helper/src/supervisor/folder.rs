//! The fresh folder of one run, with its home, its runtime folder, its temporary files and its workspace.

use super::dir::{CopyOptions, Dir};
use super::removal::{self, remove};
use super::stalled::replace_text;
use super::tripwires;
use crate::sys::{self, EMPTY_FOLDER, MACHINE_FOLDER, none_if_missing};
use crate::{Area, Job, OLD, Template, TripwireCall, TripwirePurpose, Variant, Workspace};
use rustix::fs::{Mode, Timespec, fstat};
use std::cell::RefCell;
use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Maximum number of entries that are read of the folder for temporary files, in a search for other helpers.
const MAX_SIBLINGS: usize = 10_000;
/// Maximum number of bytes that are read of the log in which tripwire programs record their calls.
const MAX_LOG_BYTES: u64 = 64 * 1024;
/// Contents of a file that are invalid in every format of configuration files.
const INVALID_CONFIG: &[u8] = b"\0\xff[{(<=: \n";

/// The temporary folder of this helper, which contains the folders of all runs. Only this user can access it, and it is
/// removed at the end.
#[derive(Debug)]
pub(super) struct Root {
    path: PathBuf,
    dir: Arc<Dir>,
    parent: Dir,
    next: AtomicU32,
    /// The lock file that marks the folder as in use; `None` after the removal of the folder.
    owner: RefCell<Option<File>>,
}

impl Root {
    pub fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(removal::FOLDER_PREFIX).permissions(Permissions::from_mode(0o700));
        let folder = builder.tempdir()?;
        let path = folder.path().canonicalize()?;
        let parent = Dir::open(path.parent().ok_or(io::ErrorKind::NotFound)?)?;
        let dir = Dir::open(&path)?;
        let owner = removal::lock_folder(&dir)?;
        for name in [MACHINE_FOLDER, EMPTY_FOLDER] {
            dir.make_folder(name)?;
        }
        let tripwires = dir.make_folder(TRIPWIRES)?;
        for purpose in TripwirePurpose::ALL {
            for name in purpose.programs() {
                let script = tripwires::script(purpose);
                tripwires.create(*name, Mode::RWXU)?.write_all(script.as_bytes())?;
            }
        }
        removal::remove_abandoned_folders(&std::env::temp_dir());
        let _kept = folder.keep();
        let next = AtomicU32::new(0);
        Ok(Self { path, dir: Arc::new(dir), parent, next, owner: RefCell::new(Some(owner)) })
    }

    /// Removes the folder of all runs. Returns its path if something in it cannot be removed; otherwise `None`.
    pub fn remove(&self) -> Option<&Path> {
        // Free a descriptor, which the removal may need.
        drop(self.owner.take());
        let name = self.path.file_name().unwrap_or_default();
        (!remove(&self.parent, name)).then_some(&self.path)
    }

    /// Returns the folder of the tripwire programs, which replace browsers, editors and pagers in all runs.
    pub fn tripwires(&self) -> PathBuf {
        self.path.join(TRIPWIRES)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the temporary folders of other helpers of this user.
    pub fn folders_of_other_helpers(&self) -> Vec<PathBuf> {
        let above = self.path.parent().unwrap_or(&self.path);
        let entries = self.parent.entries().into_iter().flatten().flatten();
        let folders = entries
            .take(MAX_SIBLINGS)
            .filter(|entry| entry.is_folder)
            .map(|entry| above.join(entry.os_name()));
        folders
            .filter(|path| {
                *path != self.path
                    && removal::is_runs_folder(&self.parent, path.file_name().unwrap_or_default())
            })
            .collect()
    }

    /// Returns the folder in which large captured streams are stored.
    pub fn capture_folder(&self) -> &Path {
        &self.path
    }

    /// Reserves the path of a folder that does not exist yet. All these paths have the same length, so that a printed
    /// table that contains the path looks the same in each run.
    pub fn reserve(&self) -> ReservedFolder {
        let name = format!("{:06}", self.next.fetch_add(1, Ordering::Relaxed));
        ReservedFolder { path: self.path.join(&name), root: Arc::clone(&self.dir), name }
    }
}

/// Name of the folder of the tripwire programs, both in the folder of all runs and in the folder of each run.
const TRIPWIRES: &str = "trip";

/// Maximum number of entries that are copied for a run that declares no workspace. [`MAX_BYTES`] is the maximum of
/// their bytes.
const MAX_ENTRIES: usize = 20_000;
const MAX_BYTES: u64 = 256 << 20;

/// The path of a folder that is created later, in the folder of all runs.
#[derive(Debug, Clone)]
pub(super) struct ReservedFolder {
    pub path: PathBuf,
    root: Arc<Dir>,
    name: String,
}

impl ReservedFolder {
    /// Creates the folder with the contents of a template.
    pub fn make_template(&self, template: &Template) -> io::Result<()> {
        let folder = self.root.make_folder(&*self.name)?;
        match template {
            Template::Folder { from, is_bounded } => {
                let from = Path::new(from);
                // A mount that does not respond, such as that of a dead server, would block the copy.
                if sys::has_mounts_below(from)? {
                    let message = format!("{} contains mount points, which are not copied", from.display());
                    return Err(io::Error::new(io::ErrorKind::Unsupported, message));
                }
                let root = fstat(&*self.root)?;
                let without = Some((root.st_dev, root.st_ino));
                let left = is_bounded.then_some((MAX_ENTRIES, MAX_BYTES));
                Dir::open(from)?.copy_into(&folder, &mut CopyOptions { left, without })
            }
            Template::Files(files) => {
                files.iter().try_for_each(|file| write(&folder, Path::new(&file.path), &file.bytes))
            }
        }
    }
}

/// Creates a file that only this user can access, at a path relative to `folder`, with the missing folders above it.
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

/// The fresh folder of one run, and a second, private folder that the run cannot change.
#[derive(Debug)]
pub(super) struct RunFolder {
    reserved: ReservedFolder,
    dir: Dir,
    private: Dir,
}

impl RunFolder {
    /// Creates the folder of a run, with the initial contents that the job requires.
    pub fn create(reserved: ReservedFolder, job: &Job, tripwires: &Path) -> io::Result<Self> {
        let dir = reserved.root.make_folder(&*reserved.name)?;
        let private = reserved.root.make_folder(&*private_name(&reserved))?;
        let folder = Self { reserved, dir, private };
        if !job.trusted {
            folder.set_tripwires(tripwires, &job.unreplaced_programs)?;
        }
        let home = folder.dir.make_folder(HOME)?;
        folder.dir.make_folder("run")?;
        folder.dir.make_folder("tmp")?;
        if let Some(template) = &job.home {
            Dir::open(Path::new(template))?.copy_into(&home, &mut CopyOptions::default())?;
        }
        if job.variant == Variant::Xdg {
            folder.move_xdg_folders(&home)?;
        }
        if let Some(workspace) = &job.workspace {
            let made = folder.dir.make_folder(WORKSPACE)?;
            if let Workspace::Copy(template) = workspace {
                Dir::open(Path::new(template))?.copy_into(&made, &mut CopyOptions::default())?;
            }
        }
        Ok(folder)
    }

    /// Removes the target's configuration file, or replaces it by an invalid one, if the variant requires that. Must be
    /// called after the setup calls, which use the original file.
    pub fn prepare_config_file(&self, job: &Job) -> io::Result<()> {
        let is_changed = matches!(job.variant, Variant::Bare | Variant::Unconfigured);
        let Some(file) = job.config_file.as_ref().filter(|_| is_changed) else { return Ok(()) };
        let (home, file) = (self.dir.open_folder(HOME)?, Path::new(file));
        none_if_missing(home.remove_below(file))?;
        if job.variant == Variant::Bare { write(&home, file, INVALID_CONFIG) } else { Ok(()) }
    }

    /// Makes all files in the home [`OLD`], as far as they can be read.
    pub fn make_home_old(&self) -> io::Result<()> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = now.saturating_sub(OLD).as_secs();
        let time = Timespec { tv_sec: i64::try_from(seconds).unwrap_or(0), tv_nsec: 0 };
        let Some(home) = self.area(Area::Home)? else { return Ok(()) };
        home.walk(&mut |folder, name, _, _| folder.set_time(name, time)).unwrap_or_default();
        Ok(())
    }

    /// Moves the folders of the XDG variables, such as `.config`, out of the home, with the files that its template put
    /// there.
    fn move_xdg_folders(&self, home: &Dir) -> io::Result<()> {
        let xdg = self.dir.make_folder(XDG)?;
        for ((_, from), (_, to)) in XDG_IN_HOME.into_iter().zip(XDG_BESIDE_HOME) {
            let from = Path::new(from);
            let parent = match from.parent().filter(|parent| parent.parent().is_some()) {
                Some(parent) => none_if_missing(home.open_folder(parent))?,
                None => None,
            };
            let name = from.file_name().unwrap_or_default();
            none_if_missing(parent.as_ref().unwrap_or(home).move_to(name, &xdg, to))?;
        }
        Ok(())
    }

    pub fn path(&self) -> &Path {
        &self.reserved.path
    }

    pub fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns the folders whose disk usage counts for the run. They include its changes to the start folder.
    pub fn measured_folders(&self) -> [&Dir; 2] {
        [&self.dir, &self.private]
    }

    pub fn home(&self) -> PathBuf {
        self.path().join(HOME)
    }

    /// Returns the XDG variables with the paths of their folders: the default ones in the home, or those beside the
    /// home, depending on the variant.
    pub fn xdg_folders(&self, variant: Variant) -> [(&'static str, PathBuf); 4] {
        let (parent, names) = match variant {
            Variant::Xdg => (self.path().join(XDG), XDG_BESIDE_HOME),
            _ => (self.home(), XDG_IN_HOME),
        };
        names.map(|(variable, name)| (variable, parent.join(name)))
    }

    /// Opens the workspace, the home or the folder of the XDG folders. `None` if the run removed it.
    pub fn area(&self, area: Area) -> io::Result<Option<Dir>> {
        none_if_missing(self.dir.open_folder(Self::area_name(area)))
    }

    pub const fn area_name(area: Area) -> &'static str {
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

    /// Returns the folder in which this run finds the tripwire programs. Their log is beside it.
    pub fn tripwires(&self) -> PathBuf {
        self.path().join(TRIPWIRES)
    }

    /// Writes the secret of a job to a file. Returns a copy of the job with the path of the file in its arguments;
    /// `None` if the job passes no secret in a file.
    pub fn place_secret(&self, job: &Job) -> io::Result<Option<Job>> {
        let Some((secret, placeholder)) =
            job.secret.as_ref().and_then(|secret| Some((secret, secret.file.as_ref()?)))
        else {
            return Ok(None);
        };
        let path = self.secret_path();
        // With a final line break, as editors write it.
        write(&self.private, Path::new(SECRET), &[secret.value.as_bytes(), b"\n"].concat())?;
        let mut job = job.clone();
        let placed = |arg: &OsString| replace_text(arg, placeholder.as_bytes(), path.as_os_str().as_bytes());
        job.args = job.args.iter().map(placed).collect();
        Ok(Some(job))
    }

    /// Returns the path of the file that contains the secret of the run.
    pub fn secret_path(&self) -> PathBuf {
        self.private_path().join(SECRET)
    }

    /// Returns the path of the private folder. The run sees only those entries of it that are made visible.
    pub fn private_path(&self) -> PathBuf {
        self.path().with_file_name(private_name(&self.reserved))
    }

    fn set_tripwires(&self, all: &Path, but: &[String]) -> io::Result<()> {
        if but.is_empty() {
            return self.dir.make_link(all, TRIPWIRES);
        }
        let made = self.dir.make_folder(TRIPWIRES)?;
        let names = TripwirePurpose::ALL.into_iter().flat_map(|purpose| purpose.programs());
        let mut set = names.filter(|name| !but.iter().any(|own| own == *name));
        set.try_for_each(|name| made.make_link(all.join(name), *name))
    }

    /// Returns the logged calls of tripwire programs. `None` if the run had no such programs on PATH, or their log
    /// cannot be read.
    pub fn tripwire_calls(&self) -> Option<Vec<TripwireCall>> {
        self.dir.stat(TRIPWIRES).ok()?;
        let Some(file) = none_if_missing(self.dir.open_file("trip.log")).ok()? else {
            return Some(Vec::new());
        };
        let mut log = Vec::new();
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        file.take(MAX_LOG_BYTES).read_to_end(&mut log).ok().map(|_| tripwires::parse_log(&log))
    }

    /// Whether the workspace has any entry.
    pub fn is_workspace_used(&self) -> bool {
        let workspace = self.area(Area::Workspace).ok().flatten();
        workspace.is_some_and(|folder| folder.entries().is_ok_and(|mut entries| entries.next().is_some()))
    }

    /// Returns the path of the workspace, the folder that a job with a workspace starts in.
    pub fn workspace(&self) -> PathBuf {
        self.path().join(WORKSPACE)
    }
}

const HOME: &str = "home";
const WORKSPACE: &str = "work";
const XDG: &str = "xdg";
const SECRET: &str = "secret";
/// The XDG variables, and the default paths of their folders below the home.
const XDG_IN_HOME: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_CACHE_HOME", ".cache"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
];
/// The XDG variables, and the paths of their folders below [`XDG`], for runs that have these folders beside the home.
const XDG_BESIDE_HOME: [(&str, &str); 4] = [
    ("XDG_CONFIG_HOME", "config"),
    ("XDG_CACHE_HOME", "cache"),
    ("XDG_DATA_HOME", "data"),
    ("XDG_STATE_HOME", "state"),
];

fn private_name(reserved: &ReservedFolder) -> String {
    format!("{}.private", reserved.name)
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        let root = &self.reserved.root;
        remove(root, OsStr::new(&self.reserved.name));
        remove(root, OsStr::new(&private_name(&self.reserved)));
    }
}
