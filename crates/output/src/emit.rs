//! Writes the result of a command in the selected format.

use super::{Output, Page, StyledText};
use agentnative_contract::OutputFormat;
use agentnative_contract::error::Result;
use serde::Serialize;
use std::io::Write;

/// One record of a command that prints a list: a table row in text, a JSON object in json and jsonl.
pub trait Row: Serialize {
    /// Returns the cells of the table row that text output shows for this record.
    fn cells(&self) -> Vec<StyledText>;
}

impl<O: Write, E: Write> Output<O, E> {
    /// Writes the records of a command that prints a list: in text as a table, in json as one document, in jsonl as one
    /// line per record.
    pub fn rows(&mut self, command: &str, rows: &[impl Row]) -> Result<()> {
        self.emit_records(command, true, rows, rows, |page| page.table(0, rows.iter().map(Row::cells)))
    }

    /// Writes the result of a command: in text, the page that the function `page` fills; in json, a document with
    /// `data`; in jsonl, `data` as one record.
    pub fn emit<T: Serialize + ?Sized>(
        &mut self,
        command: &str,
        ok: bool,
        data: &T,
        page: impl FnOnce(&mut Page),
    ) -> Result<()> {
        self.emit_records(command, ok, data, [data], page)
    }

    /// Writes the result of a command like [`Output::emit`], but jsonl output consists of `records` instead of `data`.
    pub fn emit_records<T: Serialize + ?Sized, R: Serialize>(
        &mut self,
        command: &str,
        ok: bool,
        data: &T,
        records: impl IntoIterator<Item = R>,
        page: impl FnOnce(&mut Page),
    ) -> Result<()> {
        match self.config.format {
            OutputFormat::Json => self.document(command, ok, data),
            OutputFormat::Text | OutputFormat::Jsonl => self.stream(records, page),
        }
    }

    /// Writes a part of the result while a command runs: in text, the page that the function `page` fills; in jsonl,
    /// `records`. Writes nothing in json, because its only document is written at the end.
    pub fn stream<R: Serialize>(
        &mut self,
        records: impl IntoIterator<Item = R>,
        page: impl FnOnce(&mut Page),
    ) -> Result<()> {
        match self.config.format {
            OutputFormat::Json => Ok(()),
            OutputFormat::Jsonl => records.into_iter().try_for_each(|record| self.record(&record)),
            OutputFormat::Text => {
                let mut output = Page::new(self.current_config());
                page(&mut output);
                match (output.verbatim, output.finish()) {
                    (_, text) if text.is_empty() => Ok(()),
                    (true, text) => self.write_unchanged(text.as_bytes()),
                    (false, text) => self.text(&text),
                }
            }
        }
    }
}
