//! The error for a stream that no mapper knows.

use std::fmt;

/// The stream is not one of a known agent, so nothing is known about the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrecognised(pub(super) String);

impl fmt::Display for Unrecognised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unrecognised {}
