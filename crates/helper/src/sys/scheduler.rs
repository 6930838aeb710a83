//! CPU times that processes used, and that they waited for a processor, as the scheduler counts them.

use super::Cgroup;
use super::process::{Stat, read_proc_file, thread_stat, threads};
use super::usage::named_number;
use super::wait_state::TICKS_PER_SECOND;
use rustix::thread::{CpuSet, sched_getaffinity};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

/// Maximum number of threads of a run whose times are read. With more threads, no times of threads are read.
const MAX_THREADS: u64 = 256;

/// The CPU times of a run, and of the processors that it may use, counted until one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct CpuTimes {
    /// The times of the threads of the run, by thread ID. Empty if the kernel does not count them, or if there are too
    /// many.
    pub threads: BTreeMap<i32, ThreadTimes>,
    /// CPU time of the processes of the run, including that of children that they have waited for.
    pub used: Duration,
    /// CPU time of all processes of the machine on the processors that this process may use, and the number of these
    /// processors. `None` if it cannot be read.
    pub machine: Option<(Duration, u32)>,
    /// Time in which threads of the run waited for a processor and none of them had one. Known only if the run has a
    /// control group.
    pub stalled: Option<Duration>,
    /// Time in which a limit on CPU time kept a control group of this process from running; zero without a limit.
    pub throttled: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ThreadTimes {
    pub ran: Duration,
    /// Time that the thread waited for a processor. A wait is included once it has ended.
    pub waited: Duration,
    /// Whether the thread is on a processor, or waits for one.
    pub is_runnable: bool,
}

impl CpuTimes {
    /// Reads the CPU times of a run that consists of these processes. `cgroup` is the control group of the run, if it
    /// has one.
    pub fn read(processes: &[Stat], cgroup: Option<&Cgroup>) -> Self {
        let used = clock_ticks(processes.iter().map(|process| process.ticks).sum());
        let stalled = cgroup.and_then(Cgroup::stalled);
        if stalled.is_some() || processes.iter().map(|process| process.threads).sum::<u64>() > MAX_THREADS {
            return Self { used, stalled, ..Self::default() };
        }
        let threads = processes.iter().flat_map(thread_times).collect();
        Self { threads, used, machine: machine_busy_time(), stalled, throttled: throttled_time() }
    }
}

fn thread_times(process: &Stat) -> Vec<(i32, ThreadTimes)> {
    let times = |thread: i32, state: u8| {
        let line = read_proc_file(&format!("/proc/{}/task/{thread}/schedstat", process.pid)).ok()?;
        let line = String::from_utf8(line).ok()?;
        let mut times =
            line.split_ascii_whitespace().map_while(|time| time.parse().ok()).map(Duration::from_nanos);
        let (ran, waited) = (times.next()?, times.next()?);
        Some((thread, ThreadTimes { ran, waited, is_runnable: state == b'R' }))
    };
    match process.threads {
        1 => times(process.pid, process.state).into_iter().collect(),
        _ => {
            let all = threads(process.pid).into_iter();
            all.filter_map(|thread| times(thread, thread_stat(process.pid, thread)?.state)).collect()
        }
    }
}

fn clock_ticks(ticks: u64) -> Duration {
    Duration::from_millis(ticks * 1000 / TICKS_PER_SECOND)
}

/// Returns the CPU time of all processes on the processors that this process may use, and the number of these
/// processors.
fn machine_busy_time() -> Option<(Duration, u32)> {
    let allowed = sched_getaffinity(None).ok()?;
    let is_allowed = |processor| processor < CpuSet::MAX_CPU && allowed.is_set(processor);
    busy_time(&fs::read_to_string("/proc/stat").ok()?, is_allowed)
}

/// Parses the contents of `/proc/stat`. Returns the CPU time on the processors for which `is_counted` is true, and
/// their number.
fn busy_time(text: &str, is_counted: impl Fn(usize) -> bool) -> Option<(Duration, u32)> {
    let busy = |line: &str| {
        // The first line, `cpu`, is the sum of all processors.
        let (name, times) = line.split_once(' ')?;
        let processor = name.strip_prefix("cpu")?.parse().ok()?;
        // user, nice, system, idle, iowait, irq, softirq, steal; guest times are included in the first two.
        let ticks = times.split_ascii_whitespace().map_while(|word| word.parse::<u64>().ok());
        let ticks: Vec<u64> = ticks.take(8).collect();
        let idle = ticks.get(3..5)?.iter().sum::<u64>();
        is_counted(processor).then(|| ticks.iter().sum::<u64>() - idle)
    };
    let all: Vec<u64> = text.lines().filter_map(busy).collect();
    let count = u32::try_from(all.len()).ok().filter(|count| *count > 0)?;
    Some((clock_ticks(all.iter().sum()), count))
}

/// Returns the time in which a limit on CPU time kept a control group of this process from running.
fn throttled_time() -> Duration {
    static FILES: LazyLock<Vec<PathBuf>> = LazyLock::new(|| super::cgroup::files_of_own_groups("cpu.stat"));
    let time = |file| named_number(&fs::read_to_string(file).ok()?, "throttled_usec");
    Duration::from_micros(FILES.iter().filter_map(time).max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{CpuTimes, MAX_THREADS, busy_time};
    use crate::sys::{Stat, stat};
    use std::time::Duration;

    #[test]
    fn the_threads_of_a_process_are_counted() {
        let process = stat(std::process::id().cast_signed()).unwrap();
        let times = CpuTimes::read(std::slice::from_ref(&process), None);
        let is_counted = std::path::Path::new("/proc/self/schedstat").exists();
        assert_eq!(times.threads.len() > 1, is_counted && process.threads > 1);
        assert!(times.threads.values().all(|thread| thread.is_runnable || !thread.ran.is_zero()));
        assert!(times.machine.is_some_and(|(_, processors)| processors > 0));
        let many = Stat { threads: MAX_THREADS + 1, ..process };
        assert!(CpuTimes::read(&[many], None).threads.is_empty());
    }

    #[test]
    fn only_processors_that_may_be_used_count() {
        let text = "cpu  96758 0 10355 16982 311 0 53 203 0 0\n\
                    cpu0 48708 0 4778 8564 163 0 19 95 7 0\n\
                    cpu1 48050 0 5577 8417 148 0 34 108 0 0\n\
                    cpu2 1 0 1 8417\n\
                    intr 458639 0 0\n";
        let ticks = |ticks: u64| Duration::from_millis(ticks * 10);
        assert_eq!(busy_time(text, |_| true), Some((ticks(48708 + 4778 + 114 + 48050 + 5577 + 142), 2)));
        assert_eq!(busy_time(text, |processor| processor == 1), Some((ticks(48050 + 5577 + 142), 1)));
        assert_eq!(busy_time(text, |processor| processor > 1), None);
    }
}
