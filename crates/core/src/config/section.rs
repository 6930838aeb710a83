//! A table of the file, validated by the reference.

use super::reference::{Form, Key, Type, children, keys_of};
use agentnative_contract::spanned_toml::{Span, Table, Value};
use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use jsonschema::paths::LocationSegment;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use std::ops::Deref;
use std::time::Duration;
use toml::de::DeValue;

/// A table of the file: its valid values, and the tables in it.
pub(super) struct Section<'a> {
    table: Table<'a>,
    /// The valid values by key. A table in which something is wrong is not among them.
    values: Map<String, Json>,
    /// The tables in it that the reference has keys for, in the order of the file.
    sections: Vec<(&'static str, Self)>,
}

impl<'a> Deref for Section<'a> {
    type Target = Table<'a>;

    fn deref(&self) -> &Table<'a> {
        &self.table
    }
}

impl<'a> Section<'a> {
    /// Validates a table as that at `path` of the reference, with the tables in it, and notes every fault. The tables
    /// of targets are left out: [`super::target`] tells which they are.
    pub(super) fn new(table: Table<'a>, path: &str) -> Self {
        table.allow_with(&keys_of(path), |name| belongs_elsewhere(name, path));
        let mut section = Self { table, values: Map::new(), sections: Vec::new() };
        children(path).filter(|key| key.path != "target").for_each(|key| section.read(key));
        section
    }

    fn read(&mut self, key: &'static Key) {
        let Some(value) = self.table.get(key.name()) else {
            if key.required {
                self.table.require(key.name(), &key.expected());
            }
            return;
        };
        let title =
            if key.parent().is_none() { key.header().to_owned() } else { format!("`{}`", key.name()) };
        match &key.form {
            Form::Tables => {
                for element in value.elements(&key.expected()).unwrap_or_default() {
                    if let Some(table) = element.table(&title, &key.expected()) {
                        self.sections.push((key.name(), Self::new(table, &key.path)));
                    }
                }
            }
            Form::Value(name) if !value.inner.is_table() || children(&key.path).next().is_none() => {
                if let Some(json) = validated(key, Type::named(name), &value) {
                    self.values.insert(key.name().to_owned(), normalised(name, json));
                }
            }
            Form::Table | Form::Value(_) => {
                let faults = value.faults.count();
                let Some(table) = value.table(&title, &key.expected()) else { return };
                let section = Self::new(table, &key.path);
                if value.faults.count() == faults {
                    self.values.insert(key.name().to_owned(), section.values.clone().into());
                }
                self.sections.push((key.name(), section));
            }
        }
    }

    /// Returns the value of `key` in the file, if it is valid.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.values.get(key).and_then(|_| self.table.get(key))
    }

    /// Returns the valid value of `key`, if it is of this type.
    pub(super) fn value<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.values.get(key)?.clone()).ok()
    }

    /// Returns the value of `key`, if it is valid, and leaves it out of [`Self::applied_to`].
    pub(super) fn take(&mut self, key: &str) -> Option<Json> {
        self.values.remove(key)
    }

    /// Sets the value of `key` for [`Self::applied_to`].
    pub(super) fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.values.insert(key.to_owned(), value.into());
    }

    /// Returns whether `key` is in the file, valid or not.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.entries.contains_key(key)
    }

    /// Returns where the value of `key` is, if it is in the file, valid or not.
    pub(super) fn span_of(&self, key: &str) -> Option<Span> {
        self.table.get(key).map(|value| value.span)
    }

    /// Returns the table under `key`.
    pub(super) fn section(&self, key: &str) -> Option<&Self> {
        self.sections.iter().find(|(name, _)| *name == key).map(|(_, section)| section)
    }

    /// Takes the tables under `key`.
    pub(super) fn take_sections(&mut self, key: &str) -> Vec<Self> {
        self.sections.extract_if(.., |(name, _)| *name == key).map(|(_, section)| section).collect()
    }

    /// Returns `base` with the valid values of this table in their places.
    pub(super) fn applied_to<T: Serialize + DeserializeOwned>(&self, base: T) -> T {
        let merged = serde_json::to_value(&base).and_then(|mut merged| {
            merge(&mut merged, &Json::Object(self.values.clone()));
            serde_json::from_value(merged)
        });
        merged.unwrap_or_else(|error| {
            self.table.faults.add(&self.table.span, error.to_string());
            base
        })
    }
}

