//! The tools of the agent: their descriptions for the model and their execution.
//!
//! All tools but `run_command` are confined to the workspace: its folder is opened once, and the kernel resolves each
//! path beneath it, so neither `..`, nor a symbolic link, nor a race leads out of it.

mod calculate;
mod command;
mod edit;
mod files;
mod objects;
mod running;
mod search;
mod specs;
mod toolbox;
mod workspace;

pub use running::RunningCommand;
pub use specs::names;
pub use toolbox::{Approve, Toolbox};
pub use workspace::AgentWorkspace;
