//! A driver for stable Rust: changes seeds, runs a target on them, and keeps what makes it panic, made smaller.

use crate::dice::Dice;
use crate::mutate::mutate;
use crate::{Target, corpus};
use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Inputs that are tried to make one smaller.
const TRIES: usize = 4_000;

/// Where the last panic came from, and what it said.
static PANIC: Mutex<Option<(String, String)>> = Mutex::new(None);

/// How often a target was run.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// When a target stops.
#[derive(Clone, Copy)]
pub struct Limits {
    /// After so much time.
    pub time: Duration,
    /// After so many inputs.
    pub inputs: u64,
}

/// An input that makes a target panic.
pub struct Find {
    /// What the panic says.
    pub message: String,
    /// As small as it could be made.
    pub input: Vec<u8>,
}

/// What fuzzing a target gave.
#[derive(Default)]
pub struct Outcome {
    /// Number of inputs.
    pub inputs: u64,
    /// The longest time that the target took.
    pub slowest: Duration,
    /// One for each place of a panic.
    pub finds: BTreeMap<String, Find>,
}

/// How often a target was run; while one hangs, the number stays.
pub fn calls() -> u64 {
    CALLS.load(Ordering::Relaxed)
}

/// Keeps panics for [`fails`] instead of printing them.
pub fn keep_panics() {
    panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        *PANIC.lock().unwrap_or_else(PoisonError::into_inner) = Some((place, info.to_string()));
    }));
}

/// Where and why a target panics on an input, if it does; needs [`keep_panics`].
pub fn fails(target: &Target, input: &[u8]) -> Option<(String, String)> {
    CALLS.fetch_add(1, Ordering::Relaxed);
    let result = panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input)));
    let panic = PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    result.err().map(|_| panic.unwrap_or_default())
}

/// Fuzzes a target. `running` is the file that holds the input which is running: where the process dies or
/// hangs, it is the find.
pub fn drive(target: &Target, seed: u64, limits: Limits, running: Option<&PathBuf>) -> Outcome {
    let (seeds, mut dice) = (corpus::seeds(target), Dice::new(seed));
    let (mut outcome, began) = (Outcome::default(), Instant::now());
    while outcome.inputs < limits.inputs && began.elapsed() < limits.time {
        let (one, other) = (dice.of(&seeds), dice.of(&seeds));
        let input = mutate(&mut dice, one, other, target.words);
        if let Some(file) = running {
            // Without it the inputs are only harder to find.
            let _ = fs::write(file, &input);
        }
        let start = Instant::now();
        let failed = fails(target, &input);
        outcome.slowest = outcome.slowest.max(start.elapsed());
        outcome.inputs += 1;
        if let Some((place, message)) = failed
            && !outcome.finds.contains_key(&place)
        {
            let input = smaller(target, input, &place);
            let message = fails(target, &input).map_or(message, |(_, message)| message);
            outcome.finds.insert(place, Find { message, input });
        }
    }
    outcome
}

/// A smaller input that makes the target panic at the same place.
fn smaller(target: &Target, mut input: Vec<u8>, place: &str) -> Vec<u8> {
    let mut tries = 0;
    let mut size = input.len() / 2;
    while size > 0 && tries < TRIES {
        let (mut at, before) = (0, input.len());
        while at < input.len() && tries < TRIES {
            let end = input.len().min(at + size);
            let without = [&input[..at], &input[end..]].concat();
            tries += 1;
            if fails(target, &without).is_some_and(|(other, _)| other == place) {
                input = without;
            } else {
                at += size;
            }
        }
        if input.len() == before {
            size /= 2;
        }
    }
    input
}
