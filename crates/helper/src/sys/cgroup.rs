//! Control groups (version 2): each run has its own, if this process may create them. They are optional, and each of
//! their files is used only if it exists.

use super::usage::named_number;
use crate::{Limit, Limits};
use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, geteuid};
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Prefix of the names of the control groups that this crate creates.
const FOLDER_PREFIX: &str = "agentnative-";
/// The controllers of control groups that limit runs. Each is used only if it is delegated to this user.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// The control group that contains the groups of all runs.
#[derive(Debug)]
pub(crate) struct Cgroups {
    folder: PathBuf,
    next: AtomicU32,
    /// The open folder, locked as long as this process runs.
    _owner: File,
}

impl Cgroups {
    /// Creates a control group for all runs, below the group of this process. A group that has processes cannot have
    /// limited groups below it. If runs can therefore be limited only beside the group of this process, the new group
    /// is created there. `None` if neither is allowed.
    pub fn new() -> Option<Self> {
        let own_group = own_group_folder()?;
        let below = Self::create_in(&own_group);
        if below.as_ref().is_some_and(Self::is_limiting) {
            return below;
        }
        // An unprivileged user owns only delegated groups.
        let delegated = |folder: &&Path| {
            let owner = folder.metadata().map_or(0, |found| found.uid());
            owner != 0 && owner == geteuid().as_raw()
        };
        let sibling = own_group.parent().filter(delegated).and_then(Self::create_in);
        sibling.filter(Self::is_limiting).or(below)
    }

    fn create_in(parent: &Path) -> Option<Self> {
        remove_abandoned_groups(parent);
        let folder = parent.join(format!("{FOLDER_PREFIX}{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let owner = lock_folder(&folder);
        let Some(owner) = owner.filter(|_| folder.join("cgroup.procs").exists()) else {
            fs::remove_dir(&folder).unwrap_or_default();
            return None;
        };
        for controller in CONTROLLERS {
            let enable = |folder: &Path| {
                write_existing(&folder.join("cgroup.subtree_control"), &format!("+{controller}"))
            };
            if !lists_controller(&folder, "cgroup.controllers", controller) {
                enable(parent);
            }
            enable(&folder);
        }
        Some(Self { folder, next: AtomicU32::new(0), _owner: owner })
    }

    fn is_limiting(&self) -> bool {
        CONTROLLERS
            .iter()
            .any(|controller| lists_controller(&self.folder, "cgroup.subtree_control", controller))
    }

    /// Creates a control group with these limits and moves a process into it. Children that the process starts later
    /// are members as well. `None` if this is not allowed.
    pub fn enter(&self, pid: Pid, limits: &Limits) -> Option<Cgroup> {
        let folder = self.folder.join(self.next.fetch_add(1, Ordering::Relaxed).to_string());
        fs::create_dir(&folder).ok()?;
        let group = Cgroup { folder, limits: *limits };
        group.set_limits();
        write_existing(&group.folder.join("cgroup.procs"), &pid.as_raw_pid().to_string()).then_some(group)
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        remove(&self.folder);
    }
}

/// The control group of one run. When this is dropped, the group is removed if it has no processes left.
#[derive(Debug)]
pub(crate) struct Cgroup {
    folder: PathBuf,
    limits: Limits,
}

impl Cgroup {
    fn set_limits(&self) {
        let set = |file: &str, value: u64| write_existing(&self.folder.join(file), &value.to_string());
        set("memory.max", self.limits.memory);
        set("memory.swap.max", 0);
        // Kill the whole group, or a parent would report that its child was killed.
        set("memory.oom.group", 1);
        set("pids.max", self.limits.processes);
    }

    /// Kills all processes in the group.
    pub fn kill(&self) {
        write_existing(&self.folder.join("cgroup.kill"), "1");
    }

    /// Returns the number of processes in the group.
    pub fn processes(&self) -> u64 {
        let list = fs::read(self.folder.join("cgroup.procs")).unwrap_or_default();
        list.iter().filter(|byte| **byte == b'\n').count() as u64
    }

    /// Returns the total time in which threads of the run waited for a processor and none of them had one. `None` if
    /// the kernel does not count it.
    pub fn stalled(&self) -> Option<Duration> {
        let text = fs::read_to_string(self.folder.join("cpu.pressure")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("full "))?;
        line.split_once("total=")?.1.parse().ok().map(Duration::from_micros)
    }

    /// Returns the limit that the kernel enforced, by an error or by killing a process. `None` if it enforced none.
    pub fn exceeded(&self) -> Option<Limit> {
        let count = |file: &str, name: &str| {
            let text = fs::read_to_string(self.folder.join(file)).unwrap_or_default();
            named_number(&text, name).unwrap_or(0)
        };
        if count("pids.events", "max") > 0 {
            Some(Limit::Processes(self.limits.processes))
        } else if count("memory.events", "oom") > 0 {
            Some(Limit::Memory(self.limits.memory))
        } else if count("memory.events", "oom_kill") > 0 {
            Some(Limit::Machine)
        } else {
            None
        }
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        fs::remove_dir(&self.folder).unwrap_or_default();
    }
}

/// Returns the folder of the control group of this process.
fn own_group_folder() -> Option<PathBuf> {
    let read = |path| fs::read_to_string(path).ok();
    group_folder(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)
}

/// Returns the folder of the control group of a process. The arguments are the contents of its files `mountinfo` and
/// `cgroup` in /proc.
fn group_folder(mounts: &str, groups: &str) -> Option<PathBuf> {
    let group = groups.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (before, after) = line.split_once(" - ")?;
        let mut fields = before.split(' ').skip(3);
        let (root, mounted) = (fields.next()?, fields.next()?);
        let below = Path::new(group).strip_prefix(root).ok()?;
        after.starts_with("cgroup2 ").then(|| Path::new(mounted).join(below))
    })
}

