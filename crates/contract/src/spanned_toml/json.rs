//! A member of a JSON document as a TOML value with its places, so that configuration in a file such as
//! `package.json` is read as it is in TOML.

use super::Diagnostics;
use std::mem::take;
use strict_json::{Event, JsonType, ReadOptions, Sink, Span, read_document};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

/// Deeper values are refused: they are read and dropped with recursion.
const MAX_DEPTH: usize = 100;

/// The value of the top-level member `name`; none where there is none. If there is such a member, what is
/// wrong with the document and what TOML cannot hold are noted.
pub(super) fn member<'t>(
    text: &'t str,
    name: &str,
    faults: &Diagnostics<'_>,
) -> Option<Spanned<DeValue<'t>>> {
    let mut builder = Builder::new(text, name);
    let options = ReadOptions { max_depth: MAX_DEPTH, ..ReadOptions::default() };
    // Reading from memory does not fail.
    let summary = read_document(text.as_bytes(), &options, &mut builder).unwrap_or_default();
    if !builder.met {
        return None;
    }
    for problem in summary.problems.iter().filter(|problem| problem.kind.rejects()) {
        faults.add(&range(problem.at.offset, problem.at.offset), problem.message.clone());
    }
    for (place, what) in &builder.refused {
        faults.add(place, *what);
    }
    builder.value
}

fn range(start: u64, end: u64) -> super::Span {
    let offset = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    offset(start)..offset(end)
}

/// An open container, with the offset of its bracket; a table with the key that comes next.
enum Open<'t> {
    Table(u64, DeTable<'t>, Spanned<DeString<'t>>),
    Array(u64, DeArray<'t>),
}

/// Builds the value of one top-level member.
struct Builder<'t, 'n> {
    text: &'t str,
    name: &'n str,
    /// How many containers are open around the value that comes next.
    depth: usize,
    /// The member was met.
    met: bool,
    /// The value that comes next is the member's, or in it.
    inside: bool,
    open: Vec<Open<'t>>,
    /// The parts of a long string.
    parts: String,
    value: Option<Spanned<DeValue<'t>>>,
    refused: Vec<(super::Span, &'static str)>,
}

impl<'t, 'n> Builder<'t, 'n> {
    fn new(text: &'t str, name: &'n str) -> Self {
        Self {
            text,
            name,
            depth: 0,
            met: false,
            inside: false,
            open: Vec::new(),
            parts: String::new(),
            value: None,
            refused: Vec::new(),
        }
    }

    fn add(&mut self, place: super::Span, value: DeValue<'t>) {
        let value = Spanned::new(place, value);
        match self.open.last_mut() {
            Some(Open::Table(_, entries, key)) => drop(entries.insert(key.clone(), value)),
            Some(Open::Array(_, elements)) => elements.push(value),
            None => {
                self.value = Some(value);
                self.inside = false;
            }
        }
    }

    /// What has no like in TOML.
    fn refuse(&mut self, place: super::Span, what: &'static str) {
        self.refused.push((place, what));
        self.inside &= !self.open.is_empty();
    }

    fn number(&mut self, place: super::Span) {
        match DeValue::parse(self.text.get(place.clone()).unwrap_or_default()) {
            Ok(value) => self.add(place, value.into_inner()),
            Err(_) => self.refuse(place, "this number cannot be read"),
        }
    }
}

impl Sink for Builder<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Key(_, key) = event
            && self.depth == 1
        {
            self.inside = key == self.name;
            self.met |= self.inside;
            return;
        }
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            _ => {}
        }
        if !self.inside {
            return;
        }
        let place = |span: Span| range(span.start, span.end);
        match event {
            Event::Begin(JsonType::Array, start) => self.open.push(Open::Array(start, DeArray::new())),
            Event::Begin(_, start) => {
                self.open.push(Open::Table(start, DeTable::new(), Spanned::new(0..0, DeString::default())));
            }
            Event::End(end) => match self.open.pop() {
                Some(Open::Table(start, entries, _)) => self.add(range(start, end), DeValue::Table(entries)),
                Some(Open::Array(start, elements)) => self.add(range(start, end), DeValue::Array(elements)),
                None => {}
            },
            Event::Key(span, text) => {
                if let Some(Open::Table(_, _, key)) = self.open.last_mut() {
                    *key = Spanned::new(place(span), text.to_owned().into());
                }
            }
            Event::StringPart(_, text) => self.parts.push_str(text),
            Event::String(span, text) => {
                let text = take(&mut self.parts) + text;
                self.add(place(span), DeValue::String(text.into()));
            }
            Event::Number(span, _) => self.number(place(span)),
            Event::Boolean(span, truth) => self.add(place(span), DeValue::Boolean(truth)),
            Event::Null(span) => self.refuse(place(span), "`null` is no value here; leave the key out"),
        }
    }
}
