//! Reads TOML values, and reports the expected type or value where they differ.

use super::diagnostics::{Diagnostics, Span};
use super::nearest;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::time::Duration;
use toml::de::{DeTable, DeValue};

/// A TOML table, with its name in messages and its place in the file.
pub struct Table<'a> {
    /// Collects the errors of the file.
    pub diagnostics: &'a Diagnostics<'a>,
    /// What messages call it, such as `[program]`.
    title: String,
    /// The range of bytes in the file.
    pub span: Span,
    /// The keys and values of the table.
    pub entries: &'a DeTable<'a>,
}

/// A TOML value, with its name in messages and its place in the file.
#[derive(Clone)]
pub struct Value<'a> {
    /// Collects the errors of the file.
    pub diagnostics: &'a Diagnostics<'a>,
    /// What messages call it, such as `[program]`.
    title: String,
    /// The range of bytes in the file.
    pub span: Span,
    /// The value itself.
    pub inner: &'a DeValue<'a>,
}

/// A string, with its place in the file.
#[derive(Debug, Clone)]
pub struct Text {
    pub text: String,
    pub span: Span,
}

/// Maximum time limit; it can be added to any instant without overflow.
pub const MAX_DURATION: Duration = Duration::from_secs(86_400);

/// Maximum length of a value that is quoted in a message, in bytes.
const MAX_QUOTED_BYTES: usize = 60;

impl<'a> Table<'a> {
    /// Creates a table; `title` is its name in messages.
    pub fn new(
        faults: &'a Diagnostics<'a>,
        title: impl Into<String>,
        span: Span,
        entries: &'a DeTable<'a>,
    ) -> Self {
        Self { diagnostics: faults, title: title.into(), span, entries }
    }

    /// Reports every key of the table that is not in `keys`.
    pub fn report_unknown_keys(&self, keys: &[&str]) {
        self.allow_with(keys, |_| None);
    }

    /// Reports every key that is not in `keys`, like [`Table::report_unknown_keys`]. `hint` returns advice on an unknown key, such as
    /// where it belongs.
    pub fn allow_with(&self, keys: &[&str], hint: impl Fn(&str) -> Option<String>) {
        for key in self.entries.keys() {
            let name: &str = key.get_ref();
            if !keys.contains(&name) {
                let near = hint(name).unwrap_or_else(|| name_hint(name, keys.iter().copied()));
                self.diagnostics.add(&key.span(), format!("unknown key `{name}` in {}; {near}", self.title));
            }
        }
    }

    /// Returns the value of `key`; `None` if the table does not have it.
    pub fn get(&self, key: &str) -> Option<Value<'a>> {
        let value = self.entries.get(key)?;
        Some(Value::new(self.diagnostics, format!("`{key}`"), value.span(), value.get_ref()))
    }

    /// Returns the value of `key`. If the table does not have it, reports that `expected` is missing.
    pub fn require(&self, key: &str, expected: &str) -> Option<Value<'a>> {
        let value = self.get(key);
        if value.is_none() {
            self.diagnostics.add(&self.span, format!("{} has no `{key}`; expected {expected}", self.title));
        }
        value
    }
}

impl<'a> Value<'a> {
    /// Creates a value; `title` is its name in messages.
    pub fn new(
        faults: &'a Diagnostics<'a>,
        title: impl Into<String>,
        span: Span,
        inner: &'a DeValue<'a>,
    ) -> Self {
        Self { diagnostics: faults, title: title.into(), span, inner }
    }

    /// Reports that this value has another type than expected. Always returns `None`.
    pub fn report_type<T>(&self, expected: &str) -> Option<T> {
        self.report(&format!("{} is {}; expected {expected}", self.title, self.kind()))
    }

