//! Compares two object schemas: finds keys that were added, removed, renamed, or became required or optional.

use super::change::{Change, ChangeSeverity};
use super::predicates::{contains, equal, is_within};
use super::rename;
use super::schema_comparer::{SchemaComparer, type_names, type_phrase};
use super::typed_schema::{Conjunction, TypedSchema, accepts_nothing};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strict_json::{JsonType, escape_token};

/// A key that only one version has, with the schemas of its value.
type OneSidedKey<'a> = (&'a str, Conjunction<'a>);

impl<'a> SchemaComparer<'a> {
    /// Compares two object schemas. Appends the changes to `out`.
    pub(super) fn compare_objects(
        &mut self,
        old: &TypedSchema<'a>,
        new: &TypedSchema<'a>,
        out: &mut Vec<Change>,
    ) {
        let (before, after) = (old.named_keys(), new.named_keys());
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for key in &before | &after {
            let (old_node, new_node) = (old.property(key), new.property(key));
            let in_old = before.contains(key) && !accepts_nothing(&old_node);
            let in_new = after.contains(key) && !accepts_nothing(&new_node);
            match (in_old, in_new) {
                (true, false) => removed.push((key, old_node.clone())),
                (false, true) => added.push((key, new_node.clone())),
                _ => {}
            }
            self.compare_key(key, (old, &old_node, in_old), (new, &new_node, in_new), out);
        }
        self.note_renames(&removed, &added, out);
        self.compare_key_patterns(old, new, out);
        self.compare_additional_keys(old, new, out);
        self.compare_key_names(old, new, out);
        self.compare_dependencies(old, new, out);
    }

    fn compare_key(
        &mut self,
        key: &'a str,
        (old, old_node, in_old): (&TypedSchema<'a>, &Conjunction<'a>, bool),
        (new, new_node, in_new): (&TypedSchema<'a>, &Conjunction<'a>, bool),
        out: &mut Vec<Change>,
    ) {
        let (was_required, is_required) = (old.required.contains(key), new.required.contains(key));
        let at_key = |change: Change| change.with_parent_token(key);
        if in_old && !in_new {
            let summary = type_summary(&self.old.alternatives(old_node));
            // The key may still occur as a key of a map.
            let in_map = !new_node.is_empty() && !accepts_nothing(new_node);
            if was_required {
                let example = self.example_without(new, key);
                let message = format!("the required key `{key}` was removed");
                out.push(at_key(Change::breaking("diff-key-removed", message).old(summary).example(example)));
            } else if !in_map {
                let message = format!("the optional key `{key}` was removed");
                out.push(at_key(
                    Change::new("diff-optional-key-removed", ChangeSeverity::Risky, message).old(summary),
                ));
            }
            if in_map {
                self.compare_values(key, old_node, new, new_node, out);
            }
            return;
        }
        if !in_old && in_new {
            let summary = type_summary(&self.new.alternatives(new_node));
            if accepts_nothing(old_node) {
                let message = format!("the key `{key}` is new in an object that allowed no other keys");
                let example = self.example_with(new, key, new_node);
                let change = Change::new("diff-key-added-to-closed", ChangeSeverity::Risky, message)
                    .new_value(summary);
                out.push(at_key(change.example(example)));
            } else {
                let message = format!("the key `{key}` is new");
                out.push(at_key(Change::compatible("diff-key-added", message).new_value(summary)));
                if !old_node.is_empty() {
                    self.compare_values(key, old_node, new, new_node, out);
                }
            }
            return;
        }
        if !in_old {
            return;
        }
        if was_required && !is_required {
            let example = self.example_without(new, key);
            let message = format!("the required key `{key}` became optional");
            let change = Change::breaking("diff-key-optional", message).old(json!({ "required": true }));
            out.push(at_key(change.new_value(json!({ "required": false })).example(example)));
        } else if is_required && !was_required {
            let message = format!("the key `{key}` is now always present");
            let change = Change::compatible("diff-key-required", message).old(json!({ "required": false }));
            out.push(at_key(change.new_value(json!({ "required": true }))));
        }
        match (old.tags.get(key), new.tags.get(key)) {
            (None, None) => self.compare_values(key, old_node, new, new_node, out),
            (Some(before), Some(after)) if equal(before, after) => {}
            (before, after) => {
                let before = restricted_to(self.old.alternatives(old_node), before);
                let after = restricted_to(self.new.alternatives(new_node), after);
                for change in self.compare_alternatives(&before, &after) {
                    out.push(change.lift_to_parent(key, |value| self.example_with_value(new, key, value)));
                }
            }
        }
    }

