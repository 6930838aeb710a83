//! What a confined run sees of the file system: all that is there, but nothing that it may write to except its own
//! places, no credentials, no sockets of services, and of the devices only those that everybody uses.

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

/// What one run sees.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct View {
    /// The folder of all runs.
    pub root: OsString,
    /// Folders of the machine that are empty for it, but for what is listed below.
    pub masked: Vec<OsString>,
    /// What stays visible in them.
    pub visible: Vec<OsString>,
    /// Links in them, and where they lead to.
    pub links: Vec<(OsString, OsString)>,
    /// What it may write to.
    pub writable: Vec<OsString>,
    /// What it may not write to all the same.
    pub protected: Vec<OsString>,
    /// The folder that it sees copy on write.
    pub start: Option<CopyOnWrite>,
    /// Files and folders that it finds empty.
    pub hidden: Vec<OsString>,
    /// Folders whose sockets are to be hidden one by one: see [`restrict`].
    pub exposed: Vec<OsString>,
    /// The numbers of its processes come after this one.
    pub last_process: u32,
    /// And they do not reach this one, as far as the kernel can.
    pub most_processes: u32,
}

/// A folder that a run may change as it likes, while the folder itself stays as it is.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct CopyOnWrite {
    pub folder: OsString,
    /// A folder of ours, for what the run changes.
    pub changes: OsString,
}

/// Folders where the services of a machine put sockets, and all users shared memory. Files in `/tmp` stay visible: a program
/// may depend on them.
pub(crate) const SHARED: &[&str] = &["/dev/shm", "/run"];
/// Folders that change all the time: each run sees them as they are when it starts.
const VOLATILE: &[&str] = &["/tmp", "/var/tmp"];

/// They are in memory: programs share memory there.
const IN_MEMORY: &CStr = c"mode=1777,size=512m";

/// Folders with credentials of the system.
const SYSTEM_CREDENTIALS: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/ssl/private"];

