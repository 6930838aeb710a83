//! The resource limits of a run, and the one that it exceeded.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Resource limits of a run. A run that exceeds one of them is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all its processes together, in bytes: pages that are not backed by files, and swapped pages.
    pub memory: u64,
    /// Number of its processes and threads.
    pub processes: u64,
    /// Bytes that all its processes write together: to files, to streams and to each other.
    pub written: u64,
}

impl Default for Limits {
    /// Returns 4 GiB of memory, 4096 processes and threads, 8 GiB written.
    fn default() -> Self {
        Self { memory: 4 << 30, processes: 4096, written: 8 << 30 }
    }
}

/// A limit that a run exceeded, with its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// [`Limits::memory`].
    Memory(u64),
    /// [`Limits::processes`].
    Processes(u64),
    /// [`Limits::written`].
    Written(u64),
    /// The size of one file, in bytes.
    File(u64),
    /// The memory of the machine, or of the container: the kernel killed the run.
    Machine,
    /// [`Options::max_output`](crate::Options::max_output), the length of one stream in bytes. Serialized as a number,
    /// since older recordings have no other limit.
    #[serde(untagged)]
    Output(u64),
}

impl fmt::Display for Limit {
    /// Writes what the run did: "used more than 4 GiB of memory".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Memory(bytes) => write!(f, "used more than {} of memory", Size(bytes)),
            Self::Processes(count) => write!(f, "had more than {count} processes and threads"),
            Self::Written(bytes) => write!(f, "wrote more than {}", Size(bytes)),
            Self::File(bytes) => write!(f, "wrote a file larger than {}", Size(bytes)),
            Self::Machine => write!(f, "was killed by the system, which was out of memory"),
            Self::Output(bytes) => write!(f, "wrote more than {} to one stream", Size(bytes)),
        }
    }
}

/// A number of bytes, shown in the largest unit that divides it.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
        let fitting = units.into_iter().find(|(shift, _)| self.0 > 0 && self.0.trailing_zeros() >= *shift);
        match fitting {
            Some((shift, unit)) => write!(f, "{} {unit}", self.0 >> shift),
            None => write!(f, "{} bytes", self.0),
        }
    }
}
