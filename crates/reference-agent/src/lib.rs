//! The reference agent: a working agent that shows what conforming output looks like.
//!
//! ```text
//! Flags ─▶ Options ─▶ session ── thread ──▶ engine ─▶ provider, tools
//!                        ▲                     │
//!                        └────── Events ◀──────┘
//!                        ├─▶ RunSummary, Scratchpad
//!                        └─▶ Protocol ─▶ output
//! ```
//!
//! It shares the crates of output and of contracts with the checker, and knows nothing of running or
//! judging.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod attach;
mod clock;
mod config_file;
mod engine;
mod event;
mod failure;
mod model;
mod options;
mod protocols;
mod providers;
mod query;
mod run_summary;
mod schema;
mod scratchpad;
mod session;
mod tools;

use agentnative_output::{ColorChoice, Output, OutputConfig, clap_error};
use clap::Parser as _;
use failure::{Code, Failure};
use options::Flags;
use std::ffi::OsString;

/// Runs the agent with these arguments (the first is its name) and gives its exit code.
pub fn main(args: &[OsString]) -> u8 {
    let flags = match Flags::try_parse_from(args) {
        Ok(flags) => flags,
        Err(error) => return refused(&error, args),
    };
    let form = flags.form();
    let (protocol, format) = form.clone().unwrap_or_else(|_| protocols::asked(args));
    let mut output = Output::new(protocol.output(flags.output(format)));
    match form.and_then(|_| flags.settle()) {
        Ok(options) if options.json_schema => schema::print(protocol, format, &mut output),
        Ok(options) => session::run(options, &mut output),
        Err(failure) => session::refuse(protocol, failure, &mut output),
    }
}

/// Help and version are answers; all else that clap does not take is a usage error, in the protocol that
/// was asked for.
fn refused(error: &clap::Error, args: &[OsString]) -> u8 {
    let (protocol, format) = protocols::asked(args);
    let config = OutputConfig::detect(format, ColorChoice::Auto, false);
    let mut output = Output::new(protocol.output(config));
    match clap_error(error) {
        Ok(text) => output.text(&text).map_or_else(|error| error.kind.exit_code(), |()| 0),
        Err(error) => {
            let failure = Failure::new(Code::InvalidOption, error.message);
            session::refuse(protocol, Failure { hint: error.hint, ..failure }, &mut output)
        }
    }
}
