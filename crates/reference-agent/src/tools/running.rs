//! The running command, which other threads can stop.

use agentnative_helper::process_tree::kill_descendants;
use rustix::process::Pid;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A shared handle of the command that `run_command` is running, if any.
#[derive(Debug, Clone, Default)]
pub struct RunningCommand(Arc<Mutex<CommandState>>);

#[derive(Debug, Default)]
pub(super) struct CommandState {
    /// Process ID of the running command, which leads its process group. `None` if no command is running.
    pub(super) leader: Option<Pid>,
    /// Whether the run of the agent has ended, so that no further command may start.
    pub(super) closed: bool,
}

impl RunningCommand {
    /// Kills the running command with all its descendants. No further command can start.
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
