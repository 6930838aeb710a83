//! The reference of the configuration: every key, from `keys.toml`.

use agentnative_contract::alternatives;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::nearest;
use jsonschema::{ValidationError, Validator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// A key of the configuration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// Its place, such as `target.timeout`.
    pub path: String,
    /// The values that it accepts, in words.
    #[serde(rename = "type")]
    pub kind: String,
    /// Its table must have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// The value that applies without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// What applies without it, in words, where that is no fixed value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// What it does.
    pub about: String,
    /// An example, with the header of its table.
    pub example: String,
    /// What the schema demands of its table, beside the keys.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub(super) rule: Map<String, Value>,
    /// How it is written, as `keys.toml` calls it.
    #[serde(skip)]
    pub(super) form: Form,
}

/// How the value of a key is written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Form {
    /// A table of other keys.
    #[default]
    Table,
    /// An array of such tables.
    Tables,
    /// A value of this type; with keys below it, also a table of them.
    Value(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    #[serde(rename = "key")]
    keys: Vec<Key>,
    /// The schemas that those of the types refer to.
    pub(super) defs: Map<String, Value>,
    types: BTreeMap<String, Type>,
}

/// What the values of a key are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Type {
    says: String,
    pub(super) schema: Map<String, Value>,
    #[serde(skip)]
    compiled: OnceLock<(Value, Validator)>,
}

/// The content of `keys.toml`.
pub(super) static REFERENCE: LazyLock<Reference> = LazyLock::new(|| {
    let mut reference: Reference = match toml::from_str(include_str!("keys.toml")) {
        Ok(reference) => reference,
        Err(error) => panic!("keys.toml, which is part of the program, is wrong: {error}"),
    };
    let Reference { keys, types, .. } = &mut reference;
    let parents: Vec<String> = keys.iter().filter_map(|key| Some(key.parent()?.to_owned())).collect();
    let header: BTreeMap<String, String> = keys
        .iter()
        .filter(|key| key.parent().is_none())
        .map(|key| {
            let name = &key.path;
            (name.clone(), if key.kind == "tables" { format!("[[{name}]]") } else { format!("[{name}]") })
        })
        .collect();
    for key in keys {
        key.example = key.example.trim().to_owned();
        if key.parent().is_some() {
            key.example = format!("{}\n{}", header[key.section()], key.example);
        }
        (key.kind, key.form) = match key.kind.as_str() {
            "table" => ("table".to_owned(), Form::Table),
            "tables" => ("array of tables".to_owned(), Form::Tables),
            name => {
                let or_table = if parents.contains(&key.path) { ", or a table" } else { "" };
                (format!("{}{or_table}", types[name].says), Form::Value(name.to_owned()))
            }
        };
    }
    reference
});

impl Type {
    /// Returns the type of this name in `keys.toml`.
    pub(super) fn named(name: &str) -> &'static Self {
        &REFERENCE.types[name]
    }

    /// Returns the schema with its definitions, in which the names of checks and contracts are any strings, and its
    /// validator.
    fn compiled(&self) -> &(Value, Validator) {
        self.compiled.get_or_init(|| {
            let mut schema = self.schema.clone();
            schema.insert("$defs".to_owned(), REFERENCE.defs.clone().into());
            let schema = Value::from(schema);
            match jsonschema::draft202012::new(&schema) {
                Ok(validator) => (schema, validator),
                Err(error) => panic!("keys.toml, which is part of the program, is wrong: {error}"),
            }
        })
    }

    /// Returns whether the values are dates, for which JSON has strings.
    pub(super) fn is_date(&self) -> bool {
        self.schema.get("format").is_some_and(|format| format == "date")
    }

    /// Returns the errors of a value.
    pub(super) fn errors<'v>(&'static self, value: &'v Value) -> Vec<ValidationError<'v>> {
        self.compiled().1.iter_errors(value).collect()
    }

    /// Returns what is expected in the place of `error`, in words.
    pub(super) fn expected(&self, error: &ValidationError<'_>) -> String {
        let keyword = error.schema_path().as_str();
        let schema = keyword.rsplit_once('/').and_then(|(parent, _)| self.compiled().0.pointer(parent));
        schema.map_or_else(|| with_article(&self.says), in_words)
    }
}

