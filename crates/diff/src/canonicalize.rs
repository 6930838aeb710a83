//! Converts a list of schemas that all apply to a value into alternatives. An alternative constrains values of one JSON
//! type; a value is valid if one alternative accepts it.

use super::bundle::{UNKNOWN_KEYWORD, subschemas};
use super::inline::inline_references;
use super::predicates::{INWARD, contains, is_as_strict};
use super::typed_schema::{
    ArrayKeywords, Bound, Condition, Conjunction, ObjectKeywords, TypedSchema, accepts_nothing, type_bit,
};
use agentnative_contract::budget::checkpoint;
use serde_json::{Map, Value, json};
use strict_json::JsonType;

/// Maximum number of alternatives of one schema. A union that would exceed it is not expanded; it is kept as one
/// condition.
pub(super) const MAX_ALTERNATIVES: usize = 256;

/// Maximum number of schemas that apply to one value. Further schemas count as unknown.
const MAX_SOURCES: usize = 1_000;

/// Converts schemas to alternatives. References are resolved in `root`, the bundle of all schemas of one version.
#[derive(Clone, Copy)]
pub(super) struct Canonicalizer<'a> {
    pub root: &'a Value,
}

impl<'a> Canonicalizer<'a> {
    /// Returns the schema that a local reference such as `#/$defs/data` refers to.
    pub fn resolve(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// Returns the target of the `$ref` in a schema object. `None` without `$ref`, or if the target does not exist.
    pub fn resolve_ref(&self, members: &Map<String, Value>) -> Option<&'a Value> {
        self.resolve(members.get("$ref")?.as_str()?)
    }

