//! The exit code of a command that writes to stdout.

use agentnative_contract::error::Error;
use agentnative_output::Output;

/// The exit code of what was written; an error that it ended with goes to standard error.
pub fn exit_code(written: Result<u8, Error>, output: &mut Output) -> u8 {
    written.unwrap_or_else(|error| {
        output.error(&error);
        error.kind.exit_code()
    })
}
