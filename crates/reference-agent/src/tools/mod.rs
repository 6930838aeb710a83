//! The tools: their specification for the model, and running one.
//!
//! All but `run_command` work inside the workspace only: it is opened once, and each path is
//! resolved by the kernel beneath it, so neither `..`, nor a symbolic link, nor a race leads out.

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
pub use workspace::Workspace;
