//! Declared probes and derived calls, the plan of the runs that the selected checks need, and recordings of these runs.

mod args;
mod definition;
mod derive;
mod derived_call;
mod env_flags;
mod flagged;
mod old_recording;
mod plan;
mod profile;
mod recording;
mod recording_file;
mod scenes;
mod secrets;
mod spec;
mod with_help;

pub use definition::{Effect, Place, Probe};
pub use derive::{SHELLS, command_helps, derived, questions, standalone};
pub use derived_call::{UNKNOWN_COMMAND, UNKNOWN_FLAG, UNKNOWN_FORMAT, UNKNOWN_VALUE, placed};
pub use env_flags::{EnvFlag, OFF, ON, env_flags};
pub use plan::{help_run, plan, repetitions};
pub use profile::TargetProfile;
pub use recording::Recording;
pub use scenes::TIMEOUT;
pub use spec::{Surroundings, place_port, specs};
