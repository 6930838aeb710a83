//! Executes runs of an untrusted program safely, and returns their outcomes as observations.
//!
//! This layer does not depend on checks and contracts. [`Runner`] delegates the runs to the helper, a separate process
//! whose executable this library embeds (crate `agentnative-helper`). In the caller's process, nothing else is started,
//! reaped or changed.

mod observation;
mod recording_reader;
mod recording_writer;
mod resolve;
mod runner;
mod services;
mod spec;

pub use agentnative_helper::{
    Area, Bytes, Captured, Changes, Chunk, Confinement, FileChange, FileEntry, FileKind, FileLock,
    HOSTILE_ENVIRONMENTS, Interruption, Job, Leak, LeakEncoding, LeakPlace, Leftover, Limit, Limits,
    Options as RunnerOptions, Outcome, Ready, RequestedConfinement, RunEnd, Secret, Service, SetupCall,
    SignalHandling, Slots, Starvation, StopSignal, Template, TemplateFile, TripwireCall, TripwirePurpose,
    Waiting, Workspace, absolute_path_entries, manager_variables, set_non_dumpable,
};
pub use observation::Observation;
pub use recording_reader::{RecordingError, read_head, read_runs};
pub use recording_writer::RecordingWriter;
pub use resolve::{find_program, resolve};
pub use runner::{RunResults, Runner};
pub use services::{ServiceStart, free_port};
pub use spec::{RunKey, RunSpec};
