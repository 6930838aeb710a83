//! From a conjunction of schemas to alternatives.

use super::alt::{ANY, Alt, Bound, Condition, Elements, Keys, Kind, Node, is_nothing};
use super::bundle::UNKNOWN;
use super::decide::{at_least, finite, same};
use super::inline::inlined;
use serde_json::{Map, Value, json};

/// Alternatives of one schema, at most; beyond that a union is taken as a condition.
pub(super) const MOST: usize = 256;

/// Makes alternatives of schemas of one bundle.
#[derive(Clone, Copy)]
pub(super) struct Expander<'a> {
    pub root: &'a Value,
}

impl<'a> Expander<'a> {
    /// What a local reference names.
    pub fn target(&self, reference: &str) -> Option<&'a Value> {
        self.root.pointer(reference.strip_prefix('#')?)
    }

    /// The node with what its references name in the place of those that are nothing else.
    pub fn followed(&self, node: &[&'a Value]) -> Node<'a> {
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
    pub fn alternatives(&self, node: &[&'a Value]) -> Vec<Alt<'a>> {
        let mut made = vec![Alt::default()];
        for schema in node {
            made = self.each(made, schema);
        }
        let mut settled = Vec::new();
        for alt in made {
            if alt.branches.is_empty() {
                self.settle(alt, &mut settled);
                continue;
            }
            for kind in Kind::ALL.into_iter().filter(|kind| alt.kinds & kind.bit() != 0) {
                self.settle(Alt { kinds: kind.bit(), ..alt.clone() }, &mut settled);
            }
        }
        let mut typed = Vec::new();
        for alt in settled {
            for kind in Kind::ALL.into_iter().filter(|kind| alt.kinds & kind.bit() != 0) {
                let alt = Alt { kinds: kind.bit(), ..alt.clone() };
                typed.extend(self.finished(alt));
            }
        }
        typed
    }

    pub(super) fn each(&self, alts: Vec<Alt<'a>>, schema: &'a Value) -> Vec<Alt<'a>> {
        alts.into_iter().flat_map(|alt| self.with(alt, schema)).collect()
    }

    /// An alternative that keeps this schema, too.
    pub(super) fn with(&self, mut alt: Alt<'a>, schema: &'a Value) -> Vec<Alt<'a>> {
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
        self.plain(&mut alt, members);
        if alt.kinds == 0 {
            return Vec::new();
        }
        let mut alts = vec![alt];
        if let Some(target) = members.get("$ref").and_then(Value::as_str).and_then(|text| self.target(text)) {
            alts = self.each(alts, target);
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            alts = self.each(alts, part);
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(branches) = members.get(keyword).and_then(Value::as_array) else { continue };
            if alts.len() * branches.len() > MOST {
                alts.iter_mut().for_each(|alt| alt.conditions.push(self.condition(members, &[keyword])));
                continue;
            }
            let exclusive = keyword == "oneOf" && !self.disjoint(&alts, branches);
            if exclusive {
                alts.iter_mut().for_each(|alt| alt.conditions.push(self.condition(members, &[keyword])));
            }
            alts = alts
                .into_iter()
                .flat_map(|alt| branches.iter().flat_map(move |branch| self.with(alt.clone(), branch)))
                .filter(|alt| self.possible(alt))
                .collect();
        }
        alts
    }

    /// Whether at most one of these schemas can hold, as far as that is plain.
    fn disjoint(&self, alts: &[Alt<'a>], branches: &'a [Value]) -> bool {
        let base = match alts {
            [only] => only.clone(),
            _ => Alt::default(),
        };
        let each: Vec<Vec<Alt<'_>>> = branches.iter().map(|branch| self.with(base.clone(), branch)).collect();
        each.iter().enumerate().all(|(nth, one)| {
            each[nth + 1..]
                .iter()
                .all(|other| one.iter().all(|left| other.iter().all(|right| self.apart(left, right))))
        })
    }

    /// Whether no value keeps both, as far as that is plain.
    fn apart(&self, left: &Alt<'a>, right: &Alt<'a>) -> bool {
        let common = left.kinds & right.kinds;
        if common == 0 {
            return true;
        }
        if let (Some(left), Some(right)) = (&left.values, &right.values) {
            return !left.iter().any(|value| right.iter().any(|other| same(value, other)));
        }
        if common != Kind::Object.bit() {
            return false;
        }
        let closed = |alt: &Alt<'a>, key: &str| is_nothing(&alt.key(key));
        let excluded = |one: &Alt<'a>, other: &Alt<'a>| one.required.iter().any(|key| closed(other, key));
        let differ = |key: &&str| match (finite(self, &left.key(key)), finite(self, &right.key(key))) {
            (Some(left), Some(right)) => {
                !left.iter().any(|value| right.iter().any(|other| same(value, other)))
            }
            _ => false,
        };
        excluded(left, right)
            || excluded(right, left)
            || left.required.intersection(&right.required).any(differ)
    }

    /// The keywords of one schema object that are no schemas in place.
    fn plain(&self, alt: &mut Alt<'a>, members: &'a Map<String, Value>) {
        if let Some(types) = members.get("type") {
            types_of(types, alt);
        }
        if let Some(value) = members.get("const") {
            keep(alt, vec![value.clone()]);
        }
        if let Some(values) = members.get("enum").and_then(Value::as_array) {
            keep(alt, values.clone());
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
                if alt.upper.as_ref().is_none_or(|upper| !super::decide::at_most(upper, &bound)) {
                    alt.upper = Some(bound);
                }
            }
        }
        alt.multiples.extend(number("multipleOf"));
        let length = |key: &str| members.get(key).and_then(|value| value.as_u64().or_else(|| whole(value)));
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
        self.of_arrays(alt, members);
        self.of_objects(alt, members);
        if members.contains_key("if") {
            alt.branches.push(members);
        }
        if let Some(not) = members.get("not") {
            self.without(alt, not);
        }
        if let Some(unknown) = members.get(UNKNOWN) {
            alt.conditions.push(Condition { schema: json!({ UNKNOWN: unknown }), opaque: true });
        }
    }

    fn of_arrays(&self, alt: &mut Alt<'a>, members: &'a Map<String, Value>) {
        let first = members.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let others = members.get("items");
        if !first.is_empty() || others.is_some_and(|others| !trivial(others)) {
            alt.elements.push(Elements { first, others });
        }
        alt.unique |= members.get("uniqueItems") == Some(&Value::Bool(true));
        if members.contains_key("contains") {
            alt.conditions.push(self.condition(members, &["contains", "minContains", "maxContains"]));
        }
        if members.get("unevaluatedItems").is_some_and(|schema| !trivial(schema)) {
            let all =
                ["unevaluatedItems", "prefixItems", "items", "allOf", "anyOf", "oneOf", "$ref", "contains"];
            alt.conditions.push(self.condition(members, &all));
        }
    }

    fn of_objects(&self, alt: &mut Alt<'a>, members: &'a Map<String, Value>) {
        let object = |key: &str| members.get(key).and_then(Value::as_object);
        let (named, patterns) = (object("properties"), object("patternProperties"));
        let others = members.get("additionalProperties").filter(|others| !trivial(others));
        if named.is_some() || patterns.is_some() || others.is_some() {
            alt.keys.push(Keys { named, patterns, others });
        }
        let unevaluated = members.get("unevaluatedProperties").filter(|others| !trivial(others));
        alt.unevaluated.extend(unevaluated);
        let names = |value: &'a Value| value.as_array().into_iter().flatten().filter_map(Value::as_str);
        alt.required.extend(members.get("required").into_iter().flat_map(names));
        alt.names.extend(members.get("propertyNames").filter(|names| !trivial(names)));
        for (key, needs) in object("dependentRequired").into_iter().flatten() {
            alt.dependent.entry(key).or_default().extend(names(needs));
        }
        if object("dependentSchemas").is_some_and(|schemas| !schemas.is_empty()) {
            alt.conditions.push(self.condition(members, &["dependentSchemas"]));
        }
    }

    /// `not`, where it is plain: types, values, keys that are not to be there.
    fn without(&self, alt: &mut Alt<'a>, not: &'a Value) {
        let Some(inner) = not.as_object() else {
            if not == &Value::Bool(true) {
                alt.kinds = 0;
            }
            return;
        };
        let only = (inner.len() == 1).then(|| inner.iter().next()).flatten();
        match only.map(|(keyword, value)| (keyword.as_str(), value)) {
            Some(("required", Value::Array(keys))) if keys.len() == 1 => {
                alt.forbidden.extend(keys[0].as_str());
                alt.kinds &= Kind::Object.bit();
            }
            Some(("anyOf", Value::Array(parts))) => {
                for part in parts {
                    self.without(alt, part);
                }
            }
            Some(("type", Value::String(name))) if name != "integer" && name != "number" => {
                let gone = Kind::ALL.into_iter().filter(|kind| kind.name() == name.as_str());
                gone.for_each(|kind| alt.kinds &= !kind.bit());
            }
            _ => alt.conditions.push(self.condition(&json!({ "not": not }), &["not"])),
        }
    }

    pub(super) fn condition(&self, members: &impl Members, keywords: &[&str]) -> Condition {
        let chosen =
            keywords.iter().filter_map(|key| Some(((*key).to_owned(), members.member(key)?.clone())));
        let (schema, opaque) = inlined(&Value::Object(chosen.collect()), self.root);
        Condition { schema, opaque }
    }

    /// All that a node says in one schema without references outside, and whether it is understood.
    pub fn schema(&self, node: &Node<'a>) -> Value {
        let parts: Vec<Value> = node.iter().map(|schema| inlined(schema, self.root).0).collect();
        json!({ "allOf": parts })
    }
}

/// The members of a schema, whoever holds them.
pub(super) trait Members {
    fn member(&self, key: &str) -> Option<&Value>;
}

impl Members for Map<String, Value> {
    fn member(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }
}

impl Members for Value {
    fn member(&self, key: &str) -> Option<&Value> {
        self.get(key)
    }
}

fn trivial(schema: &Value) -> bool {
    schema == &Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty)
}

fn types_of(types: &Value, alt: &mut Alt<'_>) {
    let one = std::slice::from_ref(types);
    let names = types.as_array().map_or(one, Vec::as_slice);
    let names: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    let named =
        |kind: &Kind| names.contains(&kind.name()) || *kind == Kind::Number && names.contains(&"integer");
    alt.kinds &= Kind::ALL.into_iter().filter(named).fold(0, |bits, kind| bits | kind.bit());
    alt.integer |= names.contains(&"integer") && !names.contains(&"number");
}

/// Keeps only these values.
fn keep(alt: &mut Alt<'_>, values: Vec<Value>) {
    alt.kinds &= values.iter().fold(0, |bits, value| bits | Kind::of(value).bit()) & ANY;
    alt.values = Some(match alt.values.take() {
        Some(before) => {
            before.into_iter().filter(|value| values.iter().any(|other| same(value, other))).collect()
        }
        None => values,
    });
}

fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64()?;
    (number >= 0.0 && number.fract() == 0.0 && number < 1e15).then_some(number as u64)
}
