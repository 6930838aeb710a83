//! The page of one report, and how much of each problem it shows.

use crate::check::Judged;
use crate::output::command;
use crate::report::Report;
use agentnative_core::model::{Level, Toolkit};
use agentnative_output::{Page, Tone};
use std::path::Path;

/// How much of each problem is shown, from most to least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Detail {
    /// An empty line stands between two problems.
    Spaced,
    /// The call, what it printed with a caret at the fault, and what to do.
    Full,
    /// A warning is one line.
    ShortWarnings,
    /// Unverified checks are only counted.
    CountedUndecided,
    /// Warnings are only named.
    NamedWarnings,
    /// One place of each problem, and one kind of fault.
    OnePlace,
    /// What it printed is one line, with what is wrong there behind it if there is room.
    NoCaret,
    /// The call and what it printed, without what to do.
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

/// One report on its page.
pub(super) struct ReportPage<'p> {
    pub(super) page: &'p mut Page,
    pub(super) judged: &'p Judged,
    /// What the target is written with.
    pub(super) toolkit: Toolkit,
    /// The current folder: what commands are relative to.
    pub(super) folder: Option<&'p Path>,
    /// Show everything.
    pub(super) verbose: bool,
    /// Else how much of each problem.
    pub(super) detail: Detail,
}

impl ReportPage<'_> {
    /// A command line of the target, with the program relative to the current folder.
    pub(super) fn command(&self, line: &str) -> String {
        command::relative(&self.judged.report, self.folder, line)
    }

    /// The same in short: a program that is not near is called by its name.
    pub(super) fn short_command(&self, line: &str) -> String {
        command::short(&self.judged.report, self.folder, line)
    }
}

/// How the verdict of a report is to look.
pub(super) fn tone(report: &Report) -> Tone {
    let denied = report.deny.contains(&Level::Should) && report.summary.warn > 0;
    match (report.conformant, report.verified) {
        (true, true) if !denied && !report.results.is_empty() => Tone::Good,
        (true, false) if !report.results.is_empty() => Tone::Open,
        _ => Tone::Bad,
    }
}
