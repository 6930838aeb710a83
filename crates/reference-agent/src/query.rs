//! Reads the query from the command line or stdin.

use super::failure::{Code, Failure, Result};
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read};

/// Maximum size of a query on stdin, in bytes.
const MAX_STDIN: u64 = 1 << 20;

/// Returns the query: the words of the command line, joined by spaces. Without words, it is the content of stdin,
/// unless stdin is a terminal.
///
/// # Errors
/// [`Code::NoQuery`] if there is no query, [`Code::InvalidOption`] if stdin is not UTF-8 or too long.
pub fn read(words: &[OsString]) -> Result<String> {
    if !words.is_empty() {
        return match words.join(OsStr::new(" ")).to_string_lossy().trim() {
            "" => Err(no_query("the query is empty")),
            query => Ok(query.to_owned()),
        };
    }
    let stdin = std::io::stdin();
    if stdin.is_terminal() {
        return Err(no_query("the query is missing"));
    }
    let mut bytes = Vec::new();
    stdin
        .lock()
        .take(MAX_STDIN + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Code::RuntimeError, format!("cannot read stdin: {error}")))?;
    if bytes.len() as u64 > MAX_STDIN {
        let message = format!("the query on stdin is longer than {MAX_STDIN} bytes");
        return Err(Failure::new(Code::InvalidOption, message));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::new(Code::InvalidOption, "the query on stdin is not UTF-8"))?;
    match text.trim() {
        "" => Err(no_query("the query is missing, and stdin is empty")),
        text => Ok(text.to_owned()),
    }
}

fn no_query(message: &str) -> Failure {
    Failure::new(Code::NoQuery, message).with_hint("pass it as arguments or on stdin")
}
