//! The page of one report, and the levels of detail.

use crate::check::Judged;
use crate::output::command;
use crate::report::Report;
use agentnative_core::model::{Level, Toolkit};
use agentnative_output::{Page, Tone};
use std::path::Path;

/// How much of each problem a report shows. Each level shows less than the level before it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    /// Like `Full`, with an empty line between problems.
    Spaced,
    /// The call, its output with a caret at the problem, and the fix.
    Full,
    /// Like `Full`, but each warning takes only one line.
    ShortWarnings,
    /// Like `ShortWarnings`, but unverified checks are only counted.
    CountedUndecided,
    /// Like `CountedUndecided`, but warnings are listed by ID only.
    NamedWarnings,
    /// Like `NamedWarnings`, but with only one place of each problem, and one kind of problem per check.
    OnePlace,
    /// Like `OnePlace`, but the output takes one line, followed by the description of the problem if that fits.
    NoCaret,
    /// Like `NoCaret`, but without the fix: only the call and its output remain.
    Evidence,
}

impl Detail {
    pub(super) const SHORTER: [Self; 7] = [
        Self::Full,
        Self::ShortWarnings,
        Self::CountedUndecided,
        Self::NamedWarnings,
        Self::OnePlace,
        Self::NoCaret,
        Self::Evidence,
    ];
}

/// A report with the page that it is rendered on.
pub(super) struct ReportPage<'p> {
    pub(super) page: &'p mut Page,
    pub(super) judged: &'p Judged,
    /// The language and argument parser of the target.
    pub(super) toolkit: Toolkit,
    /// The current folder; commands are relative to it.
    pub(super) folder: Option<&'p Path>,
    /// Whether everything is shown, regardless of `detail`.
    pub(super) verbose: bool,
    /// How much of each problem is shown.
    pub(super) detail: Detail,
}

impl ReportPage<'_> {
    /// Formats a command line, with the program relative to the current folder.
    pub(super) fn command(&self, line: &str) -> String {
        command::relative_command_line(&self.judged.report, self.folder, line)
    }

    /// Formats a short command line; see [`command::short`].
    pub(super) fn short_command(&self, line: &str) -> String {
        command::short_command_line(&self.judged.report, self.folder, line)
    }
}

/// Returns the tone of the overall verdict.
pub(super) fn tone(report: &Report) -> Tone {
    let denied = report.deny.contains(&Level::Should) && report.summary.warn > 0;
    match (report.conformant, report.verified) {
        (true, true) if !denied && !report.results.is_empty() => Tone::Success,
        (true, false) if !report.results.is_empty() => Tone::Hint,
        _ => Tone::Error,
    }
}