/// Returns the paths of the files with this name in the folders of the control group of this process and of the groups
/// above. The file of its own group comes first.
pub(super) fn files_of_own_groups(name: &str) -> Vec<PathBuf> {
    let own_group = own_group_folder().unwrap_or_default();
    let files = own_group.ancestors().map(|folder| folder.join(name));
    files.take_while(|file| file.is_absolute() && file.exists()).collect()
}

/// Marks the folder of a control group as owned by this process, until the returned file is closed. `None` if another
/// process owns it.
fn lock_folder(folder: &Path) -> Option<File> {
    let folder = File::open(folder).ok()?;
    flock(&folder, FlockOperation::NonBlockingLockExclusive).ok().map(|()| folder)
}

/// Finds control groups in `parent` whose owner has ended, kills the processes in them, and removes them.
fn remove_abandoned_groups(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().as_encoded_bytes().starts_with(FOLDER_PREFIX.as_bytes());
        if is_ours && let Some(_owner) = lock_folder(&entry.path()) {
            write_existing(&entry.path().join("cgroup.kill"), "1");
            remove(&entry.path());
        }
    }
}

/// Removes a control group and the groups below it, except those with processes.
fn remove(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            fs::remove_dir(entry.path()).unwrap_or_default();
        }
    }
    fs::remove_dir(folder).unwrap_or_default();
}

/// Whether `file`, such as `cgroup.controllers`, in the folder of a control group lists this controller.
fn lists_controller(folder: &Path, file: &str, controller: &str) -> bool {
    let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.split_ascii_whitespace().any(|name| name == controller)
}

/// Writes to a file if it exists; returns whether that succeeded.
fn write_existing(file: &Path, text: &str) -> bool {
    let opened = OpenOptions::new().write(true).open(file);
    opened.and_then(|mut file| file.write_all(text.as_bytes())).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates the folder of a control group with these files, which the kernel would create.
    fn group(folder: &Path, files: &[&str]) {
        fs::create_dir_all(folder).unwrap();
        files.iter().for_each(|file| fs::write(folder.join(file), "").unwrap());
    }

    #[test]
    fn the_group_of_a_process_is_found_below_the_mount() {
        let mounts = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n\
                      40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n\
                      41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:9 - cgroup2 cgroup2 rw\n";
        let groups = "5:devices:/other\n0::/user.slice/a.scope\n";
        let expected = Some("/sys/fs/cgroup/unified/user.slice/a.scope".into());
        assert_eq!(group_folder(mounts, groups), expected);
        // Only a part of the tree is mounted, as in a container.
        let part = "41 31 0:38 /user.slice /cg rw - cgroup2 cgroup2 rw\n";
        assert_eq!(group_folder(part, groups), Some("/cg/a.scope".into()));
        let other = "41 31 0:38 /machine.slice /cg rw - cgroup2 cgroup2 rw\n";
        for (mounts, groups) in [(other, groups), ("", groups), (mounts, "5:devices:/\n")] {
            assert_eq!(group_folder(mounts, groups), None);
        }
    }

    #[test]
    fn a_group_has_the_limits_that_its_files_allow() {
        let parent = tempfile::tempdir().unwrap();
        let limits = Limits { memory: 1 << 20, processes: 7, written: 0 };
        let with_files = |files: &[&str]| {
            let folder = parent.path().join("0");
            group(&folder, files);
            Cgroup { folder, limits }
        };
        let read = |file| fs::read_to_string(parent.path().join("0").join(file)).ok();
        let cgroup = with_files(&["pids.max"]);
        cgroup.set_limits();
        assert_eq!((read("pids.max").as_deref(), read("memory.max")), (Some("7"), None));
        let all = ["memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cgroup.kill"];
        let cgroup = with_files(&all);
        cgroup.set_limits();
        cgroup.kill();
        assert_eq!(all.map(|file| read(file).unwrap()), ["1048576", "0", "1", "7", "1"]);

        assert_eq!(cgroup.exceeded(), None);
        let events = |file: &str, text: &str| fs::write(parent.path().join("0").join(file), text).unwrap();
        events("memory.events", "low 0\nhigh 0\nmax 5\noom 0\noom_kill 0\n");
        assert_eq!(cgroup.exceeded(), None);
        events("memory.events", "max 5\noom 0\noom_kill 1\n");
        assert_eq!(cgroup.exceeded(), Some(Limit::Machine));
        events("memory.events", "max 5\noom 1\noom_kill 1\n");
        assert_eq!(cgroup.exceeded(), Some(Limit::Memory(1 << 20)));
        events("pids.events", "max 2\n");
        assert_eq!(cgroup.exceeded(), Some(Limit::Processes(7)));
    }

    #[test]
    fn folders_are_removed_once_their_owner_has_ended() {
        let parent = tempfile::tempdir().unwrap();
        let (owned, left, other) = (
            parent.path().join("agentnative-1"),
            parent.path().join("agentnative-2"),
            parent.path().join("x"),
        );
        for folder in [&owned, &left, &other] {
            group(&folder.join("0"), &[]);
        }
        let owner = lock_folder(&owned).unwrap();
        remove_abandoned_groups(parent.path());
        assert_eq!([&owned, &left, &other].map(|folder| folder.exists()), [true, false, true]);
        drop(owner);
        remove_abandoned_groups(parent.path());
        assert!(!owned.exists());
    }
}
