//! A schema that stands for itself, made of one that refers to others.

use super::bundle::{UNKNOWN, map_schemas};
use agentnative_contract::budget::checkpoint;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The schema with all that it refers to written out, or under `$defs` (by numbers in the order in which they
/// are met) where it goes round in a circle or goes on for long; and whether some of it is not understood.
///
/// Schemas that say the same in the same words come out the same, whatever their definitions are called.
pub(super) fn inlined(schema: &Value, root: &Value) -> (Value, bool) {
    let mut writer =
        Writer { root, open: Vec::new(), numbers: BTreeMap::new(), apart: Vec::new(), opaque: false };
    let mut written = writer.write(schema, 0);
    let mut defs = Map::new();
    while let Some((reference, target)) = writer.apart.get(defs.len()).cloned() {
        writer.open = vec![reference];
        defs.insert(defs.len().to_string(), writer.write(target, 0));
    }
    if !defs.is_empty() {
        let text = format!("{written}{}", Value::Object(defs.clone()));
        let id = format!("urn:agentnative:{:016x}", xxhash_rust::xxh3::xxh3_64(text.as_bytes()));
        // With an ID of its own it can be put into another schema.
        written = json!({ "$id": id, "allOf": [written], "$defs": defs });
    }
    (written, writer.opaque)
}

/// References that are written out one in another, at most.
const MAX_REFERENCES: usize = 40;
/// Schemas in one another that references are written out in, at most.
const MAX_DEPTH: usize = 280;
/// Schemas in one another, at most. A schema that is read is far less deep.
const MAX_LEVELS: usize = MAX_DEPTH + 400;

struct Writer<'a> {
    root: &'a Value,
    /// The references that are being followed.
    open: Vec<String>,
    /// The numbers of those that are written apart.
    numbers: BTreeMap<String, usize>,
    /// They and what they name, by number.
    apart: Vec<(String, &'a Value)>,
    opaque: bool,
}

impl<'a> Writer<'a> {
    fn write(&mut self, schema: &Value, depth: usize) -> Value {
        checkpoint();
        let Some(members) = schema.as_object() else { return schema.clone() };
        if depth > MAX_LEVELS {
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
                    if let Value::Array(parts) = written.entry("allOf").or_insert_with(|| json!([])) {
                        parts.push(target);
                    }
                    continue;
                }
                (UNKNOWN, _) => {
                    self.opaque = true;
                    value.clone()
                }
                ("required" | "enum" | "type", Value::Array(all)) => {
                    let mut all = all.clone();
                    all.sort_by_key(ToString::to_string);
                    Value::Array(all)
                }
                (keyword, value) => map_schemas(keyword, value, |schema| self.write(schema, depth + 1)),
            };
            match (written.get_mut(keyword), rewritten) {
                (Some(Value::Array(target)), Value::Array(all)) => drop(target.splice(0..0, all)),
                (_, rewritten) => drop(written.insert(keyword.clone(), rewritten)),
            }
        }
        Value::Object(written)
    }

    fn follow(&mut self, reference: &str, depth: usize) -> Value {
        let Some(target) = reference.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer)) else {
            self.opaque = true;
            return json!({ UNKNOWN: reference });
        };
        let is_short = self.open.len() < MAX_REFERENCES && depth < MAX_DEPTH;
        if is_short && !self.open.iter().any(|open| open == reference) {
            self.open.push(reference.to_owned());
            let written = self.write(target, depth + 1);
            self.open.pop();
            return written;
        }
        let next = self.apart.len();
        let number = *self.numbers.entry(reference.to_owned()).or_insert(next);
        if number == next {
            self.apart.push((reference.to_owned(), target));
        }
        json!({ "$ref": format!("#/$defs/{number}") })
    }
}
