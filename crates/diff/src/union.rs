//! Compares unions: pairs the alternatives of both sides.

use super::change::{Change, is_harmless, severity};
use super::rename;
use super::schema_comparer::{SchemaComparer, any_schema, excerpt, full_schema};
use super::typed_schema::TypedSchema;
use super::validator;
use super::variants::{Tagged, candidates, discriminators, key_overlap, variant_name, variant_names};
use agentnative_contract::alternatives;
use std::cell::OnceCell;
use std::collections::BTreeSet;
use strict_json::JsonType;

/// Maximum number of alternatives that are compared pairwise.
const MAX_UNTAGGED: usize = 40;

impl<'a> SchemaComparer<'a> {
    /// Compares unions of objects or of arrays.
    pub(super) fn compare_unions(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let (before, after) = (candidates(&self.old, old), candidates(&self.new, new));
        if let Some((old, new)) = discriminators(&before, &after) {
            return self.compare_tagged(old, new);
        }
        if old.len() > MAX_UNTAGGED || new.len() > MAX_UNTAGGED {
            return vec![Change::undecided("the union has too many variants that no key identifies")];
        }
        self.compare_untagged(old, new)
    }

    /// Compares variants with a discriminating key.
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
        let (removed, added) = rename::differences(old, new);
        for (tag, before) in added {
            let (value, alts) = &new[tag];
            let message = format!("the variant with `{new_key}` {} is new", excerpt(value));
            let change = Change::breaking("diff-variant-added", message).new_value(value);
            let note = before.map(|from| {
                format!("this looks like a rename: the variant {from}, of the same shape, was removed")
            });
            out.push(Change { note, example: self.example_of(alts), ..change.under(new_key) });
        }
        for (tag, after) in removed {
            let (value, _) = &old[tag];
            let message = format!("the variant with `{old_key}` {} was removed", excerpt(value));
            let change = Change::compatible("diff-variant-removed", message).old(value);
            let note = after
                .map(|to| format!("this looks like a rename: the variant {to}, of the same shape, is new"));
            out.push(Change { note, ..change.under(old_key) });
        }
        out
    }

    /// Compares all pairs of alternatives. Each new alternative has to be covered by an old one.
    fn compare_untagged(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let arrays = new.iter().any(|alt| alt.json_type() == JsonType::Array);
        let mut out = VariantChanges::default();
        let (mut used, mut added) = (BTreeSet::new(), Vec::new());
        let names = OnceCell::new();
        for (at, one) in new.iter().enumerate() {
            let pairs = old.iter().map(|other| self.compare_pair(other, one)).enumerate();
            let Some((nth, best)) = pairs.min_by_key(|(_, changes)| severity(changes)) else { continue };
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

/// Changes within the variants of a union.
#[derive(Default)]
struct VariantChanges {
    /// Changes with the names of the affected variants.
    changes: Vec<(Change, Vec<String>)>,
    /// Number of compared variants.
    compared: usize,
}

impl VariantChanges {
    /// Adds the changes of one variant. `same` identifies changes that an earlier variant already has.
    fn add(&mut self, name: &str, changes: Vec<Change>, same: impl Fn(&Change, &Change) -> bool) {
        self.compared += 1;
        for change in changes {
            match self.changes.iter_mut().find(|(known, _)| same(known, &change)) {
                Some((_, names)) => names.push(name.to_owned()),
                None => self.changes.push((change, vec![name.to_owned()])),
            }
        }
    }

    /// Returns the changes with their variants. A change of all variants has none.
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
