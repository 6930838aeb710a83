//! The renderer of `json`: the report in its envelope, one document.

use super::view::ReportView;
use crate::report::{Envelope, MergedReport};
use agentnative_contract::error::Result;
use agentnative_output::to_string;
use serde::{Serialize, Serializer};

/// The `data` of the document: one report, or several with the sum of their summaries.
pub(super) struct ReportsData<'v, 'a>(pub &'v ReportView<'a>);

impl Serialize for ReportsData<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match (self.0.judged, self.0.fleet) {
            ([only], None) => only.report.serialize(serializer),
            (several, fleet) => {
                let reports = several.iter().map(|judged| judged.report.clone()).collect();
                MergedReport { fleet: fleet.cloned(), ..MergedReport::new(reports) }.serialize(serializer)
            }
        }
    }
}

/// Renders all reports as one document and a line feed.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let data = ReportsData(view);
    Ok(to_string(&Envelope { ok: view.ok, command: "check".to_owned(), data })? + "\n")
}
