//! Determines from /proc what the processes of a run wait for.

use super::process::{Stat, thread_stat, threads};
use super::process_details;
use crate::Waiting;
use rustix::fs::fstat;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::time::Instant;

/// The standard descriptors on which a target may wait for input that never arrives, as /proc names them.
#[derive(Debug, Default)]
pub(crate) struct StdioIds {
    /// Name of the pipe without data that is stdin: `pipe:[INODE]`.
    stdin: Option<Vec<u8>>,
    /// Name of the terminal without input: `/dev/pts/N`.
    terminal: Option<Vec<u8>>,
}

impl StdioIds {
    /// Sets the pipe without data that is the stdin of the target.
    pub fn set_stdin(&mut self, pipe: impl AsFd) -> io::Result<()> {
        self.stdin = Some(format!("pipe:[{}]", fstat(pipe)?.st_ino).into_bytes());
        Ok(())
    }

    /// Sets the terminal that is the stdin or the stdout of the target, by its path.
    pub fn set_terminal(&mut self, name: Vec<u8>) {
        self.terminal = Some(name);
    }

    pub fn is_any(&self) -> bool {
        self.stdin.is_some() || self.terminal.is_some()
    }
}

/// What all processes of a run were doing at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitState {
    /// The input that a thread of the run waits for; `None` if no thread waits for input.
    input: Option<Waiting>,
    /// Whether this input is the only event that can wake up the run.
    certainty: Certainty,
    /// CPU time of the run until now, in clock ticks.
    ticks: u64,
    running: bool,
    stopped: bool,
}

/// Whether the awaited input is the only event that can wake up a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Another event can wake it up: a timer, a connection, or an unknown one.
    No,
    /// Besides the input, only the timeout of a lock can wake it up. Language runtimes use such locks while a thread is
    /// blocked in a read.
    Almost,
    /// No other event can wake it up.
    Yes,
}

/// What one thread of a run does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Activity {
    /// It waits for this input; the second value is whether only this input can wake it up.
    Input(Waiting, Certainty),
    /// It waits for another thread or process of the run.
    Waits,
    /// It waits for another thread or process of the run, with a timeout.
    WaitsWithTimeout,
    /// It runs, waits for another event, or is in an unknown state.
    Other,
}

impl WaitState {
    /// Reads the state of `processes` from /proc. `ids` are the descriptors on which they may wait for input.
    pub fn read(processes: &[Stat], ids: &StdioIds) -> Self {
        let certainty = if processes.len() > MAX_PROCESSES { Certainty::No } else { Certainty::Yes };
        let mut state = Self { input: None, certainty, ticks: 0, running: false, stopped: false };
        for process in processes.iter().take(MAX_PROCESSES) {
            state.ticks += process.ticks;
            state.stopped |= matches!(process.state, b'T' | b't');
            for thread in threads(process.pid) {
                state.running |= thread_stat(process.pid, thread).is_some_and(|stat| stat.state == b'R');
                match activity(process.pid, thread, ids) {
                    Activity::Input(input, certainty) => {
                        state.certainty = state.certainty.min(certainty);
                        // The pipe takes precedence over a terminal.
                        if input == Waiting::Stdin || state.input.is_none() {
                            state.input = Some(input);
                        }
                    }
                    Activity::Waits => {}
                    Activity::WaitsWithTimeout => state.certainty = state.certainty.min(Certainty::Almost),
                    Activity::Other => state.certainty = Certainty::No,
                }
            }
        }
        if state.running || state.stopped {
            state.certainty = Certainty::No;
        }
        state
    }

    /// Returns what the run was doing between the earlier state `before` and this state.
    pub fn activity_since(&self, before: &Self) -> Waiting {
        if self.stopped {
            Waiting::Stopped
        } else if let Some(input) = self.input {
            input
        } else if self.running && before.running || self.ticks > before.ticks + 1 {
            Waiting::Busy
        } else {
            Waiting::Asleep
        }
    }
}

/// Clock ticks per second: the kernel's `USER_HZ`, a fixed part of its interface, except on Alpha and Itanium.
pub(super) const TICKS_PER_SECOND: u64 = 100;

/// Maximum number of processes of a run whose threads are examined.
const MAX_PROCESSES: usize = 24;

/// Detects that a run is blocked: it waits for input, and nothing about it changes.
#[derive(Debug, Default)]
pub(crate) struct WaitDetector {
    /// The first of a series of equal states, the number of bytes written until then, its time, and the length of the
    /// series.
    first: Option<(WaitState, u64, Instant, u32)>,
}

