//! Contract conformance for command-line tools that programs and AI agents call.
//!
//! A target is run as it would really be called, the bytes that come back are looked at, and each
//! check gives a verdict with its evidence. See `ARCHITECTURE.md` for the flow and the rooms.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod baseline;
pub mod catalogue;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod config;
pub mod follow;
pub mod judge;
pub mod manifest;
pub mod model;
pub mod output;
pub mod probe;
pub mod report;
pub mod run;
pub mod source;
pub mod target;
