//! The file system that a confined run sees: all files of the machine, but writable ones only in its own folders, no
//! credentials, no sockets of services, and only the devices for all users.

use super::mount_table::{self, Mount};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MountPropagationFlags, MoveMountFlags,
    OpenTreeFlags, fsconfig_create, fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, mount,
    mount_bind, mount_change, mount_remount, move_mount, open_tree,
};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};

/// Describes the file system that one run sees.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct FileView {
    /// The temporary folder of the helper, which contains the folders of all runs.
    pub root: OsString,
    /// Folders of the machine that are empty for the run, except for `visible` and `links`.
    pub masked: Vec<OsString>,
    /// Paths that stay visible in the masked folders.
    pub visible: Vec<OsString>,
    /// Symbolic links in the masked folders, and the targets of the links.
    pub links: Vec<(OsString, OsString)>,
    /// Paths that the run can write to.
    pub writable: Vec<OsString>,
    /// Paths below those in `writable` that the run cannot write to.
    pub protected: Vec<OsString>,
    /// The folder that the run sees copy on write, if any.
    pub start: Option<CopyOnWrite>,
    /// Files and folders that exist for the run, but are empty.
    pub hidden: Vec<OsString>,
    /// Folders in which sockets are hidden one by one: see [`confine_mounts`].
    pub exposed: Vec<OsString>,
    /// The process IDs of the run start after this one.
    pub last_process: u64,
    /// Upper limit of the process IDs of the run. It takes effect only if the kernel supports it.
    pub most_processes: u64,
}

/// A folder that a run can change without changing the original.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CopyOnWrite {
    pub folder: OsString,
    /// A folder of the helper that stores the changes of the run.
    pub changes: OsString,
}

/// Folders for shared memory and for the sockets of services, which are empty for runs. `/tmp` is not one of them,
/// since a program may depend on files there.
pub(crate) const SHARED_FOLDERS: &[&str] = &["/dev/shm", "/run"];
/// Folders that change all the time. Each run sees the state that they had at its start.
const TEMPORARY_FOLDERS: &[&str] = &["/tmp", "/var/tmp"];

/// Options of a writable tmpfs, which programs can use for shared memory.
const WRITABLE_TMPFS: &CStr = c"mode=1777,size=512m";

const SYSTEM_CREDENTIALS: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/ssl/private"];

