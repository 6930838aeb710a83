//! Compares two JSON Schemas and lists the changes between them.

use super::canonicalize::Canonicalizer;
use super::change::{Change, ChangeSeverity, is_harmless};
use super::typed_schema::{Condition, TypedSchema, type_bit};
use super::validator::{self, has_unknown};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::rc::Rc;
use strict_json::JsonType;

/// Maximum number of pairs of schemas that are compared. Further pairs are undecided.
const MAX_PAIRS: usize = 20_000;
/// Maximum nesting depth of compared schemas. Deeper pairs are undecided.
const MAX_DEPTH: usize = 150;

/// Compares schemas of an old and a new bundle. Results are cached.
pub(super) struct SchemaComparer<'a> {
    pub old: Canonicalizer<'a>,
    pub new: Canonicalizer<'a>,
    /// Cached changes, by the addresses of the old and the new schemas. While a pair is being compared, its entry is
    /// empty: a recursive schema reports the changes only once.
    changes_by_address: HashMap<[Vec<usize>; 2], Rc<Vec<Change>>>,
    /// Cached changes between two alternatives, by the text of [`identity`].
    pair_changes: HashMap<[String; 2], Vec<Change>>,
    depth: usize,
}

impl<'a> SchemaComparer<'a> {
    pub fn new(old: &'a Value, new: &'a Value) -> Self {
        let (old, new) = (Canonicalizer { root: old }, Canonicalizer { root: new });
        Self { old, new, changes_by_address: HashMap::new(), pair_changes: HashMap::new(), depth: 0 }
    }

    /// Compares two lists of schemas. All schemas of a list apply to the same value.
    pub fn compare_nodes(&mut self, old: &[&'a Value], new: &[&'a Value]) -> Rc<Vec<Change>> {
        let (old, new) = (&self.old.follow_all(old), &self.new.follow_all(new));
        let key = [addresses(old), addresses(new)];
        if let Some(changes) = self.changes_by_address.get(&key) {
            return Rc::clone(changes);
        }
        if self.changes_by_address.len() > MAX_PAIRS || self.depth > MAX_DEPTH {
            let message = "the schemas are too large for a complete comparison; this part was not compared";
            return Rc::new(vec![Change::undecided(message)]);
        }
        self.changes_by_address.insert(key.clone(), Rc::default());
        self.depth += 1;
        let before = self.old.combined_schema(old);
        let changes = if before == self.new.combined_schema(new) && !has_unknown(&before) {
            Vec::new()
        } else {
            let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
            self.compare_alternatives(&old, &new)
        };
        self.depth -= 1;
        let changes = Rc::new(changes);
        self.changes_by_address.insert(key, Rc::clone(&changes));
        changes
    }

    /// Compares the old and new alternatives of a value: first their JSON types, then the constraints on each type.
    pub fn compare_alternatives(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let mut out = self.compare_types(old, new);
        for json_type in JsonType::ALL {
            let (old, new) = (of_types(old, type_bit(json_type)), of_types(new, type_bit(json_type)));
            if old.is_empty() || new.is_empty() {
                continue;
            }
            match json_type {
                JsonType::Array | JsonType::Object => out.extend(self.compare_composites(&old, &new)),
                _ => out.extend(self.compare_scalars(&old, &new)),
            }
        }
        out
    }

    /// Reports JSON types that were added or removed.
    fn compare_types(&self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let (array, object, null) =
            (type_bit(JsonType::Array), type_bit(JsonType::Object), type_bit(JsonType::Null));
        let (before, after) = (types_of(old), types_of(new));
        let (added, removed) = (after & !before, before & !after);
        let (added_alts, removed_alts) = (of_types(new, added), of_types(old, removed));
        let (old_phrase, new_phrase) = (type_phrase(old), type_phrase(new));
        let mut changes = Vec::new();
        if before & after == 0 && before != 0 && after != 0 {
            let rule = match () {
                () if before == array && after == object => "diff-array-became-object",
                () if before == object && after == array => "diff-object-became-array",
                () => "diff-type-changed",
            };
            changes
                .push(Change::breaking(rule, format!("the type changed from {old_phrase} to {new_phrase}")));
        } else {
            if added == null {
                changes.push(Change::breaking(
                    "diff-null-added",
                    format!("the value may now be null; before: {old_phrase}"),
                ));
            } else if added != 0 {
                let message =
                    format!("the value may now also be {}; before: {old_phrase}", type_phrase(&added_alts));
                changes.push(Change::breaking("diff-type-widened", message));
            }
            if removed == null {
                changes.push(Change::compatible("diff-null-removed", "the value is now never null"));
            } else if removed != 0 {
                let message = match after {
                    0 => "no value is possible any more".to_owned(),
                    _ => format!("the value is no longer {}", type_phrase(&removed_alts)),
                };
                changes.push(Change::compatible("diff-type-narrowed", message));
            }
        }
        for change in &mut changes {
            (change.old, change.new) = (Some(type_names(old)), Some(type_names(new)));
            change.example =
                if change.class == ChangeSeverity::Breaking { self.example_of(&added_alts) } else { None };
        }
        changes
    }

    /// Compares the old and new alternatives of a value that is an array or an object. Several alternatives are
    /// compared as a union.
    pub fn compare_composites(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        match (old, new) {
            ([old], [new]) => self.compare_pair(old, new),
            _ => self.compare_unions(old, new),
        }
    }

