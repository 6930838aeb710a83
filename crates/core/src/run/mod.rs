//! Executes runs of a stranger's program safely, and keeps what they gave.
//!
//! This layer knows no check and no contract. [`Runner`] has the runs made by a helper, a process of
//! its own whose executable this library carries (the crate `agentnative-helper`): nothing is started,
//! reaped or changed in the caller's process but that helper.

mod observation;
mod record_reader;
mod recorded;
mod resolve;
mod runner;
mod services;
mod spec;

pub use agentnative_helper::{
    Area, Bytes, Captured, Change, Changes, Chunk, Confinement, End, Entry, EntryKind, FileLock,
    HOSTILE_ENVIRONMENTS, Hearing, Interruption, Isolation, Job, Leak, LeakForm, LeakPlace, Leftover, Limit,
    Limits, Options as RunnerOptions, Outcome, Purpose, Ready, Secret, Service, SetupCall, Slots, Starvation,
    StopSignal, Template, TemplateFile, Trip, Waiting, Workspace, clean_path, manager_variables,
    set_non_dumpable,
};
pub use observation::Observation;
pub use record_reader::{RecordFault, RecordReader};
pub use recorded::RecordWriter;
pub use resolve::{find, resolve};
pub use runner::{Finished, Runner};
pub use services::{Served, free_port};
pub use spec::{RunKey, RunSpec};
