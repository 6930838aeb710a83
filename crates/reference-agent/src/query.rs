//! Where the query comes from.

use super::failure::{Code, Failure, Result};
use std::ffi::{OsStr, OsString};
use std::io::{IsTerminal, Read};

/// Most bytes of a query on standard input.
const MAX: u64 = 1 << 20;

/// The words of the command line, joined by spaces; without any, standard input, read to its end
/// unless it is a terminal. [`Code::InvalidOption`] for one that is not text.
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
        .take(MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::new(Code::RuntimeError, format!("cannot read stdin: {error}")))?;
    if bytes.len() as u64 > MAX {
        let message = format!("the query on stdin is longer than {MAX} bytes");
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
    Failure::new(Code::NoQuery, message).hint("pass it as arguments or on stdin")
}
