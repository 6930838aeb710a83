//! Inserts options into the arguments of a call.

use crate::config::{FORMAT_PLACEHOLDER, insert_format_flag};

/// Inserts `options` into `args` before the first `--`, else at the end.
pub(super) fn insert_last(args: &[String], options: &[String]) -> Vec<String> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    [&args[..end], options, &args[end..]].concat()
}

/// Inserts `option` after the last of `args` and removes the format placeholder; `None` unless arguments follow the
/// placeholder.
pub(super) fn insert_behind_format(args: &[String], option: &str) -> Option<Vec<String>> {
    let flag_position = args.iter().position(|arg| arg == FORMAT_PLACEHOLDER)?;
    args[flag_position + 1..].iter().take_while(|arg| *arg != "--").next()?;
    Some(insert_last(&insert_format_flag(args, &[]), &[option.to_owned()]))
}
