//! Unions: which alternative of one side is which of the other.

use super::canonicalize::Canonicalizer;
use super::change::{Change, is_harmless, severity};
use super::predicates::distinct;
use super::rename;
use super::typed_schema::TypedSchema;
use super::validator;
use super::walk::{Walker, any_schema, excerpt, full_schema};
use crate::DISCRIMINATORS;
use crate::counted::named;
use crate::stream_state::alternatives;
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use strict_json::JsonType;

/// Alternatives of one type that are compared each with each, at most.
const MAX_UNTAGGED: usize = 40;

/// Keys that name a variant, at most.
const MAX_NAMED: usize = 5;

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
        let mut common = VariantChanges::default();
        for (tag, (value, before)) in old {
            let Some((_, after)) = new.get(tag) else { continue };
            // What several variants have in common changes once.
            let found = self.composites(before, after);
            common.add(&variant_name(new_key, value), found, |one, other| {
                (&one.rule, &one.pointer, &one.message, &one.variant)
                    == (&other.rule, &other.pointer, &other.message, &other.variant)
            });
        }
        let mut out = common.into_changes();
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
        let mut out = VariantChanges::default();
        let (mut used, mut added) = (BTreeSet::new(), Vec::new());
        let names = OnceCell::new();
        for (at, one) in new.iter().enumerate() {
            let pairs = old.iter().map(|other| self.pair(other, one)).enumerate();
            let Some((nth, best)) = pairs.min_by_key(|(_, found)| severity(found)) else { continue };
            used.insert(nth);
            let covered =
                || validator::covers(&any_schema(&self.old, old), &full_schema(&self.new, one)) == Some(true);
            let found = if is_harmless(&best) {
                best
            } else if covered() {
                Vec::new()
            } else if new.len() <= old.len() || arrays || key_overlap(&old[nth], one) > 0.5 {
                best
            } else {
                let message = format!("new variant: an object with `{}`", join(&one.required));
                let found = Change::breaking("diff-variant-added", message).new_value(&one.required);
                added.push(found.sample(self.sample(one, 0)));
                continue;
            };
            let name = if found.is_empty() || new.len() == 1 {
                ""
            } else {
                &names.get_or_init(|| variant_names(&self.new, new))[at]
            };
            out.add(name, found, PartialEq::eq);
        }
        let mut out = match new {
            [_] => out.found.into_iter().map(|(change, _)| change).collect(),
            _ => out.into_changes(),
        };
        out.extend(added);
        if old.len() > new.len() && !arrays {
            for (_, gone) in old.iter().enumerate().filter(|(nth, _)| !used.contains(nth)) {
                let message = format!("removed variant: an object with `{}`", join(&gone.required));
                out.push(Change::compatible("diff-variant-removed", message).old(&gone.required));
            }
        }
        out
    }
}

/// The changes within the variants of a union.
#[derive(Default)]
struct VariantChanges {
    /// Each change with the names of the variants that it is in.
    found: Vec<(Change, Vec<String>)>,
    /// The number of variants that were compared.
    compared: usize,
}

impl VariantChanges {
    /// Adds the changes of one variant; one that is the same as in a variant before is kept once.
    fn add(&mut self, name: &str, found: Vec<Change>, same: impl Fn(&Change, &Change) -> bool) {
        self.compared += 1;
        for change in found {
            match self.found.iter_mut().find(|(known, _)| same(known, &change)) {
                Some((_, names)) => names.push(name.to_owned()),
                None => self.found.push((change, vec![name.to_owned()])),
            }
        }
    }

    /// The changes with their variants; what all variants have in common belongs to none of them.
    fn into_changes(self) -> Vec<Change> {
        let common = if self.compared > 1 { self.compared } else { usize::MAX };
        let each = self.found.into_iter().map(|(mut change, mut names)| {
            names.dedup();
            if names.len() < common {
                change.variant.insert(0, alternatives(names));
            }
            change
        });
        each.collect()
    }
}

/// The name of a variant by its tag.
fn variant_name(key: &str, value: &Value) -> String {
    format!("`{key}` {}", excerpt(value))
}

/// Names variants by a key that tells them apart, else by the keys that only they require.
pub(super) fn variant_names<'a>(side: &Canonicalizer<'a>, alts: &[TypedSchema<'a>]) -> Vec<String> {
    let only = |values: Vec<Value>| <[Value; 1]>::try_from(values).ok().map(|[value]| value);
    let tag = |key: &str, alt: &TypedSchema<'a>| {
        alt.tags.get(key).cloned().or_else(|| only(side.finite_values(&alt.property(key))?))
    };
    let mut tagged = candidates(side, alts).into_iter().filter(|(_, variants)| variants.len() == alts.len());
    let by_key = |(key, _): Tagged<'a>| -> Option<Vec<String>> {
        alts.iter().map(|alt| Some(variant_name(&key, &tag(&key, alt)?))).collect()
    };
    let by_keys = |alt: &TypedSchema<'a>| {
        let others = alts.iter().filter(|other| !std::ptr::eq(*other, alt));
        let others: BTreeSet<&str> = others.flat_map(|other| other.required.iter().copied()).collect();
        let own: Vec<&str> = alt.required.difference(&others).copied().collect();
        let all: Vec<&str> = if own.is_empty() { alt.required.iter().copied().collect() } else { own };
        if all.is_empty() { "no required key".to_owned() } else { named(all.into_iter(), MAX_NAMED) }
    };
    tagged.find_map(by_key).unwrap_or_else(|| alts.iter().map(by_keys).collect())
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
