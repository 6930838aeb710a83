//! The reference agent: a working agent that shows what conforming output looks like.
//!
//! ```text
//! Options ─▶ session ── thread ──▶ engine ─▶ provider, tools
//!               ▲                     │
//!               └────── Events ◀──────┘
//!               ├─▶ RunSummary, Scratchpad
//!               └─▶ Protocol ─▶ output
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
mod exit_code;
mod failure;
mod key;
mod model;
mod modes;
mod options;
mod protocols;
mod providers;
mod query;
mod run_summary;
mod schema;
mod scratchpad;
mod serve;
mod session;
mod tally;
mod tool_record;
mod tools;

use agentnative_output::{ColorChoice, Output, OutputConfig, clap_error};
use exit_code::exit_code;
use failure::{Code, Failure};
use options::Options;
use std::ffi::OsString;

/// The command line, for what is made from it.
pub fn command() -> clap::Command {
    Options::command_line()
}

/// Runs the agent with these arguments (the first is its name) and gives its exit code. With a key in its environment,
/// the process executes itself once more without it first.
pub fn main(args: &[OsString]) -> u8 {
    agentnative_output::close_stdout_on_exec();
    // Root, who can read every process, does not find the key in the environment; others find nothing at all.
    key::take();
    agentnative_helper::set_non_dumpable();
    let flags = match Options::parse_flags(args) {
        Ok(flags) => flags,
        Err(error) => return usage_error(&error, args),
    };
    if let Some(shell) = flags.completions {
        let mut output = Output::new(flags.output());
        let printed = output.text(&completions(shell)).map(|()| 0);
        return exit_code(printed, &mut output);
    }
    let (protocol, format) = (flags.protocol, flags.format());
    let mut output = Output::new(flags.output());
    if let Some(args) = &flags.serve {
        return serve::run(args, &mut output);
    }
    match flags.resolve(args) {
        Ok(options) if options.json_schema => {
            let printed = schema::print(protocol, format, &mut output);
            exit_code(printed, &mut output)
        }
        Ok(options) => session::run(options, &mut output),
        Err(failure) => session::refuse(protocol, failure, &mut output),
    }
}

/// The completion script for a shell.
fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "reference-agent", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Help and version are answers; all else that clap does not take is a usage error, in the protocol that
/// was asked for.
fn usage_error(error: &clap::Error, args: &[OsString]) -> u8 {
    let (protocol, format) = protocols::requested(args);
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
