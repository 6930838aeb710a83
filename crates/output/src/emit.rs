//! Writes the result of a command in the selected format.

use super::{Output, Page, StyledText};
use agentnative_contract::OutputFormat;
use agentnative_contract::error::Result;
use serde::Serialize;
use std::io::Write;

/// A record of a command that lists such records.
pub trait Row: Serialize {
    /// Returns its cells in the table of text.
    fn cells(&self) -> Vec<StyledText>;
}

impl<O: Write, E: Write> Output<O, E> {
    /// Writes the rows of a command: a table of text, the document of json, or a record of jsonl for each.
    pub fn rows(&mut self, command: &str, rows: &[impl Row]) -> Result<()> {
        self.emit_records(command, true, rows, rows, |page| page.table(0, rows.iter().map(Row::cells)))
    }

    /// Writes the result of a command: text from `page`, one JSON document, or one record of JSON Lines.
    pub fn emit<T: Serialize + ?Sized>(
        &mut self,
        command: &str,
        ok: bool,
        data: &T,
        page: impl FnOnce(&mut Page),
    ) -> Result<()> {
        self.emit_records(command, ok, data, [data], page)
    }

    /// Writes the result of a command like [`Output::emit`], with the given records for JSON Lines.
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

    /// Writes a part of the result of a running command, as text or records. Writes nothing in the format json, which
    /// has one document at the end.
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
