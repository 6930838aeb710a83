//! The driver for stable Rust: mutates seeds, runs a target on them, and minimizes the inputs on which it panics.

use crate::mutate::mutate;
use crate::rng::Rng;
use crate::{Target, corpus};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Number of inputs that are tried to minimize one.
const MAX_TRIES: usize = 4_000;

/// Location and message of the last panic.
static LAST_PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

/// Number of runs of targets.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// The limits of fuzzing a target.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Maximum time.
    pub time: Duration,
    /// Maximum number of inputs.
    pub inputs: u64,
}

/// An input on which a target panics.
pub struct Find {
    /// Message of the panic.
    pub message: String,
    /// The minimized input.
    pub input: Vec<u8>,
}

/// The result of fuzzing a target.
#[derive(Default)]
pub struct FuzzResult {
    /// Number of inputs.
    pub inputs: u64,
    /// Longest time for one input.
    pub slowest: Duration,
    /// Finds by the location of their panic.
    pub finds: BTreeMap<String, Find>,
}

/// Returns the number of runs of targets. It does not change while a target hangs.
pub fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// Stores panics for [`catch_panic`] instead of printing them.
pub fn capture_panics() {
    panic::set_hook(Box::new(|info| {
        let location = info.location().map_or_else(String::new, ToString::to_string);
        *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some((location, info.to_string()));
    }));
}

/// Runs a target on an input; returns the location and message of its panic, if there is one. Requires
/// [`capture_panics`].
pub fn catch_panic(target: &Target, input: &[u8]) -> Option<(String, String)> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let result = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let panic = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.err().map(|_| panic.unwrap_or_default())
}

/// Fuzzes a target. The current input is written to `input_file`, which is the find if the process dies or hangs.
pub fn drive(target: &Target, seed: u64, limits: Limits, input_file: Option<&PathBuf>) -> FuzzResult {
    let (seeds, mut rng) = (corpus::seeds(target), Rng::new(seed));
    let (mut result, fuzzing_start) = (FuzzResult::default(), Instant::now());
    while result.inputs < limits.inputs && fuzzing_start.elapsed() < limits.time {
        let (base, other) = (rng.choose(&seeds), rng.choose(&seeds));
        let input = mutate(&mut rng, base, other, target.words);
        if let Some(file) = input_file {
            // Best effort: without the file, an input that hangs is only harder to find.
            let _ = fs::write(file, &input);
        }
        let start = Instant::now();
        let panic = catch_panic(target, &input);
        result.slowest = result.slowest.max(start.elapsed());
        result.inputs += 1;
        if let Some((location, message)) = panic
            && !result.finds.contains_key(&location)
        {
            let input = minimize(target, input, &location);
            let message = catch_panic(target, &input).map_or(message, |(_, message)| message);
            result.finds.insert(location, Find { message, input });
        }
    }
    result
}

/// Returns a smaller input on which the target panics at the same location.
fn minimize(target: &Target, mut input: Vec<u8>, location: &str) -> Vec<u8> {
    let mut tries = 0;
    let mut size = input.len() / 2;
    while size > 0 && tries < MAX_TRIES {
        let (mut start, before) = (0, input.len());
        while start < input.len() && tries < MAX_TRIES {
            let end = input.len().min(start + size);
            let without = [&input[..start], &input[end..]].concat();
            tries += 1;
            if catch_panic(target, &without).is_some_and(|(other, _)| other == location) {
                input = without;
            } else {
                start += size;
            }
        }
        if input.len() == before {
            size /= 2;
        }
    }
    input
}
