//! Runs strangers' programs in a process of its own: the helper.
//!
//! A library that starts programs and has to end all that they leave behind must reap orphans, raise
//! limits and hear signals: things that belong to a whole process, and so not to a library. The helper
//! is that process. The library carries its executable as bytes, starts it from memory
//! ([`Helper::start`]), and gives it [`Job`]s over a socket; [`Outcome`]s come back. In the caller's
//! process nothing is reaped but the helper itself, no limit and no signal is changed unless asked for,
//! and any thread may call. When the caller is gone, so are the helper and all runs.
//!
//! The executable is any program that calls `main` (feature `runtime`) first thing, such as a build
//! script. It is a supervisor; for each run it starts itself again as the launcher, which sets up the
//! conditions of the run and becomes the target.
//!
//! What only Linux can do is in `sys`. On other systems a helper cannot be started: that is a plain
//! [`Failure`].

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
#[cfg(target_os = "linux")]
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

pub use added_variables::HOSTILE_ENVIRONMENTS;
pub use change::{Area, Change, Changes, Entry, EntryKind, Leak, LeakForm, LeakPlace};
#[cfg(feature = "client")]
pub use client::{Hearing, Helper};
pub use environment::{clean_path, folders_of, manager_variables};
#[cfg(any(feature = "client", feature = "runtime"))]
pub use failure::Failure;
pub use job::{
    Interruption, Isolation, Job, Options, Ready, Secret, Service, SetupCall, StopSignal, Template,
    TemplateFile, Workspace,
};
pub use limits::{Limit, Limits};
#[cfg(feature = "client")]
pub use outcome::Event;
pub use outcome::{
    Bytes, Captured, Chunk, Confinement, End, FileLock, Leftover, Outcome, Starvation, Waiting,
};
pub use slots::Slots;
#[cfg(all(feature = "runtime", target_os = "linux"))]
pub use supervisor::main;
pub use trip::{Purpose, Trip};
pub use variant::Variant;

/// Runs the helper, if this process was started as one: never, on this system.
#[cfg(all(feature = "runtime", not(target_os = "linux")))]
pub fn main() -> Option<std::process::ExitCode> {
    None
}

/// Keeps the processes of this user, such as those that this program starts, from reading its memory and its environment
/// and from tracing it (`PR_SET_DUMPABLE`). Root is not kept from it, and a program that this process executes has to
/// ask for it again. Nothing changes where the system cannot do that.
pub fn set_non_dumpable() {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
        .unwrap_or_default();
}

/// Gives a variable, such as a key, and takes it out of the environment of this process, in which root could read it for
/// all the time that the process goes on: the program is executed once more without it, with the same arguments, number
/// and descriptors. To be called first thing by a `main`, before there are threads. Where that cannot be done, such as
/// without /proc, the variable stays.
#[cfg(feature = "handover")]
pub fn take_variable(name: &str) -> Option<std::ffi::OsString> {
    #[cfg(target_os = "linux")]
    return sys::take_variable(name);
    #[cfg(not(target_os = "linux"))]
    return std::env::var_os(name);
}

/// The manifest of this crate, for a build script that builds the program of the helper for another machine:
/// `cargo build --manifest-path … --features runtime --bin agentnative-helper --target …`.
#[cfg(feature = "runtime")]
pub const MANIFEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

/// The example of the README, as a test that it compiles.
#[cfg(all(doctest, feature = "client"))]
#[doc = include_str!("../README.md")]
struct Readme;