/// Names of the entries of `/dev` that runs can use.
const DEVICES: &[&str] = &["full", "null", "pts", "random", "tty", "urandom", "zero"];
/// Prefixes of the names of devices for computing in `/dev`, which declared runs can use as well.
const ACCELERATORS: &[&str] = &["dri", "kfd", "nvidia"];
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("ptmx", "pts/ptmx"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// Entries of `/proc` through which root can change the machine.
const UNSAFE_PROC_ENTRIES: &[&str] = &["acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"];

/// Types of local file systems, which always respond. A dead network or FUSE file system never does.
const LOCAL_FILE_SYSTEMS: &[&str] = &[
    "bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "reiserfs",
    "squashfs", "tmpfs", "xfs", "zfs",
];
/// Maximum number of subfolders that are covered by one overlay each, if the folder itself cannot be covered because
/// there are mounts below it.
const MAX_COVERED_FOLDERS: usize = 64;

/// Name of the folder where the unchanged file system of the machine is mounted. It lies in the folder of all runs.
pub(crate) const MACHINE_FOLDER: &str = "machine";
/// Name of an empty folder that has its own file system. It lies in the folder of all runs.
pub(crate) const EMPTY_FOLDER: &str = "empty";

/// Changes the mounts of this process, which must be in its own mount namespace, to what all runs of a helper see.
/// Returns the folders that could not be covered by an overlay.
///
/// Runs see all files through overlays. A run therefore cannot reach a socket, a named pipe or a lock of the machine:
/// those in an overlay are separate, under any name. In a folder that cannot be covered, sockets are hidden by their
/// paths. Devices outside of `/dev` cannot be opened.
pub(crate) fn confine_mounts(root: &Path) -> io::Result<Vec<PathBuf>> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let mounts = mount_table::mounts()?;
    let (machine, empty) = (root.join(MACHINE_FOLDER), root.join(EMPTY_FOLDER));
    attach(&clone_mount(Path::new("/"))?, &machine)?;
    mount_tmpfs(&empty, c"mode=555,size=4k")?;
    let mut exposed = Vec::new();
    let excluded =
        SHARED_FOLDERS.iter().chain(TEMPORARY_FOLDERS).chain(&["/dev", "/proc", "/sys"]).map(PathBuf::from);
    let excluded: Vec<PathBuf> =
        excluded.filter_map(|path| path.canonicalize().ok()).chain([root.into()]).collect();
    cover_folder(Path::new("/"), &mounts, &excluded, &empty, &mut exposed);
    SYSTEM_CREDENTIALS.iter().try_for_each(|path| hide(Path::new(path)))?;
    replace_devices()?;
    for Mount { point, flags, kind } in mount_table::mounts()? {
        if point.starts_with("/proc") || point.starts_with(&machine) {
            continue;
        }
        // A container receives sockets of its host this way.
        if LOCAL_FILE_SYSTEMS.contains(&&*kind) || kind == "devtmpfs" {
            hide_socket(&point)?;
        }
        // It shows the processes of the machine, or of another container.
        if kind == "proc" {
            mount_tmpfs(&point, c"mode=555,size=4k")?;
        }
        let devices = if point.starts_with("/dev") { MountFlags::empty() } else { MountFlags::NODEV };
        match mount_remount(&point, flags | devices | MountFlags::BIND | MountFlags::RDONLY, c"") {
            // The mount is unreachable: it is below another mount, or in a folder that this user may not enter.
            Err(Errno::INVAL | Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => {}
            done => done?,
        }
    }
    Ok(exposed)
}

/// Mounts an overlay on a folder, or on each of its subfolders if there are mounts below it. Adds the folders for which
/// this fails to `exposed`.
fn cover_folder(
    folder: &Path,
    mounts: &[Mount],
    excluded: &[PathBuf],
    empty: &Path,
    exposed: &mut Vec<PathBuf>,
) {
    // Of several mounts at one path, the last is on top.
    let own = mounts.iter().filter(|mount| folder.starts_with(&mount.point));
    let own = own.max_by_key(|mount| mount.point.components().count());
    if excluded.iter().any(|path| path == folder)
        || own.is_none_or(|mount| !LOCAL_FILE_SYSTEMS.contains(&&*mount.kind))
    {
        return;
    }
    let below = |path: &PathBuf| path != folder && path.starts_with(folder);
    if !mounts.iter().map(|mount| &mount.point).chain(excluded).any(below) {
        match overlay(folder, empty).and_then(|overlay| attach(&overlay, folder)) {
            Ok(()) => {}
            // The folder is unreachable.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(_) => exposed.push(folder.to_owned()),
        }
        return;
    }
    let entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    let is =
        |entry: &fs::DirEntry, is: fn(&fs::FileType) -> bool| entry.file_type().is_ok_and(|kind| is(&kind));
    if entries.iter().filter(|entry| is(entry, fs::FileType::is_dir)).count() > MAX_COVERED_FOLDERS {
        exposed.push(folder.to_owned());
        return;
    }
    for entry in entries {
        if is(&entry, fs::FileType::is_dir) {
            cover_folder(&entry.path(), mounts, excluded, empty, exposed);
        } else if is(&entry, FileTypeExt::is_socket) || is(&entry, FileTypeExt::is_fifo) {
            mount_bind("/dev/null", entry.path()).unwrap_or_default();
        }
    }
}

/// A change of what a run sees at a path.
enum MountChange {
    /// The path becomes an empty folder.
    Mask,
    /// The path shows this mount: of the original path, or of an overlay.
    Mount(OwnedFd),
    /// The path becomes a symbolic link with this target.
    Link(PathBuf),
}

/// Changes the mounts of this process to what one run sees. The process must be in the mount and process namespaces of
/// the run and already confined. Hides those of `sockets` that are in an exposed folder. Returns false if the view
/// requires a folder to be copy on write and it is read-only instead.
pub(crate) fn prepare_mounts(view: &FileView, sockets: &[PathBuf]) -> io::Result<bool> {
    let mut plan = MountPlan::new(view);
    plan.add_temporary_folders();
    plan.add_visible()?;
    plan.add_writable()?;
    let is_copied = plan.add_start_folder()?;
    let MountPlan { changes, exposed, .. } = plan;
    apply_changes(changes)?;
    view.hidden.iter().try_for_each(|path| hide(Path::new(path)))?;
    let is_exposed = |path: &&PathBuf| exposed.iter().any(|folder| path.starts_with(folder));
    sockets.iter().filter(is_exposed).try_for_each(|path| hide_socket(path))?;
    mount_kernel_files(view)?;
    Ok(is_copied)
}

/// The changes of mounts for a run, collected before any of them is made.
struct MountPlan<'v> {
    view: &'v FileView,
    machine: PathBuf,
    empty: PathBuf,
    masked: Vec<&'v Path>,
    changes: Vec<(PathBuf, MountChange)>,
    /// Folders in which sockets are hidden one by one.
    exposed: Vec<PathBuf>,
}

