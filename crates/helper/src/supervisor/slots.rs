//! The slots of runs: those that helpers share are taken as they are free, beside one that is each helper's own.

use super::stream::awaitable;
use rustix::io::{Errno, read, write};
use rustix::stdio::stdout;
use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// The slots of this helper.
pub(super) struct Slots {
    /// What counts those that are shared; none where only our own number of jobs counts.
    shared: Option<Rc<AsyncFd<OwnedFd>>>,
    own_is_free: Rc<Cell<bool>>,
}

/// A slot that is taken; it is free again when this is dropped.
pub(super) enum Slot {
    Unlimited,
    Own(Rc<Cell<bool>>),
    Shared(Rc<AsyncFd<OwnedFd>>),
}

impl Slots {
    /// Those that our standard output counts, if they are shared.
    pub fn new(are_shared: bool) -> io::Result<Self> {
        let counter = || -> io::Result<_> {
            #[expect(
                clippy::disallowed_methods,
                reason = "nothing is written to it but slots that are free again"
            )]
            let counter = stdout().try_clone_to_owned()?;
            Ok(Rc::new(awaitable(counter, Interest::READABLE)?))
        };
        Ok(Self { shared: are_shared.then(counter).transpose()?, own_is_free: Rc::new(Cell::new(true)) })
    }

    /// One that is free now.
    pub fn try_take(&self) -> Option<Slot> {
        let Some(shared) = &self.shared else { return Some(Slot::Unlimited) };
        if self.own_is_free.replace(false) {
            return Some(Slot::Own(Rc::clone(&self.own_is_free)));
        }
        try_read(shared).ok().map(|()| Slot::Shared(Rc::clone(shared)))
    }

    /// One of the shared ones, when it is free. May be dropped while it waits.
    pub async fn take(&self) -> Slot {
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
