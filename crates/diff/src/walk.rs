//! Two schemas side by side.

use super::canonicalize::Canonicalizer;
use super::change::{Change, Class, is_harmless};
use super::typed_schema::{Condition, TypedSchema, bit};
use super::validator::{self, has_unknown};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::rc::Rc;
use strict_json::JsonType;

/// Pairs of schemas that are compared, at most; and one in another, at most.
const MAX_PAIRS: usize = 20_000;
const MAX_DEPTH: usize = 150;

/// Compares schemas of two bundles.
pub(super) struct Walker<'a> {
    pub old: Canonicalizer<'a>,
    pub new: Canonicalizer<'a>,
    /// What came of a pair, by where its schemas are. Nothing while it is compared: within itself, a pair
    /// differs as much as it differs outside.
    known: HashMap<[Vec<usize>; 2], Rc<Vec<Change>>>,
    /// The same for pairs of alternatives.
    pairs: HashMap<[String; 2], Vec<Change>>,
    depth: usize,
}

impl<'a> Walker<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Self {
        let (old, new) = (Canonicalizer { root: old }, Canonicalizer { root: new });
        Self { old, new, known: HashMap::new(), pairs: HashMap::new(), depth: 0 }
    }

    /// What changed from one node to the other.
    pub fn nodes(&mut self, old: &[&'a Value], new: &[&'a Value]) -> Rc<Vec<Change>> {
        let (old, new) = (&self.old.followed(old), &self.new.followed(new));
        let key = [addresses(old), addresses(new)];
        if let Some(found) = self.known.get(&key) {
            return Rc::clone(found);
        }
        if self.known.len() > MAX_PAIRS || self.depth > MAX_DEPTH {
            let message = "the schemas are too large for a complete comparison; this part was not compared";
            return Rc::new(vec![Change::undecided(message)]);
        }
        self.known.insert(key.clone(), Rc::default());
        self.depth += 1;
        let before = self.old.schema(old);
        let found = if before == self.new.schema(new) && !has_unknown(&before) {
            Vec::new()
        } else {
            let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
            self.alternatives(&old, &new)
        };
        self.depth -= 1;
        let found = Rc::new(found);
        self.known.insert(key, Rc::clone(&found));
        found
    }

    /// What changed from some alternatives to others.
    pub fn alternatives(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let mut out = self.types(old, new);
        for kind in JsonType::ALL {
            let (old, new) = (of_types(old, bit(kind)), of_types(new, bit(kind)));
            if old.is_empty() || new.is_empty() {
                continue;
            }
            match kind {
                JsonType::Array | JsonType::Object => out.extend(self.composites(&old, &new)),
                _ => out.extend(self.scalars(&old, &new)),
            }
        }
        out
    }

    /// Compares the types of alternatives.
    fn types(&self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let (array, object, null) = (bit(JsonType::Array), bit(JsonType::Object), bit(JsonType::Null));
        let (before, after) = (types_of(old), types_of(new));
        let (added, removed) = (after & !before, before & !after);
        let (more, less) = (of_types(new, added), of_types(old, removed));
        let (was, is) = (type_phrase(old), type_phrase(new));
        let mut found = Vec::new();
        if before & after == 0 && before != 0 && after != 0 {
            let rule = match () {
                () if before == array && after == object => "diff-array-became-object",
                () if before == object && after == array => "diff-object-became-array",
                () => "diff-type-changed",
            };
            found.push(Change::breaking(rule, format!("the type changed from {was} to {is}")));
        } else {
            if added == null {
                found.push(Change::breaking(
                    "diff-null-added",
                    format!("the value may now be null; before: {was}"),
                ));
            } else if added != 0 {
                let message = format!("the value may now also be {}; before: {was}", type_phrase(&more));
                found.push(Change::breaking("diff-type-widened", message));
            }
            if removed == null {
                found.push(Change::compatible("diff-null-removed", "the value is now never null"));
            } else if removed != 0 {
                let message = match after {
                    0 => "no value is possible any more".to_owned(),
                    _ => format!("the value is no longer {}", type_phrase(&less)),
                };
                found.push(Change::compatible("diff-type-narrowed", message));
            }
        }
        for found in &mut found {
            (found.old, found.new) = (Some(type_names(old)), Some(type_names(new)));
            found.sample = if found.class == Class::Breaking { self.sample_of(&more) } else { None };
        }
        found
    }

    /// Compares alternatives that are arrays or objects.
    pub fn composites(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        match (old, new) {
            ([old], [new]) => self.pair(old, new),
            _ => self.unions(old, new),
        }
    }

    /// Compares one alternative with another of the same type.
    pub fn pair(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Change> {
        let key = [identity(old), identity(new)];
        if let Some(found) = self.pairs.get(&key) {
            return found.clone();
        }
        self.pairs.insert(key.clone(), Vec::new());
        let found = self.compare_pair(old, new);
        self.pairs.insert(key, found.clone());
        found
    }

    fn compare_pair(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Change> {
        let mut out = Vec::new();
        if let (Some(before), Some(after)) = (&old.values, &new.values) {
            // Whole documents that are listed.
            for value in after.iter().filter(|value| !before.contains(value)) {
                let message = format!("the value {} is new", excerpt(value));
                let found = Change::breaking("diff-enum-value-added", message).new_value(value.clone());
                out.push(found.sample(Some(value.clone())));
            }
            for value in before.iter().filter(|value| !after.contains(value)) {
                let message = format!("the value {} was removed", excerpt(value));
                out.push(Change::compatible("diff-enum-value-removed", message).old(value.clone()));
            }
            out.extend(unknown_conditions(old));
            return out;
        }
        if old.values.is_some() || new.values.is_some() {
            let (wide, narrow) = (full_schema(&self.old, old), full_schema(&self.new, new));
            out.push(match validator::covers(&wide, &narrow) {
                Some(true) => Change::compatible("diff-enum-closed", "some values are no longer possible"),
                Some(false) => {
                    let sample = self.sample_of(std::slice::from_ref(new));
                    Change::breaking("diff-enum-opened", "other values are now possible").sample(sample)
                }
                None => {
                    Change::undecided("the comparison cannot decide whether other values are now possible")
                }
            });
            return out;
        }
        self.lengths(old, new, &mut out);
        match old.json_type() {
            JsonType::Array => self.arrays(old, new, &mut out),
            _ => self.objects(old, new, &mut out),
        }
        self.compare_conditions(old, new, &mut out);
        out
    }

    /// Compares what is compared as a whole.
    pub fn compare_conditions(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let mut dropped = false;
        let lost = |one: &&Condition| !one.opaque && !new.conditions.contains(one);
        for Condition { schema, .. } in old.conditions.iter().filter(lost) {
            if ["oneOf", "anyOf", "if"].iter().any(|keyword| schema.get(keyword).is_some())
                && !is_harmless(out)
            {
                // What is wrong in one of the parts is told already.
                dropped = true;
                continue;
            }
            let text = excerpt(schema);
            let found = match validator::covers(schema, &full_schema(&self.new, new)) {
                Some(true) => continue,
                Some(false) => {
                    let message = format!("a condition no longer holds: {text}");
                    let sample = self.sample_violating(schema, new);
                    Change::breaking("diff-condition-loosened", message).sample(sample)
                }
                None => undecided_condition(schema),
            };
            dropped = true;
            out.push(found.old(&**schema));
        }
        let before = out.len();
        out.extend(unknown_conditions(old));
        dropped |= out.len() > before;
        let further = new.conditions.iter().filter(|one| !old.conditions.contains(one));
        let further: Vec<&Value> = further.map(|one| &*one.schema).collect();
        let held = |schema: &&Value| validator::covers(schema, &full_schema(&self.old, old)) == Some(true);
        if let (Some(first), false) = (further.first(), dropped || further.iter().all(held)) {
            let message = format!("an additional condition holds: {}", excerpt(first));
            out.push(Change::compatible("diff-condition-tightened", message).new_value((*first).clone()));
        }
    }
}

/// Says of each condition of the old side that is not understood that it may hold no longer, even if it is there in
/// the same words.
pub(super) fn unknown_conditions<'c>(old: &'c TypedSchema<'_>) -> impl Iterator<Item = Change> + 'c {
    let unknown = old.conditions.iter().filter(|condition| condition.opaque);
    unknown.map(|condition| undecided_condition(&condition.schema).old(&*condition.schema))
}

fn undecided_condition(schema: &Value) -> Change {
    let text = excerpt(schema);
    Change::undecided(format!("the comparison cannot decide whether this still holds: {text}"))
}

/// All that an alternative says, in one schema.
pub(super) fn full_schema(canonicalizer: &Canonicalizer<'_>, alt: &TypedSchema<'_>) -> Value {
    let mut schema = canonicalizer.schema(&alt.sources);
    let kind = if alt.integer { "integer" } else { alt.json_type().name() };
    schema["type"] = json!(kind);
    if !alt.tags.is_empty() {
        let tags = alt.tags.iter().map(|(key, value)| (key.clone(), json!({ "const": value })));
        schema["properties"] = Value::Object(tags.collect());
    }
    schema
}

/// All that alternatives say, in one schema.
pub(super) fn any_schema(canonicalizer: &Canonicalizer<'_>, alts: &[TypedSchema<'_>]) -> Value {
    match alts {
        [only] => full_schema(canonicalizer, only),
        _ => json!({ "anyOf": alts.iter().map(|alt| full_schema(canonicalizer, alt)).collect::<Value>() }),
    }
}

