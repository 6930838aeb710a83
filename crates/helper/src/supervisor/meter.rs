//! Measures what a run uses, often enough that it cannot exceed its limits by far.

use super::dir::Dir;
use super::process_tag::MIN_FILE_SIZE_LIMIT;
use super::process_tree::ProcessTree;
use crate::sys::{self, Cgroup, Stat};
use crate::{Limit, Limits, RunEnd};
use rustix::process::Signal;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum rate per second at which a run can allocate memory, write bytes and start processes. The next measurement
/// can wait as long as no limit is reachable at these rates.
const MAX_BYTES_PER_SECOND: u64 = 8 << 30;
const MAX_STARTS_PER_SECOND: u64 = 20_000;
/// Minimum time between two measurements.
const MIN_PAUSE: Duration = Duration::from_millis(10);
/// Measuring takes at most one part in this number of the time.
const TIME_DIVISOR: u32 = 5;
/// Maximum duration of one measurement of disk usage.
const COUNTING_TIMEOUT: Duration = Duration::from_millis(200);
/// Exit code of a shell after a child that was killed.
const CHILD_KILLED: i32 = 128 + SIGKILL;
const SIGKILL: i32 = Signal::KILL.as_raw();
const SIGXFSZ: i32 = Signal::XFSZ.as_raw();

/// Measures what a run uses.
pub(super) struct Meter<'f> {
    /// `None`: the run is not limited.
    limits: Option<Limits>,
    cgroup: Option<Cgroup>,
    folders: [&'f Dir; 2],
    /// Free space on the disk of the folder at the start, in bytes.
    initial_free_space: Option<u64>,
    /// Loss of free space, in bytes, from which the files are counted again.
    counted_loss: u64,
    /// Number of processes that the kernel had killed for lack of memory at the start.
    initially_killed: u64,
    period: Duration,
    next: Instant,
    /// Whether the last measurement exceeded the memory limit. Once is not enough: before exec, a new process shares
    /// the memory of its parent.
    is_over_memory: bool,
}