impl<'v> MountPlan<'v> {
    /// Creates a plan that contains the masked folders and the symbolic links in them.
    fn new(view: &'v FileView) -> Self {
        let root = Path::new(&view.root);
        let masked: Vec<&Path> = view.masked.iter().map(Path::new).filter(|path| path.is_dir()).collect();
        let links = view.links.iter().map(|(path, to)| (PathBuf::from(path), MountChange::Link(to.into())));
        let links = links.filter(|(path, _)| masked.iter().any(|mask| path.starts_with(mask)));
        let masks = masked.iter().map(|path| ((*path).to_owned(), MountChange::Mask));
        let changes = links.chain(masks).collect();
        let exposed = view.exposed.iter().map(PathBuf::from).collect();
        Self {
            view,
            machine: root.join(MACHINE_FOLDER),
            empty: root.join(EMPTY_FOLDER),
            masked,
            changes,
            exposed,
        }
    }

    /// Returns where the original of a path is mounted, which no mask or overlay changes.
    fn machine_path(&self, path: &Path) -> PathBuf {
        self.machine.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Adds overlays of the temporary folders, such as `/tmp`, to the plan.
    fn add_temporary_folders(&mut self) {
        for folder in TEMPORARY_FOLDERS.iter().map(Path::new) {
            // A symbolic link, such as `/var/tmp -> /tmp`, leads to the other folder.
            if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                continue;
            }
            match overlay(&self.machine_path(folder), &self.empty) {
                Ok(overlay) => self.changes.push((folder.to_owned(), MountChange::Mount(overlay))),
                Err(_) => self.exposed.push(folder.to_owned()),
            }
        }
    }

    /// Adds the paths that stay visible in masked folders to the plan.
    fn add_visible(&mut self) -> io::Result<()> {
        let root = Path::new(&self.view.root);
        let shared: Vec<PathBuf> =
            SHARED_FOLDERS.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
        for path in self.view.visible.iter().map(Path::new) {
            if !path.exists() || !self.masked.iter().any(|mask| path.starts_with(mask)) {
                continue;
            }
            // Shared folders have no overlay yet.
            let is_shared = shared.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(root);
            let covered =
                (is_shared && path.is_dir()).then(|| overlay(&self.machine_path(path), &self.empty).ok());
            if covered.as_ref().is_some_and(Option::is_none) {
                self.exposed.push(path.to_owned());
            }
            // It may have been removed meanwhile.
            let mount = match covered.flatten() {
                Some(overlay) => Some(overlay),
                None => none_if_missing(clone_mount(path))?,
            };
            self.changes.extend(mount.map(|mount| (path.to_owned(), MountChange::Mount(mount))));
        }
        Ok(())
    }

