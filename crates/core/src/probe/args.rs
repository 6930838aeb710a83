//! Positions of options among the arguments of a call.

use crate::config::{FORMAT_PLACE, place_format};

/// `args` with further ones before the first `--`, else at the end.
pub(super) fn placed_last(args: &[String], further: &[String]) -> Vec<String> {
    let end = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
    [&args[..end], further, &args[end..]].concat()
}

/// `args` without a format and with an option at their end, where the format stands before some of them.
pub(super) fn behind(args: &[String], option: &str) -> Option<Vec<String>> {
    let place = args.iter().position(|arg| arg == FORMAT_PLACE)?;
    let others = || args[place + 1..].iter().take_while(|arg| *arg != "--");
    others().next()?;
    Some(placed_last(&place_format(args, &[]), &[option.to_owned()]))
}
