//! All schemas of one side in one value: every reference local, every draft translated to 2020-12.

use agentnative_contract::OutputSpec;
use jsonschema::uri::from_str as uri;
use jsonschema::{Draft, Registry, RegistryBuilder, Retrieve, Uri};
use referencing::Resolver;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use strict_json::escape_token;

/// A keyword of ours for what could not be understood, such as a dangling reference. Its text tells two of
/// them apart.
pub(super) const UNKNOWN: &str = "agentnative:unknown";

/// Which keywords hold schemas, and how.
const ONE: [&str; 12] = [
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
const SEVERAL: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
const BY_NAME: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that say nothing of values, or that the translation makes needless.
const DROPPED: [&str; 15] = [
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

/// The drafts from the first to the last that know a keyword; all of them know the others.
const DRAFTS: [(&str, Draft, Draft); 16] = [
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

/// Whether a keyword means something in a draft.
fn is_known(keyword: &str, draft: Draft) -> bool {
    let row = DRAFTS.iter().find(|(name, ..)| *name == keyword);
    row.is_none_or(|(_, first, last)| (*first..=*last).contains(&draft))
}

/// The names of a promise's own schemas in the bundle.
pub(super) const DATA: &str = "data";
pub(super) const ERROR: &str = "error";

/// The value of a keyword with each schema in it replaced.
pub(super) fn map_schemas<'s>(
    keyword: &str,
    value: &'s Value,
    mut each: impl FnMut(&'s Value) -> Value,
) -> Value {
    match value {
        Value::Array(all) if SEVERAL.contains(&keyword) => all.iter().map(each).collect(),
        Value::Object(all) if BY_NAME.contains(&keyword) => {
            all.iter().map(|(name, schema)| (name.clone(), each(schema))).collect()
        }
        schema if ONE.contains(&keyword) => each(schema),
        _ => value.clone(),
    }
}

/// The schemas in a list that a keyword holds.
pub(super) fn parts<'s>(members: &'s Map<String, Value>, keyword: &str) -> impl Iterator<Item = &'s Value> {
    members.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// The name of an event's schema in the bundle.
pub(super) fn event(name: &str) -> String {
    format!("event {name}")
}

/// The bundle of a promise's schemas: each under `$defs`, by these names, and what they refer to by numbers.
pub(super) struct Bundle {
    /// The one value.
    pub root: Value,
}

impl Bundle {
    /// The schemas of a promise.
    pub fn new(promise: &OutputSpec) -> Self {
        let errors = promise.errors.as_ref().and_then(|errors| errors.schema.as_ref());
        let types = promise.events.iter().flat_map(|events| &events.types);
        let own = promise.schema.iter().map(|schema| (DATA.to_owned(), schema));
        let own = own
            .chain(errors.map(|schema| (ERROR.to_owned(), schema)))
            .chain(types.map(|(name, schema)| (event(name), schema)));
        let own: Vec<(String, Uri<String>, &Value)> = own
            .enumerate()
            .filter_map(|(nth, (name, schema))| Some((name, uri(&format!("promise:/{nth}")).ok()?, schema)))
            .collect();
        let documents = promise.documents.iter().map(|(uri, document)| (uri.as_str(), document));
        let all: Vec<(&str, &Value)> =
            own.iter().map(|(_, uri, schema)| (uri.as_str(), *schema)).chain(documents).collect();
        let dynamic: Vec<&str> = all.iter().flat_map(|(_, schema)| dynamic_anchors(schema)).collect();
        let resources = all
            .into_iter()
            .map(|(uri, schema)| (uri, draft_of(schema, Draft::default()).create_resource_ref(schema)));
        let registry = Registry::new().retriever(Unavailable).extend(resources);
        let registry = registry.and_then(RegistryBuilder::prepare);
        let mut translated = Map::new();
        match &registry {
            Ok(registry) => {
                let mut translation = Translation { dynamic, names: HashMap::new(), pending: Vec::new() };
                for (name, uri, schema) in &own {
                    let (resolver, draft) =
                        (registry.resolver(uri.clone()), draft_of(schema, Draft::default()));
                    translation.named(schema, resolver, draft, Some(name));
                }
                while let Some(Pending { name, schema, resolver, draft }) = translation.pending.pop() {
                    translated.insert(name, translation.translate(schema, &resolver, draft));
                }
            }
            Err(error) => {
                let unknown = json!({ UNKNOWN: error.to_string() });
                translated.extend(own.iter().map(|(name, ..)| (name.clone(), unknown.clone())));
            }
        }
        Self { root: json!({ "$defs": translated }) }
    }

    /// The schema of this name.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.root.get("$defs")?.get(name)
    }
}

/// Stands for every document that a promise does not hold.
struct Unavailable;

impl Retrieve for Unavailable {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn std::error::Error + Send + Sync>> {
        Ok(json!({ UNKNOWN: uri.as_str() }))
    }
}

/// The draft of a schema within one of another draft; one that is not known is read as the latest.
fn draft_of(schema: &Value, outer: Draft) -> Draft {
    match outer.detect(schema) {
        Draft::Unknown => Draft::default(),
        draft => draft,
    }
}

/// The names of all dynamic anchors in a document.
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

/// A schema that is still to be translated, and how its references are read.
struct Pending<'r> {
    name: String,
    schema: &'r Value,
    resolver: Resolver<'r>,
    draft: Draft,
}

/// Translates schemas to 2020-12, with references into the bundle.
struct Translation<'r> {
    /// The names of all dynamic anchors.
    dynamic: Vec<&'r str>,
    /// The names in the bundle of schemas that something refers to, by their address.
    names: HashMap<usize, String>,
    pending: Vec<Pending<'r>>,
}

impl<'r> Translation<'r> {
    /// The name of a schema in the bundle; one that is new there gets the name that is given, or a number.
    fn named(
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
            Err(error) => return json!({ UNKNOWN: error.to_string() }),
        };
        // Until draft 7, what stands beside a reference does not count.
        let alone =
            matches!(draft, Draft::Draft4 | Draft::Draft6 | Draft::Draft7) && members.contains_key("$ref");
        let mut out = Map::new();
        for (keyword, value) in members {
            let dropped = DROPPED.contains(&keyword.as_str()) || !is_known(keyword, draft);
            if dropped || alone && keyword != "$ref" {
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
                    let plain = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                    match members.get(plain) {
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

    /// A reference into the bundle, or what says that it leads nowhere.
    fn reference(&mut self, value: &Value, resolver: &Resolver<'r>) -> (&'static str, Value) {
        let text = value.as_str().unwrap_or_default();
        let target = resolver.lookup(text).ok().map(referencing::Resolved::into_inner);
        match target.filter(|(schema, ..)| schema.is_object() || schema.is_boolean()) {
            Some((schema, resolver, draft)) => (
                "$ref",
                json!(format!("#/$defs/{}", escape_token(&self.named(schema, resolver, draft, None)))),
            ),
            None => (UNKNOWN, json!(format!("$ref {text}"))),
        }
    }

    /// A dynamic reference is a plain one where there is just one place that it can lead to.
    fn dynamic_reference(&mut self, value: &Value, resolver: &Resolver<'r>) -> (&'static str, Value) {
        let text = value.as_str().unwrap_or_default();
        let anchor = text.split_once('#').map_or("", |(_, anchor)| anchor);
        let places = self.dynamic.iter().filter(|name| **name == anchor).count();
        if places > 1 || anchor.is_empty() && text != "#" {
            (UNKNOWN, json!(format!("$dynamicRef {text}")))
        } else {
            self.reference(value, resolver)
        }
    }
}
