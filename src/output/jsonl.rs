//! The renderer of `jsonl` for a report that is already whole.

use super::View;
use agentnative_contract::error::Result;

/// `start`, the `result`s and `summary`, one line each. There are no `run` lines: a report does not
/// hold them; a live `check` writes them as they happen.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let mut out = String::new();
    for event in [view.report.start_event()].into_iter().chain(view.report.result_events()) {
        out.push_str(&agentnative_output::to_string(&event)?);
        out.push('\n');
    }
    Ok(out)
}
