//! Resource usage of processes, from /proc. Unreadable values count as zero.

use super::process::{Stat, read_proc_file, threads};
use std::fs;
use std::os::fd::AsFd;

/// Returns the memory of a process that is not backed by files, in bytes. A page that processes share counts fully for
/// each of them.
pub(crate) fn memory(stat: &Stat) -> u64 {
    sum_of_lines(stat, "status", &["RssAnon:", "RssShmem:", "VmSwap:"]).unwrap_or(0)
}

/// Returns the memory of a process that is not backed by files, in bytes. A page that processes share is divided among
/// them. `None` if it cannot be read. Slow, since the kernel visits each page.
pub(crate) fn memory_share(stat: &Stat) -> Option<u64> {
    sum_of_lines(stat, "smaps_rollup", &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"])
}

/// Returns the number of bytes that a process wrote by system calls or to mapped files, including those of children
/// that it has waited for.
pub(crate) fn written_bytes(pid: i32) -> u64 {
    let io = read_proc_file(&format!("/proc/{pid}/io")).unwrap_or_default();
    let io = String::from_utf8_lossy(&io);
    let value = |name| named_number(&io, name).unwrap_or(0);
    value("wchar:").max(value("write_bytes:"))
}

/// Returns the number of processes that the kernel has killed for lack of memory since boot.
pub(crate) fn oom_kills() -> u64 {
    named_number(&fs::read_to_string("/proc/vmstat").unwrap_or_default(), "oom_kill").unwrap_or(0)
}

/// Makes the kernel kill this process and its descendants before all others when memory runs out.
pub(crate) fn prefer_for_oom_kill() {
    fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
}

/// Returns the free space on the disk of a folder, in bytes.
pub(crate) fn free_space(folder: impl AsFd) -> Option<u64> {
    let disk = rustix::fs::fstatvfs(folder).ok()?;
    Some(disk.f_bfree * disk.f_frsize)
}

/// Returns the sum of the named lines of a file in `/proc/PID`, converted from KiB to bytes. If the first thread of the
/// process has ended, reads the file of another thread.
fn sum_of_lines(stat: &Stat, file: &str, lines: &[&str]) -> Option<u64> {
    let read = |path: String| {
        let text = fs::read_to_string(path).ok()?;
        named_number(&text, lines[0])?;
        Some(lines.iter().filter_map(|name| named_number(&text, name)).sum::<u64>() << 10)
    };
    let pid = stat.pid;
    read(format!("/proc/{pid}/{file}")).or_else(|| {
        let others = threads(pid).into_iter().filter(|thread| *thread != pid);
        others.filter_map(|thread| read(format!("/proc/{pid}/task/{thread}/{file}"))).next()
    })
}

/// Returns the number after `name` at the start of a line, such as 5 for `oom_kill` and the line `oom_kill 5`.
pub(super) fn named_number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(|c: char| c.is_ascii_whitespace()));
    lines.find(|(own, _)| *own == name)?.1.trim().split(' ').next()?.parse().ok()
}
