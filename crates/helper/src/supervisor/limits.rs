//! What a run uses, looked at often enough that it cannot get far beyond its limits.

use super::dir::Dir;
use super::process_tag::LEAST_FILE_SIZE;
use super::process_tree::ProcessTree;
use crate::sys::{self, Cgroup, Stat};
use crate::{End, Limit, Limits};
use rustix::process::Signal;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// So much memory a machine gives in a second at most, so much it writes, and so many processes it starts: a run whose
/// limits are further away can wait for its next look.
const FASTEST: u64 = 8 << 30;
const MOST_STARTED: u64 = 20_000;
/// Two looks are at least so far apart.
const SHORTEST: Duration = Duration::from_millis(10);
/// Looking takes at most one part in so many of the time.
const SHARE: u32 = 5;
/// So long it is counted at once what is in a folder.
const COUNTING: Duration = Duration::from_millis(200);
/// What a shell exits with after a child that was killed.
const CHILD_KILLED: i32 = 128 + SIGKILL;
const SIGKILL: i32 = Signal::KILL.as_raw();
const SIGXFSZ: i32 = Signal::XFSZ.as_raw();

/// Looks at what a run uses.
pub(super) struct Meter<'f> {
    /// None: it may use what it likes.
    limits: Option<Limits>,
    cgroup: Option<Cgroup>,
    folders: [&'f Dir; 2],
    /// Room that was free on the disk of the folder.
    room: Option<u64>,
    /// Counted again when so much more of that is gone.
    counted: u64,
    /// How many processes the kernel had killed for want of memory.
    killed: u64,
    period: Duration,
    next: Instant,
    /// It was over the limit of memory at the last look. Once is not enough: until it becomes another program, a new
    /// process has the memory of its parent.
    is_over: bool,
}

impl<'f> Meter<'f> {
    /// It looks at least once in `period`, from now on.
    pub fn new(
        limits: Option<Limits>,
        cgroup: Option<Cgroup>,
        folders: [&'f Dir; 2],
        period: Duration,
    ) -> Self {
        let mut meter = Self {
            limits,
            cgroup,
            folders,
            room: None,
            counted: 0,
            killed: 0,
            period,
            next: Instant::now() + period,
            is_over: false,
        };
        if let Some(limits) = limits {
            meter.room = sys::free_room(folders[0]);
            meter.counted = limits.written;
            meter.killed = sys::killed_for_memory();
            meter.next = Instant::now() + meter.pause(&limits, Usage::default());
        }
        meter
    }

    /// The control group of the run, if it has one of its own.
    pub const fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// When it has to look again.
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Looks at the processes of the run, if it is time to; gives what they use too much of.
    pub fn look(&mut self, tree: &ProcessTree) -> Option<Limit> {
        let start = Instant::now();
        if start < self.next {
            return None;
        }
        if let (Some(limits), Some(cgroup)) = (&self.limits, &self.cgroup)
            && cgroup.processes() > limits.processes
        {
            // Of those who start others ever faster, nobody can look at each.
            return Some(Limit::Processes(limits.processes));
        }
        let members = tree.members();
        let mut over = None;
        let mut pause = self.period;
        if let Some(limits) = self.limits {
            let leader = tree.leader();
            let everybody: Vec<&Stat> = members.iter().chain(&leader).collect();
            let usage = usage(&limits, &everybody, tree.written_by_reaped());
            over = self.over(&limits, usage);
            pause = self.pause(&limits, usage);
        }
        let end = Instant::now();
        self.next = end + pause.max((end - start) * (SHARE - 1));
        over
    }

    fn over(&mut self, limits: &Limits, usage: Usage) -> Option<Limit> {
        let was_over = std::mem::replace(&mut self.is_over, usage.memory > limits.memory);
        if let Some(limit) = self.cgroup.as_ref().and_then(Cgroup::exceeded) {
            Some(limit)
        } else if usage.processes > limits.processes {
            Some(Limit::Processes(limits.processes))
        } else if self.is_over && was_over {
            Some(Limit::Memory(limits.memory))
        } else if usage.written > limits.written || self.fills(limits) {
            Some(Limit::Written(limits.written))
        } else {
            None
        }
    }

    /// Whether its folders hold more than may be written: what was allocated without being written is counted nowhere
    /// else. As long as the disk has not lost so much, it cannot.
    fn fills(&mut self, limits: &Limits) -> bool {
        let Some((before, now)) = self.room.zip(sys::free_room(self.folders[0])) else { return false };
        let lost = before.saturating_sub(now);
        if lost <= self.counted {
            return false;
        }
        self.counted = lost + limits.written / 8;
        self.folders.iter().map(|folder| occupied(folder)).sum::<u64>() > limits.written
    }

    /// How long it takes until any of the limits may be reached.
    fn pause(&self, limits: &Limits, usage: Usage) -> Duration {
        let times = [
            (usage.memory, limits.memory, FASTEST),
            (usage.written, limits.written, FASTEST),
            (usage.processes, limits.processes, MOST_STARTED),
        ];
        let times = times.map(|(used, limit, fastest)| {
            Duration::from_millis(limit.saturating_sub(used) / (fastest / 1000))
        });
        times.into_iter().fold(self.period, Duration::min).max(SHORTEST)
    }

    /// How a run really ended that seems to have ended so: a limit of ours, or the machine's, is no doing of its own.
    pub fn explain(&self, end: End) -> End {
        if self.limits.is_none() {
            return end;
        }
        if let Some(limit) = self.cgroup.as_ref().and_then(Cgroup::exceeded) {
            return End::TooMuch(limit);
        }
        match end {
            End::Signaled(SIGXFSZ) => End::TooMuch(Limit::File(LEAST_FILE_SIZE)),
            End::Signaled(SIGKILL) | End::Exited(CHILD_KILLED) if sys::killed_for_memory() > self.killed => {
                End::TooMuch(Limit::Machine)
            }
            other => other,
        }
    }

    /// Kills everybody who is left, where they can be reached at once.
    pub fn kill(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
    }
}

/// What a run uses at one moment, and has written until then.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    memory: u64,
    processes: u64,
    written: u64,
}

/// What these use, where orphans that are gone wrote so much. The kernel adds to a process what its children wrote that
/// it waited for.
fn usage(limits: &Limits, everybody: &[&Stat], written_before: u64) -> Usage {
    let alive = || everybody.iter().copied().filter(|stat| !stat.is_zombie());
    let processes = alive().map(|stat| stat.threads).sum();
    if processes > limits.processes {
        // It is over: there is no time to look at each.
        return Usage { processes, ..Usage::default() };
    }
    let mut memory = alive().map(sys::memory).sum();
    if memory > limits.memory {
        let share = |stat: &Stat| sys::memory_share(stat).unwrap_or_else(|| sys::memory(stat));
        memory = alive().map(share).sum();
    }
    let written = written_before + everybody.iter().map(|stat| sys::written(stat.pid)).sum::<u64>();
    Usage { memory, processes, written }
}

/// What the files below a folder occupy, in bytes, as far as that is known in time.
fn occupied(folder: &Dir) -> u64 {
    let start = Instant::now();
    let mut bytes = 0;
    let count = &mut |_: &Dir, _: &_, _: &_, found: &rustix::fs::Stat| {
        bytes += u64::try_from(found.st_blocks).unwrap_or(0) * 512;
        if start.elapsed() > COUNTING { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    };
    // What cannot be read counts as nothing.
    folder.walk(count).unwrap_or_default();
    bytes
}
