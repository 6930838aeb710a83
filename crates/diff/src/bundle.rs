//! Bundles all schemas of one output specification in one document. References become local (`#/$defs/…`), and older
//! drafts of JSON Schema are translated to 2020-12.

use agentnative_contract::OutputSpec;
use jsonschema::uri::from_str as uri;
use jsonschema::{Draft, Registry, RegistryBuilder, Retrieve, Uri};
use referencing::Resolver;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use strict_json::escape_token;

/// Non-standard keyword that replaces a part of a schema that cannot be resolved, such as a `$ref` without a target.
/// Its value is a text about that part, so that different parts stay different.
pub(super) const UNKNOWN_KEYWORD: &str = "agentnative:unknown";

/// Keywords whose value is a single schema, such as `not`.
const SINGLE_SCHEMA_KEYWORDS: [&str; 12] = [
    "not",
    "if",
    "then",
    "else",
    "items",
    "contains",
    "additionalItems",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
];
const SCHEMA_ARRAY_KEYWORDS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const SCHEMA_MAP_KEYWORDS: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that the translation to 2020-12 drops: they constrain no values, or are redundant after the translation.
const DROPPED_KEYWORDS: [&str; 15] = [
    "$id",
    "id",
    "$schema",
    "$anchor",
    "$dynamicAnchor",
    "$recursiveAnchor",
    "$defs",
    "definitions",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "additionalItems",
];

/// Each keyword with the first and the last draft that define it; `Draft::Unknown` as the last one means "up to now".
/// Keywords without an entry exist in all drafts.
const KEYWORD_DRAFTS: [(&str, Draft, Draft); 16] = [
    ("const", Draft::Draft6, Draft::Unknown),
    ("contains", Draft::Draft6, Draft::Unknown),
    ("propertyNames", Draft::Draft6, Draft::Unknown),
    ("if", Draft::Draft7, Draft::Unknown),
    ("then", Draft::Draft7, Draft::Unknown),
    ("else", Draft::Draft7, Draft::Unknown),
    ("dependentRequired", Draft::Draft201909, Draft::Unknown),
    ("dependentSchemas", Draft::Draft201909, Draft::Unknown),
    ("unevaluatedItems", Draft::Draft201909, Draft::Unknown),
    ("unevaluatedProperties", Draft::Draft201909, Draft::Unknown),
    ("minContains", Draft::Draft201909, Draft::Unknown),
    ("maxContains", Draft::Draft201909, Draft::Unknown),
    ("contentSchema", Draft::Draft201909, Draft::Unknown),
    ("$recursiveRef", Draft::Draft201909, Draft::Draft201909),
    ("$dynamicRef", Draft::Draft202012, Draft::Unknown),
    ("prefixItems", Draft::Draft202012, Draft::Unknown),
];

/// Returns whether a draft of JSON Schema defines a keyword.
fn is_defined_in(keyword: &str, draft: Draft) -> bool {
    let entry = KEYWORD_DRAFTS.iter().find(|(name, ..)| *name == keyword);
    entry.is_none_or(|(_, first, last)| (*first..=*last).contains(&draft))
}

/// Key of the schema of the data under `$defs` of the bundle.
pub(super) const DATA_SCHEMA: &str = "data";
pub(super) const ERROR_SCHEMA: &str = "error";

/// Applies `each` to every schema that the value of a keyword contains, and returns the value with the results in their
/// place.
pub(super) fn map_schemas<'s>(
    keyword: &str,
    value: &'s Value,
    mut each: impl FnMut(&'s Value) -> Value,
) -> Value {
    match value {
        Value::Array(all) if SCHEMA_ARRAY_KEYWORDS.contains(&keyword) => all.iter().map(each).collect(),
        Value::Object(all) if SCHEMA_MAP_KEYWORDS.contains(&keyword) => {
            all.iter().map(|(name, schema)| (name.clone(), each(schema))).collect()
        }
        schema if SINGLE_SCHEMA_KEYWORDS.contains(&keyword) => each(schema),
        _ => value.clone(),
    }
}

