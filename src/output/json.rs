//! The renderer of `json`: the report in its envelope, one document.

use super::View;
use crate::check::Judged;
use crate::report::{Envelope, MergedReport};
use agentnative_contract::error::Result;
use agentnative_output::to_string;
use serde::{Serialize, Serializer};

/// The `data` of the document: the report; where there is not just one, all of them with the sum of their
/// summaries.
pub(super) struct Reports<'a>(pub &'a [Judged]);

impl Serialize for Reports<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            [only] => only.report.serialize(serializer),
            several => {
                let reports = several.iter().map(|judged| judged.report.clone());
                MergedReport::new(reports.collect()).serialize(serializer)
            }
        }
    }
}

/// All reports as one document and a line feed.
pub(super) fn render(view: &View<'_>) -> Result<String> {
    let data = Reports(view.judged);
    Ok(to_string(&Envelope { ok: view.ok, command: "check".to_owned(), data })? + "\n")
}
