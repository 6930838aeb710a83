//! Inserts options into the arguments of a call.

use crate::config::{FORMAT_PLACEHOLDER, insert_format_flag};

/// Inserts `options` at the end of `args`, or before the first `--` if there is one.
pub fn insert_last(args: &[String], options: &[String]) -> Vec<String> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    [&args[..end], options, &args[end..]].concat()
}

/// Removes the placeholder of the format flag from `args`, and inserts `option` after the arguments that follow it.
/// Returns `None` if no arguments follow the placeholder.
pub(super) fn insert_behind_format(args: &[String], option: &str) -> Option<Vec<String>> {
    let flag_position = args.iter().position(|arg| arg == FORMAT_PLACEHOLDER)?;
    args[flag_position + 1..].iter().take_while(|arg| *arg != "--").next()?;
    Some(insert_last(&insert_format_flag(args, &[]), &[option.to_owned()]))
}
