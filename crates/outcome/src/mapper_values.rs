//! Reads values of events by the pointers, texts and patterns of a mapper file.

use super::json::{as_f64, as_time, member, only_key};
use super::mapper_file::{Many, Pattern, Pointer, Scalar, Source, Test, Text};
use std::borrow::Cow;
use strict_json::{JsonKind, JsonType, TapeNode};

impl Pointer {
    /// Calls `found` with each value at the pointer that is not null.
    fn visit<'v>(&self, value: TapeNode<'v>, found: &mut dyn FnMut(TapeNode<'v>)) {
        visit(&self.0, value, found);
    }

    /// Returns the first value at the pointer that is not null.
    pub(super) fn value<'v>(&self, event: TapeNode<'v>) -> Option<TapeNode<'v>> {
        let mut first = None;
        self.visit(event, &mut |value| first = first.or(Some(value)));
        first
    }

    /// Returns the values at the pointer that are not null.
    pub(super) fn values<'v>(&self, event: TapeNode<'v>) -> Vec<TapeNode<'v>> {
        let mut values = Vec::new();
        self.visit(event, &mut |value| values.push(value));
        values
    }

    /// Returns the time at the pointer, in milliseconds since 1970. The value is a number or a text in RFC 3339.
    pub(super) fn time(&self, event: TapeNode<'_>) -> Option<f64> {
        as_time(self.value(event)?)
    }
}

fn visit<'v>(keys: &[String], value: TapeNode<'v>, found: &mut dyn FnMut(TapeNode<'v>)) {
    match keys.split_first() {
        None if value.has_type(JsonType::Null) => {}
        None => found(value),
        Some((key, keys)) if key == "*" => {
            let members = value.members().map(|(_, member)| member);
            members.chain(value.elements()).for_each(|value| visit(keys, value, found));
        }
        Some((key, keys)) => {
            member(value, key).into_iter().for_each(|member| visit(keys, member, found));
        }
    }
}

impl Many<Pointer> {
    /// Returns the number at the first pointer with numbers; several numbers are added up.
    pub(super) fn number(&self, event: TapeNode<'_>) -> Option<f64> {
        let sum = |pointer: &Pointer| {
            pointer.values(event).into_iter().filter_map(as_f64).reduce(|sum, number| sum + number)
        };
        self.0.iter().find_map(sum)
    }

    /// Returns the first value, as text if it is one or consists of blocks with texts, else as JSON; `None` if it is
    /// empty.
    pub(super) fn json_text(&self, event: TapeNode<'_>) -> Option<String> {
        let value = self.0.iter().find_map(|pointer| pointer.value(event))?;
        let is_empty = value.has_type(JsonType::Array) && value.count() == 0;
        let json = || (!is_empty).then(|| value.to_value().to_string());
        text(value).map_or_else(json, |text| Some(text.into_owned())).filter(|text| !text.is_empty())
    }

    /// Returns the type of an event: the strings at the pointers, joined with `/`; `(none)` if there is no string.
    pub(super) fn joined(&self, event: TapeNode<'_>) -> String {
        let parts = self.0.iter().filter_map(|pointer| pointer.value(event)?.as_str());
        let kind = parts.collect::<Vec<_>>().join("/");
        if kind.is_empty() { "(none)".to_owned() } else { kind }
    }
}

impl Many<String> {
    /// True if a type is listed, or its beginning as far as a `/` or `.`.
    pub(super) fn contain_type(&self, kind: &str) -> bool {
        let matches = |listed: &String| {
            kind.strip_prefix(listed.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '.']))
        };
        self.0.iter().any(matches)
    }
}

/// Returns a string, a number, or the texts in an array of blocks, joined with newlines; `None` for other values.
fn text(value: TapeNode<'_>) -> Option<Cow<'_, str>> {
    match value.kind() {
        JsonKind::Text(text) => Some(Cow::Borrowed(text)),
        JsonKind::Number(number) => Some(Cow::Owned(number.to_string())),
        JsonKind::Array => {
            let blocks = value.elements();
            let mut texts: Vec<&str> = blocks.filter_map(|block| member(block, "text")?.as_str()).collect();
            let has_texts = !texts.is_empty();
            texts.retain(|text| !text.is_empty());
            has_texts.then(|| Cow::Owned(texts.join("\n")))
        }
        _ => None,
    }
}

impl Text {
    pub(super) fn is_given(&self) -> bool {
        !self.0.is_empty()
    }

    /// Returns the text of the first source that exists and is not empty.
    pub(super) fn read<'v>(&'v self, event: TapeNode<'v>) -> Option<Cow<'v, str>> {
        self.0.iter().find_map(|source| source.read(event)).filter(|text| !text.is_empty())
    }

    pub(super) fn string(&self, event: TapeNode<'_>) -> Option<String> {
        self.read(event).map(Cow::into_owned)
    }
}

impl Source {
    fn read<'v>(&'v self, event: TapeNode<'v>) -> Option<Cow<'v, str>> {
        match self {
            Self::Pointer(pointer) => text(pointer.value(event)?).filter(|text| !text.is_empty()),
            Self::OnlyKey(object) => only_key(object.value(event)?).map(Cow::Borrowed),
            Self::Template { before, value, after } => {
                Some(Cow::Owned(format!("{before}{}{after}", text(value.value(event)?)?)))
            }
            Self::Constant(text) => Some(Cow::Borrowed(text)),
        }
    }
}

impl Pattern {
    /// True if the values at all pointers are as they have to be.
    pub(super) fn matches(&self, event: TapeNode<'_>) -> bool {
        self.0.iter().all(|(pointer, test)| {
            let value = pointer.value(event);
            match test {
                Test::Present(test) => value.is_some() == test.present,
                Test::OneOf(scalars) => {
                    value.is_some_and(|value| scalars.0.iter().any(|scalar| scalar.equals(value)))
                }
            }
        })
    }
}

impl Scalar {
    fn equals(&self, value: TapeNode<'_>) -> bool {
        match self {
            Self::Boolean(expected) => value.as_bool() == Some(*expected),
            Self::Number(expected) => as_f64(value) == Some(*expected),
            Self::String(expected) => value.as_str() == Some(expected),
        }
    }
}
