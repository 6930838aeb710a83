//! What a few runs did not show is not a change: an array that was empty, a map without keys, a value that
//! was null this time. There the promise of the lock stands.

use agentnative_contract::OutputSpec;
use serde_json::{Map, Value, json};

type Members = Map<String, Value>;

/// What was learnt now, with what the lock says where nothing was seen.
pub(super) fn carry_over(mut new: OutputSpec, old: &OutputSpec) -> OutputSpec {
    // Declared schemas say all that they mean.
    if !new.documents.is_empty() || !old.documents.is_empty() {
        return new;
    }
    pair(new.schema.as_mut(), old.schema.as_ref());
    let errors = |errors: &agentnative_contract::Errors| errors.schema.clone();
    let old_errors = old.errors.as_ref().and_then(errors);
    pair(new.errors.as_mut().and_then(|errors| errors.schema.as_mut()), old_errors.as_ref());
    if let (Some(new), Some(old)) = (&mut new.events, &old.events) {
        for (name, schema) in &mut new.types {
            pair(Some(schema), old.types.get(name));
        }
    }
    new
}

fn pair(new: Option<&mut Value>, old: Option<&Value>) {
    let (Some(Value::Object(new)), Some(Value::Object(old))) = (new, old) else { return };
    let anything = |schema: &Members| schema.keys().all(|key| key == "$schema");
    if anything(new) {
        if !anything(old) {
            // It was only ever null.
            *new = if is(old, "null") {
                old.clone()
            } else {
                Map::from_iter([("type".to_owned(), json!("null"))])
            };
        }
        return;
    }
    if is(new, "array") {
        match (new.get_mut("items"), old.get("items")) {
            (None, Some(items)) => drop(new.insert("items".into(), items.clone())),
            (items, old) => pair(items, old),
        }
    }
    if is(new, "object") {
        object(new, old);
    }
}

fn object(new: &mut Members, old: &Members) {
    let values = old.get("additionalProperties").filter(|_| !old.contains_key("properties"));
    if let Some(values) = values {
        if let Some(Value::Object(properties)) = new.remove("properties") {
            // Keys that are data, which this time look like names.
            new.remove("required");
            let mut kinds: Vec<Value> = Vec::new();
            for (_, mut kind) in properties {
                pair(Some(&mut kind), Some(values));
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
            let kind = if kinds.len() == 1 { kinds.remove(0) } else { json!({ "anyOf": kinds }) };
            new.insert("additionalProperties".into(), kind);
        } else if !new.contains_key("additionalProperties") {
            new.insert("additionalProperties".into(), values.clone());
        } else {
            pair(new.get_mut("additionalProperties"), Some(values));
        }
        return;
    }
    if let (Some(Value::Object(new)), Some(Value::Object(old))) =
        (new.get_mut("properties"), old.get("properties"))
    {
        for (key, schema) in new {
            pair(Some(schema), old.get(key));
        }
    }
}

/// Whether a schema allows values of this type.
fn is(schema: &Members, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}
