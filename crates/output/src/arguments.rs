//! Arguments that clap did not take: what to answer, and in which format.

use agentnative_contract::OutputFormat;
use agentnative_contract::error::{Error, Result};
use clap::error::ErrorKind;
use std::ffi::OsString;
use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

/// What clap says when it gives no arguments: the text of the help or of the version. All else is an error
/// of usage: the first paragraph is the message; the tips, else the usage, are the hint.
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
    let flat = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut paragraphs = text.split("\n\n").map(flat).filter(|paragraph| !paragraph.is_empty());
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

/// Reads a whole number within a range: the value parser of an option.
pub fn whole_number<N: Display + FromStr + PartialOrd>(
    range: impl RangeBounds<N> + Clone + Send + Sync + 'static,
) -> impl Fn(&str) -> std::result::Result<N, String> + Clone + Send + Sync + 'static {
    move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| match (range.start_bound(), range.end_bound()) {
            (Bound::Included(least), Bound::Included(most)) => {
                format!("expected a whole number from {least} to {most}")
            }
            (Bound::Included(least), _) => format!("expected a whole number of at least {least}"),
            _ => "expected a whole number".to_owned(),
        })
    }
}

/// The format that arguments ask for which clap did not take: an error is written in it.
pub fn asked_format(args: &[OsString]) -> OutputFormat {
    let asked = |format: OutputFormat| {
        let alias = format!("--{}", format.name());
        asked_values(args, "--output").any(|value| value == format.name())
            || format.is_json() && before_separator(args).any(|word| word == alias)
    };
    OutputFormat::ALL.into_iter().rev().find(|format| asked(*format)).unwrap_or_default()
}

/// The values that such arguments give to a long option, as `--option VALUE` or `--option=VALUE`.
pub fn asked_values<'a>(args: &'a [OsString], option: &'a str) -> impl Iterator<Item = &'a str> {
    let pairs = before_separator(args).zip(before_separator(args).skip(1).map(Some).chain([None]));
    pairs.filter_map(move |(word, next)| match word.strip_prefix(option)? {
        "" => next,
        rest => rest.strip_prefix('='),
    })
}

/// The arguments after the program's name, up to `--`.
fn before_separator(args: &[OsString]) -> impl Iterator<Item = &str> {
    args.iter().skip(1).take_while(|arg| *arg != "--").filter_map(|arg| arg.to_str())
}
