//! Objects: keys that come, go, are promised or not, and are renamed.

use super::change::{Change, Class};
use super::predicates::{contains, equal, is_within};
use super::rename;
use super::typed_schema::{Conjunction, TypedSchema, accepts_nothing};
use super::walk::{Walker, type_names, type_phrase};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strict_json::{JsonType, escape_token};

/// A key that is on one side only, and what holds of its value.
type OneSidedKey<'a> = (&'a str, Conjunction<'a>);

impl<'a> Walker<'a> {
    /// Compares the keys of two alternatives that are objects.
    pub(super) fn objects(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let (before, after) = (old.named_keys(), new.named_keys());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for key in &before | &after {
            let (was, is) = (old.property(key), new.property(key));
            let was_there = before.contains(key) && !accepts_nothing(&was);
            let is_there = after.contains(key) && !accepts_nothing(&is);
            match (was_there, is_there) {
                (true, false) => removed.push((key, was.clone())),
                (false, true) => added.push((key, is.clone())),
                _ => {}
            }
            self.key(key, (old, &was, was_there), (new, &is, is_there), out);
        }
        self.rename(&removed, &added, out);
        self.patterns_of_keys(old, new, out);
        self.other_keys(old, new, out);
        self.names_of_keys(old, new, out);
        self.dependencies(old, new, out);
    }

    fn key(
        &mut self,
        key: &'a str,
        (old, was, was_there): (&TypedSchema<'a>, &Conjunction<'a>, bool),
        (new, is, is_there): (&TypedSchema<'a>, &Conjunction<'a>, bool),
        out: &mut Vec<Change>,
    ) {
        let (promised, promises) = (old.required.contains(key), new.required.contains(key));
        let at = |found: Change| found.under(key);
        if was_there && !is_there {
            let summary = type_summary(&self.old.alternatives(was));
            // A map's values are still those of the key.
            let in_map = !is.is_empty() && !accepts_nothing(is);
            if promised {
                let sample = self.sample_without(new, key);
                let message = format!("the required key `{key}` was removed");
                out.push(at(Change::breaking("diff-key-removed", message).old(summary).sample(sample)));
            } else if !in_map {
                let message = format!("the optional key `{key}` was removed");
                out.push(at(Change::new("diff-optional-key-removed", Class::Risky, message).old(summary)));
            }
            if in_map {
                self.values(key, was, new, is, out);
            }
            return;
        }
        if !was_there && is_there {
            let summary = type_summary(&self.new.alternatives(is));
            if accepts_nothing(was) {
                let message = format!("the key `{key}` is new in an object that allowed no other keys");
                let sample = self.sample_with(new, key, is);
                let found = Change::new("diff-key-added-to-closed", Class::Risky, message).new_value(summary);
                out.push(at(found.sample(sample)));
            } else {
                let message = format!("the key `{key}` is new");
                out.push(at(Change::compatible("diff-key-added", message).new_value(summary)));
                if !was.is_empty() {
                    self.values(key, was, new, is, out);
                }
            }
            return;
        }
        if !was_there {
            return;
        }
        if promised && !promises {
            let sample = self.sample_without(new, key);
            let message = format!("the required key `{key}` became optional");
            let found = Change::breaking("diff-key-optional", message).old(json!({ "required": true }));
            out.push(at(found.new_value(json!({ "required": false })).sample(sample)));
        } else if promises && !promised {
            let message = format!("the key `{key}` is now always present");
            let found = Change::compatible("diff-key-required", message).old(json!({ "required": false }));
            out.push(at(found.new_value(json!({ "required": true }))));
        }
        match (old.tags.get(key), new.tags.get(key)) {
            (None, None) => self.values(key, was, new, is, out),
            (Some(before), Some(after)) if equal(before, after) => {}
            (before, after) => {
                let before = restricted_to(self.old.alternatives(was), before);
                let after = restricted_to(self.new.alternatives(is), after);
                for found in self.alternatives(&before, &after) {
                    out.push(found.below(key, |value| self.sample_with_value(new, key, value)));
                }
            }
        }
    }

    /// Compares what holds of the value of a key.
    fn values(
        &mut self,
        key: &str,
        was: &Conjunction<'a>,
        new: &TypedSchema<'a>,
        is: &Conjunction<'a>,
        out: &mut Vec<Change>,
    ) {
        for found in self.nodes(was, is).iter() {
            out.push(found.below(key, |value| self.sample_with_value(new, key, value)));
        }
    }