/// The devices that a run has.
const DEVICES: &[&str] = &["full", "null", "pts", "random", "tty", "urandom", "zero"];
/// How the names of those begin that compute.
const ACCELERATORS: &[&str] = &["dri", "kfd", "nvidia"];
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("ptmx", "pts/ptmx"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// What root can change the machine with, below `/proc`.
const CONTROLS: &[&str] = &["acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"];

/// File systems of this machine itself, which answer at once. A dead network or FUSE file system never does.
const LOCAL: &[&str] = &[
    "bcachefs", "btrfs", "erofs", "ext2", "ext3", "ext4", "f2fs", "jfs", "overlay", "ramfs", "reiserfs",
    "squashfs", "tmpfs", "xfs", "zfs",
];
/// In a folder with mounts below and more folders than this, each folder would take a mount of its own.
const MAX_COVERED: usize = 64;

/// Where in the folder of all runs the machine is attached once more as it is.
pub(crate) const MACHINE: &str = "machine";
/// An empty folder there, with a file system of its own.
pub(crate) const EMPTY: &str = "empty";

/// Changes the mounts of this process, which has its own, to what all runs of a helper see. Returns the folders that could
/// not be covered.
///
/// All files are seen through overlays. So there is no way to a socket, a named pipe or a lock of the machine: those of an
/// overlay are its own, by whatever name. Where a folder cannot be covered, its sockets are hidden by their paths.
pub(crate) fn restrict(root: &Path) -> io::Result<Vec<PathBuf>> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let mounts = mounts()?;
    let (machine, empty) = (root.join(MACHINE), root.join(EMPTY));
    attach(&clone(Path::new("/"))?, &machine)?;
    mount_memory(&empty, c"mode=555,size=4k")?;
    let mut exposed = Vec::new();
    let apart = SHARED.iter().chain(VOLATILE).chain(&["/dev", "/proc", "/sys"]).map(PathBuf::from);
    let apart: Vec<PathBuf> =
        apart.filter_map(|path| path.canonicalize().ok()).chain([root.into()]).collect();
    cover(Path::new("/"), &mounts, &apart, &empty, &mut exposed);
    SYSTEM_CREDENTIALS.iter().try_for_each(|path| hide(Path::new(path)))?;
    replace_devices()?;
    for Mount { point, flags, kind } in self::mounts()? {
        if point.starts_with("/proc") || point.starts_with(&machine) {
            continue;
        }
        // A container is given sockets of its host so.
        if LOCAL.contains(&&*kind) || kind == "devtmpfs" {
            hide_socket(&point)?;
        }
        // The processes of this machine, or of another container.
        if kind == "proc" {
            mount_memory(&point, c"mode=555,size=4k")?;
        }
        match mount_remount(&point, flags | MountFlags::BIND | MountFlags::RDONLY, c"") {
            // Nobody gets there: another mount is in front of it, or a folder that this user may not enter.
            Err(Errno::INVAL | Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => {}
            done => done?,
        }
    }
    Ok(exposed)
}

/// Puts an overlay on a folder; where there are mounts below, on each of its folders.
fn cover(folder: &Path, mounts: &[Mount], apart: &[PathBuf], empty: &Path, exposed: &mut Vec<PathBuf>) {
    // Of several at one place, the last is in front.
    let own = mounts.iter().filter(|mount| folder.starts_with(&mount.point));
    let own = own.max_by_key(|mount| mount.point.components().count());
    if apart.iter().any(|path| path == folder) || own.is_none_or(|mount| !LOCAL.contains(&&*mount.kind)) {
        return;
    }
    let below = |path: &PathBuf| path != folder && path.starts_with(folder);
    if !mounts.iter().map(|mount| &mount.point).chain(apart).any(below) {
        match overlay(folder, empty).and_then(|overlay| attach(&overlay, folder)) {
            Ok(()) => {}
            // Nobody gets there.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
            Err(_) => exposed.push(folder.to_owned()),
        }
        return;
    }
    let entries: Vec<_> = fs::read_dir(folder).into_iter().flatten().flatten().collect();
    let is =
        |entry: &fs::DirEntry, is: fn(&fs::FileType) -> bool| entry.file_type().is_ok_and(|kind| is(&kind));
    if entries.iter().filter(|entry| is(entry, fs::FileType::is_dir)).count() > MAX_COVERED {
        exposed.push(folder.to_owned());
        return;
    }
    for entry in entries {
        if is(&entry, fs::FileType::is_dir) {
            cover(&entry.path(), mounts, apart, empty, exposed);
        } else if is(&entry, FileTypeExt::is_socket) || is(&entry, FileTypeExt::is_fifo) {
            mount_bind("/dev/null", entry.path()).unwrap_or_default();
        }
    }
}

/// Something to be attached at a path.
enum Piece {
    /// An empty folder.
    Mask,
    /// What is there already, or an overlay of it.
    Mount(OwnedFd),
    /// A link to this path.
    Link(PathBuf),
}

/// Changes the mounts of this process, which has its own of those that are restricted, to what one run sees; the process
/// must be in the process namespace of the run. Nobody can connect to those of these sockets that are in an exposed folder.
/// Returns whether the run sees its start folder copy on write, where it was to.
pub(crate) fn arrange(view: &View, sockets: &[PathBuf]) -> io::Result<bool> {
    let mut scenery = Scenery::of(view);
    scenery.add_volatile();
    scenery.add_visible()?;
    scenery.add_writable()?;
    let is_copied = scenery.add_start_folder()?;
    let Scenery { pieces, exposed, .. } = scenery;
    attach_all(pieces)?;
    view.hidden.iter().try_for_each(|path| hide(Path::new(path)))?;
    let is_exposed = |path: &&PathBuf| exposed.iter().any(|folder| path.starts_with(folder));
    sockets.iter().filter(is_exposed).try_for_each(|path| hide_socket(path))?;
    mount_kernel_files(view)?;
    Ok(is_copied)
}

/// What is to be attached for a run, before anything of it is.
struct Scenery<'v> {
    view: &'v View,
    machine: PathBuf,
    empty: PathBuf,
    masked: Vec<&'v Path>,
    pieces: Vec<(PathBuf, Piece)>,
    /// Folders whose sockets are to be hidden one by one.
    exposed: Vec<PathBuf>,
}