/// Returns the schemas in the array that is the value of a keyword, such as `anyOf`. Empty if the schema lacks the
/// keyword.
pub(super) fn subschemas<'s>(
    members: &'s Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'s Value> {
    members.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Returns the key of an event type's schema under `$defs` of the bundle, such as `event start`.
pub(super) fn event_schema_name(name: &str) -> String {
    format!("event {name}")
}

/// A document with all schemas of an output specification under `$defs`. Its own schemas have names (`data`, `error`);
/// schemas that they refer to have numbers.
pub(super) struct Bundle {
    pub root: Value,
}

impl Bundle {
    /// Bundles the schemas of an output specification.
    pub fn new(spec: &OutputSpec) -> Self {
        let errors = spec.errors.as_ref().and_then(|errors| errors.schema.as_ref());
        let types = spec.events.iter().flat_map(|events| &events.types);
        let named_schemas = spec.schema.iter().map(|schema| (DATA_SCHEMA.to_owned(), schema));
        let named_schemas = named_schemas
            .chain(errors.map(|schema| (ERROR_SCHEMA.to_owned(), schema)))
            .chain(types.map(|(name, schema)| (event_schema_name(name), schema)));
        let named_schemas: Vec<(String, Uri<String>, &Value)> = named_schemas
            .enumerate()
            .filter_map(|(nth, (name, schema))| Some((name, uri(&format!("promise:/{nth}")).ok()?, schema)))
            .collect();
        let documents = spec.documents.iter().map(|(uri, document)| (uri.as_str(), document));
        let all: Vec<(&str, &Value)> =
            named_schemas.iter().map(|(_, uri, schema)| (uri.as_str(), *schema)).chain(documents).collect();
        let dynamic_anchor_names: Vec<&str> =
            all.iter().flat_map(|(_, schema)| dynamic_anchors(schema)).collect();
        let resources = all
            .into_iter()
            .map(|(uri, schema)| (uri, draft_of(schema, Draft::default()).create_resource_ref(schema)));
        let registry = Registry::new().retriever(MissingDocuments).extend(resources);
        let registry = registry.and_then(RegistryBuilder::prepare);
        let mut translated = Map::new();
        match &registry {
            Ok(registry) => {
                let mut translation =
                    Translation { dynamic_anchor_names, names: HashMap::new(), pending: Vec::new() };
                for (name, uri, schema) in &named_schemas {
                    let (resolver, draft) =
                        (registry.resolver(uri.clone()), draft_of(schema, Draft::default()));
                    translation.bundled_name(schema, resolver, draft, Some(name));
                }
                while let Some(Pending { name, schema, resolver, draft }) = translation.pending.pop() {
                    translated.insert(name, translation.translate(schema, &resolver, draft));
                }
            }
            Err(error) => {
                let unknown = json!({ UNKNOWN_KEYWORD: error.to_string() });
                translated.extend(named_schemas.iter().map(|(name, ..)| (name.clone(), unknown.clone())));
            }
        }
        Self { root: json!({ "$defs": translated }) }
    }

    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.root.get("$defs")?.get(name)
    }
}

/// Stands in for schema documents that the output specification does not contain: returns a schema with
/// [`UNKNOWN_KEYWORD`] and fetches nothing.
struct MissingDocuments;

impl Retrieve for MissingDocuments {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(json!({ UNKNOWN_KEYWORD: uri.as_str() }))
    }
}

/// Returns the draft of a schema: by its `$schema`, otherwise `outer`, the draft of the enclosing schema. An unknown
/// draft counts as the latest.
fn draft_of(schema: &Value, outer: Draft) -> Draft {
    match outer.detect(schema) {
        Draft::Unknown => Draft::default(),
        draft => draft,
    }
}

/// Returns the values of all `$dynamicAnchor` keywords in a document, including duplicates.
fn dynamic_anchors(value: &Value) -> Vec<&str> {
    match value {
        Value::Object(members) => {
            let own = members.get("$dynamicAnchor").and_then(Value::as_str);
            own.into_iter().chain(members.values().flat_map(dynamic_anchors)).collect()
        }
        Value::Array(elements) => elements.iter().flat_map(dynamic_anchors).collect(),
        _ => Vec::new(),
    }
}

/// A schema that is not translated yet: its name in the bundle, its draft, and the resolver for its references.
struct Pending<'r> {
    name: String,
    schema: &'r Value,
    resolver: Resolver<'r>,
    draft: Draft,
}

/// State of the translation of schemas to draft 2020-12. References are rewritten to schemas in the bundle.
struct Translation<'r> {
    /// Names of all dynamic anchors in all documents. A name that occurs twice stands for two anchors.
    dynamic_anchor_names: Vec<&'r str>,
    /// Keys under `$defs` of the schemas found until now. The index is the address of the schema in memory.
    names: HashMap<usize, String>,
    pending: Vec<Pending<'r>>,
}

