//! How a report looks: a file for each renderer. What is written, and how, is `agentnative_output`.

mod json;
mod jsonl;
mod text;

use crate::report::Report;
use agentnative_contract::error::Result;
use agentnative_output::{Output, OutputConfig, OutputFormat};

/// A report and how it is to look.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// What is shown.
    pub report: &'a Report,
    /// The `ok` of the envelope: the command will exit with 0.
    pub ok: bool,
    /// How text looks.
    pub config: OutputConfig,
}

/// One way to show a whole report.
pub struct Renderer {
    /// The name that `--report NAME=FILE` uses.
    pub name: &'static str,
    /// Gives what is to be written, with its last line feed.
    pub render: fn(&View<'_>) -> Result<String>,
}

/// All renderers: each is one file here and one line in this table.
pub const RENDERERS: &[Renderer] = &[
    Renderer { name: "text", render: text::render },
    Renderer { name: "json", render: json::render },
    Renderer { name: "jsonl", render: jsonl::render },
];

/// Writes the end of a `check`: the whole report as text or as one document; in `jsonl` the `result`
/// and `summary` lines, for `start` and `run` were written by [`Output::record`].
///
/// # Errors
/// As [`Output::document`].
pub fn write_report(output: &mut Output, report: &Report, ok: bool) -> Result<()> {
    let config = *output.config();
    match config.format {
        OutputFormat::Text => output.text(&text::render(&View { report, ok, config })?),
        OutputFormat::Json => output.document("check", ok, report),
        OutputFormat::Jsonl => report.result_events().try_for_each(|event| output.record(&event)),
    }
}