impl<'v> Scenery<'v> {
    /// Begins with the masks, and the links in them.
    fn of(view: &'v View) -> Self {
        let root = Path::new(&view.root);
        let masked: Vec<&Path> = view.masked.iter().map(Path::new).filter(|path| path.is_dir()).collect();
        let links = view.links.iter().map(|(path, to)| (PathBuf::from(path), Piece::Link(to.into())));
        let links = links.filter(|(path, _)| masked.iter().any(|mask| path.starts_with(mask)));
        let masks = masked.iter().map(|path| ((*path).to_owned(), Piece::Mask));
        let pieces = links.chain(masks).collect();
        let exposed = view.exposed.iter().map(PathBuf::from).collect();
        Self { view, machine: root.join(MACHINE), empty: root.join(EMPTY), masked, pieces, exposed }
    }

    /// Returns where a path of the machine is seen as it is.
    fn on_machine(&self, path: &Path) -> PathBuf {
        self.machine.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Adds overlays of the folders that change all the time.
    fn add_volatile(&mut self) {
        for folder in VOLATILE.iter().map(Path::new) {
            // A link, such as `/var/tmp -> /tmp`, leads to the other one.
            if !folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                continue;
            }
            match overlay(&self.on_machine(folder), &self.empty) {
                Ok(overlay) => self.pieces.push((folder.to_owned(), Piece::Mount(overlay))),
                Err(_) => self.exposed.push(folder.to_owned()),
            }
        }
    }

    /// Adds what stays visible in the masks.
    fn add_visible(&mut self) -> io::Result<()> {
        let root = Path::new(&self.view.root);
        let shared: Vec<PathBuf> =
            SHARED.iter().filter_map(|path| Path::new(path).canonicalize().ok()).collect();
        for path in self.view.visible.iter().map(Path::new) {
            if !path.exists() || !self.masked.iter().any(|mask| path.starts_with(mask)) {
                continue;
            }
            // What all users share is not covered yet.
            let is_shared = shared.iter().any(|folder| path.starts_with(folder)) && !path.starts_with(root);
            let covered =
                (is_shared && path.is_dir()).then(|| overlay(&self.on_machine(path), &self.empty).ok());
            if covered.as_ref().is_some_and(Option::is_none) {
                self.exposed.push(path.to_owned());
            }
            // It may be gone by now.
            let seen = match covered.flatten() {
                Some(overlay) => Some(overlay),
                None => present(clone(path))?,
            };
            self.pieces.extend(seen.map(|seen| (path.to_owned(), Piece::Mount(seen))));
        }
        Ok(())
    }

    /// Adds what the run may write to, and what it may not write to in there.
    fn add_writable(&mut self) -> io::Result<()> {
        for path in self.view.writable.iter().map(Path::new) {
            let seen = present(clone(&self.on_machine(path)))?;
            self.pieces.extend(seen.map(|seen| (path.to_owned(), Piece::Mount(seen))));
        }
        for path in self.view.protected.iter().map(Path::new) {
            let seen = present(clone(path))?;
            self.pieces.extend(seen.map(|seen| (path.to_owned(), Piece::Mount(seen))));
        }
        Ok(())
    }

    /// Adds the folder that the run sees copy on write, or else cannot write to. Returns false for the latter.
    fn add_start_folder(&mut self) -> io::Result<bool> {
        let Some(CopyOnWrite { folder, changes }) = &self.view.start else { return Ok(true) };
        let folder = Path::new(folder);
        let made = writable_overlay(&self.on_machine(folder), &self.on_machine(Path::new(changes)));
        let is_copied = made.is_ok();
        let seen = match made {
            Ok(overlay) => overlay,
            Err(_) => {
                self.exposed.push(folder.to_owned());
                clone(folder)?
            }
        };
        self.pieces.push((folder.to_owned(), Piece::Mount(seen)));
        Ok(is_copied)
    }
}

fn attach_all(mut pieces: Vec<(PathBuf, Piece)>) -> io::Result<()> {
    // Folders come before what is in them: a mask may lie in what is kept of another.
    pieces.sort_by_key(|(path, piece)| (path.clone(), !matches!(piece, Piece::Mask)));
    for (path, piece) in pieces {
        match piece {
            Piece::Mount(mount) => {
                if !path.exists() {
                    make_point(&path, &mount)?;
                }
                attach(&mount, &path)?;
            }
            // In another mask, it is gone.
            Piece::Mask if path.exists() => mount_memory(&path, IN_MEMORY)?,
            Piece::Link(to) if path.symlink_metadata().is_err() => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                symlink(to, &path)?;
            }
            Piece::Mask | Piece::Link(_) => {}
        }
    }
    Ok(())
}

