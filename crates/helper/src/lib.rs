//! Runs untrusted programs from a separate process: the helper.
//!
//! Ending all processes that a program leaves behind requires reaping orphans, raising limits and handling signals.
//! These affect an entire process, so they do not belong in a library. The helper is a process for them. The library
//! embeds its executable as bytes, starts it from memory ([`Helper::start`]) and sends it [`Job`]s over a socket; the
//! helper answers with [`Outcome`]s. In the caller's process, only the helper itself is reaped, limits and signals
//! change only if an option says so, and any thread may call. When the caller's process ends, so do the helper and all
//! runs.
//!
//! The executable is any program that first calls `main` (feature `runtime`), such as a build script. It is a
//! supervisor; for each run it starts itself again as the launcher, which sets up the conditions of the run and becomes
//! the target.
//!
//! The code for Linux is in `sys`. On other systems, starting a helper returns a [`Failure`].

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod added_variables;
mod change;
#[cfg(feature = "client")]
#[cfg_attr(not(target_os = "linux"), path = "no_client.rs")]
mod client;
mod environment;
#[cfg(any(feature = "client", feature = "runtime"))]
mod failure;
mod job;
mod limits;
#[cfg(all(any(feature = "client", feature = "runtime"), target_os = "linux"))]
mod names;
mod outcome;
#[cfg(unix)]
#[cfg_attr(not(target_os = "linux"), path = "process_group.rs")]
pub mod process_tree;
#[cfg(all(any(feature = "client", feature = "runtime"), target_os = "linux"))]
mod protocol;
#[cfg_attr(not(all(feature = "client", target_os = "linux")), path = "no_slots.rs")]
mod slots;
#[cfg(all(feature = "runtime", target_os = "linux"))]
mod supervisor;
#[cfg(target_os = "linux")]
mod sys;
mod trip;
mod variant;

pub use added_variables::{
    ASCII_LOCALE, GERMAN_LOCALE, HOSTILE_ENVIRONMENTS, NARROW_TERMINAL, TURKISH_LOCALE,
};
pub use change::{Area, Changes, FileChange, FileEntry, FileKind, Leak, LeakEncoding, LeakPlace};
#[cfg(feature = "client")]
pub use client::{Helper, SignalHandling};
pub use environment::{absolute_entries, absolute_path_entries, manager_variables};
#[cfg(any(feature = "client", feature = "runtime"))]
pub use failure::Failure;
pub use job::{
    Interruption, Job, Options, Ready, RequestedConfinement, Secret, Service, SetupCall, StopSignal,
    Template, TemplateFile, Workspace,
};
pub use limits::{Limit, Limits};
#[cfg(feature = "client")]
pub use outcome::HelperEvent;
pub use outcome::{
    Bytes, Captured, Chunk, Confinement, FileLock, Leftover, Outcome, RunEnd, Starvation, Waiting,
};
pub use slots::Slots;
#[cfg(all(feature = "runtime", target_os = "linux"))]
pub use supervisor::main;
pub use trip::{TripwireCall, TripwirePurpose};
pub use variant::{OLD, Variant};

/// Does nothing and returns `None`: on this system, no process can be started as a helper.
#[cfg(all(feature = "runtime", not(target_os = "linux")))]
pub fn main() -> Option<std::process::ExitCode> {
    None
}

/// Prevents other processes of this user, such as those that this program starts, from tracing this process and from
/// reading its memory and environment (`PR_SET_DUMPABLE`). Does not affect root. A program that this process executes
/// has to call this again. Does nothing if the system does not support it.
pub fn set_non_dumpable() {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
        .unwrap_or_default();
}

/// Returns the value of an environment variable, such as a key, and removes the variable from this process. Otherwise
/// root could read the variable in /proc as long as the process runs.
///
/// To remove it, the program executes itself again without the variable, with the same arguments, process ID and
/// descriptors. A program calls this first in its `main`, while there is only one thread. If the removal fails, for
/// example without /proc, the variable stays in the environment.
#[cfg(feature = "handover")]
pub fn take_variable(name: &str) -> Option<std::ffi::OsString> {
    #[cfg(target_os = "linux")]
    return sys::take_variable(name);
    #[cfg(not(target_os = "linux"))]
    return std::env::var_os(name);
}

/// Path of the `Cargo.toml` of this crate, for a build script that builds the helper's program for another machine:
/// `cargo build --manifest-path … --features runtime --bin agentnative-helper --target …`.
#[cfg(feature = "runtime")]
pub const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

/// Compiles the example of the README as a test.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