    /// Compares the old and the new schemas of the value of a key. Appends the changes to `out`.
    fn compare_values(
        &mut self,
        key: &str,
        old_node: &Conjunction<'a>,
        new: &TypedSchema<'a>,
        new_node: &Conjunction<'a>,
        out: &mut Vec<Change>,
    ) {
        for change in self.compare_nodes(old_node, new_node).iter() {
            out.push(change.lift_to_parent(key, |value| self.example_with_value(new, key, value)));
        }
    }

    /// Finds removed and added keys that look like a rename, and adds a note to their changes in `out`.
    fn note_renames(&mut self, removed: &[OneSidedKey<'a>], added: &[OneSidedKey<'a>], out: &mut [Change]) {
        if removed.is_empty() || added.is_empty() || removed.len() * added.len() > 400 {
            return;
        }
        let mut candidates = Vec::new();
        let is_only_pair = removed.len() == 1 && added.len() == 1;
        for (old_key, old_node) in removed {
            for (new_key, new_node) in added {
                let similarity = rename::similarity(old_key, new_key);
                let same_shape = self.compare_nodes(old_node, new_node).is_empty();
                let same_values = same_shape || similarity >= 0.6 && self.same_types(old_node, new_node);
                if same_values && (is_only_pair || similarity >= 0.5) {
                    candidates.push((similarity, *old_key, *new_key));
                }
            }
        }
        candidates.sort_by(|left, right| right.0.total_cmp(&left.0));
        let (mut used_old, mut used_new) = (BTreeSet::new(), BTreeSet::new());
        for (_, old_key, new_key) in candidates {
            if !used_old.insert(old_key) || !used_new.insert(new_key) {
                continue;
            }
            for change in out.iter_mut() {
                let is_at = |key: &str| change.pointer == format!("/{}", escape_token(key));
                if is_at(old_key) && change.rule.ends_with("key-removed") {
                    change.note =
                        Some(format!("this looks like a rename: `{new_key}`, of the same shape, is new"));
                } else if is_at(new_key) && change.rule.starts_with("diff-key-added") {
                    change.note = Some(format!(
                        "this looks like a rename: `{old_key}`, of the same shape, was removed"
                    ));
                }
            }
        }
    }

    fn same_types(&self, old: &Conjunction<'a>, new: &Conjunction<'a>) -> bool {
        let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
        !old.is_empty() && type_names(&old) == type_names(&new)
    }

    fn compare_key_patterns(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        for pattern in old.key_patterns().union(&new.key_patterns()) {
            let (old_node, new_node) = (old.pattern_property(pattern), new.pattern_property(pattern));
            let key = super::pattern::example(pattern);
            for change in self.compare_nodes(&old_node, &new_node).iter() {
                let mut change =
                    change.lift_to_parent("*", |value| self.example_with_value(new, key.as_deref()?, value));
                change.message = format!("keys like `{pattern}`: {}", change.message);
                out.push(change);
            }
        }
    }

