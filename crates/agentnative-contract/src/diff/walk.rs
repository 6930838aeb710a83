//! Two schemas side by side.

use super::canonicalize::Canonicalizer;
use super::delta::{Delta, is_harmless};
use super::typed_schema::{Conjunction, TypedSchema, bit};
use super::validator;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::rc::Rc;
use strict_json::JsonType;

/// Pairs of schemas that are compared, at most; and one in another, at most.
const MAX_PAIRS: usize = 20_000;
const MAX_DEPTH: usize = 150;

/// What came of a pair; nothing while it is compared.
type Memo = Option<Rc<Vec<Delta>>>;

/// Compares schemas of two bundles.
pub(super) struct Walker<'a> {
    pub old: Canonicalizer<'a>,
    pub new: Canonicalizer<'a>,
    /// What came of a pair, by where its schemas are; nothing while it is compared.
    known: HashMap<(Vec<usize>, Vec<usize>), Memo>,
    /// The same for pairs of alternatives.
    pairs: HashMap<(String, String), Memo>,
    depth: usize,
}

impl<'a> Walker<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Self {
        let (old, new) = (Canonicalizer { root: old }, Canonicalizer { root: new });
        Self { old, new, known: HashMap::new(), pairs: HashMap::new(), depth: 0 }
    }

    /// What changed from one node to the other.
    pub fn nodes(&mut self, old: &Conjunction<'a>, new: &Conjunction<'a>) -> Rc<Vec<Delta>> {
        let (old, new) = (&self.old.followed(old), &self.new.followed(new));
        let key = (addresses(old), addresses(new));
        match self.known.get(&key) {
            Some(Some(found)) => return Rc::clone(found),
            // Within itself, a pair differs as much as it differs outside.
            Some(None) => return Rc::default(),
            None => {}
        }
        if self.known.len() > MAX_PAIRS || self.depth > MAX_DEPTH {
            let message = "the schemas are too large to be compared as a whole: this part was not looked at";
            return Rc::new(vec![Delta::undecided(message)]);
        }
        self.known.insert(key.clone(), None);
        self.depth += 1;
        let found = if self.old.schema(old) == self.new.schema(new) {
            Vec::new()
        } else {
            let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
            self.alternatives(&old, &new)
        };
        self.depth -= 1;
        let found = Rc::new(found);
        self.known.insert(key, Some(Rc::clone(&found)));
        found
    }

    /// What changed from some alternatives to others.
    pub fn alternatives(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Delta> {
        let mut out = Vec::new();
        let (before, after) = (types_of(old), types_of(new));
        if before & after == 0 && before != 0 && after != 0 {
            out.push(self.type_changed(old, new));
            return out;
        }
        self.types_added(old, new, &mut out);
        types_removed(old, new, &mut out);
        for kind in JsonType::ALL {
            let of = |alts: &[TypedSchema<'a>]| -> Vec<TypedSchema<'a>> {
                alts.iter().filter(|alt| alt.json_type() == kind).cloned().collect()
            };
            let (old, new) = (of(old), of(new));
            if old.is_empty() || new.is_empty() {
                continue;
            }
            match kind {
                JsonType::Array | JsonType::Object => out.extend(self.composites(kind, &old, &new)),
                _ => out.extend(self.scalars(&old, &new)),
            }
        }
        out
    }

    /// Other types than before, all of them.
    fn type_changed(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Delta {
        let (before, after) = (types_of(old), types_of(new));
        let (array, object) = (bit(JsonType::Array), bit(JsonType::Object));
        let rule = match (before, after) {
            (before, after) if before == array && after == object => "diff-array-became-object",
            (before, after) if before == object && after == array => "diff-object-became-array",
            _ => "diff-type-changed",
        };
        let (was, is) = (type_phrase(old), type_phrase(new));
        let sample = self.sample_of(new);
        Delta::breaking(rule, format!("it was {was}, it is {is}"))
            .old(type_names(old))
            .new_value(type_names(new))
            .sample(sample)
    }

    fn types_added(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>], out: &mut Vec<Delta>) {
        let added = types_of(new) & !types_of(old);
        if added == 0 {
            return;
        }
        let alts: Vec<TypedSchema<'a>> = new.iter().filter(|alt| alt.types & added != 0).cloned().collect();
        let sample = self.sample_of(&alts);
        let found = if added == bit(JsonType::Null) {
            Delta::breaking("diff-null-added", format!("it may be null now; it was {}", type_phrase(old)))
        } else {
            let message = format!("it may be {} now, too; it was {}", type_phrase(&alts), type_phrase(old));
            Delta::breaking("diff-type-widened", message)
        };
        out.push(found.old(type_names(old)).new_value(type_names(new)).sample(sample));
    }

    /// Compares alternatives that are arrays or objects.
    pub fn composites(
        &mut self,
        kind: JsonType,
        old: &[TypedSchema<'a>],
        new: &[TypedSchema<'a>],
    ) -> Vec<Delta> {
        if let ([old], [new]) = (old, new) {
            return self.pair(kind, old, new);
        }
        self.unions(kind, old, new)
    }

    /// Compares one alternative with another of the same type.
    pub fn pair(&mut self, kind: JsonType, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Delta> {
        let key = (identity(old), identity(new));
        match self.pairs.get(&key) {
            Some(Some(found)) => return found.to_vec(),
            Some(None) => return Vec::new(),
            None => {}
        }
        self.pairs.insert(key.clone(), None);
        let found = self.compare_pair(kind, old, new);
        self.pairs.insert(key, Some(Rc::new(found.clone())));
        found
    }

    fn compare_pair(&mut self, kind: JsonType, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Delta> {
        let mut out = Vec::new();
        if let (Some(before), Some(after)) = (&old.values, &new.values) {
            // Whole documents that are listed.
            let added = after.iter().filter(|value| !before.contains(value));
            out.extend(added.map(|value| {
                Delta::breaking("diff-enum-value-added", format!("the value {} is new", excerpt(value)))
                    .new_value(value.clone())
                    .sample(Some(value.clone()))
            }));
            let removed = before.iter().filter(|value| !after.contains(value));
            out.extend(removed.map(|value| {
                Delta::compatible("diff-enum-value-removed", format!("the value {} is gone", excerpt(value)))
                    .old(value.clone())
            }));
            return out;
        }
        if old.values.is_some() || new.values.is_some() {
            let (wide, narrow) = (full_schema(&self.old, old), full_schema(&self.new, new));
            out.push(match validator::covers(&wide, &narrow) {
                Some(true) => Delta::compatible("diff-enum-closed", "only some values are left"),
                Some(false) => {
                    let sample = self.sample_of(std::slice::from_ref(new));
                    Delta::breaking("diff-enum-opened", "other values are possible now").sample(sample)
                }
                None => Delta::undecided("it cannot be told whether other values are possible now"),
            });
            return out;
        }
        self.lengths(kind, old, new, &mut out);
        match kind {
            JsonType::Array => self.arrays(old, new, &mut out),
            _ => self.objects(old, new, &mut out),
        }
        self.compare_conditions(old, new, &mut out);
        out
    }

    /// Compares what is compared as a whole.
    pub fn compare_conditions(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Delta>) {
        let missing: Vec<_> = old.conditions.iter().filter(|one| !new.conditions.contains(one)).collect();
        let extra = new.conditions.iter().filter(|one| !old.conditions.contains(one)).count();
        let mut dropped = false;
        for condition in &missing {
            let parts = ["oneOf", "anyOf", "if"];
            let union = parts.iter().any(|keyword| condition.schema.get(keyword).is_some());
            if union && !is_harmless(out) {
                // What is wrong in one of the parts is told already.
                dropped = true;
                continue;
            }
            let holds = if condition.opaque {
                None
            } else {
                validator::covers(&condition.schema, &full_schema(&self.new, new))
            };
            let text = excerpt(&condition.schema);
            match holds {
                Some(true) => {}
                Some(false) => {
                    dropped = true;
                    let sample = self.sample_violating(condition.schema.clone(), new);
                    let message = format!("a condition does not hold any longer: {text}");
                    let found = Delta::breaking("diff-condition-loosened", message);
                    out.push(found.old(condition.schema.clone()).sample(sample));
                }
                None => {
                    dropped = true;
                    let message = format!("it cannot be told whether this still holds: {text}");
                    out.push(Delta::undecided(message).old(condition.schema.clone()));
                }
            }
        }
        if extra > 0 && !dropped {
            let added: Vec<Value> = new
                .conditions
                .iter()
                .filter(|one| !old.conditions.contains(one))
                .map(|one| one.schema.clone())
                .collect();
            let still = added
                .iter()
                .all(|schema| validator::covers(schema, &full_schema(&self.old, old)) == Some(true));
            if !still {
                let message = format!("a further condition holds: {}", excerpt(&added[0]));
                out.push(Delta::compatible("diff-condition-tightened", message).new_value(added[0].clone()));
            }
        }
    }
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

fn addresses(node: &Conjunction<'_>) -> Vec<usize> {
    let mut all: Vec<usize> =
        node.iter().map(|schema| std::ptr::from_ref::<Value>(schema) as usize).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn types_of(alts: &[TypedSchema<'_>]) -> u8 {
    alts.iter().fold(0, |bits, alt| bits | alt.types)
}

fn types_removed(old: &[TypedSchema<'_>], new: &[TypedSchema<'_>], out: &mut Vec<Delta>) {
    let removed = types_of(old) & !types_of(new);
    if removed == 0 {
        return;
    }
    let alts: Vec<TypedSchema<'_>> = old.iter().filter(|alt| alt.types & removed != 0).cloned().collect();
    let found = if removed == bit(JsonType::Null) {
        Delta::compatible("diff-null-removed", "it is never null now".to_owned())
    } else if new.is_empty() {
        Delta::compatible("diff-type-narrowed", "there is nothing now".to_owned())
    } else {
        Delta::compatible("diff-type-narrowed", format!("it is no longer {}", type_phrase(&alts)))
    };
    out.push(found.old(type_names(old)).new_value(type_names(new)));
}

/// The types, as JSON.
pub(super) fn type_names(alts: &[TypedSchema<'_>]) -> Value {
    let mut all: Vec<&str> = Vec::new();
    for alt in alts {
        let integers = alts.iter().filter(|alt| alt.json_type() == JsonType::Number).all(|alt| alt.integer);
        let name =
            if alt.json_type() == JsonType::Number && integers { "integer" } else { alt.json_type().name() };
        if !all.contains(&name) {
            all.push(name);
        }
    }
    match all.as_slice() {
        [only] => json!(only),
        _ => json!(all),
    }
}

/// The types, in words.
pub(super) fn type_phrase(alts: &[TypedSchema<'_>]) -> String {
    let names = type_names(alts);
    let all: Vec<&str> = match &names {
        Value::String(only) => vec![only.as_str()],
        Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let article = |name: &&str| match *name {
        "null" => "null".to_owned(),
        "integer" | "array" | "object" => format!("an {name}"),
        _ => format!("a {name}"),
    };
    if all.len() == JsonType::ALL.len() {
        return "anything".to_owned();
    }
    match all.iter().map(article).collect::<Vec<_>>().as_slice() {
        [] => "nothing".to_owned(),
        [only] => only.clone(),
        [many @ .., last] => format!("{} or {last}", many.join(", ")),
    }
}

/// A value in a few characters.
pub(super) fn excerpt(value: &Value) -> String {
    strict_json::sanitize::capped(value.to_string(), 80)
}