    /// Compares two array or two object alternatives. The result is cached.
    pub fn compare_pair(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Change> {
        let key = [identity_text(old), identity_text(new)];
        if let Some(changes) = self.pair_changes.get(&key) {
            return changes.clone();
        }
        self.pair_changes.insert(key.clone(), Vec::new());
        let changes = self.compare_pair_uncached(old, new);
        self.pair_changes.insert(key, changes.clone());
        changes
    }

    fn compare_pair_uncached(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Change> {
        let mut out = Vec::new();
        if let (Some(before), Some(after)) = (&old.values, &new.values) {
            // The complete documents are listed.
            for value in after.iter().filter(|value| !before.contains(value)) {
                let message = format!("the value {} is new", excerpt(value));
                let change = Change::breaking("diff-enum-value-added", message).new_value(value.clone());
                out.push(change.example(Some(value.clone())));
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
                    let example = self.example_of(std::slice::from_ref(new));
                    Change::breaking("diff-enum-opened", "other values are now possible").example(example)
                }
                None => {
                    Change::undecided("the comparison cannot decide whether other values are now possible")
                }
            });
            return out;
        }
        self.compare_lengths(old, new, &mut out);
        match old.json_type() {
            JsonType::Array => self.compare_arrays(old, new, &mut out),
            _ => self.compare_objects(old, new, &mut out),
        }
        self.compare_conditions(old, new, &mut out);
        out
    }

    /// Compares the conditions of two alternatives, such as an `if` that could not be decided. Each condition is
    /// compared as a whole.
    pub fn compare_conditions(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let mut has_removed = false;
        let is_removed = |one: &&Condition| !one.opaque && !new.conditions.contains(one);
        for Condition { schema, .. } in old.conditions.iter().filter(is_removed) {
            if ["oneOf", "anyOf", "if"].iter().any(|keyword| schema.get(keyword).is_some())
                && !is_harmless(out)
            {
                // A change in one of the parts is already reported.
                has_removed = true;
                continue;
            }
            let text = excerpt(schema);
            let change = match validator::covers(schema, &full_schema(&self.new, new)) {
                Some(true) => continue,
                Some(false) => {
                    let message = format!("a condition no longer holds: {text}");
                    let example = self.example_violating(schema, new);
                    Change::breaking("diff-condition-loosened", message).example(example)
                }
                None => undecided_condition(schema),
            };
            has_removed = true;
            out.push(change.old(&**schema));
        }
        let before = out.len();
        out.extend(unknown_conditions(old));
        has_removed |= out.len() > before;
        let added = new.conditions.iter().filter(|one| !old.conditions.contains(one));
        let added: Vec<&Value> = added.map(|one| &*one.schema).collect();
        let already_holds =
            |schema: &&Value| validator::covers(schema, &full_schema(&self.old, old)) == Some(true);
        if let (Some(first), false) = (added.first(), has_removed || added.iter().all(already_holds)) {
            let message = format!("an additional condition holds: {}", excerpt(first));
            out.push(Change::compatible("diff-condition-tightened", message).new_value((*first).clone()));
        }
    }
}

/// Returns an undecided change for each condition of the old alternative that has a part that cannot be resolved. This
/// includes conditions that the new version has with the same text.
pub(super) fn unknown_conditions<'c>(old: &'c TypedSchema<'_>) -> impl Iterator<Item = Change> + 'c {
    let unknown = old.conditions.iter().filter(|condition| condition.opaque);
    unknown.map(|condition| undecided_condition(&condition.schema).old(&*condition.schema))
}

fn undecided_condition(schema: &Value) -> Change {
    let text = excerpt(schema);
    Change::undecided(format!("the comparison cannot decide whether this still holds: {text}"))
}

/// Returns a schema without external references that is equivalent to an alternative.
pub(super) fn full_schema(canonicalizer: &Canonicalizer<'_>, alt: &TypedSchema<'_>) -> Value {
    let mut schema = canonicalizer.combined_schema(&alt.sources);
    let name = if alt.integer { "integer" } else { alt.json_type().name() };
    schema["type"] = json!(name);
    if !alt.tags.is_empty() {
        let tags = alt.tags.iter().map(|(key, value)| (key.clone(), json!({ "const": value })));
        schema["properties"] = Value::Object(tags.collect());
    }
    schema
}

/// Returns a schema without external references that accepts a value if one of the alternatives does.
pub(super) fn any_schema(canonicalizer: &Canonicalizer<'_>, alts: &[TypedSchema<'_>]) -> Value {
    match alts {
        [only] => full_schema(canonicalizer, only),
        _ => json!({ "anyOf": alts.iter().map(|alt| full_schema(canonicalizer, alt)).collect::<Value>() }),
    }
}

/// Returns a text that identifies an alternative: its type and the addresses of the schemas that constrain it. Schemas
/// that only refer to other schemas are left out.
fn identity_text(alt: &TypedSchema<'_>) -> String {
    let only_refers = |schema: &Value| {
        let only = |key: &String| {
            ["$ref", "allOf", "anyOf", "oneOf", "$defs", "definitions"].contains(&key.as_str())
        };
        alt.conditions.is_empty() && schema.as_object().is_some_and(|members| members.keys().all(only))
    };
    let constraining: Vec<&Value> =
        alt.sources.iter().copied().filter(|schema| !only_refers(schema)).collect();
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

/// Returns the alternatives whose type is in the bit set `types`.
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

/// Returns the names of the types of alternatives as JSON: one string, or an array of several.
pub(super) fn type_names(alts: &[TypedSchema<'_>]) -> Value {
    match names(alts).as_slice() {
        [only] => json!(only),
        all => json!(all),
    }
}

/// Describes the types of alternatives in words, such as "a string or null".
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

/// Returns a value as JSON text, shortened to at most 80 characters.
pub(super) fn excerpt(value: &Value) -> String {
    strict_json::sanitize::sanitize_capped(value.to_string(), 80)
}
