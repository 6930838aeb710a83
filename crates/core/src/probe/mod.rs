//! Declared probes and derived calls, the plan of the runs that the selected checks need, and recordings of these runs.

mod args;
mod definition;
mod derive;
mod derived_call;
mod flagged;
mod old_recording;
mod placeholders;
mod plan;
mod profile;
mod recording;
mod recording_file;
mod scenarios;
mod secrets;
mod spec;
mod variable_options;
mod with_help;

pub use args::insert_last;
pub use definition::{Effect, FlagPosition, Probe};
pub use derive::{SHELLS, command_helps, derive_calls, format_flag_calls, target_calls};
pub use derived_call::{UNKNOWN_COMMAND, UNKNOWN_FLAG, UNKNOWN_FORMAT, UNKNOWN_VALUE, insert_option};
pub use placeholders::{CONTROL_PLACEHOLDER, LONG_PLACEHOLDER, SURROGATE_PLACEHOLDER, has_placeholder};
pub use plan::{help_run, plan, repetitions};
pub use profile::TargetProfile;
pub use recording::Recording;
pub use scenarios::STALLED_CALL_TIMEOUT;
pub use spec::{RunEnvironment, place_port, run_specs};
pub use variable_options::{DISABLED_VALUES, ENABLED_VALUE, OFF_VALUE, VariableOption, variable_options};
