//! Lists verdicts, one line each, for `--verbose`.

use crate::report::Report;
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::{CheckResult, Status};
use agentnative_output::{Page, StyledText, Tone};

/// The verdicts that are listed, with symbol and tone.
const GROUPS: [(Status, &str, Tone); 4] = [
    (Status::Pass, "✓", Tone::Success),
    (Status::NotApplicable, "-", Tone::Dim),
    (Status::Waived, "~", Tone::Dim),
    (Status::Unverified, "?", Tone::Hint),
];

/// Lists all verdicts that are not problems.
pub(super) fn listing(page: &mut Page, report: &Report) {
    let principles = report.by_principle();
    for principle in principles.keys().copied() {
        if principles.len() > 1 {
            page.heading(&format!("Principle {principle}: {}", principle_title(principle)));
        }
        for (status, symbol, tone) in GROUPS {
            let mark = StyledText::new(tone, format!("{symbol} {}", status.name()));
            let listed = |result: &&CheckResult| (result.principle, result.status) == (principle, status);
            page.blank();
            page.table(0, report.results.iter().filter(listed).map(|result| row(&mark, result)));
        }
    }
}

/// Formats a verdict as a row of a table. If the check did not pass, its message replaces its title. The message of a
/// passed check follows the title in parentheses, unless it only counts cases.
fn row(mark: &StyledText, result: &CheckResult) -> Vec<StyledText> {
    let is_count = result.message.starts_with("passed in ") && !result.message.contains(';');
    let text = match result.status {
        _ if result.message.is_empty() => result.title.clone(),
        Status::Pass if is_count => result.title.clone(),
        Status::Pass => format!("{} ({})", result.title, result.message),
        _ => result.message.clone(),
    };
    vec![
        mark.clone(),
        StyledText::plain(result.id.as_str()),
        StyledText::dim(result.level.name()),
        StyledText::plain(&text),
    ]
}