/// Returns what a schema accepts: its description, its values, or its type.
fn in_words(schema: &Value) -> String {
    let text = |name: &str| schema.get(name).and_then(Value::as_str);
    let bound = |name: &str| schema.get(name).map(Value::to_string);
    if let Some(description) = text("description") {
        return with_article(description);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return alternatives(values.iter().map(|value| format!("`{value}`")).collect());
    }
    let name = with_article(text("type").unwrap_or("value"));
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!("{name} from {least} to {most}"),
        _ => name,
    }
}

/// Returns a description with its article: `an array of strings`. What begins with a value has none.
fn with_article(words: &str) -> String {
    let article = match words.chars().next() {
        Some('`') | None => "",
        Some('a' | 'e' | 'i' | 'o' | 'u' | 'I') => "an ",
        Some(_) => "a ",
    };
    format!("{article}{words}")
}

/// Every key, in the order of the reference: each table before the keys in it.
pub fn keys() -> &'static [Key] {
    &REFERENCE.keys
}

/// The key at this path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    keys().iter().find(|key| key.path == path)
}

/// The names of the keys in the table at this path; the empty path is the file.
pub(super) fn keys_of(path: &str) -> Vec<&'static str> {
    children(path).map(Key::name).collect()
}

/// The keys in the table at this path.
pub(super) fn children(path: &str) -> impl Iterator<Item = &'static Key> {
    keys().iter().filter(move |key| key.parent().unwrap_or_default() == path)
}

/// The keys that `query` names, each with the keys below it: by the path, else by the end of it.
///
/// # Errors
/// Usage, with the key that was probably meant, when there is none.
pub fn find_keys(query: &str) -> Result<Vec<&'static Key>> {
    let query = query.trim_matches(['[', ']']);
    let ends = |key: &&Key| key.path.strip_suffix(query).is_some_and(|start| start.ends_with('.'));
    let named: Vec<&Key> = match key(query) {
        Some(key) => vec![key],
        None => keys().iter().filter(ends).collect(),
    };
    let is_below = |key: &Key, top: &Key| {
        key.path.strip_prefix(&top.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found: Vec<&Key> =
        keys().iter().filter(|key| !query.is_empty() && named.iter().any(|top| is_below(key, top))).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = keys().iter().map(|key| if query.contains('.') { key.path.as_str() } else { key.name() });
    let hint = match nearest(query, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`agentnative explain config` lists them".to_owned(),
    };
    Err(Error::usage(format!("there is no configuration key `{query}`")).hint(hint))
}

impl Key {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// The first sentence about it.
    pub fn first_sentence(&self) -> &str {
        self.about.find(". ").map_or(&self.about, |end| &self.about[..=end])
    }

    /// The path of the table that it is in; none for a top-level table.
    pub fn parent(&self) -> Option<&str> {
        Some(self.path.rsplit_once('.')?.0)
    }

    /// The top-level table that it is in or is.
    pub fn section(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }

    /// The header of the table that it is in or is.
    pub fn header(&self) -> &str {
        self.example.lines().next().unwrap_or_default()
    }

    /// Whether it must be there, or what applies without it, in words; none when nothing does.
    pub fn presence(&self) -> Option<String> {
        match (&self.default, &self.without) {
            _ if self.required => Some("required".to_owned()),
            (Some(default), _) => Some(format!("default: `{}`", in_toml(default))),
            (None, Some(without)) => Some(format!("default: {without}")),
            (None, None) => None,
        }
    }

    /// Returns what its value has to be, with an example where a description is not enough.
    pub(super) fn expected(&self) -> String {
        let name = self.path.split_once('.').map_or("", |(_, name)| name);
        let example = match self.parent() {
            None => Some(self.header()),
            Some(_) => self.example.lines().find(|line| line.starts_with(name)),
        };
        let is_exhaustive =
            ["`", "integer", "number", "date", "exit code"].iter().any(|start| self.kind.starts_with(start));
        let example = example.filter(|_| !is_exhaustive).map(|example| format!(", such as {example}"));
        format!("{}{}", with_article(&self.kind), example.unwrap_or_default())
    }

    /// Whether its value may be a table.
    pub(super) fn takes_table(&self) -> bool {
        match &self.form {
            Form::Table => true,
            Form::Tables => false,
            Form::Value(name) => Type::named(name).schema.get("type").is_some_and(|name| name == "object"),
        }
    }
}

/// A value as TOML writes it.
fn in_toml(value: &Value) -> String {
    match toml::Value::try_from(value) {
        Ok(value) => value.to_string(),
        Err(_) => value.to_string(),
    }
}
