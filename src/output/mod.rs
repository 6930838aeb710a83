//! The renderers of reports, one per file. Writing to stdout and stderr is in `agentnative_output`.

mod badge;
mod command;
mod coverage;
mod github;
mod gitlab;
#[cfg(feature = "html")]
mod html;
mod json;
mod jsonl;
mod junit;
mod markdown;
mod problem;
mod root_cause;
mod sarif;
mod text;
mod view;

pub use view::ReportView;

use crate::check::Judged;
use agentnative_contract::error::Result;
use agentnative_output::Output;
use std::path::Path;

/// A named report format.
pub struct Renderer {
    /// The name that `--report NAME=FILE` uses.
    pub name: &'static str,
    /// Renders the reports, including the final line feed.
    pub render: fn(&ReportView<'_>) -> Result<String>,
}

/// All renderers; each has a file in this module and a line in this table.
pub const RENDERERS: &[Renderer] = &[
    Renderer { name: "text", render: text::render },
    Renderer { name: "json", render: json::render },
    Renderer { name: "jsonl", render: jsonl::render },
    Renderer { name: "sarif", render: sarif::render },
    Renderer { name: "junit", render: junit::render },
    Renderer { name: "github", render: github::render },
    Renderer { name: "gitlab", render: gitlab::render },
    Renderer { name: "markdown", render: markdown::render },
    Renderer { name: "badge", render: badge::render },
    #[cfg(feature = "html")]
    Renderer { name: "html", render: html::render },
];

/// The renderer of badges in files whose name ends with `.json`.
const BADGE_ENDPOINT: Renderer = Renderer { name: "badge", render: badge::render_endpoint };

/// Returns the renderer of this name for a file; `None` if the name is unknown.
pub fn renderer(name: &str, file: &Path) -> Option<&'static Renderer> {
    let renderer = RENDERERS.iter().find(|renderer| renderer.name == name)?;
    let is_endpoint = name == BADGE_ENDPOINT.name && file.extension().is_some_and(|end| end == "json");
    Some(if is_endpoint { &BADGE_ENDPOINT } else { renderer })
}

/// Renders the text report.
///
/// # Errors
/// The errors of the renderer.
pub fn text_report(view: &ReportView<'_>) -> Result<String> {
    text::render(view)
}

/// Writes the result of a `check`: the whole report as text or one document; in `jsonl` the `result` and `summary`
/// lines, since `start` and `run` were written before. Only merged reports also write their `start` lines here.
pub fn write_check_result(output: &mut Output, view: ReportView<'_>) -> Result<()> {
    let view = ReportView { config: *output.current_config(), ..view };
    let merged = view.judged.len() > 1 || view.fleet.is_some();
    let events = view.judged.iter().flat_map(|Judged { report, .. }| {
        merged.then(|| report.start_event()).into_iter().chain(report.result_events())
    });
    output.emit_records("check", view.ok, &json::ReportsData(&view), events, |page| text::show(&view, page))
}
