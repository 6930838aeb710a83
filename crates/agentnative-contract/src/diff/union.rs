//! Unions: which alternative of one side is which of the other.

use super::alt::{Alt, Kind};
use super::decide::{finite, same};
use super::expand::Expander;
use super::found::{Found, harmless, weight};
use super::rename;
use super::validator;
use super::walk::{Walker, short, whole};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use strict_json::escape_token;

/// Names of keys that tell variants apart, the usual ones first.
const USUAL: [&str; 8] = ["type", "kind", "event", "status", "ok", "success", "subtype", "role"];
/// Alternatives of one type that are compared each with each, at most.
const MOST: usize = 40;

/// Variants by the value of their tag; one value may stand for several.
pub(super) type Variants<'a> = BTreeMap<String, (Value, Vec<Alt<'a>>)>;

impl<'a> Walker<'a> {
    /// Compares several objects or arrays with several.
    pub(super) fn unions(&mut self, kind: Kind, old: &[Alt<'a>], new: &[Alt<'a>]) -> Vec<Found> {
        if kind == Kind::Object
            && let Some((old_key, new_key)) = tags(&self.old, old, &self.new, new)
            && let Some(before) = by_tag(&self.old, old, &old_key)
            && let Some(after) = by_tag(&self.new, new, &new_key)
        {
            return self.tagged(&old_key, &before, &new_key, &after);
        }
        if old.len() > MOST || new.len() > MOST {
            return vec![Found::undecided("there are too many variants that no key tells apart")];
        }
        self.untagged(kind, old, new)
    }

    /// Compares variants that a key tells apart.
    fn tagged(&mut self, old_key: &str, old: &Variants<'a>, new_key: &str, new: &Variants<'a>) -> Vec<Found> {
        let mut out: Vec<Found> = Vec::new();
        for (tag, (_, before)) in old {
            if let Some((_, after)) = new.get(tag) {
                for found in self.composites(Kind::Object, before, after) {
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
        let renamed = self.renamed(old, &gone, new, &come);
        let path = |key: &str| format!("/{}", escape_token(key));
        for tag in &come {
            let (value, alts) = &new[*tag];
            let shown = self.sample_of(alts);
            let message = format!("the variant with `{new_key}` {} is new", short(value));
            let mut found =
                Found::breaking("diff-variant-added", message).new_value(value.clone()).shown(shown);
            found.path = path(new_key);
            found.note = renamed.iter().find(|(_, to)| to == *tag).map(|(from, _)| {
                format!("the variant {from} of the same shape is gone: it looks like a rename")
            });
            out.push(found);
        }
        for tag in &gone {
            let (value, _) = &old[*tag];
            let message = format!("the variant with `{old_key}` {} is gone", short(value));
            let mut found = Found::compatible("diff-variant-removed", message).old(value.clone());
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
    pub(super) fn renamed(
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
                come.iter().filter(|to| shapes(to).is_some_and(|(old, new)| alike(old, new) > 0.75));
            let best = candidates
                .map(|to| (rename::likeness(from, to), *to))
                .max_by(|left, right| left.0.total_cmp(&right.0));
            if let Some((likeness, to)) = best
                && (likeness > 0.4 || gone.len() == 1 && come.len() == 1)
                && !pairs.iter().any(|(_, known)| known == to)
            {
                pairs.push(((*from).clone(), to.clone()));
            }
        }
        pairs
    }

    /// Compares each with each: what is new has to be within something that was.
    fn untagged(&mut self, kind: Kind, old: &[Alt<'a>], new: &[Alt<'a>]) -> Vec<Found> {
        let mut out: Vec<Found> = Vec::new();
        let mut used = BTreeSet::new();
        for one in new {
            let mut best: Option<(usize, Vec<Found>)> = None;
            for (nth, other) in old.iter().enumerate() {
                let found = self.pair(kind, other, one);
                if best.as_ref().is_none_or(|(_, best)| weight(&found) < weight(best)) {
                    best = Some((nth, found));
                }
            }
            let Some((nth, best)) = best else { continue };
            used.insert(nth);
            if harmless(&best) {
                out.extend(best);
                continue;
            }
            let wide: Vec<Value> = old.iter().map(|alt| whole(&self.old, alt)).collect();
            let covered = validator::covers(&json!({ "anyOf": wide }), &whole(&self.new, one));
            if covered == Some(true) {
                continue;
            }
            if new.len() <= old.len() || kind == Kind::Array || alike(&old[nth], one) > 0.5 {
                out.extend(best);
            } else {
                let shown = self.sample(one, 0);
                let keys: Vec<&str> = one.required.iter().copied().collect();
                let message = format!("a variant is new: an object with `{}`", keys.join("`, `"));
                out.push(Found::breaking("diff-variant-added", message).new_value(json!(keys)).shown(shown));
            }
        }
        let mut once: Vec<Found> = Vec::new();
        for found in out {
            if !once.contains(&found) {
                once.push(found);
            }
        }
        if old.len() > new.len() && kind == Kind::Object {
            for (_, gone) in old.iter().enumerate().filter(|(nth, _)| !used.contains(nth)) {
                let keys: Vec<&str> = gone.required.iter().copied().collect();
                let message = format!("a variant is gone: an object with `{}`", keys.join("`, `"));
                once.push(Found::compatible("diff-variant-removed", message).old(json!(keys)));
            }
        }
        once
    }
}

/// How much two objects have the same keys, from 0 to 1.
fn alike(old: &Alt<'_>, new: &Alt<'_>) -> f64 {
    let (old, new) = (old.told(), new.told());
    let all = old.union(&new).count();
    if all == 0 { 1.0 } else { old.intersection(&new).count() as f64 / all as f64 }
}

/// The keys that tell variants apart on each side: the same one where there is one.
fn tags<'a>(
    old_side: &Expander<'a>,
    old: &[Alt<'a>],
    new_side: &Expander<'a>,
    new: &[Alt<'a>],
) -> Option<(String, String)> {
    let (before, after) = (candidates(old_side, old), candidates(new_side, new));
    let values = |side: &Expander<'a>, alts: &[Alt<'a>], key: &str| -> BTreeSet<String> {
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
pub(super) fn candidates(side: &Expander<'_>, alts: &[Alt<'_>]) -> Vec<String> {
    let Some(first) = alts.first() else { return Vec::new() };
    let mut keys: Vec<String> = first
        .required
        .iter()
        .filter(|key| by_tag(side, alts, key).is_some())
        .map(|key| (*key).to_owned())
        .collect();
    keys.sort_by_key(|key| USUAL.iter().position(|usual| usual == key).unwrap_or(USUAL.len()));
    keys
}

/// The alternatives by the value of a key, if each has one.
pub(super) fn by_tag<'a>(side: &Expander<'a>, alts: &[Alt<'a>], key: &str) -> Option<Variants<'a>> {
    let mut variants = Variants::new();
    for alt in alts {
        if !alt.required.contains(key) {
            return None;
        }
        let values = match alt.tags.get(key) {
            Some(tag) => vec![tag.clone()],
            None => finite(side, &alt.key(key)).filter(|values| !values.is_empty() && values.len() <= 64)?,
        };
        let mut distinct: Vec<Value> = Vec::new();
        for value in values {
            if !distinct.iter().any(|other| same(other, &value)) {
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
