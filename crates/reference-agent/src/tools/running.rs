//! The running command, which other threads can stop.

use agentnative_helper::process_tree::kill_descendants;
use rustix::process::Pid;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shared handle of the running command.
#[derive(Debug, Clone, Default)]
pub struct RunningCommand(Arc<Mutex<CommandState>>);

#[derive(Debug, Default)]
pub(super) struct CommandState {
    /// Leader of the process group of the command.
    pub(super) leader: Option<Pid>,
    /// Whether the run has ended, so that no command may start.
    pub(super) closed: bool,
}

impl RunningCommand {
    /// Kills the running command with all its descendants and prevents further commands.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.closed = true;
        if let Some(leader) = state.leader.take() {
            kill_descendants(leader);
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, CommandState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
