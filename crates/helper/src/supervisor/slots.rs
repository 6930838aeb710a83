//! The slots for parallel runs: one that this helper always has, and those that several helpers share.

use super::stream::async_fd;
use rustix::io::{Errno, read, write};
use rustix::stdio::stdout;
use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

pub(super) struct RunSlots {
    /// The counter of the shared slots; `None` if this helper shares none, so that only its own number of jobs limits
    /// its runs.
    shared: Option<Rc<AsyncFd<OwnedFd>>>,
    own_is_free: Rc<Cell<bool>>,
}

/// A slot that a run occupies. Dropping it frees the slot.
pub(super) enum Slot {
    Unlimited,
    Own(Rc<Cell<bool>>),
    Shared(Rc<AsyncFd<OwnedFd>>),
}

impl RunSlots {
    /// Creates the slots of this helper. If `are_shared` is true, the stdout of this process is the counter of the
    /// shared slots.
    pub fn new(are_shared: bool) -> io::Result<Self> {
        let counter = || -> io::Result<_> {
            #[expect(
                clippy::disallowed_methods,
                reason = "nothing is written to it but slots that are free again"
            )]
            let counter = stdout().try_clone_to_owned()?;
            Ok(Rc::new(async_fd(counter, Interest::READABLE)?))
        };
        Ok(Self { shared: are_shared.then(counter).transpose()?, own_is_free: Rc::new(Cell::new(true)) })
    }

    /// Acquires a slot if one is free now; otherwise returns `None`.
    pub fn try_acquire(&self) -> Option<Slot> {
        let Some(shared) = &self.shared else { return Some(Slot::Unlimited) };
        if self.own_is_free.replace(false) {
            return Some(Slot::Own(Rc::clone(&self.own_is_free)));
        }
        try_read(shared).ok().map(|()| Slot::Shared(Rc::clone(shared)))
    }

    /// Waits for a free shared slot and acquires it. Waits forever if there are no shared slots. Cancel safe.
    pub async fn acquire(&self) -> Slot {
        let Some(shared) = &self.shared else { return std::future::pending().await };
        loop {
            match shared.readable().await {
                Ok(mut ready) => match try_read(shared) {
                    Ok(()) => return Slot::Shared(Rc::clone(shared)),
                    Err(_) => ready.clear_ready(),
                },
                Err(_) => return std::future::pending().await,
            }
        }
    }
}

fn try_read(counter: &AsyncFd<OwnedFd>) -> Result<(), Errno> {
    read(counter.get_ref(), &mut [0; 8]).map(drop)
}

impl Drop for Slot {
    fn drop(&mut self) {
        match self {
            Self::Unlimited => {}
            Self::Own(is_free) => is_free.set(true),
            Self::Shared(counter) => {
                write(counter.get_ref(), &1_u64.to_ne_bytes()).map(drop).unwrap_or_default()
            }
        }
    }
}
