//! All schemas of one side in one value: every reference local, every draft told as 2020-12.

use crate::OutputSpec;
use crate::sources::unescape;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use strict_json::{escape_token, unescape_token};

/// A keyword of ours for what could not be understood, such as a dangling reference. Its text tells two of
/// them apart.
pub(super) const UNKNOWN: &str = "agentnative:unknown";

/// Which keywords hold schemas, and how.
pub(super) const ONE: [&str; 12] = [
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
pub(super) const SEVERAL: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
pub(super) const BY_NAME: [&str; 5] =
    ["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"];
const WORDS: [&str; 11] = [
    "$id",
    "id",
    "$schema",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
];

/// Where something is said in a document: the base that references are relative to, and what is there.
struct Known {
    /// Pointer in the bundle by URI (with an anchor after `#`, without a `#` for whole resources).
    places: BTreeMap<String, String>,
    /// Pointers in the bundle of each `$dynamicAnchor`.
    dynamic: BTreeMap<String, Vec<String>>,
}

/// The bundle of a promise's schemas: each under `$defs`, by these names.
pub(super) struct Bundle {
    /// The one value.
    pub root: Value,
}

/// The names of a promise's own schemas in the bundle.
pub(super) const DATA: &str = "data";
pub(super) const ERROR: &str = "error";

/// The name of an event's schema in the bundle.
pub(super) fn event(name: &str) -> String {
    format!("event {name}")
}

impl Bundle {
    /// The schemas of a promise.
    pub fn of(promise: &OutputSpec) -> Self {
        let mut entries: Vec<(String, String, &Value)> = Vec::new();
        let errors = promise.errors.as_ref().and_then(|errors| errors.schema.as_ref());
        let types = promise.events.iter().flat_map(|events| &events.types);
        let types = types.map(|(name, schema)| (event(name), schema));
        let data = promise.schema.iter().map(|schema| (DATA.to_owned(), schema));
        let own = data.chain(errors.map(|schema| (ERROR.to_owned(), schema))).chain(types);
        for (nth, (name, schema)) in own.enumerate() {
            entries.push((name, format!("promise:/{nth}"), schema));
        }
        for (uri, document) in &promise.documents {
            entries.push((format!("document {uri}"), uri.clone(), document));
        }
        let mut known = Known { places: BTreeMap::new(), dynamic: BTreeMap::new() };
        for (name, uri, schema) in &entries {
            known.learn(schema, uri, &format!("/$defs/{}", escape_token(name)), true);
        }
        let mut all = Map::new();
        for (name, uri, schema) in &entries {
            let draft = Draft::of(schema, Draft::Latest);
            all.insert(name.clone(), known.told(schema, uri, draft));
        }
        let mut root = json!({ "$defs": all });
        for _ in 0..8 {
            if !mend(&mut root) {
                break;
            }
        }
        Self { root }
    }

    /// The schema of this name.
    pub fn schema(&self, name: &str) -> Option<&Value> {
        self.root.get("$defs")?.get(name)
    }
}

/// What a draft does otherwise than 2020-12.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Draft {
    /// 4: bounds are made exclusive by a boolean.
    Four,
    /// 6 and 7: `$ref` stands alone.
    Seven,
    /// 2019-09: `items` may be an array.
    Nineteen,
    /// 2020-12.
    Latest,
}

impl Draft {
    fn of(schema: &Value, otherwise: Self) -> Self {
        match schema.get("$schema").and_then(Value::as_str) {
            Some(uri) if uri.contains("draft-03") || uri.contains("draft-04") => Self::Four,
            Some(uri) if uri.contains("draft-06") || uri.contains("draft-07") => Self::Seven,
            Some(uri) if uri.contains("2019-09") => Self::Nineteen,
            Some(_) => Self::Latest,
            None => otherwise,
        }
    }
}

