//! Work that is ended when it takes too much: what a schema or a document costs, its author decides.

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

/// The stack of such work: schemas nest, and refer to each other, deeper than documents do.
pub const STACK: usize = 64 << 20;
/// Longest time between two looks at what the work has used.
const PAUSE: Duration = Duration::from_millis(10);

/// What a step of work may use: until the work is over or calls [`progress`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// CPU time of this process, of which no more counts than time has passed: its other threads use some as well.
    pub time: Duration,
    /// Time that passes: on a busy machine, the CPU time takes far longer.
    pub elapsed: Duration,
    /// Bytes of memory of this process beyond those that it has at the start.
    pub memory: u64,
    /// The same for all steps together.
    pub total_memory: u64,
}

impl Budget {
    /// For what is made of a schema or a document.
    pub const STEP: Self = Self {
        time: Duration::from_secs(10),
        elapsed: Duration::from_secs(50),
        memory: 160 << 20,
        total_memory: 1 << 30,
    };
    /// For the work of a whole command, which may also wait for its input, or for programs.
    pub const COMMAND: Self = Self { elapsed: Duration::MAX, ..Self::STEP };
    /// For the comparison of two outputs, whose schemas may be large.
    pub const COMPARISON: Self =
        Self { time: Duration::from_secs(30), elapsed: Duration::from_secs(150), ..Self::STEP };
}

/// The part of a budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// CPU time, of which so much was there.
    Time(Duration),
    /// Time that passes, of which so much was there.
    Elapsed(Duration),
    /// Memory, of which so many bytes were there.
    Memory(u64),
}

impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(limit) => write!(f, "more than {} s of CPU time", limit.as_secs_f64()),
            Self::Elapsed(limit) => write!(f, "more than {} s, as the machine is busy", limit.as_secs_f64()),
            Self::Memory(limit) => write!(f, "more than {} MiB of memory", limit >> 20),
        }
    }
}

impl From<Spent> for Error {
    fn from(spent: Spent) -> Self {
        Self::new(ErrorKind::Budget, format!("the work was stopped: it needs {spent}"))
            .hint("a schema gets expensive by references that branch again and again, a document by a great many errors")
    }
}

/// What the work and whoever waits for it share.
#[derive(Default)]
struct Shared {
    /// Nobody waits for the work any more.
    cancelled: AtomicBool,
    steps: AtomicU64,
}

thread_local! {
    /// The work that this thread does.
    static WORK: RefCell<Option<Arc<Shared>>> = const { RefCell::new(None) };
}

/// What unwinds the stack of work that nobody waits for.
struct Cancelled;

/// Does work on a thread of its own, within a budget. Where that is spent, the work ends at its next
/// [`checkpoint`]; nobody waits for that, so its thread may go on for a while.
///
/// # Errors
/// Which part of the budget is spent.
///
/// # Panics
/// If the work does.
pub fn within<T: Send + 'static>(
    budget: Budget,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Spent> {
    let shared = Arc::new(Shared::default());
    let (sender, done) = channel();
    // It comes back where no thread can be had.
    let work = Arc::new(Mutex::new(Some(work)));
    let take = |work: &Mutex<Option<_>>| work.lock().unwrap_or_else(PoisonError::into_inner).take();
    let mut start = Usage::now();
    let thread = thread::Builder::new().name("work within a budget".to_owned()).stack_size(STACK).spawn({
        let (shared, work) = (Arc::clone(&shared), Arc::clone(&work));
        move || {
            WORK.set(Some(shared));
            let result = take(&work).map(|work| catch_unwind(AssertUnwindSafe(work)));
            // Nobody may wait any more.
            let _ = result.map(|result| sender.send(result));
        }
    });
    if thread.is_err()
        && let Some(work) = take(&work)
    {
        return Ok(work());
    }
    let (mut pause, mut steps, began) = (Duration::from_millis(1), 0, start.memory);
    let spent = loop {
        match done.recv_timeout(pause) {
            Ok(Ok(result)) => return Ok(result),
            Ok(Err(panic)) => resume_unwind(panic),
            Err(RecvTimeoutError::Disconnected) => resume_unwind(Box::new("the work is lost")),
            Err(RecvTimeoutError::Timeout) => {}
        }
        pause = (pause * 2).min(PAUSE);
        let now = Usage::now();
        // Where this is within another budget, that one waits for as long as this one lasts.
        progress();
        if now.memory.saturating_sub(began) > budget.total_memory {
            break Spent::Memory(budget.total_memory);
        }
        let made = shared.steps.load(Ordering::Relaxed);
        if made != steps {
            (steps, start) = (made, now);
            continue;
        }
        if now.time_since(&start) > budget.time {
            break Spent::Time(budget.time);
        }
        if now.at.saturating_duration_since(start.at) > budget.elapsed {
            break Spent::Elapsed(budget.elapsed);
        }
        if now.memory.saturating_sub(start.memory) > budget.memory {
            break Spent::Memory(budget.memory);
        }
    };
    shared.cancelled.store(true, Ordering::Relaxed);
    Err(spent)
}