impl<'r> Translation<'r> {
    /// Returns the key of a schema under `$defs`. A new schema is queued for translation, with `name` as its key, or a
    /// number if `name` is `None`.
    fn bundled_name(
        &mut self,
        schema: &'r Value,
        resolver: Resolver<'r>,
        draft: Draft,
        name: Option<&String>,
    ) -> String {
        let address = std::ptr::from_ref(schema).addr();
        if let Some(known) = self.names.get(&address) {
            return known.clone();
        }
        let name = name.cloned().unwrap_or_else(|| self.names.len().to_string());
        self.names.insert(address, name.clone());
        self.pending.push(Pending { name: name.clone(), schema, resolver, draft });
        name
    }

    fn translate(&mut self, schema: &'r Value, resolver: &Resolver<'r>, draft: Draft) -> Value {
        let Some(members) = schema.as_object() else { return schema.clone() };
        let draft = draft_of(schema, draft);
        let resolver = match resolver.in_subresource(draft.create_resource_ref(schema)) {
            Ok(resolver) => resolver,
            Err(error) => return json!({ UNKNOWN_KEYWORD: error.to_string() }),
        };
        // Up to draft 7, the keywords next to `$ref` have no effect.
        let only_reference =
            matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7) && members.contains_key("$ref");
        let mut out = Map::new();
        for (keyword, value) in members {
            let is_dropped = DROPPED_KEYWORDS.contains(&keyword.as_str()) || !is_defined_in(keyword, draft);
            if is_dropped || only_reference && keyword != "$ref" {
                continue;
            }
            let mut each = |value: &'r Value| self.translate(value, &resolver, draft);
            let (keyword, value) = match (keyword.as_str(), value) {
                ("$ref", _) => self.reference(value, &resolver),
                ("$dynamicRef" | "$recursiveRef", _) => self.dynamic_reference(value, &resolver),
                ("items", Value::Array(all)) if draft != Draft::Draft202012 => {
                    if let Some(rest) = members.get("additionalItems") {
                        out.insert("items".to_owned(), each(rest));
                    }
                    ("prefixItems", all.iter().map(each).collect())
                }
                ("dependencies", Value::Object(all)) => {
                    let (keys, schemas): (Vec<_>, Vec<_>) =
                        all.iter().partition(|(_, value)| value.is_array());
                    let keys = keys.into_iter().map(|(name, keys)| (name.clone(), keys.clone())).collect();
                    out.insert("dependentRequired".to_owned(), Value::Object(keys));
                    let schemas = schemas.into_iter().map(|(name, schema)| (name.clone(), each(schema)));
                    ("dependentSchemas", Value::Object(schemas.collect()))
                }
                ("exclusiveMinimum" | "exclusiveMaximum", Value::Bool(exclusive)) => {
                    let inclusive = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                    match members.get(inclusive) {
                        Some(bound) if *exclusive => (keyword.as_str(), bound.clone()),
                        _ => continue,
                    }
                }
                (keyword, value) => (keyword, map_schemas(keyword, value, each)),
            };
            out.insert(keyword.to_owned(), value);
        }
        Value::Object(out)
    }

    /// Translates the value of a `$ref`. Returns a keyword with its value: `$ref` with a reference into the bundle, or
    /// [`UNKNOWN_KEYWORD`] if the target does not exist.
    fn reference(&mut self, value: &Value, resolver: &Resolver<'r>) -> (&'static str, Value) {
        let text = value.as_str().unwrap_or_default();
        let target = resolver.lookup(text).ok().map(referencing::Resolved::into_inner);
        match target.filter(|(schema, ..)| schema.is_object() || schema.is_boolean()) {
            Some((schema, resolver, draft)) => (
                "$ref",
                json!(format!("#/$defs/{}", escape_token(&self.bundled_name(schema, resolver, draft, None)))),
            ),
            None => (UNKNOWN_KEYWORD, json!(format!("$ref {text}"))),
        }
    }

    /// Translates the value of a `$dynamicRef` or `$recursiveRef`. Returns a keyword with its value: `$ref` if only one
    /// target is possible, otherwise [`UNKNOWN_KEYWORD`].
    fn dynamic_reference(&mut self, value: &Value, resolver: &Resolver<'r>) -> (&'static str, Value) {
        let text = value.as_str().unwrap_or_default();
        let anchor = text.split_once('#').map_or("", |(_, anchor)| anchor);
        let anchors = self.dynamic_anchor_names.iter().filter(|name| **name == anchor).count();
        if anchors > 1 || anchor.is_empty() && text != "#" {
            (UNKNOWN_KEYWORD, json!(format!("$dynamicRef {text}")))
        } else {
            self.reference(value, resolver)
        }
    }
}