impl Known {
    /// Notes where the resources and anchors of a schema are.
    fn learn(&mut self, schema: &Value, base: &str, at: &str, top: bool) {
        let Some(members) = schema.as_object() else {
            if top {
                self.places.insert(base.to_owned(), at.to_owned());
            }
            return;
        };
        let id = members.get("$id").or_else(|| members.get("id")).and_then(Value::as_str);
        let mut base = base.to_owned();
        if top {
            self.places.insert(base.clone(), at.to_owned());
        }
        if let Some(id) = id {
            match id.strip_prefix('#') {
                Some(anchor) => {
                    self.places.insert(format!("{base}#{anchor}"), at.to_owned());
                }
                None => {
                    // What refers to the file by its own address still finds it.
                    base = join(&base, id.trim_end_matches('#'));
                    self.places.insert(base.clone(), at.to_owned());
                }
            }
        }
        for (keyword, list) in [("$anchor", false), ("$dynamicAnchor", true)] {
            if let Some(anchor) = members.get(keyword).and_then(Value::as_str) {
                self.places.insert(format!("{base}#{anchor}"), at.to_owned());
                if list {
                    self.dynamic.entry(anchor.to_owned()).or_default().push(at.to_owned());
                }
            }
        }
        for (keyword, value) in members {
            each_schema(keyword, value, &mut |path, schema| {
                self.learn(schema, &base, &format!("{at}/{}{path}", escape_token(keyword)), false);
            });
        }
    }

    /// The same schema in the words of 2020-12, with references into the bundle.
    fn told(&self, schema: &Value, base: &str, draft: Draft) -> Value {
        let Some(members) = schema.as_object() else { return schema.clone() };
        let draft = Draft::of(schema, draft);
        let id = members.get("$id").or_else(|| members.get("id")).and_then(Value::as_str);
        let base = match id {
            Some(id) if !id.starts_with('#') => join(base, id.trim_end_matches('#')),
            _ => base.to_owned(),
        };
        let alone = matches!(draft, Draft::Four | Draft::Seven) && members.contains_key("$ref");
        let mut told = Map::new();
        for (keyword, value) in members {
            let container = keyword == "definitions" || keyword == "$defs";
            if WORDS.contains(&keyword.as_str()) || alone && keyword != "$ref" && !container {
                continue;
            }
            let each = |value: &Value| self.told(value, &base, draft);
            let by_name = |value: &Value| match value {
                Value::Object(all) => {
                    Value::Object(all.iter().map(|(name, schema)| (name.clone(), each(schema))).collect())
                }
                other => other.clone(),
            };
            let list = |value: &Value| match value {
                Value::Array(all) => Value::Array(all.iter().map(each).collect()),
                other => other.clone(),
            };
            let old = draft != Draft::Latest;
            match keyword.as_str() {
                "$ref" => self.refer(value, &base, &mut told),
                "$dynamicRef" | "$recursiveRef" => self.refer_dynamically(value, &base, &mut told),
                "items" if old && value.is_array() => {
                    told.insert("prefixItems".to_owned(), list(value));
                    if let Some(rest) = members.get("additionalItems") {
                        told.insert("items".to_owned(), each(rest));
                    }
                }
                "additionalItems" | "$recursiveAnchor" => {}
                "dependencies" => {
                    let (mut keys, mut schemas) = (Map::new(), Map::new());
                    for (name, value) in value.as_object().into_iter().flatten() {
                        match value {
                            Value::Array(_) => keys.insert(name.clone(), value.clone()),
                            schema => schemas.insert(name.clone(), each(schema)),
                        };
                    }
                    told.insert("dependentRequired".to_owned(), Value::Object(keys));
                    told.insert("dependentSchemas".to_owned(), Value::Object(schemas));
                }
                "exclusiveMinimum" | "exclusiveMaximum" if value.is_boolean() => {
                    let plain = if keyword == "exclusiveMinimum" { "minimum" } else { "maximum" };
                    if let (Some(true), Some(bound)) = (value.as_bool(), members.get(plain)) {
                        told.insert(keyword.clone(), bound.clone());
                    }
                }
                keyword if ONE.contains(&keyword) => {
                    told.insert(keyword.to_owned(), each(value));
                }
                keyword if SEVERAL.contains(&keyword) => {
                    told.insert(keyword.to_owned(), list(value));
                }
                keyword if BY_NAME.contains(&keyword) => {
                    told.insert(keyword.to_owned(), by_name(value));
                }
                _ => {
                    told.insert(keyword.clone(), value.clone());
                }
            }
        }
        Value::Object(told)
    }

    fn refer(&self, value: &Value, base: &str, told: &mut Map<String, Value>) {
        let text = value.as_str().unwrap_or_default();
        let found = self.resolve(text, base);
        match found {
            Some(pointer) => told.insert("$ref".to_owned(), Value::String(format!("#{pointer}"))),
            None => told.insert(UNKNOWN.to_owned(), Value::String(format!("$ref {text}"))),
        };
    }

