//! Generates the JSON Schema of the configuration from the reference of its keys.

use super::reference::{ConfigKey, Form, REFERENCE, Type, child_names, children};
use crate::model::CheckId;
use serde_json::{Map, Value, json};

/// Returns the JSON Schema (2020-12) of `agentnative.toml`, in which dates are strings.
pub fn schema() -> Value {
    let checks: Vec<&str> = CheckId::ALL.iter().map(|id| id.as_str()).collect();
    let contracts: Vec<&str> = agentnative_contract::bundled_names().collect();
    let mut defs = REFERENCE.defs.clone();
    defs.extend([
        ("target".to_owned(), table_schema("target", &Map::new()).into()),
        ("check".to_owned(), json!({ "enum": checks })),
        ("contract".to_owned(), json!({ "enum": contracts })),
    ]);
    let mut schema = table_schema("", &Map::new());
    schema.extend([
        ("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into()),
        ("title".to_owned(), "Configuration of agentnative (agentnative.toml)".into()),
        ("$defs".to_owned(), defs.into()),
    ]);
    Value::Object(schema)
}

/// Returns the JSON Schema of the table at this path of the reference, extended with the keywords in `rule`.
fn table_schema(path: &str, rule: &Map<String, Value>) -> Map<String, Value> {
    let properties: Map<String, Value> =
        children(path).map(|key| (key.name().to_owned(), key_schema(key))).collect();
    let required: Vec<&str> = children(path).filter(|key| key.required).map(ConfigKey::name).collect();
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

fn key_schema(key: &ConfigKey) -> Value {
    let table = || Value::Object(table_schema(&key.path, &key.rule));
    let schema = match &key.form {
        Form::Table if key.path == "target" => targets_schema(),
        Form::Table => table(),
        Form::Tables => json!({ "type": "array", "items": table() }),
        Form::Value(name) if children(&key.path).next().is_some() => {
            json!({ "anyOf": [Type::named(name).schema, table()] })
        }
        Form::Value(name) => Value::Object(Type::named(name).schema.clone()),
    };
    let mut schema = match schema {
        Value::Object(keywords) => keywords,
        other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
    };
    schema.insert("description".to_owned(), key.about.as_str().into());
    if let Some(default) = &key.default {
        schema.insert("default".to_owned(), default.clone());
    }
    Value::Object(schema)
}

/// Returns the JSON Schema of the key `target`: either the single table `[target]`, or one table `[target.NAME]` per
/// target. A name cannot be that of a setting, such as `command`.
fn targets_schema() -> Value {
    json!({ "anyOf": [
        { "$ref": "#/$defs/target" },
        {
            "type": "object",
            "minProperties": 1,
            "propertyNames": { "pattern": r"\S", "not": { "enum": child_names("target") } },
            "additionalProperties": { "$ref": "#/$defs/target" }
        }
    ] })
}
