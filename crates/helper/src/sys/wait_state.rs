//! What the processes of a run wait for, from a look at /proc.

use super::details;
use super::process::{Stat, thread_stat, threads};
use crate::Waiting;
use rustix::fs::fstat;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;
use tokio::time::Instant;

/// The standard descriptors on which a target can wait for input that never comes, as /proc names them.
#[derive(Debug, Default)]
pub(crate) struct StdioIds {
    /// The silent pipe: `pipe:[INODE]`.
    stdin: Option<Vec<u8>>,
    /// The terminal: `/dev/pts/N`.
    terminal: Option<Vec<u8>>,
}

impl StdioIds {
    /// Standard input is this pipe.
    pub fn set_stdin(&mut self, pipe: impl AsFd) -> io::Result<()> {
        self.stdin = Some(format!("pipe:[{}]", fstat(pipe)?.st_ino).into_bytes());
        Ok(())
    }

    /// Standard output is the terminal of this name.
    pub fn set_terminal(&mut self, name: Vec<u8>) {
        self.terminal = Some(name);
    }

    /// Whether there is any.
    pub fn is_any(&self) -> bool {
        self.stdin.is_some() || self.terminal.is_some()
    }
}

/// What all processes of a run were doing at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WaitState {
    /// What a thread was seen to wait for, when that is input.
    input: Option<Waiting>,
    /// How sure it is that nothing else will happen.
    sure: Sure,
    /// Processor time so far, in clock ticks.
    ticks: u64,
    running: bool,
    stopped: bool,
}

/// How sure it is that nothing but the awaited input can wake a run up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sure {
    /// Something else can: a timer, a connection, or it cannot be told.
    No,
    /// A lock with a time limit, such as the runtimes of languages hold beside a blocked reader.
    Almost,
    /// Nothing can.
    Yes,
}

/// What one thread does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Doing {
    /// Waits for input; how sure it is that nothing else can wake it up.
    Input(Waiting, Sure),
    /// Waits for another thread or process of the run.
    Waits,
    /// The same, with a time limit.
    Limited,
    /// Runs, or waits for something else, or it cannot be told.
    Other,
}

impl WaitState {
    /// WaitStates at `processes`, which read from `ids`.
    pub fn at(processes: &[Stat], ids: &StdioIds) -> Self {
        let sure = if processes.len() > MOST_PROCESSES { Sure::No } else { Sure::Yes };
        let mut state = Self { input: None, sure, ticks: 0, running: false, stopped: false };
        for process in processes.iter().take(MOST_PROCESSES) {
            state.ticks += process.ticks;
            state.stopped |= matches!(process.state, b'T' | b't');
            for thread in threads(process.pid) {
                state.running |= thread_stat(process.pid, thread).is_some_and(|stat| stat.state == b'R');
                match doing(process.pid, thread, ids) {
                    Doing::Input(input, sure) => {
                        state.sure = state.sure.min(sure);
                        // A pipe is more likely to be what was meant than a terminal that is also there.
                        if input == Waiting::Stdin || state.input.is_none() {
                            state.input = Some(input);
                        }
                    }
                    Doing::Waits => {}
                    Doing::Limited => state.sure = state.sure.min(Sure::Almost),
                    Doing::Other => state.sure = Sure::No,
                }
            }
        }
        if state.running || state.stopped {
            state.sure = Sure::No;
        }
        state
    }

