//! The reference agent: a working agent whose output conforms to the contracts of agentnative.
//!
//! ```text
//! Options ─▶ session ── thread ──▶ engine ─▶ provider, tools
//!               ▲                     │
//!               └────── Events ◀──────┘
//!               ├─▶ RunSummary, Scratchpad
//!               └─▶ Protocol ─▶ output
//! ```
//!
//! The agent shares the crates for output and contracts with the checker. It contains no code that runs or judges
//! targets.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod api_key;
mod attach;
mod clock;
mod config_file;
mod engine;
mod event;
mod exit_code;
mod failure;
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

/// Returns the definition of the command line, for generators of manual pages and shell completions.
pub fn command() -> clap::Command {
    Options::command_line()
}

/// Runs the agent and returns its exit code. The first element of `args` is the name of the program. If the environment
/// contains an API key, the process first executes itself again without the key.
pub fn main(args: &[OsString]) -> u8 {
    agentnative_output::close_stdout_on_exec();
    // Root can read the environment of every process; other users cannot read a process that is not dumpable.
    api_key::remove_from_environment();
    agentnative_helper::set_non_dumpable();
    let flags = match Options::parse_flags(args) {
        Ok(flags) => flags,
        Err(error) => return usage_error(&error, args),
    };
    if let Some(shell) = flags.completions {
        let mut output = Output::new(flags.output_config());
        let printed = output.text(&completions(shell)).map(|()| 0);
        return exit_code(printed, &mut output);
    }
    let (protocol, format) = (flags.protocol, flags.format());
    let mut output = Output::new(flags.output_config());
    if let Some(args) = &flags.serve {
        return serve::run(args, &mut output);
    }
    match flags.resolve(args) {
        Ok(options) if options.json_schema => {
            let printed = schema::print(protocol, format, &mut output);
            exit_code(printed, &mut output)
        }
        Ok(options) => session::run(options, &mut output),
        Err(failure) => session::report_startup_failure(protocol, failure, &mut output),
    }
}

/// Returns the script that completes the agent's command line in a shell.
fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command(), "reference-agent", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Prints the text for `--help` and `--version`, or reports invalid arguments in the requested output protocol. Returns
/// the exit code.
fn usage_error(error: &clap::Error, args: &[OsString]) -> u8 {
    let (protocol, format) = protocols::requested(args);
    let config = OutputConfig::from_environment(format, ColorChoice::Auto, false);
    let mut output = Output::new(protocol.output_config(config));
    match clap_error(error) {
        Ok(text) => output.text(&text).map_or_else(|error| error.kind.exit_code(), |()| 0),
        Err(error) => {
            let failure = Failure::new(Code::InvalidOption, error.message);
            session::report_startup_failure(protocol, Failure { hint: error.hint, ..failure }, &mut output)
        }
    }
}
