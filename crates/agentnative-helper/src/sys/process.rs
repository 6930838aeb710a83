//! What /proc tells about a process. All of it is a look at one moment; a process that is gone gives
//! `None` or nothing.

use crate::Failure;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The fields of `/proc/PID/stat` that this crate uses.
#[derive(Debug, Clone)]
pub(crate) struct Stat {
    pub pid: i32,
    /// The command name as the kernel has it, at most 15 bytes.
    pub name: Vec<u8>,
    /// `R`, `S`, `D`, `T`, `t`, `Z`, `X`, ...
    pub state: u8,
    pub parent: i32,
    pub session: i32,
    /// User and system time in clock ticks.
    pub ticks: u64,
    threads: u64,
    /// When it started, in ticks since the machine did: with the number, it names one process.
    pub start: u64,
}

impl Stat {
    /// Whether it has ended and only waits to be reaped. (A process whose first thread has ended
    /// while others go on also shows `Z`.)
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads <= 1
    }

    fn parse(pid: i32, raw: &[u8]) -> Option<Self> {
        // The name stands in parentheses and may itself hold spaces and parentheses.
        let open = raw.iter().position(|&b| b == b'(')?;
        let close = raw.iter().rposition(|&b| b == b')')?;
        let name = raw.get(open + 1..close)?.to_vec();
        let rest = std::str::from_utf8(raw.get(close + 2..)?).ok()?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |i: usize| fields.get(i).and_then(|f| f.parse::<i64>().ok());
        Some(Self {
            pid,
            name,
            state: fields.first()?.bytes().next()?,
            parent: i32::try_from(number(1)?).ok()?,
            session: i32::try_from(number(3)?).ok()?,
            ticks: u64::try_from(number(11)? + number(12)?).ok()?,
            threads: u64::try_from(number(17)?).ok()?,
            start: u64::try_from(number(19)?).ok()?,
        })
    }
}

/// That /proc is that of our own process namespace: else nobody could be found whom a run leaves
/// behind.
pub(crate) fn check_view() -> Result<(), Failure> {
    let shown = fs::read_link("/proc/self").ok();
    if shown.as_deref() == Some(Path::new(&std::process::id().to_string())) {
        return Ok(());
    }
    Err(Failure::new("/proc does not show the processes of this process namespace")
        .hint("mount it there: unshare --mount-proc, or mount -t proc proc /proc"))
}

/// The state of a process.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The state of one thread: its letter.
pub(crate) fn thread_state(pid: i32, thread: i32) -> Option<u8> {
    Some(Stat::parse(thread, &fs::read(format!("/proc/{pid}/task/{thread}/stat")).ok()?)?.state)
}

/// The threads of a process.
pub(crate) fn threads(pid: i32) -> Vec<i32> {
    numbers_in(&format!("/proc/{pid}/task"))
}

/// The children of a process. It may miss some while children come and go, so "none"
/// counts only when seen twice.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    children_of_threads(pid, threads(pid))
}

/// The same for a process that was looked at, which most often has one thread.
pub(crate) fn children_of(seen: &Stat) -> Vec<i32> {
    match seen.threads {
        1 => children_of_threads(seen.pid, vec![seen.pid]),
        _ => children(seen.pid),
    }
}

fn children_of_threads(pid: i32, threads: Vec<i32>) -> Vec<i32> {
    let mut found = Vec::new();
    for thread in threads {
        match fs::read_to_string(format!("/proc/{pid}/task/{thread}/children")) {
            Ok(list) => found.extend(list.split_ascii_whitespace().filter_map(|n| n.parse::<i32>().ok())),
            Err(error) if error.kind() == io::ErrorKind::NotFound && thread == pid && stat(pid).is_some() => {
                return children_by_parent(pid);
            }
            Err(_) => {}
        }
    }
    found
}

/// The same from all of /proc, for a kernel without the list of children.
fn children_by_parent(parent: i32) -> Vec<i32> {
    let is_child = |&pid: &i32| {
        let status = fs::read(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = status.iter().rposition(|&b| b == b')').map_or(&[][..], |at| &status[at + 1..]);
        let mut fields = after_name.split(|b| b.is_ascii_whitespace()).filter(|f| !f.is_empty());
        fields.nth(1).and_then(|f| std::str::from_utf8(f).ok()) == Some(&parent.to_string())
    };
    numbers_in("/proc").into_iter().filter(is_child).collect()
}

fn numbers_in(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The hard limit on the size of files; `None` when there is none or it cannot be read.
pub(crate) fn file_size_limit(pid: i32) -> Option<u64> {
    let limits = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whether the environment that the process was started with holds this `NAME=value`.
pub(crate) fn has_variable(pid: i32, variable: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|all| all.split(|&b| b == 0).any(|one| one == variable.as_bytes()))
}

/// The system call that a thread is blocked in: its number and six arguments. `None` while it runs,
/// and where it cannot be told.
pub(crate) fn system_call(pid: i32, thread: i32) -> Option<(u64, [u64; 6])> {
    let line = fs::read_to_string(format!("/proc/{pid}/task/{thread}/syscall")).ok()?;
    let mut words = line.split_ascii_whitespace();
    let number = words.next()?.parse().ok()?;
    let mut arguments = [0; 6];
    for argument in &mut arguments {
        *argument = u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok()?;
    }
    Some((number, arguments))
}

/// What a descriptor of a process stands for, such as `pipe:[123]` or `/dev/pts/4`.
pub(crate) fn descriptor(pid: i32, fd: i32) -> Option<Vec<u8>> {
    let link = fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    Some(link.as_os_str().as_bytes().to_vec())
}

/// The descriptors that an epoll descriptor of a process watches.
pub(crate) fn epoll_members(pid: i32, fd: i32) -> Option<Vec<i32>> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    let watched = info.lines().filter_map(|line| line.strip_prefix("tfd:"));
    watched.map(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).collect()
}

/// Reads the memory of a process.
pub(crate) fn memory(pid: i32, address: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    fs::File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

/// The signals that this process ignores, by number. The real-time ones are left out: the C library
/// keeps some of them for itself, ignored.
pub(crate) fn ignored_signals() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    (1..32).filter(|n| mask & (1 << (n - 1)) != 0).collect()
}