/// Mounts the terminals and the processes of the namespaces of this process.
fn mount_kernel_files(view: &View) -> io::Result<()> {
    let options = c"newinstance,ptmxmode=0666,mode=0620";
    mount("devpts", "/dev/pts", "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, c"")?;
    super::namespaces::number_processes(view.last_process, view.most_processes)?;
    if geteuid().is_root() {
        for control in CONTROLS.iter().map(|name| Path::new("/proc").join(name)).filter(|path| path.exists())
        {
            mount_bind(&control, &control)?;
            mount_remount(&control, flags | MountFlags::BIND | MountFlags::RDONLY, c"")?;
        }
    }
    Ok(())
}

/// Makes an overlay of a folder that nobody can write to. The second layer is empty: an overlay needs two.
fn overlay(folder: &Path, empty: &Path) -> io::Result<OwnedFd> {
    let (folder, empty) = (place(folder)?, place(empty)?);
    make_overlay(&[("lowerdir", format!("{}:{}", layer(&folder), layer(&empty)))])
}

/// Makes an overlay of a folder whose changes go into another one: into its file system, or into memory where that cannot
/// take them.
fn writable_overlay(folder: &Path, changes: &Path) -> io::Result<OwnedFd> {
    let make = || {
        let (upper, work) = (changes.join("upper"), changes.join("work"));
        fs::create_dir_all(&upper)?;
        fs::create_dir_all(&work)?;
        // The overlay has the permissions and the owner of its upper layer, as far as this user may give it away.
        let lower = fs::metadata(folder)?;
        chown(&upper, Some(lower.uid()), Some(lower.gid())).unwrap_or_default();
        fs::set_permissions(&upper, lower.permissions())?;
        let [folder, upper, work] = [place(folder)?, place(&upper)?, place(&work)?];
        let layers = [("lowerdir", layer(&folder)), ("upperdir", layer(&upper)), ("workdir", layer(&work))];
        make_overlay(&layers)
    };
    make().or_else(|_| {
        mount_memory(changes, IN_MEMORY)?;
        make()
    })
}

/// Makes an overlay of layers that it keeps to itself: their paths can have any length and characters, and do not show.
fn make_overlay(layers: &[(&str, String)]) -> io::Result<OwnedFd> {
    let context = fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
    layers.iter().try_for_each(|(key, layer)| fsconfig_set_string(&context, *key, layer.as_str()))?;
    // Those of the kernel itself take rights over the machine.
    fsconfig_set_flag(&context, "userxattr")?;
    fsconfig_create(&context)?;
    Ok(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, MountAttrFlags::empty())?)
}

fn place(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

fn layer(folder: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", folder.as_raw_fd())
}

/// The Unix sockets with a path in the network namespace of this process.
pub(crate) fn socket_paths() -> io::Result<Vec<PathBuf>> {
    let table = fs::read("/proc/self/net/unix")?;
    // Behind seven columns. The others have no path, or one that only their owner can resolve.
    let path = |line: &[u8]| {
        let at = line.iter().position(|byte| *byte == b'/')?;
        (line[..at].split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count() == 7)
            .then(|| OsString::from_vec(line[at..].to_vec()).into())
    };
    let mut paths: Vec<PathBuf> = table.split(|byte| *byte == b'\n').filter_map(path).collect();
    // A socket is listed for each connection as well.
    paths.sort();
    paths.dedup();
    Ok(paths)
}

/// Puts nothing in the place of a file or a folder, which may be gone at any time.
fn hide(path: &Path) -> io::Result<()> {
    let hidden = match path.metadata() {
        Ok(found) if found.is_dir() => mount_memory(path, c"mode=555,size=4k"),
        Ok(_) => mount_bind("/dev/null", path).map_err(io::Error::from),
        Err(_) => Ok(()),
    };
    present(hidden).map(Option::unwrap_or_default)
}

/// Turns "not found" into `None`.
pub(crate) fn present<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}

