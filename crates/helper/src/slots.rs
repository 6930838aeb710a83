//! Slots for runs that several helpers share.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Limits how many runs several helpers make in parallel. Each helper has one slot that it does not share; every
/// further run takes a shared one. Clones share the same slots.
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

    /// Returns the descriptor of the counter: reading it takes a slot, and writing 1 frees it.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.0
    }
}