/// Sets the members of `from` in `into`, and in the objects in it.
fn merge(into: &mut Json, from: &Json) {
    match (into, from) {
        (Json::Object(into), Json::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.as_str()).or_insert(Json::Null), value);
            }
        }
        (into, from) => into.clone_from(from),
    }
}

/// Returns where a key belongs that stands in the table at `path`: in the other of [target] and [[probe]].
fn belongs_elsewhere(name: &str, path: &str) -> Option<String> {
    let (other, title) = match path {
        "probe" => ("target", "[target]"),
        "target" => ("probe", "[[probe]]"),
        _ => return None,
    };
    keys_of(other).contains(&name).then(|| format!("`{name}` is a key of {title}"))
}

/// Returns the value of a key as JSON if it is one of its type; else notes what is wrong where it is.
fn validated(key: &Key, kind: &'static Type, value: &Value<'_>) -> Option<Json> {
    let json = match value.inner {
        DeValue::Datetime(date) if kind.is_date() => date.to_string().into(),
        _ => value.to_json(),
    };
    let is_valid = {
        let errors = kind.errors(&json);
        errors.iter().for_each(|error| report(error, key, kind, value));
        errors.is_empty()
    };
    is_valid.then_some(json)
}

/// Notes an error of the value of a key where it is, and what was expected there.
fn report(error: &ValidationError<'_>, key: &Key, kind: &'static Type, value: &Value<'_>) {
    let depth = |error: &ValidationError<'_>| error.instance_path().iter().count();
    match error.kind() {
        // The alternative that the value is, but for something in it.
        ValidationErrorKind::AnyOf { context } => {
            let is_inside = |inner: &ValidationError<'_>| depth(inner) > depth(error);
            if let Some(errors) = context.iter().find(|errors| errors.iter().all(is_inside)) {
                return errors.iter().for_each(|error| report(error, key, kind, value));
            }
        }
        ValidationErrorKind::PropertyNames { error: inner } => {
            let name = inner.instance().as_str().unwrap_or_default();
            let key_of = |table: &toml::de::DeTable<'_>| Some(table.get_key_value(name)?.0.span());
            let span = value.inner.as_table().and_then(key_of).unwrap_or_else(|| value.span.clone());
            let expected = kind.expected(inner);
            return value
                .faults
                .add(&span, format!("{name:?} is no key of {}; expected {expected}", key.name()));
        }
        _ => {}
    }
    let place = error.instance_path().iter().fold(value.clone(), |value, part| match part {
        LocationSegment::Property(name) => value.child(&name),
        LocationSegment::Index(index) => value.child(&index.to_string()),
    });
    let expected = if depth(error) == 0 { key.expected() } else { kind.expected(error) };
    place.unexpected::<()>(&expected);
}

/// Returns a value as the settings have it: seconds as a duration, a size in bytes.
fn normalised(kind: &str, value: Json) -> Json {
    match (kind, &value) {
        ("seconds", Json::Number(seconds)) => {
            let seconds = seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            serde_json::to_value(seconds.map(|time| time.max(Duration::from_nanos(1)))).unwrap_or(value)
        }
        ("size", Json::String(size)) => bytes(size).into(),
        _ => value,
    }
}

/// Returns the number of bytes of a size such as `8 GiB`.
fn bytes(size: &str) -> u64 {
    let unit = size.find(|char: char| !char.is_ascii_digit()).unwrap_or(size.len());
    let exponent = ["KiB", "MiB", "GiB", "TiB"].iter().position(|name| size[unit..].trim_start() == *name);
    let number: u64 = size[..unit].parse().unwrap_or_default();
    number << (10 * (exponent.unwrap_or_default() + 1))
}
