//! Finds a command-line tool, reads its configuration, plans and executes its runs, and records them for the judging.
#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

pub mod catalogue;
pub mod config;
pub mod explore;
pub mod facts;
pub mod files;
pub mod interface;
pub mod manifest;
pub mod model;
pub mod probe;
pub mod run;
pub mod targets;