    /// Replaces each schema that contains only a `$ref` by the schema that it refers to.
    pub fn follow_all(&self, node: &[&'a Value]) -> Conjunction<'a> {
        node.iter().map(|schema| self.follow(schema)).collect()
    }

    /// Follows `$ref` as long as a schema contains nothing else, and returns the last schema.
    fn follow(&self, mut schema: &'a Value) -> &'a Value {
        let definitions = self.root.get("$defs").and_then(Value::as_object).map_or(0, Map::len);
        // A longer chain is a cycle.
        for _ in 0..=definitions {
            checkpoint();
            let reference = schema.as_object().filter(|members| members.len() == 1);
            let Some(target) = reference.and_then(|members| self.resolve_ref(members)) else { break };
            schema = target;
        }
        schema
    }

    /// Returns the alternatives for values that are valid under all schemas in `node`. Each alternative has one JSON
    /// type. Empty if no value is valid.
    pub fn alternatives(&self, node: &[&'a Value]) -> Vec<TypedSchema<'a>> {
        let alts = node.iter().fold(vec![TypedSchema::any()], |alts, schema| self.conjoin_all(alts, schema));
        let mut resolved = Vec::new();
        for alt in alts.iter().flat_map(TypedSchema::by_type) {
            self.resolve_branches(alt, &mut resolved);
        }
        resolved.into_iter().filter_map(|alt| self.normalized(alt)).collect()
    }

    pub(super) fn conjoin_all(&self, alts: Vec<TypedSchema<'a>>, schema: &'a Value) -> Vec<TypedSchema<'a>> {
        alts.into_iter().flat_map(|alt| self.conjoin(alt, schema)).collect()
    }

    /// Restricts an alternative by a further schema. The result has several alternatives if the schema is a union, and
    /// none if the schema contradicts the alternative.
    pub(super) fn conjoin(&self, mut alt: TypedSchema<'a>, schema: &'a Value) -> Vec<TypedSchema<'a>> {
        let members = match schema {
            Value::Bool(true) => return vec![alt],
            Value::Object(members) => members,
            _ => return Vec::new(),
        };
        // A schema that already applies adds nothing; this also ends infinite recursion.
        if alt.sources.iter().any(|known| std::ptr::eq(*known, schema)) {
            return vec![alt];
        }
        checkpoint();
        if alt.sources.len() >= MAX_SOURCES {
            let unknown = json!({ UNKNOWN_KEYWORD: "too many schemas apply to one value" });
            alt.conditions.push(Condition { schema: unknown.into(), opaque: true });
            return vec![alt];
        }
        alt.sources.push(schema);
        self.add_assertions(&mut alt, members);
        if alt.types == 0 {
            return Vec::new();
        }
        let target = self.resolve_ref(members).map(|target| self.follow(target));
        let all = target.into_iter().chain(subschemas(members, "allOf"));
        let mut alts = all.fold(vec![alt], |alts, part| self.conjoin_all(alts, part));
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

    /// Returns whether no value is valid under two of `branches`, the schemas of a `oneOf`. Returns false if this is
    /// expensive to decide.
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

    /// Returns whether no value is valid under both alternatives. Returns false if this is expensive to decide.
    fn are_disjoint(&self, left: &TypedSchema<'a>, right: &TypedSchema<'a>) -> bool {
        let common = left.types & right.types;
        if common == 0 {
            return true;
        }
        let disjoint = |left: &[Value], right: &[Value]| !left.iter().any(|value| contains(right, value));
        if let (Some(left), Some(right)) = (&left.values, &right.values) {
            return disjoint(left, right);
        }
        if common != type_bit(JsonType::Object) {
            return false;
        }
        let closed = |alt: &TypedSchema<'a>, key: &str| accepts_nothing(&alt.property(key));
        let excluded = |one: &TypedSchema<'a>, other: &TypedSchema<'a>| {
            one.required.iter().any(|key| closed(other, key))
        };
        let differ = |key: &&str| {
            let values = |alt: &TypedSchema<'a>| self.finite_values(&alt.property(key));
            values(left).zip(values(right)).is_some_and(|(left, right)| disjoint(&left, &right))
        };
        excluded(left, right)
            || excluded(right, left)
            || left.required.intersection(&right.required).any(differ)
    }

    /// Adds the constraints of a schema object to an alternative. The caller handles `$ref`, `allOf`, `anyOf` and
    /// `oneOf`.
    fn add_assertions(&self, alt: &mut TypedSchema<'a>, members: &'a Map<String, Value>) {
        if let Some(types) = members.get("type") {
            restrict_types(types, alt);
        }
        if let Some(value) = members.get("const") {
            restrict_values(alt, vec![value.clone()]);
        }
        if let Some(values) = members.get("enum").and_then(Value::as_array) {
            restrict_values(alt, values.clone());
        }
        let number = |key: &str| members.get(key).and_then(Value::as_number).cloned();
        for (side, key, exclusive) in [
            (0, "minimum", false),
            (0, "exclusiveMinimum", true),
            (1, "maximum", false),
            (1, "exclusiveMaximum", true),
        ] {
            let bound = number(key).map(|value| Bound { value, exclusive });
            if !is_as_strict(&alt.bounds[side], &bound, INWARD[side]) {
                alt.bounds[side] = bound;
            }
        }
        alt.multiples.extend(number("multipleOf"));
        let length = |key: &str| members.get(key).and_then(parse_length);
        for (json_type, min, max) in [
            (JsonType::String, "minLength", "maxLength"),
            (JsonType::Array, "minItems", "maxItems"),
            (JsonType::Object, "minProperties", "maxProperties"),
        ] {
            let (low, high) = &mut alt.lengths[json_type as usize];
            *low = (*low).max(length(min).unwrap_or(0));
            *high = [*high, length(max)].into_iter().flatten().min();
        }
        let text = |key: &str| members.get(key).and_then(Value::as_str);
        alt.patterns.extend(text("pattern"));
        alt.formats.extend(text("format").map(str::to_owned));
        for key in ["contentEncoding", "contentMediaType"] {
            alt.formats.extend(text(key).map(|text| format!("{key} {text}")));
        }
        self.add_array_keywords(alt, members);
        self.add_object_keywords(alt, members);
        if members.contains_key("if") {
            alt.conditionals.push(members);
        }
        if let Some(not) = members.get("not") {
            self.add_negation(alt, not);
        }
        if let Some(unknown) = members.get(UNKNOWN_KEYWORD) {
            alt.conditions
                .push(Condition { schema: json!({ UNKNOWN_KEYWORD: unknown }).into(), opaque: true });
        }
    }

    fn add_array_keywords(&self, alt: &mut TypedSchema<'a>, members: &'a Map<String, Value>) {
        let prefix = members.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let items = members.get("items");
        if !prefix.is_empty() || items.is_some_and(|items| !is_trivial(items)) {
            alt.elements.push(ArrayKeywords { prefix, items });
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

    fn add_object_keywords(&self, alt: &mut TypedSchema<'a>, members: &'a Map<String, Value>) {
        let object = |key: &str| members.get(key).and_then(Value::as_object);
        let (properties, patterns) = (object("properties"), object("patternProperties"));
        let additional = members.get("additionalProperties").filter(|schema| !is_trivial(schema));
        if properties.is_some() || patterns.is_some() || additional.is_some() {
            alt.keys.push(ObjectKeywords { properties, patterns, additional });
        }
        let unevaluated = members.get("unevaluatedProperties").filter(|schema| !is_trivial(schema));
        alt.unevaluated.extend(unevaluated);
        let names = |value: &'a Value| value.as_array().into_iter().flatten().filter_map(Value::as_str);
        alt.required.extend(members.get("required").into_iter().flat_map(names));
        alt.key_names.extend(members.get("propertyNames").filter(|names| !is_trivial(names)));
        for (key, needs) in object("dependentRequired").into_iter().flatten() {
            alt.dependent_required.entry(key).or_default().extend(names(needs));
        }
        if object("dependentSchemas").is_some_and(|schemas| !schemas.is_empty()) {
            alt.conditions.push(self.condition(members, &["dependentSchemas"]));
        }
    }

    /// Adds the schema of a `not` to an alternative. A negated type or required key becomes an exact constraint; any
    /// other negation becomes a condition.
    fn add_negation(&self, alt: &mut TypedSchema<'a>, not: &'a Value) {
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
                alt.types &= type_bit(JsonType::Object);
            }
            Some(("anyOf", Value::Array(parts))) => {
                for part in parts {
                    self.add_negation(alt, part);
                }
            }
            Some(("type", Value::String(name))) if name != "integer" && name != "number" => {
                alt.types &= !JsonType::from_name(name).map_or(0, type_bit);
            }
            _ => {
                let members = Map::from_iter([("not".to_owned(), not.clone())]);
                alt.conditions.push(self.condition(&members, &["not"]));
            }
        }
    }

    pub(super) fn condition(&self, members: &Map<String, Value>, keywords: &[&str]) -> Condition {
        let chosen = keywords.iter().filter_map(|key| Some(((*key).to_owned(), members.get(*key)?.clone())));
        let (schema, opaque) = inline_references(&Value::Object(chosen.collect()), self.root);
        Condition { schema: schema.into(), opaque }
    }

    /// Returns one schema without references that is equivalent to all schemas in `node` together.
    pub fn combined_schema(&self, node: &[&Value]) -> Value {
        let parts: Vec<Value> = node.iter().map(|schema| inline_references(schema, self.root).0).collect();
        json!({ "allOf": parts })
    }
}

fn is_trivial(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

fn restrict_types(types: &Value, alt: &mut TypedSchema<'_>) {
    let one = std::slice::from_ref(types);
    let names = types.as_array().map_or(one, Vec::as_slice);
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let named = |json_type: &JsonType| {
        names.contains(&json_type.name()) || *json_type == JsonType::Number && names.contains(&"integer")
    };
    alt.types &=
        JsonType::ALL.into_iter().filter(named).fold(0, |bits, json_type| bits | type_bit(json_type));
    alt.integer |= names.contains(&"integer") && !names.contains(&"number");
}

/// Restricts an alternative to the listed values, as `enum` does.
fn restrict_values(alt: &mut TypedSchema<'_>, values: Vec<Value>) {
    alt.types &= values.iter().fold(0, |bits, value| bits | type_bit(JsonType::from(value)));
    alt.values = Some(match alt.values.take() {
        Some(before) => before.into_iter().filter(|value| contains(&values, value)).collect(),
        None => values,
    });
}

/// Parses the value of a keyword such as `maxLength`. A value above `usize::MAX` becomes `usize::MAX`; `None` unless it
/// is a non-negative integer.
fn parse_length(value: &Value) -> Option<usize> {
    let counts = |number: &f64| *number >= 0.0 && number.fract() == 0.0;
    let count = value.as_u64().or_else(|| Some(value.as_f64().filter(counts)? as u64))?;
    Some(usize::try_from(count).unwrap_or(usize::MAX))
}
