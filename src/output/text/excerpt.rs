//! What a target printed, or a file says, with a caret at the fault.

use agentnative_core::model::{Evidence, Stream};
use agentnative_output::{Cell, Page, Tone, columns, expand_tabs};
use strict_json::sanitize;

/// Narrowest room for a detail beside its caret.
const MIN_DETAIL: usize = 24;

/// Draws the line that the evidence is in, and below it what is wrong there.
pub(super) fn excerpt(page: &mut Page, indent: usize, evidence: &Evidence) {
    let Some(drawn) = Drawn::of(page, indent, evidence) else {
        if !evidence.detail.is_empty() {
            page.flow(indent, 0, &[Cell::plain(&evidence.detail)], None);
        }
        return;
    };
    let Drawn { shown, caret, name, room } = &drawn;
    let pad: usize = shown.chars().take(*caret).map(columns).sum();
    drawn.line(page, indent, None);
    let bar = || bar("", name);
    let mut first = vec![bar()];
    if evidence.caret.is_some() {
        let caret = Cell::new(Tone::Bad, format!("{}^", " ".repeat(pad)));
        let beside = evidence.detail.chars().map(columns).sum::<usize>().min(MIN_DETAIL);
        if pad + 2 + beside <= *room {
            first.extend([caret, Cell::plain(" ")]);
        } else {
            page.line(indent, &[bar(), caret]);
        }
    }
    let hang = Cell::plain(" ".repeat(if first.len() > 1 { pad + 2 } else { 0 }));
    page.hanging(indent, &first, &[bar(), hang], &evidence.detail);
}

/// Draws the line that the evidence is in, and behind it what is wrong there, if there is room.
pub(super) fn line(page: &mut Page, indent: usize, evidence: &Evidence) {
    let Some(drawn) = Drawn::of(page, indent, evidence) else { return };
    let detail = format!("   ^ {}", evidence.detail);
    let wide = |text: &str| text.chars().map(columns).sum::<usize>();
    let fits = wide(&drawn.shown) + wide(&detail) <= drawn.room;
    drawn.line(page, indent, Some(&*detail).filter(|_| fits && !evidence.detail.is_empty()));
}

/// A line of a stream or file as it is drawn.
struct Drawn {
    shown: String,
    /// The place of the fault, in characters of what is shown.
    caret: usize,
    /// Its number, and that of the stream.
    name: String,
    /// How many columns there are for it.
    room: usize,
}

impl Drawn {
    fn of(page: &Page, indent: usize, evidence: &Evidence) -> Option<Self> {
        let excerpt = evidence.excerpt.as_ref()?;
        let number = evidence.line.map_or_else(String::new, |line| line.to_string());
        let name = match evidence.stream {
            Some(Stream::Stderr) => format!("stderr {number}").trim_end().to_owned(),
            _ => number,
        };
        let gutter = name.chars().count();
        let room = page.config().width.saturating_sub(indent + gutter + 3).max(MIN_DETAIL);
        let (shown, caret) = window(excerpt, evidence.caret.unwrap_or(0), room);
        Some(Self { shown, caret, name, room })
    }

    fn line(&self, page: &mut Page, indent: usize, after: Option<&str>) {
        let text = expand_tabs(&self.shown);
        let after = Cell::new(Tone::Bad, after.unwrap_or_default());
        page.line(indent, &[bar(&self.name, &self.name), Cell::plain(&text), after]);
    }
}

/// What stands before a line: `text` in the room of the name.
fn bar(text: &str, name: &str) -> Cell {
    Cell::new(Tone::Open, format!("{text:>gutter$} │ ", gutter = name.chars().count()))
}

/// The part of `excerpt` around character `caret` that fits into `room` columns, and the place of
/// the caret in it.
fn window(excerpt: &str, caret: usize, room: usize) -> (String, usize) {
    let byte = excerpt.char_indices().nth(caret).map_or(excerpt.len(), |(at, _)| at);
    let mut max = room;
    loop {
        let (shown, caret) = sanitize::excerpt(excerpt, byte, max);
        let wide: usize = shown.chars().map(columns).sum();
        // Wide characters and tabs take more columns than one; no character takes more than four.
        if wide <= room || max <= room / 4 {
            return (shown, caret);
        }
        max = (max * room / wide).min(max - 1);
    }
}
