//! What changed between two versions of a promise, and whom it breaks.
//!
//! An output is what a producer gives: whoever reads it relies on every promise, so a promise that is
//! widened breaks readers, and one that is narrowed does not.

mod change;

pub use change::{Change, Class, Witness};

use super::Promise;

/// All changes between two versions of a target's promises, in a stable order; none where they mean the
/// same. Promises are paired by probe and format; one on either side is a pair whatever they are called.
pub fn compare(old: &[Promise], new: &[Promise]) -> Vec<Change> {
    let _ = (old, new);
    Vec::new()
}
