//! The reference of the configuration: every key, from `keys.toml`.

use agentnative_contract::error::{Error, Result};
use agentnative_contract::spanned_toml::nearest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;

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
    /// A value that this schema describes; with keys below it, also a table of them.
    Value(Value),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    #[serde(rename = "key")]
    keys: Vec<Key>,
    types: BTreeMap<String, Type>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Type {
    says: String,
    schema: Value,
}

static KEYS: LazyLock<Vec<Key>> = LazyLock::new(|| {
    let Reference { mut keys, types } = match toml::from_str(include_str!("keys.toml")) {
        Ok(reference) => reference,
        Err(error) => panic!("keys.toml, which is part of the program, is wrong: {error}"),
    };
    let parents: Vec<String> = keys.iter().filter_map(|key| Some(key.parent()?.to_owned())).collect();
    let header: BTreeMap<String, String> = keys
        .iter()
        .filter(|key| key.parent().is_none())
        .map(|key| {
            let name = &key.path;
            (name.clone(), if key.kind == "tables" { format!("[[{name}]]") } else { format!("[{name}]") })
        })
        .collect();
    for key in &mut keys {
        key.example = key.example.trim().to_owned();
        if key.parent().is_some() {
            key.example = format!("{}\n{}", header[key.section()], key.example);
        }
        (key.kind, key.form) = match key.kind.as_str() {
            "table" => ("table".to_owned(), Form::Table),
            "tables" => ("array of tables".to_owned(), Form::Tables),
            name => {
                let Type { says, schema } = &types[name];
                let or_table = if parents.contains(&key.path) { ", or a table" } else { "" };
                (format!("{says}{or_table}"), Form::Value(schema.clone()))
            }
        };
    }
    keys
});

/// Every key, in the order of the reference: each table before the keys in it.
pub fn keys() -> &'static [Key] {
    &KEYS
}

/// The key at this path.
pub(super) fn key(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The names of the keys in the table at this path; the empty path is the file.
pub(super) fn keys_of(path: &str) -> Vec<&'static str> {
    children(path).map(Key::name).collect()
}

/// The keys in the table at this path.
pub(super) fn children(path: &str) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.parent().unwrap_or_default() == path)
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
        None => KEYS.iter().filter(ends).collect(),
    };
    let is_below = |key: &Key, top: &Key| {
        key.path.strip_prefix(&top.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found: Vec<&Key> =
        KEYS.iter().filter(|key| !query.is_empty() && named.iter().any(|top| is_below(key, top))).collect();
    if !found.is_empty() {
        return Ok(found);
    }
    let names = KEYS.iter().map(|key| if query.contains('.') { key.path.as_str() } else { key.name() });
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

    /// Whether its value may be a table.
    pub(super) fn takes_table(&self) -> bool {
        match &self.form {
            Form::Table => true,
            Form::Tables => false,
            Form::Value(schema) => schema.get("type").is_some_and(|name| name == "object"),
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
