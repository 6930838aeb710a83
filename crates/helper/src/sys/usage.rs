//! What processes use, as /proc tells it. What cannot be read counts as nothing.

use super::process::{Stat, contents, threads};
use std::fs;
use std::os::fd::AsFd;

/// Memory that is not that of files: a page that several processes share counts for each of them.
pub(crate) fn memory(seen: &Stat) -> u64 {
    sum(seen, "status", &["RssAnon:", "RssShmem:", "VmSwap:"]).unwrap_or(0)
}

/// The same, where a page that several processes share counts once in all. None where that cannot be told: it takes
/// a look at each page.
pub(crate) fn memory_share(seen: &Stat) -> Option<u64> {
    sum(seen, "smaps_rollup", &["Pss_Anon:", "Pss_Shmem:", "SwapPss:"])
}

/// What it wrote, with the children that it has waited for, in bytes: by system calls, or as pages of files that it
/// changed in its memory.
pub(crate) fn written(pid: i32) -> u64 {
    let io = contents(&format!("/proc/{pid}/io")).unwrap_or_default();
    let io = String::from_utf8_lossy(&io);
    let value = |name| number(&io, name).unwrap_or(0);
    value("wchar:").max(value("write_bytes:"))
}

/// How many processes the kernel has killed for want of memory, since it started.
pub(crate) fn killed_for_memory() -> u64 {
    number(&fs::read_to_string("/proc/vmstat").unwrap_or_default(), "oom_kill").unwrap_or(0)
}

/// Has this process, and all that it starts, ended first when the machine has no memory left.
pub(crate) fn end_first_for_memory() {
    fs::write("/proc/self/oom_score_adj", "1000").unwrap_or_default();
}

/// Room that is free on the disk of a folder, in bytes.
pub(crate) fn free_room(folder: impl AsFd) -> Option<u64> {
    let disk = rustix::fs::fstatvfs(folder).ok()?;
    Some(disk.f_bfree * disk.f_frsize)
}

/// The sum of some lines of a file, which are in KiB. A process whose first thread has ended has its memory still.
fn sum(seen: &Stat, file: &str, lines: &[&str]) -> Option<u64> {
    let read = |path: String| {
        let text = fs::read_to_string(path).ok()?;
        number(&text, lines[0])?;
        Some(lines.iter().filter_map(|name| number(&text, name)).sum::<u64>() << 10)
    };
    let pid = seen.pid;
    read(format!("/proc/{pid}/{file}")).or_else(|| {
        let others = threads(pid).into_iter().filter(|thread| *thread != pid);
        others.filter_map(|thread| read(format!("/proc/{pid}/task/{thread}/{file}"))).next()
    })
}

/// The number behind a name at the beginning of a line.
pub(super) fn number(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(|c: char| c.is_ascii_whitespace()));
    lines.find(|(own, _)| *own == name)?.1.trim().split(' ').next()?.parse().ok()
}