impl WaitDetector {
    /// Adds the state of the run at `now`, when it has written `written` bytes. Returns the input that the run waits
    /// for, once the run is considered blocked; until then `None`.
    pub fn update(&mut self, state: WaitState, written: u64, now: Instant) -> Option<Waiting> {
        match &mut self.first {
            Some((first, before, since, times)) if *first == state && *before == written => {
                *times += 1;
                let (time, min_times) = match state.certainty {
                    Certainty::Yes => (MIN_WAIT, 5),
                    Certainty::Almost => (MIN_WAIT_WITH_TIMEOUTS, 15),
                    Certainty::No => return None,
                };
                state.input.filter(|_| now - *since >= time && *times >= min_times)
            }
            _ => {
                self.first = Some((state, written, now, 1));
                None
            }
        }
    }
}

/// Minimum time without change after which a run that waits only for input is considered blocked.
const MIN_WAIT: Duration = Duration::from_millis(300);
/// Minimum time without change after which a run is considered blocked if one of its threads waits for a lock with a
/// timeout.
const MIN_WAIT_WITH_TIMEOUTS: Duration = Duration::from_millis(1000);

/// Classifies a thread that waits for the descriptor `fd` of the process.
fn descriptor_activity(pid: i32, fd: i32, ids: &StdioIds) -> Activity {
    let Some(link) = process_details::descriptor_target(pid, fd) else { return Activity::Other };
    if ids.stdin.as_ref() == Some(&link) {
        Activity::Input(Waiting::Stdin, Certainty::Yes)
    } else if ids.terminal.is_some() && (ids.terminal.as_ref() == Some(&link) || link == b"/dev/tty") {
        Activity::Input(Waiting::Terminal, Certainty::Yes)
    } else if link.starts_with(b"pipe:") || INTERNAL_DESCRIPTORS.contains(&link.as_slice()) {
        Activity::Waits
    } else {
        Activity::Other
    }
}

/// Names of descriptors that only processes of the run itself can make ready.
const INTERNAL_DESCRIPTORS: &[&[u8]] = &[
    b"anon_inode:[eventfd]",
    b"anon_inode:[eventpoll]",
    b"anon_inode:[signalfd]",
    b"anon_inode:[pidfd]",
    b"anon_inode:[io_uring]",
];

/// Classifies a thread that waits for any of the descriptors `fds`; these are `None` if they are unknown.
fn activity_of_any(pid: i32, fds: Option<Vec<i32>>, ids: &StdioIds) -> Activity {
    let Some(fds) = fds else { return Activity::Other };
    let all: Vec<Activity> = fds.iter().map(|&fd| descriptor_activity(pid, fd, ids)).collect();
    let input = all.iter().copied().find(|activity| matches!(activity, Activity::Input(..)));
    match all.contains(&Activity::Other) {
        true => or_other_event(input.unwrap_or(Activity::Other)),
        false => input.unwrap_or(Activity::Waits),
    }
}

/// Converts the class of a wait to that of a wait that another event, such as a timer, can also end.
fn or_other_event(activity: Activity) -> Activity {
    match activity {
        Activity::Input(input, _) => Activity::Input(input, Certainty::No),
        _ => Activity::Other,
    }
}

fn activity(pid: i32, thread: i32, ids: &StdioIds) -> Activity {
    let Some((number, arguments)) = process_details::system_call(pid, thread) else { return Activity::Other };
    let [first, second, third, fourth, fifth, _] = arguments;
    let with_timeout = |is: bool| if is { Activity::WaitsWithTimeout } else { Activity::Waits };
    let timed = |is: bool, activity: Activity| if is { or_other_event(activity) } else { activity };
    // An `int` argument is the low half of a register.
    let int = |argument: u64| argument as u32 as i32;
    let epoll = || activity_of_any(pid, process_details::epoll_members(pid, int(first)), ids);
    match number {
        _ if !calls::ARE_KNOWN => Activity::Other,
        calls::READ | calls::READV => descriptor_activity(pid, int(first), ids),
        calls::WAIT4 | calls::WAITID | calls::PAUSE | calls::SIGSUSPEND => Activity::Waits,
        calls::SIGTIMEDWAIT => with_timeout(third != 0),
        // Only waiting futex operations block, and this argument is their timeout.
        calls::FUTEX => with_timeout(fourth != 0),
        calls::POLL => {
            timed(int(third) >= 0, activity_of_any(pid, polled_descriptors(pid, first, second), ids))
        }
        calls::PPOLL => timed(third != 0, activity_of_any(pid, polled_descriptors(pid, first, second), ids)),
        calls::SELECT | calls::PSELECT6 => {
            timed(fifth != 0, activity_of_any(pid, selected_descriptors(pid, first, second), ids))
        }
        calls::EPOLL_WAIT | calls::EPOLL_PWAIT => timed(int(fourth) >= 0, epoll()),
        calls::EPOLL_PWAIT2 => timed(fourth != 0, epoll()),
        _ => Activity::Other,
    }
}

