//! The reference of the configuration keys and their types, parsed from `keys.toml`.

use agentnative_contract::alternatives;
use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::nearest;
use jsonschema::{ValidationError, Validator};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

/// A key of the configuration, such as `target.timeout`, with its documentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigKey {
    /// Path of the key, such as `target.timeout`.
    pub path: String,
    /// Description of the accepted values.
    #[serde(rename = "type")]
    pub kind: String,
    /// Whether the table of the key must contain it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
    /// Default value of the key; `None` if it has none or it is not a fixed value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Description of the default, if the default is not a fixed value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// Description of the effect of the key.
    pub about: String,
    /// Example of the key in TOML, with the header of its table.
    pub example: String,
    /// Additional JSON Schema keywords for a key that is a table, such as conditions on several of its keys.
    #[serde(default, skip_serializing)]
    #[schemars(skip)]
    pub(super) rule: Map<String, Value>,
    /// Whether the value of the key is a table, an array of tables or another value.
    #[serde(skip)]
    pub(super) form: Form,
}

/// How the value of a key is written in TOML.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) enum Form {
    /// A table with further keys.
    #[default]
    Table,
    /// An array of tables with further keys.
    Tables,
    /// A value of the type with this name in `keys.toml`. If the reference has keys below this key, the value can be a
    /// table instead.
    Value(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reference {
    #[serde(rename = "key")]
    keys: Vec<ConfigKey>,
    /// JSON Schema definitions that the schemas of the types refer to.
    pub(super) defs: Map<String, Value>,
    types: BTreeMap<String, Type>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Type {
    says: String,
    pub(super) schema: Map<String, Value>,
    #[serde(skip)]
    compiled: OnceLock<(Value, Validator)>,
}

pub(super) static REFERENCE: LazyLock<Reference> = LazyLock::new(|| {
    let mut reference: Reference = match toml::from_str(include_str!("keys.toml")) {
        Ok(reference) => reference,
        Err(error) => panic!("the embedded keys.toml is invalid: {error}"),
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
    /// Returns the type that is called `name` in `keys.toml`.
    pub(super) fn named(name: &str) -> &'static Self {
        &REFERENCE.types[name]
    }

    /// Returns the JSON Schema of this type, including all definitions, and its validator. The definitions accept any
    /// string as the name of a check or contract.
    fn compiled(&self) -> &(Value, Validator) {
        self.compiled.get_or_init(|| {
            let mut schema = self.schema.clone();
            schema.insert("$defs".to_owned(), REFERENCE.defs.clone().into());
            let schema = Value::from(schema);
            match jsonschema::draft202012::new(&schema) {
                Ok(validator) => (schema, validator),
                Err(error) => panic!("the embedded keys.toml is invalid: {error}"),
            }
        })
    }

    /// Returns whether the values of this type are dates. They are dates in TOML and strings in JSON.
    pub(super) fn is_date(&self) -> bool {
        self.schema.get("format").is_some_and(|format| format == "date")
    }

    pub(super) fn errors<'v>(&'static self, value: &'v Value) -> Vec<ValidationError<'v>> {
        self.compiled().1.iter_errors(value).collect()
    }

    /// Describes the value that is expected at the position of a validation error.
    pub(super) fn expected(&self, error: &ValidationError<'_>) -> String {
        let keyword = error.schema_path().as_str();
        let schema = keyword.rsplit_once('/').and_then(|(parent, _)| self.compiled().0.pointer(parent));
        schema.map_or_else(|| with_article(&self.says), describe)
    }
}

/// Describes the values that a schema accepts: by its `description`, else its `enum`, else its `type`.
fn describe(schema: &Value) -> String {
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
        (Some(minimum), Some(maximum)) => format!("{name} from {minimum} to {maximum}"),
        _ => name,
    }
}

/// Returns a description with the article `a` or `an`: `an array of strings`. A description that begins with a backtick
/// gets no article.
fn with_article(words: &str) -> String {
    let article = match words.chars().next() {
        Some('`') | None => "",
        Some('a' | 'e' | 'i' | 'o' | 'u' | 'I') => "an ",
        Some(_) => "a ",
    };
    format!("{article}{words}")
}

/// Returns all configuration keys in the order of the documentation: each table before the keys in it.
pub fn keys() -> &'static [ConfigKey] {
    &REFERENCE.keys
}

pub(super) fn key(path: &str) -> Option<&'static ConfigKey> {
    keys().iter().find(|key| key.path == path)
}

