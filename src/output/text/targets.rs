//! What several targets came to, a line each.

use crate::output::view::View;
use crate::report::Report;
use agentnative_contract::counted;
use agentnative_output::{Cell, Page};

/// The report of each of so many targets is shown; of more, the table alone.
const MOST_REPORTS: usize = 8;

/// Whether the report of each target is shown as well.
pub(super) fn shows_each(view: &View<'_>) -> bool {
    view.verbose || view.judged.len() <= MOST_REPORTS
}

/// The table of all targets, where they are several or a part of several.
pub(super) fn table(view: &View<'_>, page: &mut Page) {
    if view.judged.len() < 2 && view.fleet.is_none() {
        return;
    }
    page.blank();
    page.table(0, view.judged.iter().map(|judged| row(&judged.report)));
    if let Some(fleet) = view.fleet.filter(|fleet| fleet.of > 1) {
        let parts: Vec<String> = fleet.parts.iter().map(|part| format!("{part}/{}", fleet.of)).collect();
        let here = counted(view.judged.len(), "target");
        let word = if parts.len() == 1 { "part" } else { "parts" };
        let text = format!("{word} {}: {here} of {}", parts.join(", "), fleet.targets);
        page.line(0, &[Cell::dim(text)]);
    }
    if !shows_each(view) {
        page.line(0, &[Cell::dim("--verbose shows the report of each target")]);
    }
}

fn row(report: &Report) -> Vec<Cell> {
    let what = match &report.error {
        Some(error) => error.message.clone(),
        None => report.summary.counts().join(", "),
    };
    vec![
        Cell::strong(&report.target.name),
        Cell::new(super::page::tone(report), report.verdict()),
        Cell::plain(what),
    ]
}
