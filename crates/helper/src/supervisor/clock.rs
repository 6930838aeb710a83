//! Time limits of runs. Time in which other processes occupied the machine does not count, so that the load of the
//! machine decides no verdict.

use crate::Starvation;
use crate::sys::{CpuTimes, ThreadTimes};
use std::time::Duration;
use tokio::time::Instant;

/// Maximum duration of a time limit including the time that does not count, as a multiple of the limit.
const MAX_EXTENSION: u32 = 5;
/// Minimum time between two samples near the end of a time limit.
const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(20);

/// Measures a time limit of a run, without the time in which the run lacked a processor. The caller provides samples of
/// the run's CPU times.
pub(super) struct Clock {
    limit: Duration,
    began: Instant,
    /// When the last sample was taken.
    sampled_at: Instant,
    last_times: CpuTimes,
    withheld: Duration,
    /// Whether the kernel counts how long threads wait for a processor.
    is_known: bool,
}

impl Clock {
    pub fn new(limit: Duration, now: Instant) -> Self {
        let (last_times, withheld) = (CpuTimes::default(), Duration::ZERO);
        Self { limit, began: now, sampled_at: now, last_times, withheld, is_known: false }
    }

    /// Starts a new time limit at `now`.
    pub fn restart(&mut self, limit: Duration, now: Instant) {
        (self.limit, self.began, self.sampled_at, self.withheld) = (limit, now, now, Duration::ZERO);
    }

    /// Returns when the limit ends, extended by the time that was withheld until the last sample.
    pub fn deadline(&self) -> Instant {
        self.began + (self.limit + self.withheld).min(self.limit * MAX_EXTENSION)
    }

    /// Returns when to check whether the limit has ended: at the deadline, but not immediately after a sample.
    pub fn next_check(&self) -> Instant {
        match self.sampled_at == self.began {
            true => self.deadline(),
            false => self.deadline().max(self.sampled_at + MIN_SAMPLE_INTERVAL),
        }
    }

    /// Returns when the last sample was taken.
    pub const fn last_sample(&self) -> Instant {
        self.sampled_at
    }

    /// Adds a sample of the run's CPU times that was taken at `now`.
    pub fn sample(&mut self, now: Instant, mut times: CpuTimes) {
        let interval = now.saturating_duration_since(self.sampled_at);
        self.is_known |= times.stalled.is_some() || !times.threads.is_empty();
        self.withheld += withheld(&self.last_times, &mut times, interval);
        (self.sampled_at, self.last_times) = (now, times);
    }

    /// Counts all time since the last sample as withheld from the run.
    pub fn sample_as_withheld(&mut self, now: Instant) {
        self.withheld += now.saturating_duration_since(self.sampled_at);
        self.sampled_at = now;
    }

    /// Returns how much of the time between the start of the limit and the last sample was withheld from the run.
    /// `None` if the kernel does not count it.
    pub fn starvation(&self) -> Option<Starvation> {
        let elapsed = self.sampled_at.saturating_duration_since(self.began);
        self.is_known.then_some(Starvation { withheld: self.withheld, elapsed })
    }
}

/// Returns how long the machine withheld the processors from a run between two samples. In that time, a thread waited
/// for a processor, and no thread of the run had one. Waiting for other threads of the run does not count. Adds waits
/// that have not ended to the times in `now`.
fn withheld(before: &CpuTimes, now: &mut CpuTimes, interval: Duration) -> Duration {
    if let Some(stalled) = now.stalled {
        return stalled.saturating_sub(before.stalled.unwrap_or_default()).min(interval);
    }
    let used = now.used.saturating_sub(before.used);
    // The run waits for other processes only while they use the processors.
    let by_others = match (now.machine, before.machine) {
        (Some((now, processors)), Some((before, _))) => {
            now.saturating_sub(before).saturating_sub(used) / processors
        }
        _ => interval,
    };
    let waited = now.threads.iter_mut().map(|(id, thread)| waited(before.threads.get(id), thread, interval));
    let waited = waited.max().unwrap_or_default().min(by_others);
    // A throttled thread is in no run queue.
    let is_runnable = now.threads.values().any(|thread| thread.is_runnable);
    let throttled = now.throttled.saturating_sub(before.throttled).min(interval.saturating_sub(used));
    if is_runnable { waited.max(throttled) } else { waited }
}

