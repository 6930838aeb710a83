//! Converts errors of clap, and reads options from arguments that clap has rejected.

use agentnative_contract::OutputFormat;
use agentnative_contract::error::{Error, Result};
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// Converts an error of clap. Clap reports `--help` and `--version` as errors: for these, returns the text to print.
/// Any other error becomes a usage error: its first paragraph is the message; its tips, or else the usage line, are the
/// hint.
pub fn clap_error(error: &clap::Error) -> Result<String> {
    let text = error.render().to_string();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(text);
    }
    let no_subcommand = [ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand, ErrorKind::MissingSubcommand]
        .contains(&error.kind());
    if no_subcommand {
        let usage =
            text.lines().find(|line| line.starts_with("Usage: ")).unwrap_or("--help shows what is expected");
        return Err(Error::usage("missing subcommand").hint(usage));
    }
    let join_words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.split("\n\n").map(join_words).filter(|paragraph| !paragraph.is_empty());
    let message = paragraphs.next().unwrap_or_default();
    let rest: Vec<String> = paragraphs.collect();
    let tips: Vec<&str> = rest.iter().filter_map(|paragraph| paragraph.strip_prefix("tip: ")).collect();
    let usage = rest.iter().find(|paragraph| paragraph.starts_with("Usage: "));
    let hint = match (&tips[..], usage) {
        ([], Some(usage)) => usage.clone(),
        ([], None) => "--help shows what is expected".to_owned(),
        (tips, _) => tips.join("; "),
    };
    Err(Error::usage(message.strip_prefix("error: ").unwrap_or(&message)).hint(hint))
}

/// Returns a value parser for clap that accepts an integer within `range`. Its error message names the bounds.
pub fn whole_number<N: Display + FromStr + PartialOrd>(
    range: impl RangeBounds<N> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> std::result::Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| match (range.start_bound(), range.end_bound()) {
            (Bound::Included(min), Bound::Included(max)) => {
                format!("expected a whole number from {min} to {max}")
            }
            (Bound::Included(min), _) => format!("expected a whole number of at least {min}"),
            _ => "expected a whole number".to_owned(),
        })
    }
}

/// Returns the output format that the arguments select with `--output FORMAT`, `--json` or `--jsonl`, although clap has
/// rejected them. The usage error is printed in this format. Without such an option, returns the default format.
pub fn requested_format(args: &[OsString]) -> OutputFormat {
    let selected = |format: OutputFormat| {
        let alias = format!("--{}", format.name());
        option_values(args, "--output").any(|value| value == format.name())
            || format.is_json() && before_separator(args).any(|word| word == alias)
    };
    OutputFormat::ALL.into_iter().rev().find(|format| selected(*format)).unwrap_or_default()
}

/// Returns the values of a long option, such as `--output`, in arguments that clap has rejected. Finds `--output VALUE`
/// and `--output=VALUE`.
pub fn option_values<'a>(args: &'a [OsString], option: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = before_separator(args).zip(before_separator(args).skip(1).map(Some).chain([None]));
    pairs.filter_map(move |(word, next)| match word.strip_prefix(option)? {
        "" => next,
        rest => rest.strip_prefix('='),
    })
}

/// Returns the arguments between the name of the program and `--`. Omits arguments that are not UTF-8.
fn before_separator(args: &[OsString]) -> impl Iterator<Item = &str> {
    args.iter().skip(1).take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str())
}
