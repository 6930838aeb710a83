//! The parts of a check of a command-line tool, from its configuration to the recording that is judged.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod catalogue;
pub mod config;
pub mod facts;
pub mod files;
pub mod manifest;
pub mod model;
pub mod probe;
pub mod run;
pub mod targets;
