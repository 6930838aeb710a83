//! Compares unions: pairs the alternatives of the old and the new version, and compares each pair.

use super::change::{Change, count_by_severity, is_harmless};
use super::rename;
use super::schema_comparer::{SchemaComparer, any_schema, excerpt, full_schema};
use super::typed_schema::TypedSchema;
use super::validator;
use super::variants::{
    Tagged, candidate_discriminators, key_overlap, matching_discriminators, variant_name, variant_names,
};
use agentnative_contract::alternatives;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use strict_json::JsonType;

/// Maximum number of alternatives of a version, without a discriminating key, that are compared pairwise.
const MAX_UNTAGGED: usize = 40;

impl<'a> SchemaComparer<'a> {
    /// Compares two unions of objects or of arrays, by a discriminating key such as `type` if there is one.
    pub(super) fn compare_unions(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let (before, after) =
            (candidate_discriminators(&self.old, old), candidate_discriminators(&self.new, new));
        if let Some((old, new)) = matching_discriminators(&before, &after) {
            return self.compare_tagged(old, new);
        }
        if old.len() > MAX_UNTAGGED || new.len() > MAX_UNTAGGED {
            return vec![Change::undecided("the union has too many variants that no key identifies")];
        }
        self.compare_untagged(old, new)
    }

    /// Compares the variants of two unions. Variants with the same value of the discriminating key form a pair.
    fn compare_tagged(&mut self, (old_key, old): &Tagged<'a>, (new_key, new): &Tagged<'a>) -> Vec<Change> {
        let mut common = VariantChanges::default();
        for (tag, (value, before)) in old {
            let Some((_, after)) = new.get(tag) else { continue };
            // A change that several variants share is reported once.
            let changes = self.compare_composites(before, after);
            common.add(&variant_name(new_key, value), changes, |one, other| {
                (&one.rule, &one.pointer, &one.message, &one.variant)
                    == (&other.rule, &other.pointer, &other.message, &other.variant)
            });
        }
        let mut out = common.into_changes();
        let (removed, added) = rename::removed_and_added(old, new);
        for (tag, before) in added {
            let (value, alts) = &new[tag];
            let message = format!("the variant with `{new_key}` {} is new", excerpt(value));
            let change = Change::breaking("diff-variant-added", message).new_value(value);
            let note = before.map(|from| {
                format!("this looks like a rename: the variant {from}, of the same shape, was removed")
            });
            out.push(Change { note, example: self.example_of(alts), ..change.with_parent_token(new_key) });
        }
        for (tag, after) in removed {
            let (value, _) = &old[tag];
            let message = format!("the variant with `{old_key}` {} was removed", excerpt(value));
            let change = Change::compatible("diff-variant-removed", message).old(value);
            let note = after
                .map(|to| format!("this looks like a rename: the variant {to}, of the same shape, is new"));
            out.push(Change { note, ..change.with_parent_token(old_key) });
        }
        out
    }

    /// Compares unions without a discriminating key. Each new alternative is compared with every old one, and the
    /// changes from the most similar one are reported.
    fn compare_untagged(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let arrays = new.iter().any(|alt| alt.json_type() == JsonType::Array);
        let mut out = VariantChanges::default();
        let (mut used, mut added) = (BTreeSet::new(), Vec::new());
        let names = OnceCell::new();
        for (at, one) in new.iter().enumerate() {
            let pairs = old.iter().map(|other| self.compare_pair(other, one)).enumerate();
            let Some((nth, best)) = pairs.min_by_key(|(_, changes)| count_by_severity(changes)) else {
                continue;
            };
            used.insert(nth);
            let covered =
                || validator::covers(&any_schema(&self.old, old), &full_schema(&self.new, one)) == Some(true);
            let changes = if is_harmless(&best) {
                best
            } else if covered() {
                Vec::new()
            } else if new.len() <= old.len() || arrays || key_overlap(&old[nth], one) > 0.5 {
                best
            } else {
                let message = format!("new variant: an object with `{}`", join(&one.required));
                let change = Change::breaking("diff-variant-added", message).new_value(&one.required);
                added.push(change.example(self.example(one, 0)));
                continue;
            };
            let name = if changes.is_empty() || new.len() == 1 {
                ""
            } else {
                &names.get_or_init(|| variant_names(&self.new, new))[at]
            };
            out.add(name, changes, PartialEq::eq);
        }
        let mut out = match new {
            [_] => out.changes.into_iter().map(|(change, _)| change).collect(),
            _ => out.into_changes(),
        };
        out.extend(added);
        if old.len() > new.len() && !arrays {
            for (_, removed) in old.iter().enumerate().filter(|(nth, _)| !used.contains(nth)) {
                let message = format!("removed variant: an object with `{}`", join(&removed.required));
                out.push(Change::compatible("diff-variant-removed", message).old(&removed.required));
            }
        }
        out
    }
}

/// Collects the changes in the variants of a union, so that a change of several variants is reported once.
#[derive(Default)]
struct VariantChanges {
    /// The changes, each with the names of the variants in which it occurs.
    changes: Vec<(Change, Vec<String>)>,
    /// Number of variants that were compared.
    compared: usize,
}

impl VariantChanges {
    /// Adds the changes of the variant `name`. If `same` returns true for a known change, only the name is added to it.
    fn add(&mut self, name: &str, changes: Vec<Change>, same: impl Fn(&Change, &Change) -> bool) {
        self.compared += 1;
        for change in changes {
            match self.changes.iter_mut().find(|(known, _)| same(known, &change)) {
                Some((_, names)) => names.push(name.to_owned()),
                None => self.changes.push((change, vec![name.to_owned()])),
            }
        }
    }

    /// Returns the changes. A change that only some variants have gets the names of these variants.
    fn into_changes(self) -> Vec<Change> {
        let all_variants = if self.compared > 1 { self.compared } else { usize::MAX };
        let changes = self.changes.into_iter().map(|(mut change, mut names)| {
            names.dedup();
            if names.len() < all_variants {
                change.variant.insert(0, alternatives(names));
            }
            change
        });
        changes.collect()
    }
}

fn join(keys: &BTreeSet<&str>) -> String {
    keys.iter().copied().collect::<Vec<_>>().join("`, `")
}
