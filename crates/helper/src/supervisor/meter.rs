//! Measures the resource usage of a run, often enough that the run cannot exceed its limits by far.

use super::dir::Dir;
use super::process_tag::MIN_FILE_SIZE_LIMIT;
use super::process_tree::ProcessTree;
use crate::sys::{self, Cgroup, Stat};
use crate::{Limit, Limits, RunEnd};
use rustix::process::Signal;
use std::io;
use std::time::Duration;
use tokio::time::Instant;

/// Maximum number of bytes that a run is assumed to allocate or write per second. The next measurement waits as long as
/// no limit can be reached at this rate and at [`MAX_STARTS_PER_SECOND`], the same for processes.
const MAX_BYTES_PER_SECOND: u64 = 8 << 30;
const MAX_STARTS_PER_SECOND: u64 = 20_000;
/// Minimum time between two measurements of a run.
const MIN_PAUSE: Duration = Duration::from_millis(10);
/// Measurements take at most one part in this number of the total time: 5 stands for a fifth.
const TIME_DIVISOR: u32 = 5;
/// Maximum duration of one count of the disk usage of a folder.
const COUNTING_TIMEOUT: Duration = Duration::from_millis(200);
/// Exit code of a shell whose child was killed by SIGKILL.
const CHILD_KILLED: i32 = 128 + SIGKILL;
const SIGKILL: i32 = Signal::KILL.as_raw();
const SIGXFSZ: i32 = Signal::XFSZ.as_raw();

/// Measures the resource usage of a run and compares it with the limits of the run.
pub(super) struct Meter<'f> {
    /// The limits of the run; `None` if it is not limited.
    limits: Option<Limits>,
    cgroup: Option<Cgroup>,
    folders: [&'f Dir; 2],
    /// Free space on the disk of the run's folder when the run started, in bytes; `None` if it is unknown.
    initial_free_space: Option<u64>,
    /// Loss of free disk space, in bytes, above which the files of the run are counted again.
    counted_loss: u64,
    /// Number of processes on this machine that the kernel had killed for lack of memory before the run started.
    initial_oom_kills: u64,
    period: Duration,
    next_measurement: Instant,
    /// Whether the last measurement exceeded the memory limit. Two measurements in a row have to exceed it: before
    /// exec, a new process shares the memory of its parent, which then counts twice.
    is_over_memory: bool,
}

impl<'f> Meter<'f> {
    /// Creates a meter that measures at least once per `period`, from now on.
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
            initial_oom_kills: 0,
            period,
            next_measurement: Instant::now() + period,
            is_over_memory: false,
        };
        if let Some(limits) = limits {
            meter.initial_free_space = sys::free_space(folders[0]);
            meter.counted_loss = limits.written;
            meter.initial_oom_kills = sys::oom_kills();
            meter.next_measurement =
                Instant::now() + meter.time_to_next_measurement(&limits, Usage::default());
        }
        meter
    }

    /// Returns the control group of the run, if there is one.
    pub const fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// Returns when the next measurement is due.
    pub const fn next(&self) -> Instant {
        self.next_measurement
    }

    /// Measures the processes of the run if a measurement is due. Returns the limit that the run exceeds, if any.
    pub fn measure(&mut self, tree: &ProcessTree) -> Option<Limit> {
        let start = Instant::now();
        if start < self.next_measurement {
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
            pause = self.time_to_next_measurement(&limits, usage);
        }
        let end = Instant::now();
        self.next_measurement = end + pause.max((end - start) * (TIME_DIVISOR - 1));
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

    /// Whether the files of the run occupy more disk space than the limit on written bytes. Only this detects space
    /// that was allocated without writing. The files are counted only if the disk has lost as much free space.
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

    /// Returns how long the next measurement can wait: in this time, the run cannot reach any limit.
    fn time_to_next_measurement(&self, limits: &Limits, usage: Usage) -> Duration {
        let times = [
            (usage.memory, limits.memory, MAX_BYTES_PER_SECOND),
            (usage.written, limits.written, MAX_BYTES_PER_SECOND),
            (usage.processes, limits.processes, MAX_STARTS_PER_SECOND),
        ];
        let times = times
            .map(|(used, limit, rate)| Duration::from_millis(limit.saturating_sub(used) / (rate / 1000)));
        times.into_iter().fold(self.period, Duration::min).max(MIN_PAUSE)
    }

    /// Returns the cause of an end: an exit or a signal that was caused by a resource limit or by the machine becomes
    /// [`RunEnd::TooMuch`].
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
                if sys::oom_kills() > self.initial_oom_kills =>
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

/// Resource usage of a run at one moment: bytes of memory, number of processes and threads, and bytes written until
/// then.
#[derive(Debug, Clone, Copy, Default)]
struct Usage {
    memory: u64,
    processes: u64,
    written: u64,
}

/// Measures the resource usage of these processes together. `written_before` is the number of bytes that reaped orphans
/// wrote. When a child is reaped by its parent, the kernel adds the bytes of the child to those of the parent.
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

/// Returns the disk usage of the files below a folder, in bytes. The count stops after [`COUNTING_TIMEOUT`] and is then
/// too low.
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