/// Returns how long a thread waited for a processor between two samples, at most `interval`. Adds a wait that has not
/// ended to `now`.
fn waited(before: Option<&ThreadTimes>, now: &mut ThreadTimes, interval: Duration) -> Duration {
    // The times of a thread never decrease: this is another thread with the same ID.
    let Some(before) = before.filter(|before| before.ran <= now.ran) else {
        // The processes of the run may be many and short-lived: one of them represents the others.
        let known = now.waited + now.ran;
        return if known.is_zero() { known } else { interval.mul_f64(now.waited.div_duration_f64(known)) };
    };
    now.waited = match before.is_runnable && now.is_runnable && before.ran == now.ran {
        true => before.waited + interval,
        false => now.waited.max(before.waited),
    };
    (now.waited - before.waited).min(interval)
}

#[cfg(test)]
mod tests {
    use super::{Clock, MAX_EXTENSION};
    use crate::sys::{CpuTimes, ThreadTimes};
    use std::time::Duration;
    use tokio::time::Instant;

    const LIMIT: Duration = Duration::from_secs(1);
    const INTERVAL: Duration = Duration::from_millis(250);

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Creates the CPU times of threads from their ID, their state, and the first two fields of `/proc/PID/schedstat`,
    /// in nanoseconds.
    fn threads(threads: &[(i32, char, u64, u64)]) -> CpuTimes {
        let times = threads.iter().map(|(id, state, ran, waited)| {
            let (ran, waited) = (Duration::from_nanos(*ran), Duration::from_nanos(*waited));
            (*id, ThreadTimes { ran, waited, is_runnable: *state == 'R' })
        });
        CpuTimes { threads: times.collect(), ..CpuTimes::default() }
    }

    /// Returns how much of each interval between two samples was withheld from the run, in milliseconds.
    fn withheld(samples: impl IntoIterator<Item = CpuTimes>) -> Vec<u128> {
        let mut now = Instant::now();
        let mut clock = Clock::new(LIMIT, now);
        let mut before = Duration::ZERO;
        let samples = samples.into_iter().map(|times| {
            now += INTERVAL;
            clock.sample(now, times);
            let withheld = clock.withheld - before;
            before = clock.withheld;
            withheld.as_millis()
        });
        samples.collect()
    }

    #[test]
    fn waiting_for_a_processor_is_withheld_and_sleeping_is_not() {
        // A loop in Python on a processor that it shared with another loop and with a build.
        let shared = [
            (7, 'R', 81_503_379, 177_517_156),
            (7, 'R', 169_734_148, 340_679_571),
            (7, 'R', 253_977_118, 504_438_308),
        ];
        assert_eq!(withheld(shared.map(|times| threads(&[times]))), [171, 163, 163]);
        let alone = [(7, 'R', 20_000_000, 0), (7, 'R', 270_000_000, 90_000), (7, 'R', 519_000_000, 140_000)];
        assert_eq!(withheld(alone.map(|times| threads(&[times]))), [0, 0, 0]);
        let asleep = [(7, 'S', 20_906_641, 260_338); 3];
        assert_eq!(withheld(asleep.map(|times| threads(&[times])))[1..], [0, 0]);
    }

    #[test]
    fn an_unfinished_wait_counts_once() {
        let idle = [
            (7, 'R', 20_000_000, 1_000_000),
            (7, 'R', 20_000_000, 1_000_000),
            (7, 'R', 20_000_000, 1_000_000),
            (7, 'R', 23_000_000, 601_000_000),
            (7, 'S', 23_000_000, 601_000_000),
        ];
        assert_eq!(withheld(idle.map(|times| threads(&[times])))[1..], [250, 250, 100, 0]);
    }