impl<'f> Meter<'f> {
    /// Measures at least once per `period`, from now on.
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
            initial_free_space: None,
            counted_loss: 0,
            initially_killed: 0,
            period,
            next: Instant::now() + period,
            is_over_memory: false,
        };
        if let Some(limits) = limits {
            meter.initial_free_space = sys::free_space(folders[0]);
            meter.counted_loss = limits.written;
            meter.initially_killed = sys::oom_kills();
            meter.next = Instant::now() + meter.pause(&limits, Usage::default());
        }
        meter
    }

    /// Returns the control group of the run, if there is one.
    pub const fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// Returns the time of the next measurement.
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Measures the processes of the run if it is time to; returns the exceeded limit.
    pub fn measure(&mut self, tree: &ProcessTree) -> Option<Limit> {
        let start = Instant::now();
        if start < self.next {
            return None;
        }
        if let (Some(limits), Some(cgroup)) = (&self.limits, &self.cgroup)
            && cgroup.processes() > limits.processes
        {
            // A run that starts processes ever faster would outpace a measurement of each process.
            return Some(Limit::Processes(limits.processes));
        }
        let members = tree.members();
        let mut exceeded = None;
        let mut pause = self.period;
        if let Some(limits) = self.limits {
            let leader = tree.leader();
            let processes: Vec<&Stat> = members.iter().chain(&leader).collect();
            let usage = usage(&limits, &processes, tree.written_by_reaped());
            exceeded = self.exceeded(&limits, usage);
            pause = self.pause(&limits, usage);
        }
        let end = Instant::now();
        self.next = end + pause.max((end - start) * (TIME_DIVISOR - 1));
        exceeded
    }

    fn exceeded(&mut self, limits: &Limits, usage: Usage) -> Option<Limit> {
        let was_over = std::mem::replace(&mut self.is_over_memory, usage.memory > limits.memory);
        if let Some(limit) = self.cgroup.as_ref().and_then(Cgroup::exceeded) {
            Some(limit)
        } else if usage.processes > limits.processes {
            Some(Limit::Processes(limits.processes))
        } else if self.is_over_memory && was_over {
            Some(Limit::Memory(limits.memory))
        } else if usage.written > limits.written || self.exceeds_written_on_disk(limits) {
            Some(Limit::Written(limits.written))
        } else {
            None
        }
    }

    /// Whether the files in the folders exceed the limit on written bytes. This is the only measure of space that was
    /// allocated without writing. They are counted only if the disk has lost that much free space.
    fn exceeds_written_on_disk(&mut self, limits: &Limits) -> bool {
        let Some((before, now)) = self.initial_free_space.zip(sys::free_space(self.folders[0])) else {
            return false;
        };
        let lost = before.saturating_sub(now);
        if lost <= self.counted_loss {
            return false;
        }
        self.counted_loss = lost + limits.written / 8;
        self.folders.iter().map(|folder| disk_usage(folder)).sum::<u64>() > limits.written
    }

    /// Returns the minimum time in which any limit may be reached.
    fn pause(&self, limits: &Limits, usage: Usage) -> Duration {
        let times = [
            (usage.memory, limits.memory, MAX_BYTES_PER_SECOND),
            (usage.written, limits.written, MAX_BYTES_PER_SECOND),
            (usage.processes, limits.processes, MAX_STARTS_PER_SECOND),
        ];
        let times = times
            .map(|(used, limit, rate)| Duration::from_millis(limit.saturating_sub(used) / (rate / 1000)));
        times.into_iter().fold(self.period, Duration::min).max(MIN_PAUSE)
    }

    /// Reclassifies an exit that was caused by a resource limit or by the machine.
    pub fn reclassify(&self, end: RunEnd) -> RunEnd {
        if self.limits.is_none() {
            return end;
        }
        if let Some(limit) = self.cgroup.as_ref().and_then(Cgroup::exceeded) {
            return RunEnd::TooMuch(limit);
        }
        match end {
            RunEnd::Signaled(SIGXFSZ) => RunEnd::TooMuch(Limit::File(MIN_FILE_SIZE_LIMIT)),
            RunEnd::Signaled(SIGKILL) | RunEnd::Exited(CHILD_KILLED)
                if sys::oom_kills() > self.initially_killed =>
            {
                RunEnd::TooMuch(Limit::Machine)
            }
            other => other,
        }
    }

    /// Kills all processes of the run at once, if it has a control group.
    pub fn kill(&self) {
        if let Some(cgroup) = &self.cgroup {
            cgroup.kill();
        }
    }
}

/// Resource usage of a run at one moment, and the bytes that it has written until then.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    memory: u64,
    processes: u64,
    written: u64,
}

/// Measures these processes. `written_before` is what reaped orphans wrote, in bytes. The kernel adds the bytes of a
/// child that was waited for to its parent.
fn usage(limits: &Limits, stats: &[&Stat], written_before: u64) -> Usage {
    let alive = || stats.iter().copied().filter(|stat| !stat.is_zombie());
    let processes = alive().map(|stat| stat.threads).sum();
    if processes > limits.processes {
        // The limit is exceeded: measuring each process would take too long.
        return Usage { processes, ..Usage::default() };
    }
    let mut memory = alive().map(sys::memory).sum();
    if memory > limits.memory {
        let share = |stat: &Stat| sys::memory_share(stat).unwrap_or_else(|| sys::memory(stat));
        memory = alive().map(share).sum();
    }
    let written = written_before + stats.iter().map(|stat| sys::written_bytes(stat.pid)).sum::<u64>();
    Usage { memory, processes, written }
}

/// Returns the disk usage of the files below a folder, in bytes, as far as it is known in time.
fn disk_usage(folder: &Dir) -> u64 {
    let start = Instant::now();
    let mut bytes = 0;
    let count = &mut |_: &Dir, _: &_, _: &_, found: &rustix::fs::Stat| {
        bytes += u64::try_from(found.st_blocks).unwrap_or(0) * 512;
        if start.elapsed() > COUNTING_TIMEOUT { Err(io::ErrorKind::TimedOut.into()) } else { Ok(()) }
    };
    // Unreadable folders count as empty.
    folder.walk(count).unwrap_or_default();
    bytes
}
