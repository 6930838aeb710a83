//! The coverage of an exploration in words, and the notes of a report.

use crate::report::Report;
use agentnative_contract::counted;
use agentnative_core::model::ExplorationCoverage;

/// Returns what the exploration found and tried, in one line.
pub(super) fn summary(coverage: &ExplorationCoverage) -> String {
    let ExplorationCoverage { options, calls, .. } = coverage;
    let outcomes = [
        (calls.succeeded, "succeeded"),
        (calls.invalid, "invalid"),
        (calls.refused, "refused"),
        (calls.not_reachable, "not reachable"),
        (calls.timed_out, "timed out"),
    ];
    let outcomes = outcomes.iter().filter(|(count, _)| *count > 0);
    let outcomes: Vec<String> = outcomes.map(|(count, outcome)| format!("{count} {outcome}")).collect();
    let outcomes = if outcomes.is_empty() { String::new() } else { format!(" ({})", outcomes.join(", ")) };
    format!(
        "{}, {} of {}, {}{outcomes}",
        commands(coverage),
        options.tried,
        counted(options.found, "option"),
        counted(calls.made, "call"),
    )
}

/// Returns how many commands were called, such as `2 of 3 commands`.
pub(super) fn commands(coverage: &ExplorationCoverage) -> String {
    format!("{} of {}", coverage.commands.called, counted(coverage.commands.found, "command"))
}

/// Returns the notes of a report, those on its exploration first.
pub(super) fn notes(report: &Report) -> impl Iterator<Item = String> + '_ {
    let coverage = report.coverage.iter();
    let explored = coverage.flat_map(|coverage| {
        let incomplete =
            coverage.incomplete.iter().map(|why| format!("the exploration is incomplete: {why}"));
        incomplete.chain(coverage.notes.iter().cloned())
    });
    explored.chain(report.notes.iter().cloned())
}
