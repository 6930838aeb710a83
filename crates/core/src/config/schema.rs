//! The JSON Schema of the configuration, made from the reference.

use super::reference::{Form, Key, REFERENCE, Type, children, keys_of};
use crate::model::CheckId;
use serde_json::{Map, Value, json};

/// The JSON Schema of `agentnative.toml`, in the words of 2020-12. Dates are strings in it.
pub fn schema() -> Value {
    let checks: Vec<&str> = CheckId::ALL.iter().map(|id| id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::names().collect();
    let mut defs = REFERENCE.defs.clone();
    defs.extend([
        ("target".to_owned(), table("target", &Map::new()).into()),
        ("check".to_owned(), json!({ "enum": checks })),
        ("contract".to_owned(), json!({ "enum": contracts })),
    ]);
    let mut schema = table("", &Map::new());
    schema.extend([
        ("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into()),
        ("title".to_owned(), "Configuration of agentnative (agentnative.toml)".into()),
        ("$defs".to_owned(), defs.into()),
    ]);
    Value::Object(schema)
}

/// The schema of the table at this path of the reference.
fn table(path: &str, rule: &Map<String, Value>) -> Map<String, Value> {
    let properties: Map<String, Value> =
        children(path).map(|key| (key.name().to_owned(), of_key(key))).collect();
    let required: Vec<&str> = children(path).filter(|key| key.required).map(Key::name).collect();
    let mut table = Map::from_iter([
        ("type".to_owned(), "object".into()),
        ("properties".to_owned(), properties.into()),
        ("additionalProperties".to_owned(), false.into()),
    ]);
    if !required.is_empty() {
        table.insert("required".to_owned(), required.into());
    }
    table.extend(rule.clone());
    table
}

fn of_key(key: &Key) -> Value {
    let of_table = || Value::Object(table(&key.path, &key.rule));
    let schema = match &key.form {
        Form::Table if key.path == "target" => targets(),
        Form::Table => of_table(),
        Form::Tables => json!({ "type": "array", "items": of_table() }),
        Form::Value(name) if children(&key.path).next().is_some() => {
            json!({ "anyOf": [Type::named(name).schema, of_table()] })
        }
        Form::Value(name) => Value::Object(Type::named(name).schema.clone()),
    };
    let mut schema = match schema {
        Value::Object(words) => words,
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    };
    schema.insert("description".to_owned(), key.about.as_str().into());
    if let Some(default) = &key.default {
        schema.insert("default".to_owned(), default.clone());
    }
    Value::Object(schema)
}

/// `[target]`, or `[target.NAME]` for each of several, with names that are no settings.
fn targets() -> Value {
    json!({ "anyOf": [
        { "$ref": "#/$defs/target" },
        {
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "pattern": r"\S", "not": { "enum": keys_of("target") } },
            "additionalProperties": { "$ref": "#/$defs/target" }
        }
    ] })
}
