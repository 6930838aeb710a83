//! Draws an excerpt of an output or file, with a caret at the problem.

use agentnative_core::model::{Evidence, Stream};
use agentnative_output::{Page, StyledText, Tone, char_width, expand_tabs};
use strict_json::sanitize;

/// Minimum width, in columns, for the description of a problem next to its caret; with less space, it starts a new
/// line.
const MIN_DETAIL: usize = 24;

/// Draws the line with the problem, and below it a caret and the description of the problem.
pub(super) fn excerpt(page: &mut Page, indent: usize, evidence: &Evidence) {
    let Some(drawn) = ExcerptLine::of(page, indent, evidence) else {
        if !evidence.detail.is_empty() {
            page.flow(indent, 0, &[StyledText::plain(&evidence.detail)], None);
        }
        return;
    };
    let ExcerptLine { shown, caret, name, width } = &drawn;
    let pad: usize = shown.chars().take(*caret).map(char_width).sum();
    drawn.line(page, indent, None);
    let bar = || left_margin("", name);
    let mut first = vec![bar()];
    if evidence.caret.is_some() {
        let caret = StyledText::new(Tone::Error, format!("{}^", " ".repeat(pad)));
        let beside = evidence.detail.chars().map(char_width).sum::<usize>().min(MIN_DETAIL);
        if pad + 2 + beside <= *width {
            first.extend([caret, StyledText::plain(" ")]);
        } else {
            page.line(indent, &[bar(), caret]);
        }
    }
    let hang = StyledText::plain(" ".repeat(if first.len() > 1 { pad + 2 } else { 0 }));
    page.hanging(indent, &first, &[bar(), hang], &evidence.detail);
}

/// Draws the line with the problem, followed by the description of the problem if that fits on the same line.
pub(super) fn line(page: &mut Page, indent: usize, evidence: &Evidence) {
    let Some(drawn) = ExcerptLine::of(page, indent, evidence) else { return };
    let detail = format!("   ^ {}", evidence.detail);
    let text_width = |text: &str| text.chars().map(char_width).sum::<usize>();
    let fits = text_width(&drawn.shown) + text_width(&detail) <= drawn.width;
    drawn.line(page, indent, Some(&*detail).filter(|_| fits && !evidence.detail.is_empty()));
}

/// A line of a stream or file, prepared for drawing.
struct ExcerptLine {
    shown: String,
    /// Position of the caret in `shown`, in characters.
    caret: usize,
    /// Label of the line: `12`, or `stderr 12` for a line of stderr.
    name: String,
    /// Available width, in columns.
    width: usize,
}

impl ExcerptLine {
    fn of(page: &Page, indent: usize, evidence: &Evidence) -> Option<Self> {
        let excerpt = evidence.excerpt.as_ref()?;
        let number = evidence.line.map_or_else(String::new, |line| line.to_string());
        let name = match evidence.stream {
            Some(Stream::Stderr) => format!("stderr {number}").trim_end().to_owned(),
            _ => number,
        };
        let gutter = name.chars().count();
        let width = page.config().width.saturating_sub(indent + gutter + 3).max(MIN_DETAIL);
        let (shown, caret) = window(excerpt, evidence.caret.unwrap_or(0), width);
        Some(Self { shown, caret, name, width })
    }

    fn line(&self, page: &mut Page, indent: usize, after: Option<&str>) {
        let text = expand_tabs(&self.shown);
        let after = StyledText::new(Tone::Error, after.unwrap_or_default());
        page.line(indent, &[left_margin(&self.name, &self.name), StyledText::plain(&text), after]);
    }
}

/// Returns the left margin of a line: `text`, right-aligned to the width of `name`, and a vertical bar.
fn left_margin(text: &str, name: &str) -> StyledText {
    StyledText::new(Tone::Hint, format!("{text:>gutter$} │ ", gutter = name.chars().count()))
}

/// Returns the part of `excerpt` around the character with index `caret` that fits into `width` columns, and the index
/// of that character in the part.
fn window(excerpt: &str, caret: usize, width: usize) -> (String, usize) {
    let byte = excerpt.char_indices().nth(caret).map_or(excerpt.len(), |(at, _)| at);
    let mut max = width;
    loop {
        let (shown, caret) = sanitize::excerpt(excerpt, byte, max);
        let text_width: usize = shown.chars().map(char_width).sum();
        // Characters and tabs may be wider than one column; none takes more than four.
        if text_width <= width || max <= width / 4 {
            return (shown, caret);
        }
        max = (max * width / text_width).min(max - 1);
    }
}