/// Returns the names of the keys in the table at this path; the empty path is the top level of the file.
pub(super) fn child_names(path: &str) -> Vec<&'static str> {
    children(path).map(ConfigKey::name).collect()
}

/// Returns the keys in the table at this path; the empty path is the top level of the file.
pub(super) fn children(path: &str) -> impl Iterator<Item = &'static ConfigKey> {
    keys().iter().filter(move |key| key.parent().unwrap_or_default() == path)
}

/// Returns the keys that `query` names, each followed by the keys below it. A query is a complete path, such as
/// `target.timeout`. If no key has this path, it is the end of one, such as `timeout`.
///
/// # Errors
/// Of kind `Usage`, with the most similar key as a hint, if there is none.
pub fn find_keys(query: &str) -> Result<Vec<&'static ConfigKey>> {
    let query = query.trim_matches(['[', ']']);
    let ends_with_query =
        |key: &&ConfigKey| key.path.strip_suffix(query).is_some_and(|prefix| prefix.ends_with('.'));
    let named: Vec<&ConfigKey> = match key(query) {
        Some(key) => vec![key],
        None => keys().iter().filter(ends_with_query).collect(),
    };
    let is_within = |key: &ConfigKey, ancestor: &ConfigKey| {
        key.path.strip_prefix(&ancestor.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found: Vec<&ConfigKey> = keys()
        .iter()
        .filter(|key| !query.is_empty() && named.iter().any(|named| is_within(key, named)))
        .collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = keys().iter().map(|key| if query.contains('.') { key.path.as_str() } else { key.name() });
    let hint = match nearest(query, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "list all keys with `agentnative explain config`".to_owned(),
    };
    Err(Error::usage(format!("unknown configuration key `{query}`")).hint(hint))
}

impl ConfigKey {
    /// Returns the last component of the path, such as `timeout` for `target.timeout`.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Returns the first sentence of `about`.
    pub fn first_sentence(&self) -> &str {
        self.about.find(". ").map_or(&self.about, |end| &self.about[..=end])
    }

    /// Returns the path of the table that contains the key; `None` for a top-level table.
    pub fn parent(&self) -> Option<&str> {
        Some(self.path.rsplit_once('.')?.0)
    }

    /// Returns the first component of the path: the name of the top-level table, such as `target` for `target.timeout`.
    pub fn section(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }

    /// Returns the header of the top-level table that contains the key, such as `[target]`.
    pub fn header(&self) -> &str {
        self.example.lines().next().unwrap_or_default()
    }

    /// Returns the word `required`, or a description of the default; `None` if the key is optional and has no default.
    pub fn presence(&self) -> Option<String> {
        match (&self.default, &self.without) {
            _ if self.required => Some("required".to_owned()),
            (Some(default), _) => Some(format!("default: `{}`", to_toml(default))),
            (None, Some(without)) => Some(format!("default: {without}")),
            (None, None) => None,
        }
    }

    /// Describes the values that the key accepts. Adds an example, unless the description lists all values.
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

    pub(super) fn accepts_table(&self) -> bool {
        match &self.form {
            Form::Table => true,
            Form::Tables => false,
            Form::Value(name) => Type::named(name).schema.get("type").is_some_and(|name| name == "object"),
        }
    }
}

fn to_toml(value: &Value) -> String {
    match toml::Value::try_from(value) {
        Ok(value) => value.to_string(),
        Err(_) => value.to_string(),
    }
}
