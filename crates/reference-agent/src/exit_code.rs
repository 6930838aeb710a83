//! The exit code of a command that writes to stdout.

use agentnative_contract::error::Error;
use agentnative_output::Output;

/// Returns the exit code of a result: the code in `Ok`, or the code of the error, which is also printed to stderr.
pub fn exit_code(result: Result<u8, Error>, output: &mut Output) -> u8 {
    result.unwrap_or_else(|error| {
        output.error(&error);
        error.kind.exit_code()
    })
}