    /// Notes what looks like a rename.
    fn rename(&mut self, removed: &[OneSidedKey<'a>], added: &[OneSidedKey<'a>], out: &mut [Change]) {
        if removed.is_empty() || added.is_empty() || removed.len() * added.len() > 400 {
            return;
        }
        let mut alike = Vec::new();
        let alone = removed.len() == 1 && added.len() == 1;
        for (gone, was) in removed {
            for (come, is) in added {
                let similarity = rename::similarity(gone, come);
                let same_shape = self.nodes(was, is).is_empty();
                let same_values = same_shape || similarity >= 0.6 && self.same_types(was, is);
                if same_values && (alone || similarity >= 0.5) {
                    alike.push((similarity, *gone, *come));
                }
            }
        }
        alike.sort_by(|left, right| right.0.total_cmp(&left.0));
        let (mut used_old, mut used_new) = (BTreeSet::new(), BTreeSet::new());
        for (_, gone, come) in alike {
            if !used_old.insert(gone) || !used_new.insert(come) {
                continue;
            }
            for found in out.iter_mut() {
                let here = |key: &str| found.pointer == format!("/{}", escape_token(key));
                if here(gone) && found.rule.ends_with("key-removed") {
                    found.note =
                        Some(format!("this looks like a rename: `{come}`, of the same shape, is new"));
                } else if here(come) && found.rule.starts_with("diff-key-added") {
                    found.note =
                        Some(format!("this looks like a rename: `{gone}`, of the same shape, was removed"));
                }
            }
        }
    }

    fn same_types(&self, old: &Conjunction<'a>, new: &Conjunction<'a>) -> bool {
        let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
        !old.is_empty() && type_names(&old) == type_names(&new)
    }

    fn patterns_of_keys(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        for pattern in old.key_patterns().union(&new.key_patterns()) {
            let (was, is) = (old.pattern_property(pattern), new.pattern_property(pattern));
            let key = super::pattern::example(pattern);
            for found in self.nodes(&was, &is).iter() {
                let mut found = found.below("*", |value| self.sample_with_value(new, key.as_deref()?, value));
                found.message = format!("keys like `{pattern}`: {}", found.message);
                out.push(found);
            }
        }
    }

    /// Compares what holds of keys that are not named.
    fn other_keys(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let (was, is) = (old.additional(), new.additional());
        match (accepts_nothing(&was), accepts_nothing(&is)) {
            (true, true) => {}
            (true, false) => {
                let sample = self.sample_with(new, "anotherKey", &is);
                let message = "keys that the schema does not name are now possible";
                out.push(Change::new("diff-object-opened", Class::Risky, message).old(false).sample(sample));
            }
            (false, true) => {
                let message = "keys that the schema does not name are no longer possible";
                out.push(Change::compatible("diff-object-closed", message).new_value(false));
            }
            (false, false) if was.is_empty() && !is.is_empty() => {
                let message = "keys that the schema does not name now have one shape";
                let summary = type_summary(&self.new.alternatives(&is));
                out.push(Change::compatible("diff-object-closed", message).new_value(summary));
            }
            (false, false) => {
                for found in self.nodes(&was, &is).iter() {
                    out.push(found.below("*", |value| self.sample_with_value(new, "anotherKey", value)));
                }
            }
        }
    }

    fn names_of_keys(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        if old.names.is_empty() && new.names.is_empty() {
            return;
        }
        static TEXT: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({ "type": "string" }));
        let with =
            |names: &Conjunction<'a>| -> Conjunction<'a> { names.iter().copied().chain([&*TEXT]).collect() };
        for found in self.nodes(&with(&old.names), &with(&new.names)).iter() {
            let mut found = found.clone();
            found.message = format!("key names: {}", found.message);
            let key = found.sample.take();
            found.sample = key.as_ref().and_then(Value::as_str).and_then(|key| {
                let value = self.sample_node(&new.property(key), 1)?;
                self.sample_with_value(new, key, value)
            });
            out.push(found);
        }
    }

    /// Compares which keys need which.
    fn dependencies(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let holds = |alt: &TypedSchema<'_>, key: &str, need: &str| {
            alt.required.contains(need)
                || alt.dependent.get(key).is_some_and(|needs| needs.contains(need))
                || accepts_nothing(&alt.property(key))
        };
        for (key, needs) in &old.dependent {
            for need in needs.iter().filter(|need| !holds(new, key, need)) {
                let message = format!("`{key}` no longer requires `{need}`");
                let sample = self.sample_with(new, key, &new.property(key));
                let found = Change::breaking("diff-dependency-removed", message).old([key, need]);
                out.push(found.sample(sample).under(need));
            }
        }
        for (key, needs) in &new.dependent {
            for need in needs.iter().filter(|need| !holds(old, key, need)) {
                let message = format!("`{key}` now requires `{need}`");
                let found = Change::compatible("diff-dependency-added", message).new_value([key, need]);
                out.push(found.under(need));
            }
        }
    }
}

/// The alternatives that take the value of a tag, and take no other.
fn restricted_to<'a>(alts: Vec<TypedSchema<'a>>, tag: Option<&Value>) -> Vec<TypedSchema<'a>> {
    let Some(tag) = tag else { return alts };
    let takes = |alt: &TypedSchema<'a>| {
        alt.json_type() == JsonType::from(tag)
            && is_within(alt, tag)
            && alt.values.as_ref().is_none_or(|values| contains(values, tag))
    };
    let mut alts: Vec<TypedSchema<'a>> = alts.into_iter().filter(takes).collect();
    alts.iter_mut().for_each(|alt| alt.values = Some(vec![tag.clone()]));
    alts
}

fn type_summary(alts: &[TypedSchema<'_>]) -> Value {
    if type_phrase(alts) == "anything" { json!("anything") } else { type_names(alts) }
}