/// What tells an alternative from others: the schemas that say something in it, not those that lead there.
fn identity(alt: &TypedSchema<'_>) -> String {
    let leads = |schema: &Value| {
        let only = |key: &String| {
            ["$ref", "allOf", "anyOf", "oneOf", "$defs", "definitions"].contains(&key.as_str())
        };
        alt.conditions.is_empty() && schema.as_object().is_some_and(|members| members.keys().all(only))
    };
    let constraining: Vec<&Value> = alt.sources.iter().copied().filter(|schema| !leads(schema)).collect();
    format!("{} {} {:?} {:?} {:?}", alt.types, alt.integer, addresses(&constraining), alt.tags, alt.values)
}

pub(super) fn addresses(node: &[&Value]) -> Vec<usize> {
    let mut all: Vec<usize> =
        node.iter().map(|schema| std::ptr::from_ref::<Value>(schema) as usize).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn types_of(alts: &[TypedSchema<'_>]) -> u8 {
    alts.iter().fold(0, |bits, alt| bits | alt.types)
}

/// The alternatives of these types.
fn of_types<'a>(alts: &[TypedSchema<'a>], types: u8) -> Vec<TypedSchema<'a>> {
    alts.iter().filter(|alt| alt.types & types != 0).cloned().collect()
}

