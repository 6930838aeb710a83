//! The reference agent: a working agent that shows what conforming output looks like.
//!
//! ```text
//! Flags ─▶ Options ─▶ session ── thread ──▶ engine ─▶ provider, tools
//!                        ▲                     │
//!                        └────── Events ◀──────┘
//!                        ├─▶ Ledger (the sum), Scratchpad
//!                        └─▶ Speaker (the contract) ─▶ output
//! ```
//!
//! It shares `output`, `error` and `contract` with the checker, and knows nothing of running or judging.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::disallowed_macros, clippy::disallowed_methods))]

mod attach;
mod clock;
mod engine;
mod event;
mod failure;
mod ledger;
mod model;
mod options;
mod providers;
mod query;
mod schema;
mod scratchpad;
mod session;
mod settings;
mod speak;
mod tools;

use agentnative_output::{ColorChoice, Output, OutputConfig};
use clap::Parser as _;
use clap::error::ErrorKind;
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
    let (contract, format) = form.clone().unwrap_or_else(|_| speak::asked(args));
    let mut output = Output::new(contract.output(flags.output(format)));
    match form.and_then(|_| flags.settle()) {
        Ok(options) if options.json_schema => schema::print(contract, format, &mut output),
        Ok(options) => session::run(options, &mut output),
        Err(failure) => contract.refuse(&failure, &mut output),
    }
}

/// Help and version are answers; all else that clap does not take is a usage error, told as the
/// contract that was asked for tells it.
fn refused(error: &clap::Error, args: &[OsString]) -> u8 {
    let (contract, format) = speak::asked(args);
    let config = OutputConfig::detect(format, ColorChoice::Auto, false);
    let mut output = Output::new(contract.output(config));
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return output.text(&text).map_or_else(|error| error.kind.exit_code(), |()| 0);
    }
    let (message, rest) = text.split_once("\n\n").unwrap_or((&text, ""));
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let message = flat(message);
    let mut failure = Failure::new(Code::InvalidOption, message.strip_prefix("error: ").unwrap_or(&message));
    let hint = flat(rest);
    if !hint.is_empty() {
        failure = failure.hint(hint);
    }
    contract.refuse(&failure, &mut output)
}