    /// Compares which values two object schemas allow at keys that they do not name (`additionalProperties`).
    fn compare_additional_keys(
        &mut self,
        old: &TypedSchema<'a>,
        new: &TypedSchema<'a>,
        out: &mut Vec<Change>,
    ) {
        let (old_node, new_node) = (old.additional(), new.additional());
        match (accepts_nothing(&old_node), accepts_nothing(&new_node)) {
            (true, true) => {}
            (true, false) => {
                let example = self.example_with(new, "anotherKey", &new_node);
                let message = "keys that the schema does not name are now possible";
                out.push(
                    Change::new("diff-object-opened", ChangeSeverity::Risky, message)
                        .old(false)
                        .example(example),
                );
            }
            (false, true) => {
                let message = "keys that the schema does not name are no longer possible";
                out.push(Change::compatible("diff-object-closed", message).new_value(false));
            }
            (false, false) if old_node.is_empty() && !new_node.is_empty() => {
                let message = "keys that the schema does not name now have one shape";
                let summary = type_summary(&self.new.alternatives(&new_node));
                out.push(Change::compatible("diff-object-closed", message).new_value(summary));
            }
            (false, false) => {
                for change in self.compare_nodes(&old_node, &new_node).iter() {
                    out.push(
                        change.lift_to_parent("*", |value| self.example_with_value(new, "anotherKey", value)),
                    );
                }
            }
        }
    }

    fn compare_key_names(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        if old.key_names.is_empty() && new.key_names.is_empty() {
            return;
        }
        static STRING_SCHEMA: std::sync::LazyLock<Value> =
            std::sync::LazyLock::new(|| json!({ "type": "string" }));
        let restrict_to_strings = |names: &Conjunction<'a>| -> Conjunction<'a> {
            names.iter().copied().chain([&*STRING_SCHEMA]).collect()
        };
        for change in self
            .compare_nodes(&restrict_to_strings(&old.key_names), &restrict_to_strings(&new.key_names))
            .iter()
        {
            let mut change = change.clone();
            change.message = format!("key names: {}", change.message);
            let key = change.example.take();
            change.example = key.as_ref().and_then(Value::as_str).and_then(|key| {
                let value = self.example_of_node(&new.property(key), 1)?;
                self.example_with_value(new, key, value)
            });
            out.push(change);
        }
    }

    /// Compares the keyword `dependentRequired` of two object schemas.
    fn compare_dependencies(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let holds = |alt: &TypedSchema<'_>, key: &str, need: &str| {
            alt.required.contains(need)
                || alt.dependent_required.get(key).is_some_and(|needs| needs.contains(need))
                || accepts_nothing(&alt.property(key))
        };
        for (key, needs) in &old.dependent_required {
            for need in needs.iter().filter(|need| !holds(new, key, need)) {
                let message = format!("`{key}` no longer requires `{need}`");
                let example = self.example_with(new, key, &new.property(key));
                let change = Change::breaking("diff-dependency-removed", message).old([key, need]);
                out.push(change.example(example).with_parent_token(need));
            }
        }
        for (key, needs) in &new.dependent_required {
            for need in needs.iter().filter(|need| !holds(old, key, need)) {
                let message = format!("`{key}` now requires `{need}`");
                let change = Change::compatible("diff-dependency-added", message).new_value([key, need]);
                out.push(change.with_parent_token(need));
            }
        }
    }
}

/// Keeps the alternatives that accept the value `tag`, and restricts them to it. Without a tag, returns all
/// alternatives unchanged.
fn restricted_to<'a>(alts: Vec<TypedSchema<'a>>, tag: Option<&Value>) -> Vec<TypedSchema<'a>> {
    let Some(tag) = tag else { return alts };
    let accepts = |alt: &TypedSchema<'a>| {
        alt.json_type() == JsonType::from(tag)
            && is_within(alt, tag)
            && alt.values.as_ref().is_none_or(|values| contains(values, tag))
    };
    let mut alts: Vec<TypedSchema<'a>> = alts.into_iter().filter(accepts).collect();
    alts.iter_mut().for_each(|alt| alt.values = Some(vec![tag.clone()]));
    alts
}

fn type_summary(alts: &[TypedSchema<'_>]) -> Value {
    if type_phrase(alts) == "anything" { json!("anything") } else { type_names(alts) }
}
