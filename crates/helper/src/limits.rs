//! The resource limits of a run, and the limit that a run exceeded.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Resource limits of a run. A run that exceeds one of them is ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Memory of all processes of the run together, in bytes. Counts pages that are not backed by files, and swapped
    /// pages.
    pub memory: u64,
    /// Number of processes and threads of the run.
    pub processes: u64,
    /// Number of bytes that all processes of the run write together: to files, to streams and to each other.
    pub written: u64,
}

impl Default for Limits {
    /// Returns the default limits: 4 GiB of memory, 4096 processes and threads, and 8 GiB of written bytes.
    fn default() -> Self {
        Self { memory: 4 << 30, processes: 4096, written: 8 << 30 }
    }
}

/// A limit that a run exceeded, with the value of the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Limit {
    /// The memory of all processes, in bytes ([`Limits::memory`]).
    Memory(u64),
    /// The number of processes and threads ([`Limits::processes`]).
    Processes(u64),
    /// The number of bytes written by all processes ([`Limits::written`]).
    Written(u64),
    /// The size of one file, in bytes.
    File(u64),
    /// The memory of the machine, or of the container. The kernel killed the run because none was left.
    Machine,
    /// The length of stdout or stderr in bytes ([`Options::max_output`](crate::Options::max_output)). Serialized as a
    /// plain number, since older recordings have no other limit.
    #[serde(untagged)]
    Output(u64),
}

impl fmt::Display for Limit {
    /// Writes what the run did, such as `used more than 4 GiB of memory`.
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

/// A number of bytes. It is displayed in the largest unit that divides it without a remainder, such as `4 GiB` or
/// `1000 bytes`.
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
