//! A table of the configuration file, validated by the reference of the keys.

use super::reference::{ConfigKey, Form, Type, child_names, children};
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

/// A table of the configuration file, with its valid values and the tables in it.
pub(super) struct Section<'a> {
    table: Table<'a>,
    /// The valid values, by key. They do not include tables with errors.
    values: Map<String, Json>,
    /// The nested tables that the reference describes, each with its key. A key with an array of tables has one entry
    /// per table.
    sections: Vec<(&'static str, Self)>,
}

impl<'a> Deref for Section<'a> {
    type Target = Table<'a>;

    fn deref(&self) -> &Table<'a> {
        &self.table
    }
}

impl<'a> Section<'a> {
    /// Validates a table and the tables in it by the reference, and reports all errors. `path` is the path of the table
    /// in the reference. The key `target` is not validated here, since [`super::target`] has to find the tables of
    /// targets first.
    pub(super) fn new(table: Table<'a>, path: &str) -> Self {
        table.allow_with(&child_names(path), |name| misplaced_key(name, path));
        let mut section = Self { table, values: Map::new(), sections: Vec::new() };
        children(path).filter(|key| key.path != "target").for_each(|key| section.read_key(key));
        section
    }

    fn read_key(&mut self, key: &'static ConfigKey) {
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
                    self.values.insert(key.name().to_owned(), to_setting(name, json));
                }
            }
            Form::Table | Form::Value(_) => {
                let count = value.diagnostics.count();
                let Some(table) = value.table(&title, &key.expected()) else { return };
                let section = Self::new(table, &key.path);
                if value.diagnostics.count() == count {
                    self.values.insert(key.name().to_owned(), section.values.clone().into());
                }
                self.sections.push((key.name(), section));
            }
        }
    }

    /// Returns the value of `key` with its position in the file; `None` if it is missing or invalid.
    pub(super) fn get(&self, key: &str) -> Option<Value<'a>> {
        self.values.get(key).and_then(|_| self.table.get(key))
    }

    /// Returns the value of `key` as a `T`; `None` if the value is missing, invalid or of another type.
    pub(super) fn value<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        serde_json::from_value(self.values.get(key)?.clone()).ok()
    }

    /// Removes the value of `key` and returns it, if it is valid. [`Self::applied_to`] then ignores the key.
    pub(super) fn take(&mut self, key: &str) -> Option<Json> {
        self.values.remove(key)
    }

    /// Sets the value of `key` that [`Self::applied_to`] uses.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Json>) {
        self.values.insert(key.to_owned(), value.into());
    }

    /// Returns whether `key` is in the table, even with an invalid value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.table.entries.contains_key(key)
    }

    /// Returns the position of the value of `key`, even if the value is invalid.
    pub(super) fn span_of(&self, key: &str) -> Option<Span> {
        self.table.get(key).map(|value| value.span)
    }

    pub(super) fn section(&self, key: &str) -> Option<&Self> {
        self.sections.iter().find(|(name, _)| *name == key).map(|(_, section)| section)
    }

    /// Removes the tables of the array `key`, such as `[[probe]]`, and returns them in the order of the file.
    pub(super) fn take_sections(&mut self, key: &str) -> Vec<Self> {
        self.sections.extract_if(.., |(name, _)| *name == key).map(|(_, section)| section).collect()
    }

    /// Returns the settings `base`, overwritten with the valid values of this table.
    pub(super) fn applied_to<T: Serialize + DeserializeOwned>(&self, base: T) -> T {
        let merged = serde_json::to_value(&base).and_then(|mut merged| {
            merge(&mut merged, &Json::Object(self.values.clone()));
            serde_json::from_value(merged)
        });
        merged.unwrap_or_else(|error| {
            self.table.diagnostics.add(&self.table.span, error.to_string());
            base
        })
    }
}

/// Merges the members of `from` into `into`, recursively.
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

/// Returns the message for a key of `[target]` that is in `[[probe]]`, or vice versa; `None` for any other key.
fn misplaced_key(name: &str, path: &str) -> Option<String> {
    let (other, title) = match path {
        "probe" => ("target", "[target]"),
        "target" => ("probe", "[[probe]]"),
        _ => return None,
    };
    child_names(other).contains(&name).then(|| format!("`{name}` is a key of {title}"))
}

/// Returns the value of a key as JSON if it matches `kind`, the type of the key; else reports the errors.
fn validated(key: &ConfigKey, kind: &'static Type, value: &Value<'_>) -> Option<Json> {
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

/// Reports a validation error at its position in the value of a key, with the expected value.
fn report(error: &ValidationError<'_>, key: &ConfigKey, kind: &'static Type, value: &Value<'_>) {
    let depth = |error: &ValidationError<'_>| error.instance_path().iter().count();
    match error.kind() {
        // The value matches one alternative except for something inside it.
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
                .diagnostics
                .add(&span, format!("{name:?} is not a valid key of {}; expected {expected}", key.name()));
        }
        _ => {}
    }
    let element = error.instance_path().iter().fold(value.clone(), |value, part| match part {
        LocationSegment::Property(name) => value.child(&name),
        LocationSegment::Index(index) => value.child(&index.to_string()),
    });
    let expected = if depth(error) == 0 { key.expected() } else { kind.expected(error) };
    element.report_value::<()>(&expected);
}

/// Converts a validated value to the form in which the settings contain it: seconds to a duration, a size such as
/// `8 GiB` to a number of bytes.
fn to_setting(kind: &str, value: Json) -> Json {
    match (kind, &value) {
        ("seconds", Json::Number(seconds)) => {
            let seconds = seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            serde_json::to_value(seconds.map(|time| time.max(Duration::from_nanos(1)))).unwrap_or(value)
        }
        ("size", Json::String(size)) => parse_size(size).into(),
        _ => value,
    }
}

/// Returns the number of bytes of a size such as `8 GiB`.
fn parse_size(size: &str) -> u64 {
    let unit = size.find(|char: char| !char.is_ascii_digit()).unwrap_or(size.len());
    let exponent = ["KiB", "MiB", "GiB", "TiB"].iter().position(|name| size[unit..].trim_start() == *name);
    let number: u64 = size[..unit].parse().unwrap_or_default();
    number << (10 * (exponent.unwrap_or_default() + 1))
}
