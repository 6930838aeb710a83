//! From a conjunction of schemas to alternatives.

use super::bundle::UNKNOWN;
use super::inline::inlined;
use super::predicates::{at_least, equal, finite_values};
use super::typed_schema::{
    ANY, ArrayKeywords, Bound, Condition, Conjunction, ObjectKeywords, TypedSchema, accepts_nothing, bit,
};
use serde_json::{Map, Value, json};
use strict_json::JsonType;

/// Alternatives of one schema, at most; beyond that a union is taken as a condition.
pub(super) const MAX_ALTERNATIVES: usize = 256;

/// Makes alternatives of schemas of one bundle.
#[derive(Clone, Copy)]
pub(super) struct Canonicalizer<'a> {
    pub root: &'a Value,
}

impl<'a> Canonicalizer<'a> {
    /// What a local reference names.
    pub fn target(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// The node with what its references name in the place of those that are nothing else.
    pub fn followed(&self, node: &[&'a Value]) -> Conjunction<'a> {
        let follow = |mut schema: &'a Value| {
            for _ in 0..32 {
                let Some(members) = schema.as_object().filter(|members| members.len() == 1) else { break };
                let Some(Value::String(reference)) = members.get("$ref") else { break };
                let Some(target) = self.target(reference) else { break };
                schema = target;
            }
            schema
        };
        node.iter().map(|schema| follow(schema)).collect()
    }

    /// The alternatives of a node, each of one type; none when nothing can keep it.
    pub fn alternatives(&self, node: &[&'a Value]) -> Vec<TypedSchema<'a>> {
        let mut made = vec![TypedSchema::default()];
        for schema in node {
            made = self.conjoin_each(made, schema);
        }
        let mut resolved = Vec::new();
        for alt in made {
            if alt.branches.is_empty() {
                self.resolve_branches(alt, &mut resolved);
            } else {
                alt.by_type().for_each(|alt| self.resolve_branches(alt, &mut resolved));
            }
        }
        resolved.iter().flat_map(TypedSchema::by_type).filter_map(|alt| self.normalized(alt)).collect()
    }

    pub(super) fn conjoin_each(&self, alts: Vec<TypedSchema<'a>>, schema: &'a Value) -> Vec<TypedSchema<'a>> {
        alts.into_iter().flat_map(|alt| self.conjoin(alt, schema)).collect()
    }

    /// An alternative that keeps this schema, too.
    pub(super) fn conjoin(&self, mut alt: TypedSchema<'a>, schema: &'a Value) -> Vec<TypedSchema<'a>> {
        let members = match schema {
            Value::Bool(true) => return vec![alt],
            Value::Object(members) => members,
            _ => return Vec::new(),
        };
        // To keep a schema twice is to keep it once; so recursion without an end ends.
        if alt.sources.iter().any(|known| std::ptr::eq(*known, schema)) {
            return vec![alt];
        }
        alt.sources.push(schema);
        self.assertions(&mut alt, members);
        if alt.types == 0 {
            return Vec::new();
        }
        let mut alts = vec![alt];
        if let Some(target) = members.get("$ref").and_then(Value::as_str).and_then(|text| self.target(text)) {
            alts = self.conjoin_each(alts, target);
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            alts = self.conjoin_each(alts, part);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = members.get(keyword).and_then(Value::as_array) else { continue };
            if alts.len() * branches.len() > MAX_ALTERNATIVES {
                alts.iter_mut().for_each(|alt| alt.conditions.push(self.condition(members, &[keyword])));
                continue;
            }
            let exclusive = keyword == "oneOf" && !self.mutually_exclusive(&alts, branches);
            if exclusive {
                alts.iter_mut().for_each(|alt| alt.conditions.push(self.condition(members, &[keyword])));
            }
            alts = alts
                .into_iter()
                .flat_map(|alt| branches.iter().flat_map(move |branch| self.conjoin(alt.clone(), branch)))
                .filter(|alt| self.is_satisfiable(alt))
                .collect();
        }
        alts
    }

    /// Whether at most one of these schemas can hold, as far as that is plain.
    fn mutually_exclusive(&self, alts: &[TypedSchema<'a>], branches: &'a [Value]) -> bool {
        let base = match alts {
            [only] => only.clone(),
            _ => TypedSchema::default(),
        };
        let each: Vec<Vec<TypedSchema<'_>>> =
            branches.iter().map(|branch| self.conjoin(base.clone(), branch)).collect();
        each.iter().enumerate().all(|(nth, one)| {
            each[nth + 1..]
                .iter()
                .all(|other| one.iter().all(|left| other.iter().all(|right| self.are_disjoint(left, right))))
        })
    }

    /// Whether no value keeps both, as far as that is plain.
    fn are_disjoint(&self, left: &TypedSchema<'a>, right: &TypedSchema<'a>) -> bool {
        let common = left.types & right.types;
        if common == 0 {
            return true;
        }
        if let (Some(left), Some(right)) = (&left.values, &right.values) {
            return !left.iter().any(|value| right.iter().any(|other| equal(value, other)));
        }
        if common != bit(JsonType::Object) {
            return false;
        }
        let closed = |alt: &TypedSchema<'a>, key: &str| accepts_nothing(&alt.property(key));
        let excluded = |one: &TypedSchema<'a>, other: &TypedSchema<'a>| {
            one.required.iter().any(|key| closed(other, key))
        };
        let differ = |key: &&str| match (
            finite_values(self, &left.property(key)),
            finite_values(self, &right.property(key)),
        ) {
            (Some(left), Some(right)) => {
                !left.iter().any(|value| right.iter().any(|other| equal(value, other)))
            }
            _ => false,
        };
        excluded(left, right)
            || excluded(right, left)
            || left.required.intersection(&right.required).any(differ)
    }

    /// The keywords of one schema object that are no schemas in place.
    fn assertions(&self, alt: &mut TypedSchema<'a>, members: &'a Map<String, Value>) {
        if let Some(types) = members.get("type") {
            types_of(types, alt);
        }
        if let Some(value) = members.get("const") {
            restrict_values(alt, vec![value.clone()]);
        }
        if let Some(values) = members.get("enum").and_then(Value::as_array) {
            restrict_values(alt, values.clone());
        }
        let number = |key: &str| members.get(key).and_then(Value::as_number).cloned();
        for (key, open) in [("minimum", false), ("exclusiveMinimum", true)] {
            if let Some(at) = number(key) {
                let bound = Bound { at, open };
                if alt.lower.as_ref().is_none_or(|lower| !at_least(lower, &bound)) {
                    alt.lower = Some(bound);
                }
            }
        }
        for (key, open) in [("maximum", false), ("exclusiveMaximum", true)] {
            if let Some(at) = number(key) {
                let bound = Bound { at, open };
                if alt.upper.as_ref().is_none_or(|upper| !super::predicates::at_most(upper, &bound)) {
                    alt.upper = Some(bound);
                }
            }
        }
        alt.multiples.extend(number("multipleOf"));
        let length =
            |key: &str| members.get(key).and_then(|value| value.as_u64().or_else(|| as_count(value)));
        for (at, least, most) in [
            (0, "minLength", "maxLength"),
            (1, "minItems", "maxItems"),
            (2, "minProperties", "maxProperties"),
        ] {
            let (low, high) = &mut alt.lengths[at];
            *low = (*low).max(length(least).unwrap_or(0));
            *high = [*high, length(most)].into_iter().flatten().min();
        }
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        alt.patterns.extend(text("pattern"));
        alt.formats.extend(text("format").map(str::to_owned));
        for key in ["contentEncoding", "contentMediaType"] {
            alt.formats.extend(text(key).map(|text| format!("{key} {text}")));
        }
        self.array_keywords(alt, members);
        self.object_keywords(alt, members);
        if members.contains_key("if") {
            alt.branches.push(members);
        }
        if let Some(not) = members.get("not") {
            self.negation(alt, not);
        }
        if let Some(unknown) = members.get(UNKNOWN) {
            alt.conditions.push(Condition { schema: json!({ UNKNOWN: unknown }), opaque: true });
        }
    }

    fn array_keywords(&self, alt: &mut TypedSchema<'a>, members: &'a Map<String, Value>) {
        let first = members.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let others = members.get("items");
        if !first.is_empty() || others.is_some_and(|others| !is_trivial(others)) {
            alt.elements.push(ArrayKeywords { first, others });
        }
        alt.unique |= members.get("uniqueItems") == Some(&Value::Bool(true));
        if members.contains_key("contains") {
            alt.conditions.push(self.condition(members, &["contains", "minContains", "maxContains"]));
        }
        if members.get("unevaluatedItems").is_some_and(|schema| !is_trivial(schema)) {
            let all =
                ["unevaluatedItems", "prefixItems", "items", "allOf", "anyOf", "oneOf", "$ref", "contains"];
            alt.conditions.push(self.condition(members, &all));
        }
    }

    fn object_keywords(&self, alt: &mut TypedSchema<'a>, members: &'a Map<String, Value>) {
        let object = |key: &str| members.get(key).and_then(Value::as_object);
        let (named, patterns) = (object("properties"), object("patternProperties"));
        let others = members.get("additionalProperties").filter(|others| !is_trivial(others));
        if named.is_some() || patterns.is_some() || others.is_some() {
            alt.keys.push(ObjectKeywords { named, patterns, others });
        }
        let unevaluated = members.get("unevaluatedProperties").filter(|others| !is_trivial(others));
        alt.unevaluated.extend(unevaluated);
        let names = |value: &'a Value| value.as_array().into_iter().flatten().filter_map(Value::as_str);
        alt.required.extend(members.get("required").into_iter().flat_map(names));
        alt.names.extend(members.get("propertyNames").filter(|names| !is_trivial(names)));
        for (key, needs) in object("dependentRequired").into_iter().flatten() {
            alt.dependent.entry(key).or_default().extend(names(needs));
        }
        if object("dependentSchemas").is_some_and(|schemas| !schemas.is_empty()) {
            alt.conditions.push(self.condition(members, &["dependentSchemas"]));
        }
    }

    /// `not`, where it is plain: types, values, keys that are not to be there.
    fn negation(&self, alt: &mut TypedSchema<'a>, not: &'a Value) {
        let Some(inner) = not.as_object() else {
            if not == &Value::Bool(true) {
                alt.types = 0;
            }
            return;
        };
        let only = (inner.len() == 1).then(|| inner.iter().next()).flatten();
        match only.map(|(keyword, value)| (keyword.as_str(), value)) {
            Some(("required", Value::Array(keys))) if keys.len() == 1 => {
                alt.forbidden.extend(keys[0].as_str());
                alt.types &= bit(JsonType::Object);
            }
            Some(("anyOf", Value::Array(parts))) => {
                for part in parts {
                    self.negation(alt, part);
                }
            }
            Some(("type", Value::String(name))) if name != "integer" && name != "number" => {
                let gone = JsonType::ALL.into_iter().filter(|kind| kind.name() == name.as_str());
                gone.for_each(|kind| alt.types &= !bit(kind));
            }
            _ => alt
                .conditions
                .push(self.condition(&Map::from_iter([("not".to_owned(), not.clone())]), &["not"])),
        }
    }

    pub(super) fn condition(&self, members: &Map<String, Value>, keywords: &[&str]) -> Condition {
        let chosen = keywords.iter().filter_map(|key| Some(((*key).to_owned(), members.get(*key)?.clone())));
        let (schema, opaque) = inlined(&Value::Object(chosen.collect()), self.root);
        Condition { schema, opaque }
    }

    /// All that a node says in one schema without references outside, and whether it is understood.
    pub fn schema(&self, node: &Conjunction<'a>) -> Value {
        let parts: Vec<Value> = node.iter().map(|schema| inlined(schema, self.root).0).collect();
        json!({ "allOf": parts })
    }
}

fn is_trivial(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

fn types_of(types: &Value, alt: &mut TypedSchema<'_>) {
    let one = std::slice::from_ref(types);
    let names = types.as_array().map_or(one, Vec::as_slice);
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let named = |kind: &JsonType| {
        names.contains(&kind.name()) || *kind == JsonType::Number && names.contains(&"integer")
    };
    alt.types &= JsonType::ALL.into_iter().filter(named).fold(0, |bits, kind| bits | bit(kind));
    alt.integer |= names.contains(&"integer") && !names.contains(&"number");
}

/// Keeps only these values.
fn restrict_values(alt: &mut TypedSchema<'_>, values: Vec<Value>) {
    alt.types &= values.iter().fold(0, |bits, value| bits | bit(JsonType::from(value))) & ANY;
    alt.values = Some(match alt.values.take() {
        Some(before) => {
            before.into_iter().filter(|value| values.iter().any(|other| equal(value, other))).collect()
        }
        None => values,
    });
}

fn as_count(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as u64)
}