fn names(alts: &[TypedSchema<'_>]) -> Vec<&'static str> {
    let mut all: Vec<&str> = Vec::new();
    let integers = alts.iter().all(|alt| alt.integer || alt.json_type() != JsonType::Number);
    for alt in alts {
        let number = alt.json_type() == JsonType::Number;
        let name = if number && integers { "integer" } else { alt.json_type().name() };
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The types, as JSON.
pub(super) fn type_names(alts: &[TypedSchema<'_>]) -> Value {
    match names(alts).as_slice() {
        [only] => json!(only),
        all => json!(all),
    }
}

/// The types, in words.
pub(super) fn type_phrase(alts: &[TypedSchema<'_>]) -> String {
    let all = names(alts);
    if all.len() == JsonType::ALL.len() {
        return "anything".to_owned();
    }
    let article = |name: &&str| JsonType::from_name(name).map_or("an integer", JsonType::with_article);
    match all.iter().map(article).collect::<Vec<_>>().as_slice() {
        [] => "nothing".to_owned(),
        [only] => (*only).to_owned(),
        [many @ .., last] => format!("{} or {last}", many.join(", ")),
    }
}

/// A value in a few characters.
pub(super) fn excerpt(value: &Value) -> String {
    strict_json::sanitize::capped(value.to_string(), 80)
}
