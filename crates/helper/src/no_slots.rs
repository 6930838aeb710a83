//! Slots on a system where no helper can be started.

use std::io;

/// Slots for runs that several helpers share. The type has no values on this system, where no helper can be started.
#[derive(Debug, Clone)]
pub enum Slots {}

impl Slots {
    /// Always returns an error: programs can only be run on Linux.
    pub fn new(_count: u32) -> io::Result<Self> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "programs can only be run on Linux"))
    }
}