    /// Reports that this value is not the expected one. The message contains the value if it is short, or else its
    /// type. Always returns `None`.
    pub fn report_value<T>(&self, expected: &str) -> Option<T> {
        let text = self.diagnostics.text(&self.span);
        let is_written = !matches!(self.inner, DeValue::Table(_) | DeValue::Datetime(_));
        let is_short = is_written && text.len() <= MAX_QUOTED_BYTES && !text.contains('\n');
        let found = if is_short { text.to_owned() } else { self.kind() };
        self.report(&format!("{} is {found}; expected {expected}", self.title))
    }

    /// Returns the type of the value with its article, such as `an array`.
    fn kind(&self) -> String {
        match self.inner {
            DeValue::Array(_) | DeValue::Integer(_) => format!("an {}", self.inner.type_str()),
            DeValue::Datetime(_) => "a date or time".to_owned(),
            _ => format!("a {}", self.inner.type_str()),
        }
    }

    /// Returns the element with this index or the member with this name; this value itself if there is none. `part` is
    /// a token of a JSON pointer.
    pub fn child(&self, part: &str) -> Self {
        let (title, found) = match self.inner {
            DeValue::Array(elements) => {
                let index = part.parse::<usize>().ok();
                let title = format!("element {} of {}", index.map_or(0, |index| index + 1), self.title);
                (title, index.and_then(|index| elements.get(index)))
            }
            inner => (format!("`{part}`"), inner.as_table().and_then(|table| table.get(part))),
        };
        found.map_or_else(
            || self.clone(),
            |found| Self::new(self.diagnostics, title, found.span(), found.get_ref()),
        )
    }

    /// Converts the value to a `serde_json` value; a date or an infinity becomes null.
    pub fn to_json(&self) -> Json {
        to_json(self.inner)
    }

    /// Reports an error at the place of this value. Always returns `None`.
    pub fn report<T>(&self, message: &str) -> Option<T> {
        self.diagnostics.add(&self.span, message);
        None
    }

    /// Returns the string with its place; reports a value of another type.
    pub fn string(&self, expected: &str) -> Option<Text> {
        match self.inner.as_str() {
            Some(text) => Some(Text { text: text.to_owned(), span: self.span.clone() }),
            None => self.report_type(expected),
        }
    }

    /// Returns the boolean; reports a value of another type.
    pub fn boolean(&self) -> Option<bool> {
        self.inner.as_bool().or_else(|| self.report_type("`true` or `false`"))
    }