    #[test]
    fn threads_may_start_and_end_between_samples() {
        let samples = [
            threads(&[(7, 'S', 1_000_000, 0), (8, 'R', 1_000_000, 100_000_000)]),
            // The thread that had waited is gone.
            threads(&[(7, 'S', 1_000_000, 0)]),
            // Short-lived threads, one after another: this one waited for three quarters of its lifetime.
            threads(&[(7, 'S', 1_000_000, 0), (9, 'R', 1_000_000, 3_000_000)]),
            // Another thread with the same ID.
            threads(&[(7, 'S', 1_000_000, 0), (9, 'R', 500_000, 500_000)]),
            // A thread that has not run yet proves nothing.
            threads(&[(7, 'S', 1_000_000, 0), (10, 'R', 0, 0)]),
            CpuTimes::default(),
        ];
        assert_eq!(withheld(samples)[1..], [0, 187, 125, 0, 0]);
    }

    #[test]
    fn competition_among_threads_of_a_run_is_not_withheld() {
        // Two processors and eight threads that compute: each waits for three quarters of the time.
        let sample = |nth: u64, others: Duration| {
            let all: Vec<_> = (0..8).map(|id| (id, 'R', nth * 62_500_000, nth * 187_500_000)).collect();
            let used = ms(500) * nth as u32;
            CpuTimes { used, machine: Some((used + others * nth as u32, 2)), ..threads(&all) }
        };
        assert_eq!(withheld((1..4).map(|nth| sample(nth, Duration::ZERO)))[1..], [0, 0]);
        // Other processes use half of each processor: half of the time is withheld.
        assert_eq!(withheld((1..4).map(|nth| sample(nth, ms(250))))[1..], [125, 125]);
    }

    #[test]
    fn a_control_group_reports_all_its_processes() {
        let stalled = |ms: u64| CpuTimes { stalled: Some(Duration::from_millis(ms)), ..CpuTimes::default() };
        assert_eq!(withheld([stalled(10), stalled(110), stalled(999), stalled(999)]), [10, 100, 250, 0]);
        let throttled = |nth: u32, state: char| CpuTimes {
            used: ms(50) * nth,
            throttled: ms(220) * nth,
            ..threads(&[(7, state, u64::from(nth) * 50_000_000, 0)])
        };
        assert_eq!(withheld([throttled(1, 'R'), throttled(2, 'R'), throttled(3, 'S')])[1..], [200, 0]);
    }

    #[test]
    fn a_deadline_only_moves_on_and_at_most_to_five_times_the_limit() {
        let mut random = 1_u64;
        let mut next = |below: u64| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 33) % below
        };
        for _ in 0..500 {
            let began = Instant::now();
            let mut clock = Clock::new(LIMIT, began);
            let mut now = began;
            let mut deadline = clock.deadline();
            assert_eq!(deadline, began + LIMIT);
            for _ in 0..next(60) {
                now += ms(next(400));
                let state = |runs: u64| if runs == 0 { 'S' } else { 'R' };
                // The samples are inconsistent: IDs are reused, times decrease or are longer than the interval.
                let all: Vec<_> = (0..next(5))
                    .map(|_| (next(6) as i32, state(next(3)), next(2) * next(1 << 30), next(1 << 40)))
                    .collect();
                let mut times = threads(&all);
                times.used = ms(next(5_000));
                times.machine = (next(2) == 0).then(|| (ms(next(5_000)), 1 + next(4) as u32));
                times.throttled = ms(next(5_000));
                times.stalled = (next(8) == 0).then(|| ms(next(5_000)));
                if next(10) == 0 {
                    clock.sample_as_withheld(now)
                } else {
                    clock.sample(now, times)
                }
                assert!(clock.deadline() >= deadline);
                deadline = clock.deadline();
                assert!(deadline <= began + LIMIT * MAX_EXTENSION);
                assert!(clock.next_check() >= deadline);
                if let Some(starvation) = clock.starvation() {
                    assert_eq!(starvation.elapsed, now - began);
                    assert!(starvation.withheld <= starvation.elapsed);
                }
            }
            clock.restart(LIMIT, now);
            assert_eq!(clock.deadline(), now + LIMIT);
        }
    }
}
