//! The table of several targets, one line each.

use crate::output::coverage;
use crate::output::view::ReportView;
use crate::report::Report;
use agentnative_contract::counted;
use agentnative_output::{Page, StyledText};

/// Maximum number of targets whose reports are shown; for more targets, only the table is shown.
const MAX_REPORTS: usize = 8;

/// Returns whether the report of each target is shown.
pub(super) fn shows_each(view: &ReportView<'_>) -> bool {
    view.verbose || view.judged.len() <= MAX_REPORTS
}

/// Shows the table of targets, if there are several or if they belong to a check with `--all`.
pub(super) fn table(view: &ReportView<'_>, page: &mut Page) {
    if view.judged.len() < 2 && view.fleet.is_none() {
        return;
    }
    let is_explored = view.judged.iter().any(|judged| judged.report.coverage.is_some());
    page.blank();
    page.table(0, view.judged.iter().map(|judged| row(&judged.report, is_explored)));
    if let Some(fleet) = view.fleet.filter(|fleet| fleet.of > 1) {
        let parts: Vec<String> = fleet.parts.iter().map(|part| format!("{part}/{}", fleet.of)).collect();
        let here = counted(view.judged.len(), "target");
        let word = if parts.len() == 1 { "part" } else { "parts" };
        let text = format!("{word} {}: {here} of {}", parts.join(", "), fleet.targets);
        page.line(0, &[StyledText::dim(text)]);
    }
    if !shows_each(view) {
        page.line(0, &[StyledText::dim("--verbose shows the report of each target")]);
    }
}

/// Returns the row of a target, with the explored commands if `is_explored`.
fn row(report: &Report, is_explored: bool) -> Vec<StyledText> {
    let what = match &report.error {
        Some(error) => error.message.clone(),
        None => report.summary.counts().join(", "),
    };
    let commands = report.coverage.as_ref().map_or_else(String::new, coverage::commands);
    let mut row = vec![
        StyledText::strong(&report.target.name),
        StyledText::new(super::page::tone(report), report.verdict()),
    ];
    row.extend(is_explored.then(|| StyledText::plain(commands)));
    row.push(StyledText::plain(what));
    row
}
