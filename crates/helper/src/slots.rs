//! Slots for runs that several helpers share.

use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Slots beside the one that each helper has of its own: as many further runs go side by side, of all helpers that
/// share them. A clone stands for the same slots.
#[derive(Debug, Clone)]
pub struct Slots(Arc<OwnedFd>);

impl Slots {
    /// So many.
    ///
    /// # Errors
    /// When the system refuses the descriptor that counts them.
    pub fn new(count: u32) -> io::Result<Self> {
        let flags = EventfdFlags::SEMAPHORE | EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC;
        Ok(Self(Arc::new(eventfd(count, flags)?)))
    }

    /// The descriptor that counts them: reading it takes one, and adding 1 gives it back.
    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.0
    }
}