/// Says that the work of this thread got on by a step: the next one has a budget of its own.
pub fn progress() {
    WORK.with_borrow(|work| {
        if let Some(work) = work {
            work.steps.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// A part of the work of this thread that another thread does.
pub fn part<T>(work: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let shared = WORK.with_borrow(Clone::clone);
    move || {
        WORK.set(shared);
        work()
    }
}

/// Ends the work of this thread where nobody waits for it any more. For loops and recursion that take memory.
pub fn checkpoint() {
    let cancelled = |work: &Arc<Shared>| work.cancelled.load(Ordering::Relaxed);
    if WORK.with_borrow(|work| work.as_ref().is_some_and(cancelled)) {
        resume_unwind(Box::new(Cancelled))
    }
}

/// What this process has used.
struct Usage {
    at: Instant,
    cpu: Duration,
    /// Bytes.
    memory: u64,
}

impl Usage {
    fn now() -> Self {
        let memory = memory_stats().map_or(0, |stats| stats.physical_mem as u64);
        Self { at: Instant::now(), cpu: ProcessTime::now().as_duration(), memory }
    }

    /// The CPU time that one thread can have used since then.
    fn time_since(&self, start: &Self) -> Duration {
        self.cpu.saturating_sub(start.cpu).min(self.at.saturating_duration_since(start.at))
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, Spent, Usage, checkpoint, progress, within};
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
    fn work_has_its_result_and_its_panic() {
        assert_eq!(within(Budget::STEP, || 7), Ok(7));
        let panic =
            std::panic::catch_unwind(|| within(Budget::STEP, || std::panic::resume_unwind(Box::new("no"))));
        assert_eq!(panic.unwrap_err().downcast_ref(), Some(&"no"));
    }

    #[test]
    fn neither_other_threads_nor_waiting_count() {
        let begin = Usage { at: Instant::now(), cpu: Duration::from_secs(5), memory: 0 };
        let after = |seconds, cpu| Usage {
            at: begin.at + Duration::from_secs(seconds),
            cpu: begin.cpu + Duration::from_secs(cpu),
            memory: 0,
        };
        assert_eq!(after(2, 60).time_since(&begin), Duration::from_secs(2));
        assert_eq!(after(60, 2).time_since(&begin), Duration::from_secs(2));
        assert_eq!(begin.time_since(&after(1, 1)), Duration::ZERO);
    }

    #[test]
    fn time_and_memory_are_bounded() {
        assert_eq!(within(SHORT, spin), Err(Spent::Time(SHORT.time)));
        let small = Budget { memory: 32 << 20, ..Budget::STEP };
        let hoard = || {
            let mut all = Vec::new();
            loop {
                checkpoint();
                all.push(vec![1_u8; 1 << 20]);
            }
        };
        assert_eq!(within::<()>(small, hoard), Err(Spent::Memory(32 << 20)));
        let hoard_by_steps = || {
            let mut all = Vec::new();
            loop {
                progress();
                checkpoint();
                all.push(vec![1_u8; 1 << 16]);
            }
        };
        let small = Budget { total_memory: 32 << 20, ..Budget::STEP };
        assert_eq!(within::<()>(small, hoard_by_steps), Err(Spent::Memory(32 << 20)));
    }

    #[test]
    fn work_that_gets_no_processor_ends_as_well() {
        let waits = || {
            let (_sender, never) = channel::<()>();
            never.recv().is_ok()
        };
        // The processor time is that of the process, and other tests use it as well.
        let busy = Budget { time: Duration::from_secs(3600), elapsed: SHORT.time * 5, ..SHORT };
        assert_eq!(within(busy, waits), Err(Spent::Elapsed(busy.elapsed)));
    }

    #[test]
    fn work_within_work_has_a_budget_of_its_own_and_ends_when_that_is_spent() {
        let (sender, ended) = channel::<()>();
        let outer = within(SHORT, move || {
            within(Budget { time: SHORT.time * 4, ..SHORT }, move || {
                let _held = sender;
                spin();
            })
        });
        assert_eq!(outer, Ok(Err(Spent::Time(SHORT.time * 4))));
        // The sender is dropped when the thread has unwound.
        assert!(ended.recv().is_err());
    }

    #[test]
    fn a_step_has_a_budget_of_its_own() {
        let long = within(SHORT, || {
            let began = Instant::now();
            while began.elapsed() < SHORT.time * 4 {
                progress();
            }
        });
        assert_eq!(long, Ok(()));
    }
}
