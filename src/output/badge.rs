//! The renderers of `badge`: a picture for a README as SVG, or the data of such a picture for shields.io.

use super::view::ReportView;
use crate::report::Report;
use agentnative_contract::counted;
use agentnative_contract::error::{Error, Result};
use serde_json::json;

/// Width of a character and of the space beside a text, in pixels.
const CHAR_WIDTH: usize = 7;
const PADDING: usize = 6;

/// The texts of a badge, which contain no text of a target, and the colour of the message.
struct Badge {
    label: String,
    message: String,
    color: Color,
}

#[derive(Clone, Copy)]
enum Color {
    Green,
    Blue,
    Red,
    Grey,
}

impl Color {
    /// Returns the name that shields.io knows.
    const fn name(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Blue => "blue",
            Self::Red => "red",
            Self::Grey => "lightgrey",
        }
    }

    /// Returns the colour of the background. The contrast to white text is at least 4.5 (WCAG 2, level AA).
    const fn background(self) -> &'static str {
        match self {
            Self::Green => "#17692f",
            Self::Blue => "#0b57c4",
            Self::Red => "#b3261e",
            Self::Grey => "#57606a",
        }
    }
}

impl Badge {
    fn of(view: &ReportView<'_>) -> Self {
        let reports: Vec<&Report> = view.judged.iter().map(|judged| &judged.report).collect();
        match reports[..] {
            [] => Self { label: "agent-native".into(), message: "not checked".into(), color: Color::Grey },
            [report] => Self {
                label: label(report),
                message: match number(report) {
                    Some(number) => format!("{} · {number}", report.verdict()),
                    None => report.verdict().to_owned(),
                },
                color: color(report),
            },
            [first, ..] => {
                let conformant = reports.iter().filter(|report| report.conformant).count();
                let worst = reports.iter().map(|report| color(report)).max_by_key(|color| *color as u8);
                Self {
                    label: label(first),
                    message: format!("{conformant} of {} conformant", counted(reports.len(), "target")),
                    color: worst.unwrap_or(Color::Grey),
                }
            }
        }
    }
}

fn label(report: &Report) -> String {
    format!("agent-native {}", report.edition.name())
}

/// Returns the number that supports the verdict, in words.
fn number(report: &Report) -> Option<String> {
    let summary = report.summary;
    match (report.conformant, report.verified) {
        _ if report.error.is_some() || report.results.is_empty() => None,
        (false, _) => Some(format!("{} failed", summary.fail)),
        (true, true) => Some(format!("{} verified", summary.pass)),
        (true, false) => Some(format!("{} MUST unverified", report.open_musts().count())),
    }
}

fn color(report: &Report) -> Color {
    match (report.conformant, report.verified) {
        _ if report.error.is_some() || report.results.is_empty() => Color::Grey,
        (false, _) => Color::Red,
        (true, true) => Color::Green,
        (true, false) => Color::Blue,
    }
}

/// Renders the badge as SVG, with a line feed.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let Badge { label, message, color } = Badge::of(view);
    let width = |text: &str| text.chars().count() * CHAR_WIDTH;
    let (left, right) = (width(&label) + 2 * PADDING, width(&message) + 2 * PADDING);
    let text = |text: &str, start: usize| {
        let (x, length) = (start + PADDING, width(text));
        format!("<text x=\"{x}\" y=\"14\" textLength=\"{length}\">{text}</text>")
    };
    let name = format!("{label}: {message}");
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{total}\" height=\"20\" role=\"img\" aria-label=\"{name}\">\
         <title>{name}</title>\
         <clipPath id=\"corners\"><rect width=\"{total}\" height=\"20\" rx=\"3\"/></clipPath>\
         <g clip-path=\"url(#corners)\"><rect width=\"{left}\" height=\"20\" fill=\"#3b4048\"/>\
         <rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{}\"/></g>\
         <g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\">{}{}</g></svg>\n",
        color.background(),
        text(&label, 0),
        text(&message, left),
        total = left + right,
    ))
}

/// Renders the badge as the JSON of an endpoint of shields.io, with a line feed.
pub(super) fn render_endpoint(view: &ReportView<'_>) -> Result<String> {
    let Badge { label, message, color } = Badge::of(view);
    let endpoint = json!({ "schemaVersion": 1, "label": label, "message": message, "color": color.name() });
    let text = serde_json::to_string(&endpoint);
    Ok(text.map_err(|error| Error::general(format!("cannot write the badge: {error}")))? + "\n")
}
