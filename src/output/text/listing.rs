//! Lists verdicts, one line each, for `--verbose`.

use crate::report::Report;
use agentnative_contract::counted;
use agentnative_core::catalogue::principle_title;
use agentnative_core::model::{CheckResult, OutputFormat, Status};
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

/// Lists the commands of an explored target with what was tried of each.
pub(super) fn commands(page: &mut Page, report: &Report) {
    let Some(coverage) = &report.coverage else { return };
    let name =
        |command: &str| StyledText::plain(if command.is_empty() { &report.target.name } else { command });
    let called = coverage.by_command.iter().map(|command| {
        let formats: Vec<&str> = command.formats.iter().copied().map(OutputFormat::name).collect();
        vec![
            name(&command.command),
            StyledText::plain(command.outcome.words()),
            StyledText::plain(counted(command.calls, "call")),
            StyledText::plain(format!(
                "{} of {}",
                command.options.tried,
                counted(command.options.found, "option")
            )),
            StyledText::dim(formats.join(", ")),
        ]
    });
    let missed = coverage.not_reached.iter().map(|missed| {
        let [calls, options] = [StyledText::plain(""), StyledText::plain("")];
        vec![
            name(&missed.command),
            StyledText::dim("not called"),
            calls,
            options,
            StyledText::plain(&missed.reason),
        ]
    });
    page.heading("Explored commands");
    page.table(0, called.chain(missed));
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