/// Maximum number of descriptors that are examined per system call.
const MAX_DESCRIPTORS: u64 = 1024;

/// Returns the descriptors of a `struct pollfd` array in the memory of a process that are polled for reading. `None` if
/// one is polled for another event, or if the array cannot be read.
fn polled_descriptors(pid: i32, address: u64, count: u64) -> Option<Vec<i32>> {
    const READABLE: i16 = 1;
    if count > MAX_DESCRIPTORS {
        return None;
    }
    let raw = process_details::read_memory(pid, address, usize::try_from(count).ok()? * 8)?;
    let entries = raw.as_chunks::<8>().0.iter();
    let entries = entries
        .map(|[a, b, c, d, e, f, _, _]| (i32::from_ne_bytes([*a, *b, *c, *d]), i16::from_ne_bytes([*e, *f])));
    // A descriptor that is polled for writing becomes ready when the supervisor reads.
    let all: Vec<(i32, i16)> = entries.filter(|(fd, events)| *fd >= 0 && *events != 0).collect();
    all.into_iter().map(|(fd, events)| (events & READABLE != 0).then_some(fd)).collect()
}

/// Returns the descriptors of an `fd_set` in the memory of a process; `None` if it cannot be read.
fn selected_descriptors(pid: i32, count: u64, address: u64) -> Option<Vec<i32>> {
    if count > MAX_DESCRIPTORS {
        return None;
    }
    if address == 0 {
        return Some(Vec::new());
    }
    let count = i32::try_from(count).ok()?;
    let words = usize::try_from(count).ok()?.div_ceil(64);
    let raw = process_details::read_memory(pid, address, words * 8)?;
    let words: Vec<u64> = raw.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    Some((0..count).filter(|fd| words[*fd as usize / 64] & (1 << (fd % 64)) != 0).collect())
}

/// Numbers of the system calls in which a program waits.
#[cfg(target_arch = "x86_64")]
mod calls {
    /// Whether the numbers are known for this architecture.
    pub const ARE_KNOWN: bool = true;
    pub const READ: u64 = 0;
    pub const READV: u64 = 19;
    pub const POLL: u64 = 7;
    pub const PPOLL: u64 = 271;
    pub const SELECT: u64 = 23;
    pub const PSELECT6: u64 = 270;
    pub const EPOLL_WAIT: u64 = 232;
    pub const EPOLL_PWAIT: u64 = 281;
    pub const EPOLL_PWAIT2: u64 = 441;
    pub const WAIT4: u64 = 61;
    pub const WAITID: u64 = 247;
    pub const PAUSE: u64 = 34;
    pub const SIGSUSPEND: u64 = 130;
    pub const SIGTIMEDWAIT: u64 = 128;
    pub const FUTEX: u64 = 202;
}

/// Numbers of the system calls in which a program waits, in the table that newer architectures share. Older calls are
/// missing in that table and have unused numbers here.
#[cfg(not(target_arch = "x86_64"))]
mod calls {
    /// Whether the numbers are known for this architecture.
    pub const ARE_KNOWN: bool = cfg!(any(target_arch = "aarch64", target_arch = "riscv64"));
    pub const READ: u64 = 63;
    pub const READV: u64 = 65;
    pub const POLL: u64 = u64::MAX;
    pub const PPOLL: u64 = 73;
    pub const SELECT: u64 = u64::MAX - 1;
    pub const PSELECT6: u64 = 72;
    pub const EPOLL_WAIT: u64 = u64::MAX - 2;
    pub const EPOLL_PWAIT: u64 = 22;
    pub const EPOLL_PWAIT2: u64 = 441;
    pub const WAIT4: u64 = 260;
    pub const WAITID: u64 = 95;
    pub const PAUSE: u64 = u64::MAX - 3;
    pub const SIGSUSPEND: u64 = 133;
    pub const SIGTIMEDWAIT: u64 = 137;
    pub const FUTEX: u64 = 98;
}
