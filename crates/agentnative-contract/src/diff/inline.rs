//! A schema that stands for itself, made of one that refers to others.

use super::bundle::{BY_NAME, ONE, SEVERAL, UNKNOWN};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The schema with all that it refers to written out, or under `$defs` (by numbers in the order in which they
/// are met) where it goes round in a circle; and whether some of it is not understood.
///
/// Schemas that say the same in the same words come out the same, whatever their definitions are called.
pub(super) fn inlined(schema: &Value, root: &Value) -> (Value, bool) {
    let mut writer =
        Writer { root, open: Vec::new(), numbers: BTreeMap::new(), defs: Map::new(), opaque: false };
    let mut written = writer.write(schema, 0);
    if !writer.defs.is_empty() {
        let text = format!("{written}{}", Value::Object(writer.defs.clone()));
        let id = format!("urn:agentnative:{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()));
        // With an ID of its own it can be put into another schema.
        written = json!({ "$id": id, "allOf": [written], "$defs": writer.defs });
    }
    (written, writer.opaque)
}

/// References that are followed one in another, at most.
const MAX_DEPTH: usize = 40;

struct Writer<'a> {
    root: &'a Value,
    /// The references that are being followed.
    open: Vec<String>,
    /// The numbers of those that go round in a circle.
    numbers: BTreeMap<String, usize>,
    defs: Map<String, Value>,
    opaque: bool,
}

impl Writer<'_> {
    fn write(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(members) = schema.as_object() else { return schema.clone() };
        if depth > 400 {
            self.opaque = true;
            return json!({ UNKNOWN: "too deep" });
        }
        let mut written = Map::new();
        for (keyword, value) in members {
            let rewritten = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = self.follow(reference, depth);
                    if members.len() == 1 {
                        return target;
                    }
                    // A reference beside other keywords is one more part of all.
                    let mut parts = match written.remove("allOf") {
                        Some(Value::Array(parts)) => parts,
                        _ => Vec::new(),
                    };
                    parts.push(target);
                    written.insert("allOf".to_owned(), Value::Array(parts));
                    continue;
                }
                (UNKNOWN, _) => {
                    self.opaque = true;
                    value.clone()
                }
                (keyword, Value::Object(all)) if BY_NAME.contains(&keyword) => Value::Object(
                    all.iter().map(|(name, schema)| (name.clone(), self.write(schema, depth + 1))).collect(),
                ),
                (keyword, Value::Array(all)) if SEVERAL.contains(&keyword) => {
                    let mut all: Vec<Value> =
                        all.iter().map(|schema| self.write(schema, depth + 1)).collect();
                    if keyword == "allOf"
                        && let Some(Value::Array(before)) = written.remove("allOf")
                    {
                        all.extend(before);
                    }
                    Value::Array(all)
                }
                (keyword, schema) if ONE.contains(&keyword) => self.write(schema, depth + 1),
                ("required" | "enum" | "type", Value::Array(all)) => {
                    let mut all = all.clone();
                    all.sort_by_key(ToString::to_string);
                    Value::Array(all)
                }
                _ => value.clone(),
            };
            written.insert(keyword.clone(), rewritten);
        }
        Value::Object(written)
    }

    fn follow(&mut self, reference: &str, depth: usize) -> Value {
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
            self.opaque = true;
            return json!({ UNKNOWN: reference });
        };
        let next = self.numbers.len();
        if self.open.iter().any(|open| open == reference) || self.open.len() >= MAX_DEPTH {
            let known = self.numbers.contains_key(reference);
            let number = *self.numbers.entry(reference.to_owned()).or_insert(next);
            if !known {
                let before = std::mem::take(&mut self.open);
                self.open.push(reference.to_owned());
                let written = self.write(target, depth + 1);
                self.open = before;
                self.defs.insert(number.to_string(), written);
            }
            return json!({ "$ref": format!("#/$defs/{number}") });
        }
        self.open.push(reference.to_owned());
        let written = self.write(target, depth + 1);
        self.open.pop();
        written
    }
}
