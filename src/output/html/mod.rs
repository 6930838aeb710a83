//! The renderer of `html`: a self-contained page. The template is in `report.html`, its data in `page.rs`.

mod hex;
mod matrix;
mod page;
mod timeline;

use super::view::ReportView;
use agentnative_contract::error::{Error, Result};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context};
use page::HtmlPage;
use strict_json::sanitize;

const TEMPLATE: &str = include_str!("report.html");
const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");
/// SHA-256 digest of the style sheet. The page allows only this style and the script with the next digest; a test
/// verifies both.
const STYLE_DIGEST: &str = include_str!("report.css.sha256");
const SCRIPT_DIGEST: &str = include_str!("report.js.sha256");

/// Renders the page and a line feed.
pub(super) fn render(view: &ReportView<'_>) -> Result<String> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    let mut syntax = SyntaxConfig::builder();
    let syntax = syntax.trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.map_err(render_error)?);
    // Sanitizes all text, then escapes it as HTML.
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => minijinja::escape_formatter(out, state, &Value::from(sanitize::sanitize_text(text))),
        None => minijinja::escape_formatter(out, state, value),
    });
    environment.add_filter("prose", |text: &str| Value::from_safe_string(prose(text)));
    environment
        .add_filter("counted", |number: usize, noun: &str| agentnative_contract::counted(number, noun));
    let rendered = environment.template_from_named_str("report.html", TEMPLATE).and_then(|template| {
        template.render(context! {
            page => Value::from(Serde(HtmlPage::of(view))),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            style_digest => STYLE_DIGEST.trim(),
            script_digest => SCRIPT_DIGEST.trim(),
        })
    });
    rendered.map_err(render_error)
}

fn render_error(error: minijinja::Error) -> Error {
    Error::general(format!("cannot render the HTML report: {error:#}"))
}

/// Converts text to HTML, with code elements for text in backticks.
fn prose(text: &str) -> String {
    let text = sanitize::sanitize_text(text);
    let code = text.matches('`').count() / 2 * 2;
    let mut out = String::new();
    for (nth, part) in text.splitn(code + 1, '`').enumerate() {
        let part = escape_html(part);
        out.push_str(&if nth % 2 == 1 { format!("<code>{part}</code>") } else { part });
    }
    out
}

fn escape_html(text: &str) -> String {
    minijinja::HtmlEscape(text).to_string()
}
