//! Limits the time and memory of work on schemas and documents, whose authors control its cost.

use crate::error::{Error, ErrorKind};
use cpu_time::ProcessTime;
use memory_stats::memory_stats;
use std::cell::RefCell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Stack size of the worker thread, in bytes: schemas nest, and refer to each other, deeper than documents do.
pub const STACK_BYTES: usize = 64 << 20;
/// Maximum time between two measurements of the resources that the work uses.
const MAX_POLL_INTERVAL: Duration = Duration::from_millis(10);

/// The limits of a step of work. A step ends when the work calls [`finish_step`] or is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Maximum CPU time of a step. It is measured as the CPU time of this process, capped at the elapsed time, because
    /// other threads use CPU time as well.
    pub time: Duration,
    /// Maximum elapsed time of a step. On a busy machine, the elapsed time is far more than the CPU time.
    pub elapsed: Duration,
    /// Maximum memory that this process gains from the start of a step, in bytes.
    pub memory: u64,
    /// Maximum memory that this process gains from the start of the work, in bytes.
    pub total_memory: u64,
}

impl Budget {
    /// Budget for work on one schema or one document.
    pub const STEP: Self = Self {
        time: Duration::from_secs(10),
        elapsed: Duration::from_secs(50),
        memory: 160 << 20,
        total_memory: 1 << 30,
    };
    /// Budget for a complete command, which may wait for input or for programs.
    pub const COMMAND: Self = Self { elapsed: Duration::MAX, ..Self::STEP };
    /// Budget for a comparison of two outputs, whose schemas may be large.
    pub const COMPARISON: Self =
        Self { time: Duration::from_secs(30), elapsed: Duration::from_secs(150), ..Self::STEP };
}

/// The limit of a [`Budget`] that work exceeded, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExceededLimit {
    /// The limit of CPU time was exceeded.
    Time(Duration),
    /// The limit of elapsed time was exceeded.
    Elapsed(Duration),
    /// The limit of memory was exceeded; in bytes.
    Memory(u64),
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "more than {} s of CPU time", limit.as_secs_f64()),
            Self::Elapsed(limit) => {
                write!(f, "more than {} s of elapsed time, because the machine is busy", limit.as_secs_f64())
            }
            Self::Memory(limit) => write!(f, "more than {} MiB of memory", limit >> 20),
        }
    }
}

impl From<ExceededLimit> for Error {
    fn from(spent: ExceededLimit) -> Self {
        Self::new(ErrorKind::Budget, format!("the work was stopped: it needs {spent}"))
            .hint("simplify the schema if its references branch repeatedly, or the document if it has very many errors")
    }
}

/// State shared by the thread that does the work and the thread that waits for it.
#[derive(Default)]
struct WorkState {
    cancelled: AtomicBool,
    /// Number of steps of the work that are finished.
    steps: AtomicU64,
}

thread_local! {
    /// The state of the work that this thread does within a budget; `None` without a budget.
    static WORK: RefCell<Option<Arc<WorkState>>> = const { RefCell::new(None) };
}

/// Panic payload that ends the work of a thread whose budget is exceeded.
struct Cancelled;