/// Puts nothing in the place of a socket, which may be gone at any time.
fn hide_socket(path: &Path) -> io::Result<()> {
    let is_socket = path.metadata().is_ok_and(|found| found.file_type().is_socket());
    match is_socket.then(|| mount_bind("/dev/null", path)) {
        Some(Err(Errno::NOENT)) | None => Ok(()),
        Some(hidden) => Ok(hidden?),
    }
}

fn mount_memory(path: &Path, options: &CStr) -> io::Result<()> {
    Ok(mount("tmpfs", path, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)?)
}

fn replace_devices() -> io::Result<()> {
    let folder = Path::new("/dev");
    let names = fs::read_dir(folder)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let memory = folder.join("shm");
    // A target may lie in it, and each run has it masked; a link is masked where it leads to.
    let is_memory = |name: &str| name == "shm" && memory.symlink_metadata().is_ok_and(|found| found.is_dir());
    let is_kept = |name: &String| {
        DEVICES.contains(&name.as_str())
            || ACCELERATORS.iter().any(|prefix| name.starts_with(prefix))
            || is_memory(name)
    };
    let kept: Vec<(OwnedFd, PathBuf)> = names
        .filter(is_kept)
        .map(|name| Ok((clone(&folder.join(&name))?, folder.join(name))))
        .collect::<io::Result<_>>()?;
    mount_memory(folder, c"mode=755")?;
    for (clone, path) in kept {
        make_point(&path, &clone)?;
        attach(&clone, &path)?;
    }
    fs::create_dir_all(&memory)?;
    LINKS.iter().try_for_each(|(name, to)| symlink(to, folder.join(name)))
}

/// What is at a path, with all that is mounted below it, to be attached elsewhere.
fn clone(path: &Path) -> io::Result<OwnedFd> {
    let flags =
        OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

fn attach(clone: &OwnedFd, path: &Path) -> io::Result<()> {
    Ok(move_mount(clone, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

/// Makes a place to attach something to.
fn make_point(path: &Path, clone: &OwnedFd) -> io::Result<()> {
    let is_folder = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(clone)?.st_mode).is_dir();
    if is_folder {
        return fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    File::create(path).map(drop)
}

/// A mount of this process.
struct Mount {
    point: PathBuf,
    /// The flags that may not be taken away.
    flags: MountFlags,
    /// The kind of its file system.
    kind: String,
}

/// Returns the mounts of this process.
fn mounts() -> io::Result<Vec<Mount>> {
    let flag = |word: &str| match word {
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    let list = fs::read("/proc/self/mountinfo")?;
    let mount = |line: &[u8]| {
        let mut words = line.split(|byte| *byte == b' ');
        let (point, options) = (words.nth(4)?, std::str::from_utf8(words.next()?).ok()?);
        let kind = words.skip_while(|word| *word != b"-").nth(1)?;
        Some(Mount {
            point: unescape(point),
            flags: options.split(',').map(flag).fold(MountFlags::empty(), |all, one| all | one),
            // Some name the program that serves them: `fuse.sshfs`.
            kind: String::from_utf8_lossy(kind).into_owned(),
        })
    };
    Ok(list.split(|byte| *byte == b'\n').filter_map(mount).collect())
}

/// Whether something is mounted in a folder.
pub(crate) fn has_mounts_below(folder: &Path) -> io::Result<bool> {
    let folder = folder.canonicalize()?;
    Ok(mounts()?.iter().any(|mount| mount.point != folder && mount.point.starts_with(&folder)))
}

/// A path as the kernel writes it: blanks and backslashes are `\` and three octal digits.
fn unescape(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, others)) = rest.split_first() {
        let octal = others
            .first_chunk::<3>()
            .filter(|digits| *first == b'\\' && digits.iter().all(|d| (b'0'..b'8').contains(d)));
        match octal {
            Some(digits) => {
                path.push(
                    digits.iter().fold(0_u8, |value, digit| value.wrapping_mul(8).wrapping_add(digit - b'0')),
                );
                rest = &others[3..];
            }
            None => {
                path.push(*first);
                rest = others;
            }
        }
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::unescape;
    use std::path::Path;

    #[test]
    fn a_path_is_read_as_the_kernel_writes_it() {
        assert_eq!(unescape(br"/a\040b\134\011c"), Path::new("/a b\\\tc"));
        assert_eq!(unescape(br"/a\04"), Path::new(r"/a\04"));
    }
}