    /// What the run was doing, told from this state and one a short time before.
    pub fn since(&self, before: &Self) -> Waiting {
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

/// What the kernel calls `USER_HZ`: a part of its interface, the same everywhere but on Alpha and Itanium.
pub(super) const TICKS_PER_SECOND: u64 = 100;

/// To look at more processes than this takes longer than it is worth.
const MOST_PROCESSES: usize = 24;

/// How long a run has been found in the same wait.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// The first state that was so, the bytes that were written by then, when it was, and how often it
    /// was found.
    same: Option<(WaitState, u64, Instant, u32)>,
}

impl Silence {
    /// One more state, at `now`, with so many bytes `written`. Gives the input that is waited for, once
    /// it is sure that nothing else will happen.
    pub fn after(&mut self, state: WaitState, written: u64, now: Instant) -> Option<Waiting> {
        match &mut self.same {
            Some((first, before, since, times)) if *first == state && *before == written => {
                *times += 1;
                let (time, least) = match state.sure {
                    Sure::Yes => (WAITS, 5),
                    Sure::Almost => (ALMOST_WAITS, 15),
                    Sure::No => return None,
                };
                state.input.filter(|_| now - *since >= time && *times >= least)
            }
            _ => {
                self.same = Some((state, written, now, 1));
                None
            }
        }
    }
}

/// A run that waits for input and for nothing else, without change for so long, waits for ever.
const WAITS: Duration = Duration::from_millis(300);
/// The same, when some thread has a lock with a time limit.
const ALMOST_WAITS: Duration = Duration::from_millis(1000);

/// What a descriptor is, to somebody who waits for it.
fn source(pid: i32, fd: i32, ids: &StdioIds) -> Doing {
    let Some(link) = details::descriptor(pid, fd) else { return Doing::Other };
    if ids.stdin.as_ref() == Some(&link) {
        Doing::Input(Waiting::Stdin, Sure::Yes)
    } else if ids.terminal.is_some() && (ids.terminal.as_ref() == Some(&link) || link == b"/dev/tty") {
        Doing::Input(Waiting::Terminal, Sure::Yes)
    } else if link.starts_with(b"pipe:") || INTERNAL.contains(&link.as_slice()) {
        Doing::Waits
    } else {
        Doing::Other
    }
}

/// Descriptors that only the run's own processes wake up.
const INTERNAL: &[&[u8]] = &[
    b"anon_inode:[eventfd]",
    b"anon_inode:[eventpoll]",
    b"anon_inode:[signalfd]",
    b"anon_inode:[pidfd]",
    b"anon_inode:[io_uring]",
];

/// What waiting for any of several descriptors amounts to, as far as they are known.
fn any_source(pid: i32, fds: Option<Vec<i32>>, ids: &StdioIds) -> Doing {
    let Some(fds) = fds else { return Doing::Other };
    let all: Vec<Doing> = fds.iter().map(|&fd| source(pid, fd, ids)).collect();
    let input = all.iter().copied().find(|doing| matches!(doing, Doing::Input(..)));
    match all.contains(&Doing::Other) {
        true => or_other(input.unwrap_or(Doing::Other)),
        false => input.unwrap_or(Doing::Waits),
    }
}

/// What a wait amounts to that a timer or the like ends as well.
fn or_other(doing: Doing) -> Doing {
    match doing {
        Doing::Input(input, _) => Doing::Input(input, Sure::No),
        _ => Doing::Other,
    }
}

fn doing(pid: i32, thread: i32, ids: &StdioIds) -> Doing {
    let Some((number, arguments)) = details::system_call(pid, thread) else { return Doing::Other };
    let [first, second, third, fourth, fifth, _] = arguments;
    let limited = |is: bool| if is { Doing::Limited } else { Doing::Waits };
    let timed = |is: bool, doing: Doing| if is { or_other(doing) } else { doing };
    // The kernel's `int` is the low half of a register.
    let int = |argument: u64| argument as u32 as i32;
    let epoll = || any_source(pid, details::epoll_members(pid, int(first)), ids);
    match number {
        _ if !calls::KNOWN => Doing::Other,
        calls::READ | calls::READV => source(pid, int(first), ids),
        calls::WAIT4 | calls::WAITID | calls::PAUSE | calls::SIGSUSPEND => Doing::Waits,
        calls::SIGTIMEDWAIT => limited(third != 0),
        // Of the futex operations only those that wait block, and they have their limit here.
        calls::FUTEX => limited(fourth != 0),
        calls::POLL => timed(int(third) >= 0, any_source(pid, polled(pid, first, second), ids)),
        calls::PPOLL => timed(third != 0, any_source(pid, polled(pid, first, second), ids)),
        calls::SELECT | calls::PSELECT6 => {
            timed(fifth != 0, any_source(pid, selected(pid, first, second), ids))
        }
        calls::EPOLL_WAIT | calls::EPOLL_PWAIT => timed(int(fourth) >= 0, epoll()),
        calls::EPOLL_PWAIT2 => timed(fourth != 0, epoll()),
        _ => Doing::Other,
    }
}

/// More descriptors than this in one call are not looked at.
const MOST: u64 = 1024;

/// The descriptors of a `struct pollfd` array that are waited for to be readable.
fn polled(pid: i32, address: u64, count: u64) -> Option<Vec<i32>> {
    const READABLE: i16 = 1;
    if count > MOST {
        return None;
    }
    let raw = details::memory(pid, address, usize::try_from(count).ok()? * 8)?;
    let entries = raw.as_chunks::<8>().0.iter();
    let entries = entries
        .map(|[a, b, c, d, e, f, _, _]| (i32::from_ne_bytes([*a, *b, *c, *d]), i16::from_ne_bytes([*e, *f])));
    // One that waits for room to write can be woken by us.
    let all: Vec<(i32, i16)> = entries.filter(|(fd, events)| *fd >= 0 && *events != 0).collect();
    all.into_iter().map(|(fd, events)| (events & READABLE != 0).then_some(fd)).collect()
}

/// The descriptors of an `fd_set`.
fn selected(pid: i32, count: u64, address: u64) -> Option<Vec<i32>> {
    if count > MOST {
        return None;
    }
    if address == 0 {
        return Some(Vec::new());
    }
    let count = i32::try_from(count).ok()?;
    let words = usize::try_from(count).ok()?.div_ceil(64);
    let raw = details::memory(pid, address, words * 8)?;
    let words: Vec<u64> = raw.as_chunks::<8>().0.iter().map(|word| u64::from_ne_bytes(*word)).collect();
    Some((0..count).filter(|fd| words[*fd as usize / 64] & (1 << (fd % 64)) != 0).collect())
}

/// The numbers of the system calls in which a program waits.
#[cfg(target_arch = "x86_64")]
mod calls {
    /// Whether the numbers are right for this architecture; else nothing can be told.
    pub const KNOWN: bool = true;
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

/// Newer architectures share one table, without the older calls: these have numbers that none has.
#[cfg(not(target_arch = "x86_64"))]
mod calls {
    /// Whether the numbers are right for this architecture; else nothing can be told.
    pub const KNOWN: bool = cfg!(any(target_arch = "aarch64", target_arch = "riscv64"));
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
