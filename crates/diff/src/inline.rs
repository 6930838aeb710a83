//! Replaces the references in a schema by their targets, so that the schema does not depend on its document.

use super::bundle::{UNKNOWN_KEYWORD, map_schemas};
use agentnative_contract::budget::checkpoint;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Replaces each `$ref` in a schema by its target in `root`. Targets of recursive or deeply nested references are put
/// under `$defs`, numbered in the order of their first use. Returns the schema, and whether it has a part that cannot
/// be resolved.
///
/// Two schemas that differ only in the names of their definitions give the same result.
pub(super) fn inline_references(schema: &Value, root: &Value) -> (Value, bool) {
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
        // With its own ID, it can be embedded in another schema.
        written = json!({ "$id": id, "allOf": [written], "$defs": defs });
    }
    (written, writer.opaque)
}

/// Maximum number of references that are inlined within each other.
const MAX_REFERENCES: usize = 40;
/// References that are nested deeper than this in the schema are put under `$defs` instead of being inlined.
const MAX_DEPTH: usize = 280;
/// Parts of a schema that are nested deeper than this become unknown. Schemas from a file are far less deep.
const MAX_LEVELS: usize = MAX_DEPTH + 400;

struct Writer<'a> {
    root: &'a Value,
    /// References that are being inlined, the outermost first. A reference that is already in the list is recursive.
    open: Vec<String>,
    /// Key under `$defs` of each reference that is not inlined.
    numbers: BTreeMap<String, usize>,
    /// References that are not inlined, each with its target. The index is the key under `$defs`.
    apart: Vec<(String, &'a Value)>,
    opaque: bool,
}

impl<'a> Writer<'a> {
    fn write(&mut self, schema: &Value, depth: usize) -> Value {
        checkpoint();
        let Some(members) = schema.as_object() else { return schema.clone() };
        if depth > MAX_LEVELS {
            self.opaque = true;
            return json!({ UNKNOWN_KEYWORD: "nested too deeply" });
        }
        let mut written = Map::new();
        for (keyword, value) in members {
            let rewritten = match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = self.follow(reference, depth);
                    if members.len() == 1 {
                        return target;
                    }
                    // A reference next to other keywords becomes a part of `allOf`.
                    if let Value::Array(parts) = written.entry("allOf").or_insert_with(|| json!([])) {
                        parts.push(target);
                    }
                    continue;
                }
                (UNKNOWN_KEYWORD, _) => {
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
            return json!({ UNKNOWN_KEYWORD: reference });
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
