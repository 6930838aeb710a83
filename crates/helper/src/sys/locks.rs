//! File locks that processes wait for, as `/proc/locks` lists them.

use super::process::Stat;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct AwaitedLock {
    pub holder: i32,
    /// Path of the file; `None` if it is unknown.
    pub path: Option<OsString>,
}

/// Returns the first lock that one of these processes waits for and another process holds.
pub(crate) fn awaited_lock(processes: &[Stat]) -> Option<AwaitedLock> {
    let table = fs::read_to_string("/proc/locks").ok()?;
    let is_ours = |pid: i32| processes.iter().any(|process| process.pid == pid);
    let (waiter, holder, inode) =
        awaited_locks(&table).find(|(waiter, holder, _)| is_ours(*waiter) && !is_ours(*holder))?;
    Some(AwaitedLock { holder, path: path_of_open_file(waiter, inode) })
}

/// Parses the contents of `/proc/locks`. Returns three values for each awaited lock: the ID of the waiting process, the
/// ID of the holder, and the inode of the file.
fn awaited_locks(table: &str) -> impl Iterator<Item = (i32, i32, u64)> {
    // `1: FLOCK  ADVISORY  WRITE 5997 fe:00:5406793 0 EOF`; the waiting processes follow with the same number and `->`.
    let mut current = None;
    table.lines().filter_map(move |line| {
        let (number, lock) = line.split_once(':')?;
        let waits = lock.trim_start().strip_prefix("-> ");
        let mut fields = waits.unwrap_or(lock).split_ascii_whitespace().skip(3);
        let pid: i32 = fields.next()?.parse().ok()?;
        let inode = fields.next()?.rsplit(':').next()?.parse().ok()?;
        if waits.is_none() {
            current = Some((number, pid));
            return None;
        }
        let (_, holder) = current.filter(|(current_number, _)| *current_number == number)?;
        Some((pid, holder, inode))
    })
}

/// Returns the path of a file with this inode that the process has open; `None` if there is none.
fn path_of_open_file(pid: i32, inode: u64) -> Option<OsString> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).ok()?;
    let mut paths = descriptors.flatten().map(|descriptor| descriptor.path());
    let path = paths.find(|path| fs::metadata(path).is_ok_and(|file| file.ino() == inode))?;
    Some(fs::read_link(path).ok()?.into())
}

#[cfg(test)]
mod tests {
    use super::awaited_locks;

    #[test]
    fn waiters_are_found_with_the_holder_of_their_lock() {
        let table = "1: FLOCK  ADVISORY  WRITE 5997 fe:00:5406793 0 EOF\n\
                     1: -> FLOCK  ADVISORY  WRITE 6001 fe:00:5406793 0 EOF\n\
                     1:  -> FLOCK  ADVISORY  WRITE 6002 fe:00:5406793 0 EOF\n\
                     2: POSIX  ADVISORY  READ 2117 fe:00:77 100 200\n\
                     3: OFDLCK ADVISORY  WRITE -1 00:1a:9 0 EOF\n\
                     3: -> POSIX  ADVISORY  WRITE 40 00:1a:9 0 EOF\n\
                     broken\n";
        let expected = [(6001, 5997, 5_406_793), (6002, 5997, 5_406_793), (40, -1, 9)];
        assert_eq!(awaited_locks(table).collect::<Vec<_>>(), expected);
    }
}
