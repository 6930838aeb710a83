//! What a confined run sees of the file system: all that is there, but nothing that it may write to except its own
//! places, no credentials, no sockets of services, and of the devices only those that everybody uses.

use rustix::fs::CWD;
use rustix::io::Errno;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, mount, mount_bind, mount_change,
    mount_remount, move_mount, open_tree,
};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};

/// What one run sees.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct View {
    /// Folders of the machine that are empty for it and its own.
    pub masked: Vec<OsString>,
    /// What stays visible in them.
    pub visible: Vec<OsString>,
    /// What it may write to.
    pub writable: Vec<OsString>,
    /// One of its streams is a terminal of the machine.
    pub terminal: bool,
    /// The numbers of its processes come after this one.
    pub last_process: u32,
    /// And they do not reach this one, as far as the kernel can.
    pub most_processes: u32,
}

/// Folders where the services of a machine put sockets, and all users shared memory. Files in `/tmp` stay visible: a program
/// may depend on them.
pub(crate) const SHARED: &[&str] = &["/dev/shm", "/run"];

/// They are in memory: programs share memory there.
const IN_MEMORY: &CStr = c"mode=1777,size=512m";

/// Files and folders with credentials: below the home of the user.
const CREDENTIALS: &[&str] = &[
    ".aws",
    ".azure",
    ".bash_history",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".config/gcloud",
    ".config/gh",
    ".config/git/credentials",
    ".config/op",
    ".docker/config.json",
    ".gemini/oauth_creds.json",
    ".git-credentials",
    ".gnupg",
    ".kube/config",
    ".local/share/keyrings",
    ".local/share/opencode/auth.json",
    ".netrc",
    ".npmrc",
    ".password-store",
    ".pypirc",
    ".python_history",
    ".ssh",
    ".zsh_history",
];
/// The same, anywhere.
const SYSTEM_CREDENTIALS: &[&str] = &["/etc/shadow", "/etc/gshadow", "/etc/ssl/private"];

/// The devices that a run has.
const DEVICES: &[&str] = &["full", "null", "ptmx", "pts", "random", "tty", "urandom", "zero"];
/// How the names of those begin that compute.
const ACCELERATORS: &[&str] = &["dri", "kfd", "nvidia"];
const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
];

/// What root can change the machine with, below `/proc`.
const CONTROLS: &[&str] = &["acpi", "bus", "fs", "irq", "scsi", "sys", "sysrq-trigger"];

/// Changes the mounts of this process, which has its own, to what all runs of a helper see.
pub(crate) fn restrict(home: &Path) -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let personal = CREDENTIALS.iter().map(|name| home.join(name));
    for path in personal.chain(SYSTEM_CREDENTIALS.iter().map(PathBuf::from)) {
        hide(&path)?;
    }
    replace_devices()?;
    for (point, flags) in mounts()? {
        // A container is given sockets of its host so.
        hide_socket(&point)?;
        if !point.starts_with("/proc") {
            match mount_remount(&point, flags | MountFlags::BIND | MountFlags::RDONLY, c"") {
                // Nobody gets there: another mount is in front of it, or a folder that this user may not enter.
                Err(Errno::INVAL | Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => {}
                done => done?,
            }
        }
    }
    Ok(())
}

/// Changes the mounts of this process, which has its own of those that are restricted, to what one run sees; the process
/// must be in the process namespace of the run. Nobody can connect to these sockets.
pub(crate) fn arrange(view: &View, sockets: &[PathBuf]) -> io::Result<()> {
    let writable: Vec<&Path> = view.writable.iter().map(Path::new).collect();
    let is_masked = |path: &&Path| path.is_dir() && !writable.iter().any(|own| path.starts_with(own));
    let masked: Vec<&Path> = view.masked.iter().map(Path::new).filter(is_masked).collect();
    let visible = view.visible.iter().map(Path::new);
    let visible = visible.filter(|path| masked.iter().any(|mask| path.starts_with(mask)));
    let kept: BTreeSet<&Path> =
        visible.chain(writable.iter().copied()).filter(|path| path.exists()).collect();
    let clones = kept.into_iter().map(|path| Ok((path, Some(clone(path)?))));
    let mut places: Vec<(&Path, Option<OwnedFd>)> = clones.collect::<io::Result<_>>()?;
    places.extend(masked.into_iter().map(|path| (path, None)));
    // Folders come before what is in them: a mask may lie in what is kept of another.
    places.sort_by_key(|(path, clone)| (*path, clone.is_some()));
    for (path, clone) in places {
        match clone {
            Some(clone) => {
                if !path.exists() {
                    make_point(path, &clone)?;
                }
                attach(&clone, path)?;
            }
            None if path.exists() => mount_memory(path, IN_MEMORY)?,
            // In another mask, it is gone.
            None => {}
        }
    }
    make_writable(&writable)?;
    sockets.iter().try_for_each(|path| hide_socket(path))?;
    if !view.terminal {
        let options = c"newinstance,ptmxmode=0666,mode=0620";
        mount("devpts", "/dev/pts", "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, options)?;
    }
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

/// The Unix sockets with a path in the network namespace of this process. A read-only mount keeps nobody from connecting to
/// them.
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

/// Puts nothing in the place of a file or a folder.
fn hide(path: &Path) -> io::Result<()> {
    match path.metadata() {
        Ok(found) if found.is_dir() => mount_memory(path, c"mode=555,size=4k"),
        Ok(_) => Ok(mount_bind("/dev/null", path)?),
        Err(_) => Ok(()),
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

/// Lets what is attached at these paths, and all that is mounted below them, be written to, as far as that was so before.
fn make_writable(paths: &[&Path]) -> io::Result<()> {
    for (point, flags) in mounts()? {
        if paths.iter().any(|path| point.starts_with(path)) {
            match mount_remount(&point, flags | MountFlags::BIND, c"") {
                // It was read-only for us already, or another mount is in front of it.
                Err(Errno::PERM | Errno::ROFS | Errno::INVAL | Errno::NOENT | Errno::ACCESS) => {}
                done => done?,
            }
        }
    }
    Ok(())
}

/// The mounts of this process, and the flags of each that may not be taken away.
fn mounts() -> io::Result<Vec<(PathBuf, MountFlags)>> {
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
        Some((unescape(point), options.split(',').map(flag).fold(MountFlags::empty(), |all, one| all | one)))
    };
    Ok(list.split(|byte| *byte == b'\n').filter_map(mount).collect())
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