/// Runs work on a separate thread within a budget. When a limit is exceeded, the function returns at once, and the work
/// ends at its next [`checkpoint`].
///
/// # Errors
/// The limit that the work exceeds.
///
/// # Panics
/// If the work panics.
pub fn run_within<T: Send + 'static>(
    budget: Budget,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ExceededLimit> {
    let state = Arc::new(WorkState::default());
    let (sender, done) = channel();
    // Shared so that this thread can run it if no thread can be started.
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut start = Usage::now();
    let thread =
        thread::Builder::new().name("work within a budget".to_owned()).stack_size(STACK_BYTES).spawn({
            let (state, work) = (Arc::clone(&state), Arc::clone(&work));
            move || {
                WORK.set(Some(state));
                let result = take(&work).map(|work| catch_unwind(AssertUnwindSafe(work)));
                // The receiver is gone if a limit was exceeded.
                let _ = result.map(|result| sender.send(result));
            }
        });
    if thread.is_err()
        && let Some(work) = take(&work)
    {
        return Ok(work());
    }
    let (mut interval, mut steps, initial_memory) = (Duration::from_millis(1), 0, start.memory);
    let spent = loop {
        match done.recv_timeout(interval) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => {
                resume_unwind(Box::new("the worker thread ended without a result"))
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        interval = (interval * 2).min(MAX_POLL_INTERVAL);
        let now = Usage::now();
        // The wait is a step of an outer budget, if there is one.
        finish_step();
        if now.memory.saturating_sub(initial_memory) > budget.total_memory {
            break ExceededLimit::Memory(budget.total_memory);
        }
        let finished = state.steps.load(Ordering::Relaxed);
        if finished != steps {
            (steps, start) = (finished, now);
            continue;
        }
        if now.cpu_since(&start) > budget.time {
            break ExceededLimit::Time(budget.time);
        }
        if now.at.saturating_duration_since(start.at) > budget.elapsed {
            break ExceededLimit::Elapsed(budget.elapsed);
        }
        if now.memory.saturating_sub(start.memory) > budget.memory {
            break ExceededLimit::Memory(budget.memory);
        }
    };
    state.cancelled.store(true, Ordering::Relaxed);
    Err(spent)
}

/// Ends a step of the work of this thread: the next step starts with a new budget.
pub fn finish_step() {
    WORK.with_borrow(|work| {
        if let Some(work) = work {
            work.steps.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// Wraps `work` so that another thread can run it as part of the work of the current thread: with the same budget, and
/// cancelled together with it.
pub fn as_part_of_this_work<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let state = WORK.with_borrow(Clone::clone);
    move || {
        WORK.set(state);
        work()
    }
}

/// Ends the work of this thread by a panic if a limit of its budget is exceeded. To be called in loops and recursion
/// that take memory.
pub fn checkpoint() {
    let cancelled = |work: &Arc<WorkState>| work.cancelled.load(Ordering::Relaxed);
    if WORK.with_borrow(|work| work.as_ref().is_some_and(cancelled)) {
        resume_unwind(Box::new(Cancelled))
    }
}

/// The resources that this process has used up to a time.
struct Usage {
    at: Instant,
    cpu: Duration,
    /// Physical memory that this process uses, in bytes.
    memory: u64,
}

impl Usage {
    fn now() -> Self {
        let memory = memory_stats().map_or(0, |stats| stats.physical_mem as u64);
        Self { at: Instant::now(), cpu: ProcessTime::now().as_duration(), memory }
    }

    /// Returns the CPU time since `start`, capped at the elapsed time.
    fn cpu_since(&self, start: &Self) -> Duration {
        self.cpu.saturating_sub(start.cpu).min(self.at.saturating_duration_since(start.at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, ExceededLimit, Usage, checkpoint, finish_step, run_within};
    use std::hint::black_box;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    const SHORT: Budget = Budget {
        time: Duration::from_millis(50),
        elapsed: Duration::MAX,
        memory: u64::MAX,
        total_memory: u64::MAX,
    };

    fn spin() {
        loop {
            black_box(());
            checkpoint();
        }
    }

    #[test]
    fn result_and_panic_are_passed_on() {
        assert_eq!(run_within(Budget::STEP, || 7), Ok(7));
        let panic = std::panic::catch_unwind(|| {
            run_within(Budget::STEP, || std::panic::resume_unwind(Box::new("no")))
        });
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"no"));
    }

    #[test]
    fn cpu_time_of_other_threads_and_waiting_do_not_count() {
        let begin = Usage { at: Instant::now(), cpu: Duration::from_secs(5), memory: 0 };
        let after = |seconds, cpu| Usage {
            at: begin.at + Duration::from_secs(seconds),
            cpu: begin.cpu + Duration::from_secs(cpu),
            memory: 0,
        };
        assert_eq!(after(2, 60).cpu_since(&begin), Duration::from_secs(2));
        assert_eq!(after(60, 2).cpu_since(&begin), Duration::from_secs(2));
        assert_eq!(begin.cpu_since(&after(1, 1)), Duration::ZERO);
    }

    #[test]
    fn time_and_memory_are_bounded() {
        assert_eq!(run_within(SHORT, spin), Err(ExceededLimit::Time(SHORT.time)));
        let small = Budget { memory: 32 << 20, ..Budget::STEP };
        let hoard = || {
            let mut all = Vec::new();
            loop {
                checkpoint();
                all.push(vec![1_u8; 1 << 20]);
            }
        };
        assert_eq!(run_within::<()>(small, hoard), Err(ExceededLimit::Memory(32 << 20)));
        let hoard_by_steps = || {
            let mut all = Vec::new();
            loop {
                finish_step();
                checkpoint();
                all.push(vec![1_u8; 1 << 16]);
            }
        };
        let small = Budget { total_memory: 32 << 20, ..Budget::STEP };
        assert_eq!(run_within::<()>(small, hoard_by_steps), Err(ExceededLimit::Memory(32 << 20)));
    }

    #[test]
    fn elapsed_time_is_bounded() {
        let wait = || {
            let (_sender, never) = channel::<()>();
            never.recv().is_ok()
        };
        // CPU time is that of the process, and other tests use it as well.
        let busy = Budget { time: Duration::from_secs(3600), elapsed: SHORT.time * 5, ..SHORT };
        assert_eq!(run_within(busy, wait), Err(ExceededLimit::Elapsed(busy.elapsed)));
    }

    #[test]
    fn nested_work_has_a_separate_budget() {
        let (sender, ended) = channel::<()>();
        let outer = run_within(SHORT, move || {
            run_within(Budget { time: SHORT.time * 4, ..SHORT }, move || {
                let _held = sender;
                spin();
            })
        });
        assert_eq!(outer, Ok(Err(ExceededLimit::Time(SHORT.time * 4))));
        // The sender is dropped when the thread has unwound.
        assert!(ended.recv().is_err());
    }

    #[test]
    fn each_step_has_a_new_budget() {
        let long = run_within(SHORT, || {
            let began = Instant::now();
            while began.elapsed() < SHORT.time * 4 {
                finish_step();
            }
        });
        assert_eq!(long, Ok(()));
    }
}
