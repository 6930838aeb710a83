//! The renderer of `jsonl` for a finished report.

use super::view::ReportView;
use agentnative_contract::error::Result;

/// Renders `start`, the `result`s and `summary` of each report, one line each. There are no `run` lines: a report
/// does not contain runs; `check` writes them while it makes the runs.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let reports = view.judged.iter().map(|judged| &judged.report);
    let events = reports.flat_map(|report| [report.start_event()].into_iter().chain(report.result_events()));
    events.map(|event| Ok(agentnative_output::to_string(&event)? + "\n")).collect()
}