    /// Adds the paths that the run can write to, and the protected paths in them, to the plan.
    fn add_writable(&mut self) -> io::Result<()> {
        for path in self.view.writable.iter().map(Path::new) {
            let mount = none_if_missing(clone_mount(&self.machine_path(path)))?;
            self.changes.extend(mount.map(|mount| (path.to_owned(), MountChange::Mount(mount))));
        }
        for path in self.view.protected.iter().map(Path::new) {
            let mount = none_if_missing(clone_mount(path))?;
            self.changes.extend(mount.map(|mount| (path.to_owned(), MountChange::Mount(mount))));
        }
        Ok(())
    }

    /// Adds the copy-on-write folder to the plan, if there is one. Returns false if it can only be made read-only.
    fn add_start_folder(&mut self) -> io::Result<bool> {
        let Some(CopyOnWrite { folder, changes }) = &self.view.start else { return Ok(true) };
        let folder = Path::new(folder);
        let result = writable_overlay(&self.machine_path(folder), &self.machine_path(Path::new(changes)));
        let is_copied = result.is_ok();
        let mount = match result {
            Ok(overlay) => overlay,
            Err(_) => {
                self.exposed.push(folder.to_owned());
                clone_mount(folder)?
            }
        };
        self.changes.push((folder.to_owned(), MountChange::Mount(mount)));
        Ok(is_copied)
    }
}

fn apply_changes(mut changes: Vec<(PathBuf, MountChange)>) -> io::Result<()> {
    // Folders come before their contents: a mask may lie in a visible path of another mask.
    changes.sort_by_key(|(path, change)| (path.clone(), !matches!(change, MountChange::Mask)));
    for (path, change) in changes {
        match change {
            MountChange::Mount(mount) => {
                if !path.exists() {
                    create_mount_point(&path, &mount)?;
                }
                attach(&mount, &path)?;
            }
            // A mask inside another mask does not exist.
            MountChange::Mask if path.exists() => mount_tmpfs(&path, WRITABLE_TMPFS)?,
            MountChange::Link(to) if path.symlink_metadata().is_err() => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                symlink(to, &path)?;
            }
            MountChange::Mask | MountChange::Link(_) => {}
        }
    }
    Ok(())
}

/// Mounts `/dev/pts` and `/proc` for the namespaces of this process, and sets the range of its process IDs.
fn mount_kernel_files(view: &FileView) -> io::Result<()> {
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", "/dev/pts", "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, c"")?;
    super::namespaces::set_process_ids(view.last_process, view.most_processes)?;
    if geteuid().is_root() {
        for control in
            UNSAFE_PROC_ENTRIES.iter().map(|name| Path::new("/proc").join(name)).filter(|path| path.exists())
        {
            mount_bind(&control, &control)?;
            mount_remount(&control, flags | MountFlags::BIND | MountFlags::RDONLY, c"")?;
        }
    }
    Ok(())
}

/// Creates a read-only overlay of a folder. The folder `empty` is its second layer, since an overlay needs two.
fn overlay(folder: &Path, empty: &Path) -> io::Result<OwnedFd> {
    let (folder, empty) = (open_folder(folder)?, open_folder(empty)?);
    make_overlay(&[("lowerdir", format!("{}:{}", layer(&folder), layer(&empty)))])
}

