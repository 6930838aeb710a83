//! Checks whether programs can rely on a command-line tool: in `cargo test`.
//!
//! ```no_run
//! # macro_rules! env { ($name:literal) => { "mycli" } }
//! # mod tests {
//! use agentnative::Check;
//!
//! #[test]
//! fn programs_can_rely_on_the_output() {
//!     Check::command(env!("CARGO_BIN_EXE_mycli")).probe("list").principle(2).assert();
//! }
//! # }
//! ```
//!
//! ```toml
//! [dev-dependencies]
//! agentnative-check = { version = "0.1", default-features = false }
//! ```
//!
//! The command is run as its consumers run it: with a pipe, a terminal or a file as stdout, with a slow reader, in
//! hostile environments. Its output is checked. A failure contains the report that the program `agentnative` prints,
//! with evidence and the command line to reproduce it. The program itself is not needed.
//!
//! # What is stable
//!
//! The items of this page follow semantic versioning: [`Check`], and the types of its [`Report`]. The modules of the
//! crate are public only for its own program and tests; they are not documented here and may change in any release.
//!
//! # Features
//!
//! `cli` is the program, `source` adds the checks that read source code; both are enabled by default, and a test
//! needs neither. `project` reads the files around the code, for both of them.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

#[doc(hidden)]
pub mod baseline;
mod builder;
#[doc(hidden)]
pub mod check;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod follow;
#[doc(hidden)]
pub mod output;
#[doc(hidden)]
pub mod report;

#[doc(hidden)]
pub use agentnative_core::{catalogue, config, explore, facts, files, manifest, model, probe, run, targets};
#[doc(hidden)]
pub use agentnative_judge::{self as judge, source};

pub use agentnative_contract::error::{Error, ErrorKind, Issue, Place};
pub use agentnative_core::model::{
    BlockedBy, CheckId, CheckResult, ConfigInfo, Edition, Evidence, Layer, Level, OutputFormat, Status,
    Stream, TargetInfo, Variant,
};
pub use builder::Check;
pub use report::{Report, ReportSummary};
