//! Numbers of things in messages.

use std::fmt::Display;

/// A number of things: `counted(1, "run")` is `1 run`, any other number has the plural.
pub fn counted(count: impl Display + PartialEq + From<u8>, what: &str) -> String {
    let ending = if count == 1.into() { "" } else { "s" };
    format!("{count} {what}{ending}")
}
