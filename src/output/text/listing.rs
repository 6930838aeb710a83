//! Verdicts in one line each, for `--verbose`.

use crate::report::Report;
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::{CheckResult, Status};
use agentnative_output::{Cell, Page, Tone};

/// The verdicts that are listed: symbol, tone.
const GROUPS: [(Status, &str, Tone); 4] = [
    (Status::Pass, "✓", Tone::Good),
    (Status::NotApplicable, "-", Tone::Dim),
    (Status::Waived, "~", Tone::Dim),
    (Status::Unverified, "?", Tone::Open),
];

/// Lists the verdicts that are no problem.
pub(super) fn listing(page: &mut Page, report: &Report) {
    let principles = report.by_principle();
    for principle in principles.keys().copied() {
        if principles.len() > 1 {
            page.heading(&format!("Principle {principle}: {}", principle_title(principle)));
        }
        for (status, symbol, tone) in GROUPS {
            let mark = Cell::new(tone, format!("{symbol} {}", status.name()));
            let listed = |result: &&CheckResult| (result.principle, result.status) == (principle, status);
            page.blank();
            page.table(0, report.results.iter().filter(listed).map(|result| row(&mark, result)));
        }
    }
}

/// A verdict in one line. Why a check did not decide is worth more than its title, and what a pass rests on
/// stands beside it, unless that is a count of cases.
fn row(mark: &Cell, result: &CheckResult) -> Vec<Cell> {
    let is_count = result.message.starts_with("held in ") && !result.message.contains(';');
    let text = match result.status {
        _ if result.message.is_empty() => result.title.clone(),
        Status::Pass if is_count => result.title.clone(),
        Status::Pass => format!("{} ({})", result.title, result.message),
        _ => result.message.clone(),
    };
    vec![mark.clone(), Cell::plain(result.id.as_str()), Cell::dim(result.level.name()), Cell::plain(&text)]
}
