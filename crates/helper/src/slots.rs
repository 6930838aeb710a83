//! Slots, which limit the parallel runs of several helpers together.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Limits the total number of parallel runs of several helpers. Each helper has one slot of its own; every further
/// parallel run takes a shared slot. Clones have the same slots in common.
#[derive(Debug, Clone)]
pub struct Slots(Arc<OwnedFd>);

impl Slots {
    /// Creates `count` shared slots.
    ///
    /// # Errors
    /// If the system has no descriptor for the counter.
    pub fn new(count: u32) -> io::Result<Self> {
        let flags = EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Ok(Self(Arc::new(eventfd(count, flags)?)))
    }

    /// Returns the descriptor of the counter of free slots: reading it takes a slot, and writing 1 frees one.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.0
    }
}
