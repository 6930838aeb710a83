//! Copies guarantees of an older lock where the new runs have no data: an array was empty, a map had no keys, or a
//! value was always null.
//!
//! Without this step, the comparison would report such gaps as changes.

use agentnative_contract::OutputSpec;
use serde_json::{Map, Value, json};

type Members = Map<String, Value>;

/// Completes an inferred output specification from the old one where the new runs have no data. Specifications with
/// declared schemas stay unchanged.
pub(super) fn carry_over(mut new: OutputSpec, old: &OutputSpec) -> OutputSpec {
    // Declared schemas are complete.
    if !new.documents.is_empty() || !old.documents.is_empty() {
        return new;
    }
    carry_over_schema(new.schema.as_mut(), old.schema.as_ref());
    let error_schema = |errors: &agentnative_contract::ErrorSpec| errors.schema.clone();
    let old_errors = old.errors.as_ref().and_then(error_schema);
    carry_over_schema(new.errors.as_mut().and_then(|errors| errors.schema.as_mut()), old_errors.as_ref());
    if let (Some(new), Some(old)) = (&mut new.events, &old.events) {
        for (name, schema) in &mut new.types {
            carry_over_schema(Some(schema), old.types.get(name));
        }
    }
    new
}

fn carry_over_schema(new: Option<&mut Value>, old: Option<&Value>) {
    let (Some(Value::Object(new)), Some(Value::Object(old))) = (new, old) else { return };
    let is_unconstrained = |schema: &Members| schema.keys().all(|key| key == "$schema");
    if is_unconstrained(new) {
        if !is_unconstrained(old) {
            // The value was always null.
            *new = if allows_type(old, "null") {
                old.clone()
            } else {
                Map::from_iter([("type".to_owned(), json!("null"))])
            };
        }
        return;
    }
    if allows_type(new, "array") {
        match (new.get_mut("items"), old.get("items")) {
            (None, Some(items)) => drop(new.insert("items".into(), items.clone())),
            (items, old) => carry_over_schema(items, old),
        }
    }
    if allows_type(new, "object") {
        carry_over_object(new, old);
    }
}

fn carry_over_object(new: &mut Members, old: &Members) {
    let values = old.get("additionalProperties").filter(|_| !old.contains_key("properties"));
    if let Some(values) = values {
        if let Some(Value::Object(properties)) = new.remove("properties") {
            // The keys are data that look like names in these runs.
            new.remove("required");
            let mut schemas: Vec<Value> = Vec::new();
            for (_, mut schema) in properties {
                carry_over_schema(Some(&mut schema), Some(values));
                if !schemas.contains(&schema) {
                    schemas.push(schema);
                }
            }
            let schema = if schemas.len() == 1 { schemas.remove(0) } else { json!({ "anyOf": schemas }) };
            new.insert("additionalProperties".into(), schema);
        } else if !new.contains_key("additionalProperties") {
            new.insert("additionalProperties".into(), values.clone());
        } else {
            carry_over_schema(new.get_mut("additionalProperties"), Some(values));
        }
        return;
    }
    if let (Some(Value::Object(new)), Some(Value::Object(old))) =
        (new.get_mut("properties"), old.get("properties"))
    {
        for (key, schema) in new {
            carry_over_schema(Some(schema), old.get(key));
        }
    }
}

/// Returns whether the keyword `type` of a schema contains the type name. Returns false without the keyword.
fn allows_type(schema: &Members, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(only)) => only == name,
        Some(Value::Array(several)) => several.iter().any(|one| one == name),
        _ => false,
    }
}