    /// Returns the table, which messages call `title`; reports a value of another type.
    pub fn table(&self, title: &str, expected: &str) -> Option<Table<'a>> {
        match self.inner.as_table() {
            Some(entries) => Some(Table::new(self.diagnostics, title, self.span.clone(), entries)),
            None => self.report_type(expected),
        }
    }

    /// Returns the elements of the array; reports a value of another type.
    pub fn elements(&self, expected: &str) -> Option<Vec<Self>> {
        let Some(array) = self.inner.as_array() else { return self.report_type(expected) };
        let element = |(nth, value): (usize, &'a toml::Spanned<DeValue<'a>>)| Self {
            diagnostics: self.diagnostics,
            title: format!("element {} of {}", nth + 1, self.title),
            span: value.span(),
            inner: value.get_ref(),
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    /// Returns the arguments of a program: an array of strings without NUL. Reports any other value.
    pub fn arguments(&self) -> Option<Vec<Text>> {
        let elements = self.elements("an array of strings, one per argument")?;
        collect_all(elements.iter().map(|element| {
            let text = element.string("a string")?;
            if text.text.contains('\0') {
                element.report("an argument cannot contain NUL")
            } else {
                Some(text)
            }
        }))
    }

    /// Returns an exit code, an integer from 0 to 255; reports any other value.
    pub fn exit_code(&self) -> Option<i32> {
        const EXPECTED: &str = "an exit code from 0 to 255";
        let DeValue::Integer(integer) = self.inner else { return self.report_type(EXPECTED) };
        match u8::from_str_radix(integer.as_str(), integer.radix()) {
            Ok(code) => Some(code.into()),
            Err(_) => self.report(&format!("{} is {integer}; expected {EXPECTED}", self.title)),
        }
    }

    /// Returns a duration, a number of seconds above 0 and at most [`MAX_DURATION`]; reports any other value.
    pub fn seconds(&self) -> Option<Duration> {
        const EXPECTED: &str = "a number of seconds above 0 and at most 86400";
        let (text, seconds) = match self.inner {
            DeValue::Integer(integer) => {
                let whole = u64::from_str_radix(integer.as_str(), integer.radix());
                (integer.to_string(), whole.ok().map(Duration::from_secs))
            }
            DeValue::Float(float) => {
                let parsed = float.as_str().parse().ok();
                (float.to_string(), parsed.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()))
            }
            _ => return self.report_type(EXPECTED),
        };
        match seconds {
            Some(time) if !time.is_zero() && time <= MAX_DURATION => Some(time),
            _ => self.report(&format!("{} is {text}; expected {EXPECTED}", self.title)),
        }
    }

    /// Returns the choice whose name this string is; reports any other value. Each choice is a name with its value.
    pub fn choice<T: Copy>(&self, choices: &[(&str, T)]) -> Option<T> {
        let names: Vec<String> = choices.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let expected = names.join(" or ");
        let text = self.string(&expected)?.text;
        match choices.iter().find(|(name, _)| *name == text) {
            Some((_, value)) => Some(*value),
            None => self.report(&format!("{} is {text:?}; expected {expected}", self.title)),
        }
    }

    /// Returns environment variables: a table of strings. Reports invalid names and values.
    pub fn variables(&self) -> Option<BTreeMap<String, String>> {
        let table = self.table(&self.title, "a table of strings, such as { KEY = \"value\" }")?;
        let mut variables = BTreeMap::new();
        for key in table.entries.keys() {
            let name: &str = key.get_ref();
            check_variable_name(self.diagnostics, name, &key.span());
            let value = table.get(name).and_then(|value| Some((value.clone(), value.string("a string")?)));
            if let Some((value, text)) = value {
                if text.text.contains('\0') {
                    value.report::<()>("the value of a variable cannot contain NUL");
                }
                variables.insert(name.to_owned(), text.text);
            }
        }
        Some(variables)
    }
}

/// Converts a TOML value to JSON. A number without a fraction, such as `2.0`, becomes an integer.
fn to_json(value: &DeValue<'_>) -> Json {
    match value {
        DeValue::String(text) => text.as_ref().into(),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).map_or(Json::Null, Json::from)
        }
        DeValue::Float(float) => match float.as_str().parse::<f64>() {
            Ok(float) if float.fract() == 0.0 && float.abs() < 1e15 => (float as i64).into(),
            Ok(float) => float.into(),
            Err(_) => Json::Null,
        },
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Datetime(_) => Json::Null,
        DeValue::Array(elements) => elements.iter().map(|element| to_json(element.get_ref())).collect(),
        DeValue::Table(table) => {
            table.iter().map(|(key, value)| (key.get_ref().to_string(), to_json(value.get_ref()))).collect()
        }
    }
}

/// Collects all values into a vector, or returns `None` if one of them is `None`. Consumes the complete iterator, so
/// that every error is reported.
pub fn collect_all<T>(values: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    values.collect::<Vec<_>>().into_iter().collect()
}

/// Reports `name` at `span` if it cannot be the name of an environment variable.
pub fn check_variable_name(faults: &Diagnostics<'_>, name: &str, span: &Span) {
    if name.is_empty() || name.contains(['=', '\0']) {
        faults
            .add(span, format!("{name:?} is not a valid variable name: it is empty or contains `=` or NUL"));
    }
}

/// Returns a hint on the unknown name `word`: the most similar of `names`, or else all of them.
pub fn name_hint<'n>(word: &str, names: impl IntoIterator<Item = &'n str> + Clone) -> String {
    match nearest(word, names.clone()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            let all: Vec<String> = names.into_iter().map(|name| format!("`{name}`")).collect();
            if all.is_empty() {
                "no names are available".to_owned()
            } else {
                format!("expected {}", all.join(", "))
            }
        }
    }
}
