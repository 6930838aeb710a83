//! From a conjunction of schemas to alternatives.

use super::bundle::{UNKNOWN, parts};
use super::inline::inlined;
use super::predicates::{INWARD, contains, is_as_strict};
use super::typed_schema::{
    ArrayKeywords, Bound, Condition, Conjunction, ObjectKeywords, TypedSchema, accepts_nothing, bit,
};
use agentnative_contract::budget::checkpoint;
use serde_json::{Map, Value, json};
use strict_json::JsonType;

/// Alternatives of one schema, at most; beyond that a union is taken as a condition.
pub(super) const MAX_ALTERNATIVES: usize = 256;

/// Schemas that one value has to keep at one place, at most; what is beyond is not understood.
const MAX_SOURCES: usize = 1_000;

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

    /// What the reference of a schema names.
    pub fn reference(&self, members: &Map<String, Value>) -> Option<&'a Value> {
        self.target(members.get("$ref")?.as_str()?)
    }

    /// The node with what its references name in the place of those that are nothing else.
    pub fn followed(&self, node: &[&'a Value]) -> Conjunction<'a> {
        node.iter().map(|schema| self.follow(schema)).collect()
    }

    /// What a schema that is nothing but a reference leads to, through others.
    fn follow(&self, mut schema: &'a Value) -> &'a Value {
        let definitions = self.root.get("$defs").and_then(Value::as_object).map_or(0, Map::len);
        // After so many they go round in a circle.
        for _ in 0..=definitions {
            checkpoint();
            let alone = schema.as_object().filter(|members| members.len() == 1);
            let Some(target) = alone.and_then(|members| self.reference(members)) else { break };
            schema = target;
        }
        schema
    }

    /// The alternatives of a node, each of one type; none when nothing can keep it.
    pub fn alternatives(&self, node: &[&'a Value]) -> Vec<TypedSchema<'a>> {
        let made = node.iter().fold(vec![TypedSchema::any()], |made, schema| self.conjoin_each(made, schema));
        let mut resolved = Vec::new();
        for alt in made.iter().flat_map(TypedSchema::by_type) {
            self.resolve_branches(alt, &mut resolved);
        }
        resolved.into_iter().filter_map(|alt| self.normalized(alt)).collect()
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
        checkpoint();
        if alt.sources.len() >= MAX_SOURCES {
            let unknown = json!({ UNKNOWN: "too many schemas in one another" });
            alt.conditions.push(Condition { schema: unknown.into(), opaque: true });
            return vec![alt];
        }
        alt.sources.push(schema);
        self.assertions(&mut alt, members);
        if alt.types == 0 {
            return Vec::new();
        }
        let target = self.reference(members).map(|target| self.follow(target));
        let all = target.into_iter().chain(parts(members, "allOf"));
        let mut alts = all.fold(vec![alt], |alts, part| self.conjoin_each(alts, part));
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = members.get(keyword).and_then(Value::as_array) else { continue };
            let too_many = alts.len() * branches.len() > MAX_ALTERNATIVES;
            if too_many || keyword == "oneOf" && !self.mutually_exclusive(&alts, branches) {
                alts.iter_mut().for_each(|alt| alt.conditions.push(self.condition(members, &[keyword])));
            }
            if too_many {
                continue;
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
            _ => TypedSchema::any(),
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
        let apart = |left: &[Value], right: &[Value]| !left.iter().any(|value| contains(right, value));
        if let (Some(left), Some(right)) = (&left.values, &right.values) {
            return apart(left, right);
        }
        if common != bit(JsonType::Object) {
            return false;
        }
        let closed = |alt: &TypedSchema<'a>, key: &str| accepts_nothing(&alt.property(key));
        let excluded = |one: &TypedSchema<'a>, other: &TypedSchema<'a>| {
            one.required.iter().any(|key| closed(other, key))
        };
        let differ = |key: &&str| {
            let values = |alt: &TypedSchema<'a>| self.finite_values(&alt.property(key));
            values(left).zip(values(right)).is_some_and(|(left, right)| apart(&left, &right))
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
        for (side, key, open) in [
            (0, "minimum", false),
            (0, "exclusiveMinimum", true),
            (1, "maximum", false),
            (1, "exclusiveMaximum", true),
        ] {
            let bound = number(key).map(|at| Bound { at, open });
            if !is_as_strict(&alt.bounds[side], &bound, INWARD[side]) {
                alt.bounds[side] = bound;
            }
        }
        alt.multiples.extend(number("multipleOf"));
        let length = |key: &str| members.get(key).and_then(as_count);
        for (kind, least, most) in [
            (JsonType::String, "minLength", "maxLength"),
            (JsonType::Array, "minItems", "maxItems"),
            (JsonType::Object, "minProperties", "maxProperties"),
        ] {
            let (low, high) = &mut alt.lengths[kind as usize];
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
            alt.conditions.push(Condition { schema: json!({ UNKNOWN: unknown }).into(), opaque: true });
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
        let only = inner.iter().next().filter(|_| inner.len() == 1);
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
                alt.types &= !JsonType::from_name(name).map_or(0, bit);
            }
            _ => {
                let members = Map::from_iter([("not".to_owned(), not.clone())]);
                alt.conditions.push(self.condition(&members, &["not"]));
            }
        }
    }

    pub(super) fn condition(&self, members: &Map<String, Value>, keywords: &[&str]) -> Condition {
        let chosen = keywords.iter().filter_map(|key| Some(((*key).to_owned(), members.get(*key)?.clone())));
        let (schema, opaque) = inlined(&Value::Object(chosen.collect()), self.root);
        Condition { schema: schema.into(), opaque }
    }

    /// All that a node says in one schema without references outside, and whether it is understood.
    pub fn schema(&self, node: &[&Value]) -> Value {
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
    alt.types &= values.iter().fold(0, |bits, value| bits | bit(JsonType::from(value)));
    alt.values = Some(match alt.values.take() {
        Some(before) => before.into_iter().filter(|value| contains(&values, value)).collect(),
        None => values,
    });
}

/// A length; one beyond all counts is the greatest of them.
fn as_count(value: &Value) -> Option<usize> {
    let counts = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    let count = value.as_u64().or_else(|| Some(value.as_f64().filter(counts)? as u64))?;
    Some(usize::try_from(count).unwrap_or(usize::MAX))
}
