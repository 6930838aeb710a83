//! Unions: which alternative of one side is which of the other.

use super::change::{Change, is_harmless, severity};
use super::rename;
use super::typed_schema::TypedSchema;
use super::validator;
use super::variants::{Tagged, candidates, discriminators, key_overlap, variant_name, variant_names};
use super::walk::{Walker, any_schema, excerpt, full_schema};
use agentnative_contract::alternatives;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use strict_json::JsonType;

/// Alternatives of one type that are compared each with each, at most.
const MAX_UNTAGGED: usize = 40;

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

fn join(keys: &BTreeSet<&str>) -> String {
    keys.iter().copied().collect::<Vec<_>>().join("`, `")
}
