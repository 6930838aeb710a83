//! The running command, as other threads can end it.

use agentnative_helper::process_tree::kill_descendants;
use rustix::process::Pid;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The command that runs now, so that another thread can end it.
#[derive(Debug, Clone, Default)]
pub struct RunningCommand(Arc<Mutex<CommandState>>);

#[derive(Debug, Default)]
pub(super) struct CommandState {
    pub(super) leader: Option<Pid>,
    pub(super) over: bool,
}

impl RunningCommand {
    /// Ends the command that runs, with all its descendants, and lets none start any more.
    pub fn end(&self) {
        let mut state = self.lock();
        state.over = true;
        if let Some(leader) = state.leader.take() {
            kill_descendants(leader);
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, CommandState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
