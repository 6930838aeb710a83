//! What /proc tells about a process. All of it is a look at one moment; a process that is gone gives
//! `None` or nothing.

use std::fs::{self, File};
use std::io::{self, Read};

/// The fields of `/proc/PID/stat` that this crate uses.
#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "runtime"), expect(dead_code, reason = "a supervisor reads more of them"))]
pub(crate) struct Stat {
    pub pid: i32,
    /// The command name as the kernel has it, at most 15 bytes.
    pub name: Vec<u8>,
    /// `R`, `S`, `D`, `T`, `t`, `Z`, `X`, ...
    pub state: u8,
    pub parent: i32,
    pub session: i32,
    /// User and system time in clock ticks, with that of the children that it has waited for.
    pub ticks: u64,
    /// How many threads it has.
    pub threads: u64,
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
            ticks: u64::try_from((11..=14).map(number).sum::<Option<i64>>()?).ok()?,
            threads: u64::try_from(number(17)?).ok()?,
            start: u64::try_from(number(19)?).ok()?,
        })
    }
}

/// What is in a file of /proc that the kernel writes at one go, by one call: there may be thousands of processes.
pub(super) fn contents(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4096];
    let length = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

/// The state of a process.
pub(crate) fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(pid, &contents(&format!("/proc/{pid}/stat")).ok()?)
}

/// The same of one thread.
#[cfg(feature = "runtime")]
pub(super) fn thread_stat(pid: i32, thread: i32) -> Option<Stat> {
    Stat::parse(thread, &contents(&format!("/proc/{pid}/task/{thread}/stat")).ok()?)
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
        let status = contents(&format!("/proc/{pid}/stat")).unwrap_or_default();
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
