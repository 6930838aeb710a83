//! The renderer of `json`: the report in its envelope, one document.

use super::View;
use crate::report::Envelope;
use agentnative_contract::error::Result;
use agentnative_output::to_string;

/// The whole report as one document and a line feed.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let data = view.report;
    Ok(to_string(&Envelope { ok: view.ok, command: "check".to_owned(), data })? + "\n")
}
