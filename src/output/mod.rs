//! How a report looks: a file for each renderer. What is written, and how, is `agentnative_output`.

mod command;
mod finding;
mod github;
mod gitlab;
#[cfg(feature = "html")]
mod html;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod sarif;
mod text;
mod view;

pub use view::View;

use crate::check::Judged;
use agentnative_contract::error::Result;
use agentnative_output::Output;

/// One way to show reports.
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
    Renderer { name: "sarif", render: sarif::render },
    Renderer { name: "junit", render: junit::render },
    Renderer { name: "github", render: github::render },
    Renderer { name: "gitlab", render: gitlab::render },
    Renderer { name: "markdown", render: markdown::render },
    #[cfg(feature = "html")]
    Renderer { name: "html", render: html::render },
];

/// The report for people, as `view` says.
///
/// # Errors
/// Those of the renderer.
pub fn text_report(view: &View<'_>) -> Result<String> {
    text::render(view)
}

/// Writes the end of a `check`: all of it as text or as one document; in `jsonl` the `result` and
/// `summary` lines, for `start` and `run` were written as they happened; only the targets of merged reports begin here.
pub fn write_report(output: &mut Output, view: View<'_>) -> Result<()> {
    let view = View { config: *output.current_config(), ..view };
    let merged = view.judged.len() > 1 || view.fleet.is_some();
    let events = view.judged.iter().flat_map(|Judged { report, .. }| {
        merged.then(|| report.start_event()).into_iter().chain(report.result_events())
    });
    output.emit_records("check", view.ok, &json::Reports(&view), events, |page| text::show(&view, page))
}