    /// A dynamic reference is a plain one where there is just one place that it can lead to.
    fn refer_dynamically(&self, value: &Value, base: &str, told: &mut Map<String, Value>) {
        let text = value.as_str().unwrap_or_default();
        let anchor = text.split_once('#').map_or("", |(_, anchor)| anchor);
        let several = self.dynamic.get(anchor).is_some_and(|places| places.len() > 1);
        if several || anchor.is_empty() && text != "#" {
            told.insert(UNKNOWN.to_owned(), Value::String(format!("$dynamicRef {text}")));
        } else {
            self.refer(value, base, told);
        }
    }

    fn resolve(&self, reference: &str, base: &str) -> Option<String> {
        let full = join(base, reference);
        let (file, fragment) = full.split_once('#').unwrap_or((&full, ""));
        if fragment.is_empty() || fragment.starts_with('/') {
            let place = self.places.get(file)?;
            return Some(format!("{place}{}", unescape(fragment)));
        }
        self.places.get(&full).cloned()
    }
}

/// Calls `each` with every schema directly under a keyword, and its pointer from there.
fn each_schema(keyword: &str, value: &Value, each: &mut dyn FnMut(&str, &Value)) {
    match value {
        Value::Object(all) if BY_NAME.contains(&keyword) || keyword == "dependencies" => {
            for (name, schema) in all {
                each(&format!("/{}", escape_token(name)), schema);
            }
        }
        Value::Array(all) if SEVERAL.contains(&keyword) || keyword == "items" => {
            for (nth, schema) in all.iter().enumerate() {
                each(&format!("/{nth}"), schema);
            }
        }
        schema if ONE.contains(&keyword) => each("", schema),
        _ => {}
    }
}

/// Turns references that lead nowhere into what is not understood, and mends those that lead to a place
/// that is called otherwise now. Gives whether something was changed.
fn mend(root: &mut Value) -> bool {
    fn look(value: &Value, root: &Value, wrong: &mut Vec<(String, String)>) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref")
                    && let Some(pointer) = reference.strip_prefix('#')
                    && !root.pointer(pointer).is_some_and(|found| found.is_object() || found.is_boolean())
                {
                    wrong.push((reference.clone(), modern(root, pointer)));
                }
                members.values().for_each(|value| look(value, root, wrong));
            }
            Value::Array(elements) => elements.iter().for_each(|value| look(value, root, wrong)),
            _ => {}
        }
    }
    fn replace(value: &mut Value, wrong: &[(String, String)]) {
        match value {
            Value::Object(members) => {
                if let Some(Value::String(reference)) = members.get("$ref")
                    && let Some((_, better)) = wrong.iter().find(|(text, _)| text == reference)
                {
                    let reference = members.remove("$ref").unwrap_or_default();
                    if better.is_empty() {
                        members.insert(UNKNOWN.to_owned(), reference);
                    } else {
                        members.insert("$ref".to_owned(), Value::String(format!("#{better}")));
                    }
                }
                members.values_mut().for_each(|value| replace(value, wrong));
            }
            Value::Array(elements) => elements.iter_mut().for_each(|value| replace(value, wrong)),
            _ => {}
        }
    }
    let mut wrong = Vec::new();
    look(root, root, &mut wrong);
    replace(root, &wrong);
    !wrong.is_empty()
}

/// A pointer into an older draft's words in those of 2020-12; empty if it leads nowhere.
fn modern(root: &Value, pointer: &str) -> String {
    let (mut at, mut path) = (root, String::new());
    let mut tokens = pointer.split('/').skip(1).peekable();
    while let Some(token) = tokens.next() {
        let plain = unescape_token(token);
        let number = tokens.peek().is_some_and(|next| next.bytes().all(|byte| byte.is_ascii_digit()));
        let called = match plain.as_str() {
            "items" if number && at.get("prefixItems").is_some() => "prefixItems",
            "additionalItems" => "items",
            "dependencies" => "dependentSchemas",
            other => other,
        };
        let next = match at {
            Value::Array(elements) => called.parse::<usize>().ok().and_then(|nth| elements.get(nth)),
            other => other.get(called),
        };
        let Some(next) = next else { return String::new() };
        at = next;
        path.push('/');
        path.push_str(&escape_token(called));
    }
    if path == pointer || !(at.is_object() || at.is_boolean()) { String::new() } else { path }
}

/// A reference against a base.
fn join(base: &str, reference: &str) -> String {
    if let Ok(base) = jsonschema::uri::from_str(base)
        && let Ok(full) = jsonschema::uri::resolve_against(&base.borrow(), reference)
    {
        return full.to_string().trim_end_matches('#').to_owned();
    }
    if reference.starts_with('#') { format!("{base}{reference}") } else { reference.to_owned() }
}
