//! Reads the state of processes from /proc. Each result is a snapshot; a process that is gone yields `None` or nothing.

use std::fs::{self, File};
use std::io::{self, Read};

#[derive(Debug, Clone)]
#[cfg_attr(not(feature = "runtime"), expect(dead_code, reason = "a supervisor reads more of them"))]
pub(crate) struct Stat {
    pub pid: i32,
    /// The command name that the kernel stores, at most 15 bytes.
    pub name: Vec<u8>,
    pub state: u8,
    pub parent: i32,
    pub session: i32,
    /// User and system time in clock ticks, including the time of children that the process has waited for.
    pub ticks: u64,
    pub threads: u64,
    /// Start time in clock ticks since boot. Together with the process ID, it identifies a process.
    pub start: u64,
}

impl Stat {
    /// Whether the process has ended and waits to be reaped. (A process whose first thread has ended while others
    /// continue also shows `Z`.)
    pub fn is_zombie(&self) -> bool {
        matches!(self.state, b'Z' | b'X' | b'x') && self.threads <= 1
    }

    fn parse(pid: i32, raw: &[u8]) -> Option<Self> {
        // The name is in parentheses and may itself contain spaces and parentheses.
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

/// Reads a file of /proc that the kernel writes in one piece, at most 4096 bytes. A single call is enough, which
/// matters since there may be thousands of processes.
pub(super) fn read_proc_file(path: &str) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4096];
    let length = File::open(path)?.read(&mut bytes)?;
    bytes.truncate(length);
    Ok(bytes)
}

pub(crate) fn stat(pid: i32) -> Option<Stat> {
    Stat::parse(pid, &read_proc_file(&format!("/proc/{pid}/stat")).ok()?)
}

#[cfg(feature = "runtime")]
pub(super) fn thread_stat(pid: i32, thread: i32) -> Option<Stat> {
    Stat::parse(thread, &read_proc_file(&format!("/proc/{pid}/task/{thread}/stat")).ok()?)
}

pub(crate) fn threads(pid: i32) -> Vec<i32> {
    numeric_names(&format!("/proc/{pid}/task"))
}

/// Returns the IDs of the children of a process. Some may be missing if children start or end meanwhile. Only two empty
/// results in a row prove that there are none.
pub(crate) fn children(pid: i32) -> Vec<i32> {
    children_of_threads(pid, threads(pid))
}

/// Returns the IDs of the children of a process like [`children`], but faster if the process has a single thread.
pub(crate) fn children_of(stat: &Stat) -> Vec<i32> {
    match stat.threads {
        1 => children_of_threads(stat.pid, vec![stat.pid]),
        _ => children(stat.pid),
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

/// Returns the IDs of the children of a process by a scan of all processes, for a kernel that lists no children in
/// /proc.
fn children_by_parent(parent: i32) -> Vec<i32> {
    let is_child = |&pid: &i32| {
        let status = read_proc_file(&format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = status.iter().rposition(|&b| b == b')').map_or(&[][..], |at| &status[at + 1..]);
        let mut fields = after_name.split(|b| b.is_ascii_whitespace()).filter(|f| !f.is_empty());
        fields.nth(1).and_then(|f| std::str::from_utf8(f).ok()) == Some(&parent.to_string())
    };
    numeric_names("/proc").into_iter().filter(is_child).collect()
}

fn numeric_names(folder: &str) -> Vec<i32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}
