//! Unions: which alternative of one side is which of the other.

use super::canonicalize::Canonicalizer;
use super::delta::{Delta, is_harmless, severity};
use super::predicates::{equal, finite_values};
use super::rename;
use super::typed_schema::TypedSchema;
use super::validator;
use super::walk::{Walker, excerpt, full_schema};
use crate::DISCRIMINATORS;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use strict_json::{JsonType, escape_token};

/// Alternatives of one type that are compared each with each, at most.
const MAX_UNTAGGED: usize = 40;

/// Variants by the value of their tag; one value may stand for several.
pub(super) type Variants<'a> = BTreeMap<String, (Value, Vec<TypedSchema<'a>>)>;

impl<'a> Walker<'a> {
    /// Compares several objects or arrays with several.
    pub(super) fn unions(
        &mut self,
        kind: JsonType,
        old: &[TypedSchema<'a>],
        new: &[TypedSchema<'a>],
    ) -> Vec<Delta> {
        if kind == JsonType::Object
            && let Some((old_key, new_key)) = discriminators(&self.old, old, &self.new, new)
            && let Some(before) = by_tag(&self.old, old, &old_key)
            && let Some(after) = by_tag(&self.new, new, &new_key)
        {
            return self.compare_tagged(&old_key, &before, &new_key, &after);
        }
        if old.len() > MAX_UNTAGGED || new.len() > MAX_UNTAGGED {
            return vec![Delta::undecided("there are too many variants that no key tells apart")];
        }
        self.compare_untagged(kind, old, new)
    }

    /// Compares variants that a key tells apart.
    fn compare_tagged(
        &mut self,
        old_key: &str,
        old: &Variants<'a>,
        new_key: &str,
        new: &Variants<'a>,
    ) -> Vec<Delta> {
        let mut out: Vec<Delta> = Vec::new();
        for (tag, (_, before)) in old {
            if let Some((_, after)) = new.get(tag) {
                for found in self.composites(JsonType::Object, before, after) {
                    // What several variants have in common changes once.
                    let known = out.iter().any(|other| {
                        (other.rule, &other.path, &other.message) == (found.rule, &found.path, &found.message)
                    });
                    if !known {
                        out.push(found);
                    }
                }
            }
        }
        let gone: Vec<&String> = old.keys().filter(|tag| !new.contains_key(*tag)).collect();
        let come: Vec<&String> = new.keys().filter(|tag| !old.contains_key(*tag)).collect();
        let renamed = self.renames(old, &gone, new, &come);
        let path = |key: &str| format!("/{}", escape_token(key));
        for tag in &come {
            let (value, alts) = &new[*tag];
            let sample = self.sample_of(alts);
            let message = format!("the variant with `{new_key}` {} is new", excerpt(value));
            let mut found =
                Delta::breaking("diff-variant-added", message).new_value(value.clone()).sample(sample);
            found.path = path(new_key);
            found.note = renamed.iter().find(|(_, to)| to == *tag).map(|(from, _)| {
                format!("the variant {from} of the same shape is gone: it looks like a rename")
            });
            out.push(found);
        }
        for tag in &gone {
            let (value, _) = &old[*tag];
            let message = format!("the variant with `{old_key}` {} is gone", excerpt(value));
            let mut found = Delta::compatible("diff-variant-removed", message).old(value.clone());
            found.path = path(old_key);
            found.note = renamed
                .iter()
                .find(|(from, _)| from == *tag)
                .map(|(_, to)| format!("the variant {to} of the same shape is new: it looks like a rename"));
            out.push(found);
        }
        out
    }

    /// Which variants that are gone look like which that are new.
    pub(super) fn renames(
        &mut self,
        old: &Variants<'a>,
        gone: &[&String],
        new: &Variants<'a>,
        come: &[&String],
    ) -> Vec<(String, String)> {
        let mut pairs = Vec::new();
        for from in gone {
            let shapes = |to: &&&String| Some((old[*from].1.first()?, new[**to].1.first()?));
            let candidates =
                come.iter().filter(|to| shapes(to).is_some_and(|(old, new)| key_overlap(old, new) > 0.75));
            let best = candidates
                .map(|to| (rename::similarity(from, to), *to))
                .max_by(|left, right| left.0.total_cmp(&right.0));
            if let Some((similarity, to)) = best
                && (similarity > 0.4 || gone.len() == 1 && come.len() == 1)
                && !pairs.iter().any(|(_, known)| known == to)
            {
                pairs.push(((*from).clone(), to.clone()));
            }
        }
        pairs
    }

    /// Compares each with each: what is new has to be within something that was.
    fn compare_untagged(
        &mut self,
        kind: JsonType,
        old: &[TypedSchema<'a>],
        new: &[TypedSchema<'a>],
    ) -> Vec<Delta> {
        let mut out: Vec<Delta> = Vec::new();
        let mut used = BTreeSet::new();
        for one in new {
            let mut best: Option<(usize, Vec<Delta>)> = None;
            for (nth, other) in old.iter().enumerate() {
                let found = self.pair(kind, other, one);
                if best.as_ref().is_none_or(|(_, best)| severity(&found) < severity(best)) {
                    best = Some((nth, found));
                }
            }
            let Some((nth, best)) = best else { continue };
            used.insert(nth);
            if is_harmless(&best) {
                out.extend(best);
                continue;
            }
            let wide: Vec<Value> = old.iter().map(|alt| full_schema(&self.old, alt)).collect();
            let covered = validator::covers(&json!({ "anyOf": wide }), &full_schema(&self.new, one));
            if covered == Some(true) {
                continue;
            }
            if new.len() <= old.len() || kind == JsonType::Array || key_overlap(&old[nth], one) > 0.5 {
                out.extend(best);
            } else {
                let sample = self.sample(one, 0);
                let keys: Vec<&str> = one.required.iter().copied().collect();
                let message = format!("a variant is new: an object with `{}`", keys.join("`, `"));
                out.push(
                    Delta::breaking("diff-variant-added", message).new_value(json!(keys)).sample(sample),
                );
            }
        }
        let mut once: Vec<Delta> = Vec::new();
        for found in out {
            if !once.contains(&found) {
                once.push(found);
            }
        }
        if old.len() > new.len() && kind == JsonType::Object {
            for (_, gone) in old.iter().enumerate().filter(|(nth, _)| !used.contains(nth)) {
                let keys: Vec<&str> = gone.required.iter().copied().collect();
                let message = format!("a variant is gone: an object with `{}`", keys.join("`, `"));
                once.push(Delta::compatible("diff-variant-removed", message).old(json!(keys)));
            }
        }
        once
    }
}

/// How much two objects have the same keys, from 0 to 1.
fn key_overlap(old: &TypedSchema<'_>, new: &TypedSchema<'_>) -> f64 {
    let (old, new) = (old.constrained_keys(), new.constrained_keys());
    let all = old.union(&new).count();
    if all == 0 { 1.0 } else { old.intersection(&new).count() as f64 / all as f64 }
}

/// The keys that tell variants apart on each side: the same one where there is one.
fn discriminators<'a>(
    old_side: &Canonicalizer<'a>,
    old: &[TypedSchema<'a>],
    new_side: &Canonicalizer<'a>,
    new: &[TypedSchema<'a>],
) -> Option<(String, String)> {
    let (before, after) = (candidates(old_side, old), candidates(new_side, new));
    let values = |side: &Canonicalizer<'a>, alts: &[TypedSchema<'a>], key: &str| -> BTreeSet<String> {
        by_tag(side, alts, key).into_iter().flatten().map(|(tag, _)| tag).collect()
    };
    // A key that has one value everywhere tells nothing apart.
    let common = before
        .iter()
        .filter(|key| after.contains(key))
        .find(|key| values(old_side, old, key).union(&values(new_side, new, key)).count() > 1);
    if let Some(key) = common {
        return Some((key.clone(), key.clone()));
    }
    // A key under another name still tells the same variants apart.
    for old_key in before.iter().filter(|key| !after.contains(key)) {
        for new_key in after.iter().filter(|key| !before.contains(key)) {
            let (left, right) = (values(old_side, old, old_key), values(new_side, new, new_key));
            if left.intersection(&right).next().is_some() && left.union(&right).count() > 1 {
                return Some((old_key.clone(), new_key.clone()));
            }
        }
    }
    None
}

/// The keys that tell these alternatives apart, the best first.
pub(super) fn candidates(side: &Canonicalizer<'_>, alts: &[TypedSchema<'_>]) -> Vec<String> {
    let Some(first) = alts.first() else { return Vec::new() };
    let mut keys: Vec<String> = first
        .required
        .iter()
        .filter(|key| by_tag(side, alts, key).is_some())
        .map(|key| (*key).to_owned())
        .collect();
    keys.sort_by_key(|key| {
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
            None => finite_values(side, &alt.property(key))
                .filter(|values| !values.is_empty() && values.len() <= 64)?,
        };
        let mut distinct: Vec<Value> = Vec::new();
        for value in values {
            if !distinct.iter().any(|other| equal(other, &value)) {
                distinct.push(value);
            }
        }
        for value in distinct {
            let mut one = alt.clone();
            one.tags.insert(key.to_owned(), value.clone());
            let name = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            variants.entry(name).or_insert_with(|| (value, Vec::new())).1.push(one);
        }
    }
    Some(variants)
}
