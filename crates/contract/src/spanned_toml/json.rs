//! Converts a member of a JSON document to a TOML value with spans, so that configuration in a file such as
//! `package.json` is read like TOML.

use super::Diagnostics;
use std::mem::take;
use strict_json::{Event, JsonType, ReadOptions, Sink, Span, read_document};
use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

/// Maximum nesting depth: values are read and dropped recursively.
const MAX_DEPTH: usize = 100;

/// Returns the value of the top-level member `name` of a JSON document. If there is one, adds the errors of the
/// document, and the values that TOML does not have, to `faults`.
pub(super) fn member<'t>(
    text: &'t str,
    name: &str,
    faults: &Diagnostics<'_>,
) -> Option<Spanned<DeValue<'t>>> {
    let mut builder = Builder::new(text, name);
    let options = ReadOptions { max_depth: MAX_DEPTH, ..ReadOptions::default() };
    // Reading from memory does not fail.
    let summary = read_document(text.as_bytes(), &options, &mut builder).unwrap_or_default();
    if !builder.found {
        return None;
    }
    for problem in summary.problems.iter().filter(|problem| problem.kind.rejects()) {
        faults.add(&range(problem.position.offset, problem.position.offset), problem.message.clone());
    }
    for (span, message) in &builder.unsupported {
        faults.add(span, *message);
    }
    builder.value
}

fn range(start: u64, end: u64) -> super::Span {
    let offset = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
    offset(start)..offset(end)
}

/// An object (as a table) or array whose end has not been read, with the offset of its bracket; a table also has its
/// current key.
enum Container<'t> {
    Table(u64, DeTable<'t>, Spanned<DeString<'t>>),
    Array(u64, DeArray<'t>),
}

/// A sink that builds the value of one top-level member of a JSON document.
struct Builder<'t, 'n> {
    text: &'t str,
    name: &'n str,
    /// Number of objects and arrays in the document that are open around the next value.
    depth: usize,
    /// Whether the document has a top-level member with this name.
    found: bool,
    /// Whether the next value is the value of the member, or inside it.
    in_member: bool,
    open: Vec<Container<'t>>,
    /// The text so far of a long string, which arrives in parts.
    parts: String,
    value: Option<Spanned<DeValue<'t>>>,
    unsupported: Vec<(super::Span, &'static str)>,
}

impl<'t, 'n> Builder<'t, 'n> {
    fn new(text: &'t str, name: &'n str) -> Self {
        Self {
            text,
            name,
            depth: 0,
            found: false,
            in_member: false,
            open: Vec::new(),
            parts: String::new(),
            value: None,
            unsupported: Vec::new(),
        }
    }

    fn add(&mut self, span: super::Span, value: DeValue<'t>) {
        let value = Spanned::new(span, value);
        match self.open.last_mut() {
            Some(Container::Table(_, entries, key)) => drop(entries.insert(key.clone(), value)),
            Some(Container::Array(_, elements)) => elements.push(value),
            None => {
                self.value = Some(value);
                self.in_member = false;
            }
        }
    }

    /// Adds an error for a JSON value that TOML does not have, such as `null`.
    fn reject(&mut self, span: super::Span, message: &'static str) {
        self.unsupported.push((span, message));
        self.in_member &= !self.open.is_empty();
    }

    fn number(&mut self, span: super::Span) {
        match DeValue::parse(self.text.get(span.clone()).unwrap_or_default()) {
            Ok(value) => self.add(span, value.into_inner()),
            Err(_) => self.reject(span, "invalid number"),
        }
    }
}

impl Sink for Builder<'_, '_> {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Key(_, key) = event
            && self.depth == 1
        {
            self.in_member = key == self.name;
            self.found |= self.in_member;
            return;
        }
        match event {
            Event::Begin(..) => self.depth += 1,
            Event::End(_) => self.depth -= 1,
            _ => {}
        }
        if !self.in_member {
            return;
        }
        let to_range = |span: Span| range(span.start, span.end);
        match event {
            Event::Begin(JsonType::Array, start) => self.open.push(Container::Array(start, DeArray::new())),
            Event::Begin(_, start) => {
                self.open.push(Container::Table(
                    start,
                    DeTable::new(),
                    Spanned::new(0..0, DeString::default()),
                ));
            }
            Event::End(end) => match self.open.pop() {
                Some(Container::Table(start, entries, _)) => {
                    self.add(range(start, end), DeValue::Table(entries))
                }
                Some(Container::Array(start, elements)) => {
                    self.add(range(start, end), DeValue::Array(elements))
                }
                None => {}
            },
            Event::Key(span, text) => {
                if let Some(Container::Table(_, _, key)) = self.open.last_mut() {
                    *key = Spanned::new(to_range(span), text.to_owned().into());
                }
            }
            Event::StringPart(_, text) => self.parts.push_str(text),
            Event::String(span, text) => {
                let text = take(&mut self.parts) + text;
                self.add(to_range(span), DeValue::String(text.into()));
            }
            Event::Number(span, _) => self.number(to_range(span)),
            Event::Boolean(span, truth) => self.add(to_range(span), DeValue::Boolean(truth)),
            Event::Null(span) => self.reject(to_range(span), "`null` is not allowed here; remove the key"),
        }
    }
}
