//! What a target printed, or a file says, with a caret at the fault.

use crate::model::{Evidence, Stream};
use agentnative_output::{Cell, Page, Tone, columns, expand_tabs};
use strict_json::sanitize;

/// Narrowest room for a detail beside its caret.
const MIN_DETAIL: usize = 24;

/// Draws the line that the evidence is in, and below it what is wrong there.
pub(super) fn excerpt(page: &mut Page, indent: usize, evidence: &Evidence) {
    let Some(excerpt) = &evidence.excerpt else {
        if !evidence.detail.is_empty() {
            page.flow(indent, 0, &[Cell::from(evidence.detail.as_str())], None);
        }
        return;
    };
    let number = evidence.line.map_or_else(String::new, |line| line.to_string());
    let name = match evidence.stream {
        Some(Stream::Stderr) => format!("stderr {number}"),
        _ => number,
    };
    let gutter = name.trim_end().chars().count();
    let bar = |text: &str| Cell::new(Tone::Open, format!("{text:>gutter$} │ "));
    let room = page.config().width.saturating_sub(indent + gutter + 3).max(MIN_DETAIL);
    let (shown, caret) = window(excerpt, evidence.caret.unwrap_or(0), room);
    let pad: usize = shown.chars().take(caret).map(columns).sum();
    page.line(indent, &[bar(name.trim_end()), Cell::from(expand_tabs(&shown).as_str())]);
    let mut first = vec![bar("")];
    if evidence.caret.is_some() {
        let caret = Cell::new(Tone::Bad, format!("{}^", " ".repeat(pad)));
        let beside = evidence.detail.chars().map(columns).sum::<usize>().min(MIN_DETAIL);
        if pad + 2 + beside <= room {
            first.extend([caret, Cell::from(" ")]);
        } else {
            page.line(indent, &[bar(""), caret]);
        }
    }
    let hang = Cell::from(" ".repeat(if first.len() > 1 { pad + 2 } else { 0 }).as_str());
    page.hanging(indent, &first, &[bar(""), hang], &evidence.detail);
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
