//! Details of processes from /proc: limits, environment, descriptors, and the system call that a thread is blocked in.

use super::process::read_proc_file;
use crate::Failure;
use rustix::fs::Mode;
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Sets the permissions of the file behind a descriptor, including an `O_PATH` descriptor, which `fchmod` rejects.
pub(crate) fn set_mode(fd: &OwnedFd, mode: Mode) -> io::Result<()> {
    Ok(rustix::fs::chmod(format!("/proc/self/fd/{}", fd.as_raw_fd()), mode)?)
}

/// Checks that /proc shows the process namespace of this process. Otherwise the processes that a run leaves behind
/// could not be found.
pub(crate) fn check_proc() -> Result<(), Failure> {
    let shown = fs::read_link("/proc/self").ok();
    if shown.as_deref() == Some(Path::new(&std::process::id().to_string())) {
        return Ok(());
    }
    Err(Failure::new("/proc does not show the processes of this process namespace")
        .hint("mount it there: unshare --mount-proc, or mount -t proc proc /proc"))
}

/// Checks that this process can open `count` more file descriptors.
///
/// # Errors
/// If it cannot open them, with the reason.
pub(crate) fn check_descriptors(count: usize) -> io::Result<()> {
    let files: io::Result<Vec<fs::File>> = (0..count).map(|_| fs::File::open("/dev/null")).collect();
    files.map(drop)
}

/// Returns the hard limit on file sizes of a process, in bytes; `None` if there is none or it cannot be read.
pub(crate) fn file_size_limit(pid: i32) -> Option<u64> {
    let limits = String::from_utf8(read_proc_file(&format!("/proc/{pid}/limits")).ok()?).ok()?;
    let line = limits.lines().find_map(|line| line.strip_prefix("Max file size"))?;
    line.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Whether the environment that a process was started with contains `variable`, given as `NAME=value`.
pub(crate) fn has_variable(pid: i32, variable: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|all| all.split(|&b| b == 0).any(|one| one == variable.as_bytes()))
}

/// Returns the system call that a thread is blocked in: its number and its six arguments. `None` if the thread runs, or
/// if the call cannot be read.
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

/// Returns what a file descriptor of a process refers to, such as `pipe:[123]` or `/dev/pts/4`.
pub(crate) fn descriptor_target(pid: i32, fd: i32) -> Option<Vec<u8>> {
    let link = fs::read_link(format!("/proc/{pid}/fd/{fd}")).ok()?;
    Some(link.as_os_str().as_bytes().to_vec())
}

/// Returns the file descriptors that an epoll descriptor of a process watches; `None` if they cannot be read.
pub(crate) fn epoll_members(pid: i32, fd: i32) -> Option<Vec<i32>> {
    let info = fs::read_to_string(format!("/proc/{pid}/fdinfo/{fd}")).ok()?;
    let watched = info.lines().filter_map(|line| line.strip_prefix("tfd:"));
    watched.map(|rest| rest.split_ascii_whitespace().next()?.parse().ok()).collect()
}

pub(crate) fn read_memory(pid: i32, address: u64, len: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; len];
    fs::File::open(format!("/proc/{pid}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    Some(bytes)
}

/// Returns the numbers of the signals that this process ignores. Real-time signals are omitted, since the C library
/// reserves and ignores some of them.
pub(crate) fn ignored_signals() -> Vec<i32> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    (1..32).filter(|n| mask & (1 << (n - 1)) != 0).collect()
}