/// Creates an overlay of a folder that stores its changes in the folder `changes`. They are on disk, or in memory if
/// the file system of that folder cannot be an upper layer.
fn writable_overlay(folder: &Path, changes: &Path) -> io::Result<OwnedFd> {
    let make = || {
        let (upper, work) = (changes.join("upper"), changes.join("work"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        // The overlay takes its permissions and its owner from the upper layer, as far as this user may change the
        // owner.
        let lower = fs::metadata(folder)?;
        chown(&upper, Some(lower.uid()), Some(lower.gid())).unwrap_or_default();
        fs::set_permissions(&upper, lower.permissions())?;
        let [folder, upper, work] = [open_folder(folder)?, open_folder(&upper)?, open_folder(&work)?];
        let layers = [("lowerdir", layer(&folder)), ("upperdir", layer(&upper)), ("workdir", layer(&work))];
        make_overlay(&layers)
    };
    make().or_else(|_| {
        mount_tmpfs(changes, WRITABLE_TMPFS)?;
        make()
    })
}

/// Creates an overlay from layers, each given as the name of an option and a path. The overlay is detached, so the
/// paths can be arbitrary and are not visible.
fn make_overlay(layers: &[(&str, String)]) -> io::Result<OwnedFd> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    layers.iter().try_for_each(|(key, layer)| fsconfig_set_string(&context, *key, layer.as_str()))?;
    // The kernel's own attributes require rights over the machine.
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn layer(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", folder.as_raw_fd())
}

/// Returns the paths of the Unix sockets in the network namespace of this process.
pub(crate) fn socket_paths() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/net/unix")?;
    // The path follows seven columns. Other sockets have no path, or a relative one.
    let path = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'/')?;
        (line[..at].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count() == 7)
            .then(|| OsString::from_vec(line[at..].to_vec()).into())
    };
    let mut paths: Vec<PathBuf> = table.split(|byte| *byte == b'\n').filter_map(path).collect();
    // A socket is listed once per connection.
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Hides a file or a folder behind an empty one. Succeeds if the path does not exist, since it may disappear at any
/// time.
fn hide(path: &Path) -> io::Result<()> {
    let hidden = match path.metadata() {
        Ok(found) if found.is_dir() => mount_tmpfs(path, c"mode=555,size=4k"),
        Ok(_) => mount_bind("/dev/null", path).map_err(io::Error::from),
        Err(_) => Ok(()),
    };
    none_if_missing(hidden).map(Option::unwrap_or_default)
}

/// Converts the error "not found" to `Ok(None)`, and a value to `Some`.
pub(crate) fn none_if_missing<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Hides a socket behind `/dev/null`. Succeeds if the path does not exist, since it may disappear at any time.
fn hide_socket(path: &Path) -> io::Result<()> {
    let is_socket = path.metadata().is_ok_and(|found| found.file_type().is_socket());
    match is_socket.then(|| mount_bind("/dev/null", path)) {
        Some(Err(Errno::NOENT)) | None => Ok(()),
        Some(hidden) => Ok(hidden?),
    }
}

fn mount_tmpfs(path: &Path, options: &CStr) -> io::Result<()> {
    Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)?)
}

/// Returns the paths of the devices for computing, and of the folders that contain some.
pub(crate) fn accelerators() -> Vec<PathBuf> {
    let entries = fs::read_dir("/dev").into_iter().flatten().flatten();
    let accelerators = entries.filter(|entry| entry.file_name().to_str().is_some_and(is_accelerator));
    accelerators.map(|entry| entry.path()).collect()
}

fn is_accelerator(name: &str) -> bool {
    ACCELERATORS.iter().any(|prefix| name.starts_with(prefix))
}

fn replace_devices() -> io::Result<()> {
    let folder = Path::new("/dev");
    let names = fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let memory = folder.join("shm");
    // A target may lie in it, and each run masks it; the target of a symbolic link is masked instead.
    let is_memory = |name: &str| name == "shm" && memory.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_kept = |name: &String| DEVICES.contains(&name.as_str()) || is_accelerator(name) || is_memory(name);
    let kept: Vec<(OwnedFd, PathBuf)> = names
        .filter(is_kept)
        .map(|name| Ok((clone_mount(&folder.join(&name))?, folder.join(name))))
        .collect::<io::Result<_>>()?;
    mount_tmpfs(folder, c"mode=755")?;
    for (clone, path) in kept {
        create_mount_point(&path, &clone)?;
        attach(&clone, &path)?;
    }
    fs::create_dir_all(&memory)?;
    DEVICE_LINKS.iter().try_for_each(|(name, to)| symlink(to, folder.join(name)))
}

/// Clones the mount of a path with all mounts below it, to attach it elsewhere.
fn clone_mount(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

fn attach(clone: &OwnedFd, path: &Path) -> io::Result<()> {
    Ok(move_mount(clone, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Creates the file or folder at `path` that a mount is attached to.
fn create_mount_point(path: &Path, clone: &OwnedFd) -> io::Result<()> {
    let is_folder = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(clone)?.st_mode).is_dir();
    if is_folder {
        return fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create(path).map(drop)
}
