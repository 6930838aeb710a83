//! Unions: which alternative of one side is which of the other.

use super::canonicalize::Canonicalizer;
use super::change::{Change, is_harmless, severity};
use super::predicates::distinct;
use super::rename;
use super::typed_schema::TypedSchema;
use super::validator;
use super::walk::{Walker, any_schema, excerpt, full_schema};
use crate::DISCRIMINATORS;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use strict_json::JsonType;

/// Alternatives of one type that are compared each with each, at most.
const MAX_UNTAGGED: usize = 40;

/// Variants by the value of their tag; one value may stand for several.
pub(super) type Variants<'a> = BTreeMap<String, (Value, Vec<TypedSchema<'a>>)>;
/// A key, and the variants that it tells apart.
pub(super) type Tagged<'a> = (String, Variants<'a>);

impl<'a> Walker<'a> {
    /// Compares several objects or arrays with several.
    pub(super) fn unions(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let (before, after) = (candidates(&self.old, old), candidates(&self.new, new));
        if let Some((old, new)) = discriminators(&before, &after) {
            return self.compare_tagged(old, new);
        }
        if old.len() > MAX_UNTAGGED || new.len() > MAX_UNTAGGED {
            return vec![Change::undecided("the union has too many variants that no key identifies")];
        }
        self.compare_untagged(old, new)
    }

    /// Compares variants that a key tells apart.
    fn compare_tagged(&mut self, (old_key, old): &Tagged<'a>, (new_key, new): &Tagged<'a>) -> Vec<Change> {
        let mut out: Vec<Change> = Vec::new();
        for (tag, (_, before)) in old {
            let Some((_, after)) = new.get(tag) else { continue };
            for found in self.composites(before, after) {
                // What several variants have in common changes once.
                let known = out.iter().any(|other| {
                    (&other.rule, &other.pointer, &other.message)
                        == (&found.rule, &found.pointer, &found.message)
                });
                if !known {
                    out.push(found);
                }
            }
        }
        let (gone, come) = rename::differences(old, new);
        for (tag, before) in come {
            let (value, alts) = &new[tag];
            let message = format!("the variant with `{new_key}` {} is new", excerpt(value));
            let found = Change::breaking("diff-variant-added", message).new_value(value);
            let note = before.map(|from| {
                format!("this looks like a rename: the variant {from}, of the same shape, was removed")
            });
            out.push(Change { note, sample: self.sample_of(alts), ..found.under(new_key) });
        }
        for (tag, after) in gone {
            let (value, _) = &old[tag];
            let message = format!("the variant with `{old_key}` {} was removed", excerpt(value));
            let found = Change::compatible("diff-variant-removed", message).old(value);
            let note = after
                .map(|to| format!("this looks like a rename: the variant {to}, of the same shape, is new"));
            out.push(Change { note, ..found.under(old_key) });
        }
        out
    }

    /// Compares each with each: what is new has to be within something that was.
    fn compare_untagged(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let arrays = new.iter().any(|alt| alt.json_type() == JsonType::Array);
        let mut out: Vec<Change> = Vec::new();
        let mut used = BTreeSet::new();
        for one in new {
            let pairs = old.iter().map(|other| self.pair(other, one)).enumerate();
            let Some((nth, best)) = pairs.min_by_key(|(_, found)| severity(found)) else { continue };
            used.insert(nth);
            let covered =
                || validator::covers(&any_schema(&self.old, old), &full_schema(&self.new, one)) == Some(true);
            let found = if is_harmless(&best) {
                best
            } else if covered() {
                continue;
            } else if new.len() <= old.len() || arrays || key_overlap(&old[nth], one) > 0.5 {
                best
            } else {
                let message = format!("new variant: an object with `{}`", join(&one.required));
                let found = Change::breaking("diff-variant-added", message).new_value(&one.required);
                vec![found.sample(self.sample(one, 0))]
            };
            for found in found {
                if !out.contains(&found) {
                    out.push(found);
                }
            }
        }
        if old.len() > new.len() && !arrays {
            for (_, gone) in old.iter().enumerate().filter(|(nth, _)| !used.contains(nth)) {
                let message = format!("removed variant: an object with `{}`", join(&gone.required));
                out.push(Change::compatible("diff-variant-removed", message).old(&gone.required));
            }
        }
        out
    }
}

fn join(keys: &BTreeSet<&str>) -> String {
    keys.iter().copied().collect::<Vec<_>>().join("`, `")
}

/// How much two objects have the same keys, from 0 to 1.
pub(super) fn key_overlap(old: &TypedSchema<'_>, new: &TypedSchema<'_>) -> f64 {
    let (old, new) = (old.constrained_keys(), new.constrained_keys());
    let all = old.union(&new).count();
    if all == 0 { 1.0 } else { old.intersection(&new).count() as f64 / all as f64 }
}

/// What tells variants apart on each side: the same key where there is one.
fn discriminators<'v, 'a>(
    before: &'v [Tagged<'a>],
    after: &'v [Tagged<'a>],
) -> Option<(&'v Tagged<'a>, &'v Tagged<'a>)> {
    let pairs = || before.iter().flat_map(|old| after.iter().map(move |new| (old, new)));
    // A key that has one value everywhere tells nothing apart.
    let differ = |old: &Variants<'a>, new: &Variants<'a>| {
        old.keys().chain(new.keys()).collect::<BTreeSet<_>>().len() > 1
    };
    let same = pairs().find(|((old_key, old), (new_key, new))| old_key == new_key && differ(old, new));
    // A key under another name still tells the same variants apart.
    let has = |all: &[Tagged<'a>], key: &String| all.iter().any(|(other, _)| other == key);
    same.or_else(|| {
        let mut renamed = pairs().filter(|((old, _), (new, _))| !has(after, old) && !has(before, new));
        renamed.find(|((_, old), (_, new))| old.keys().any(|tag| new.contains_key(tag)) && differ(old, new))
    })
}

/// The keys that tell these alternatives apart, the best first, with the variants.
pub(super) fn candidates<'a>(side: &Canonicalizer<'a>, alts: &[TypedSchema<'a>]) -> Vec<Tagged<'a>> {
    let keys = alts.first().into_iter().flat_map(|first| &first.required);
    let tagged = |key: &&str| Some(((*key).to_owned(), by_tag(side, alts, key)?));
    let mut keys: Vec<Tagged<'a>> = keys.filter_map(tagged).collect();
    keys.sort_by_key(|(key, _)| {
        DISCRIMINATORS.iter().position(|usual| usual.key == key).unwrap_or(DISCRIMINATORS.len())
    });
    keys
}

/// The alternatives by the value of a key, if each has one.
pub(super) fn by_tag<'a>(
    side: &Canonicalizer<'a>,
    alts: &[TypedSchema<'a>],
    key: &str,
) -> Option<Variants<'a>> {
    let mut variants = Variants::new();
    for alt in alts {
        if !alt.required.contains(key) {
            return None;
        }
        let values = match alt.tags.get(key) {
            Some(tag) => vec![tag.clone()],
            None => side
                .finite_values(&alt.property(key))
                .filter(|values| !values.is_empty() && values.len() <= 64)?,
        };
        for value in distinct(values) {
            let mut one = alt.clone();
            one.tags.insert(key.to_owned(), value.clone());
            let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            variants.entry(name).or_insert_with(|| (value, Vec::new())).1.push(one);
        }
    }
    Some(variants)
}
