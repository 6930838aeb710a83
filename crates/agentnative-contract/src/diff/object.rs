//! Objects: keys that come, go, are promised or not, and are renamed.

use super::Class;
use super::alt::{Alt, Kind, Node, is_nothing};
use super::decide::{keeps, same};
use super::found::Found;
use super::rename;
use super::walk::{Walker, brief, names};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strict_json::escape_token;

/// A key that is on one side only.
pub(super) struct Lone<'a> {
    pub key: &'a str,
    pub node: Node<'a>,
}

impl<'a> Walker<'a> {
    /// Compares the keys of two alternatives that are objects.
    pub(super) fn objects(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        let (before, after) = (old.told(), new.told());
        let all: BTreeSet<&'a str> = old.named().union(&new.named()).copied().collect();
        let (mut removed, mut added) = (Vec::new(), Vec::new());
        for key in all {
            let (was, is) = (old.key(key), new.key(key));
            let there = |named: &BTreeSet<&str>, node: &Node<'_>, required: bool| {
                (named.contains(key) || required) && !is_nothing(node)
            };
            let was_there = there(&before, &was, old.required.contains(key));
            let is_there = there(&after, &is, new.required.contains(key));
            match (was_there, is_there) {
                (true, false) => removed.push((out.len(), Lone { key, node: was.clone() })),
                (false, true) => added.push(Lone { key, node: is.clone() }),
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
        (old, was, was_there): (&Alt<'a>, &Node<'a>, bool),
        (new, is, is_there): (&Alt<'a>, &Node<'a>, bool),
        out: &mut Vec<Found>,
    ) {
        let (promised, promises) = (old.required.contains(key), new.required.contains(key));
        let at = |found: Found| found.under(key);
        if was_there && !is_there {
            let told = self.told_old(was);
            // A map's values are still those of the key.
            let in_map = !is.is_empty() && !is_nothing(is);
            if promised {
                let shown = self.sample_without(new, key);
                let message =
                    format!("the key `{key}` is not promised any longer: it is gone from the schema");
                out.push(at(Found::breaking("diff-key-removed", message).old(told).shown(shown)));
            } else if !in_map {
                let message = format!("the optional key `{key}` is gone from the schema");
                out.push(at(Found::new("diff-optional-key-removed", Class::Risky, message).old(told)));
            }
            if in_map {
                self.values(key, was, new, is, out);
            }
            return;
        }
        if !was_there && is_there {
            let told = self.told_new(is);
            if is_nothing(was) {
                let message = format!("the key `{key}` is new in an object that had no further keys");
                let shown = self.sample_with(new, key, is);
                let found = Found::new("diff-key-added-to-closed", Class::Risky, message).new_value(told);
                out.push(at(found.shown(shown)));
            } else {
                let message = format!("the key `{key}` is new");
                out.push(at(Found::compatible("diff-key-added", message).new_value(told)));
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
            let shown = self.sample_without(new, key);
            let message = format!("the key `{key}` was always there, now it is optional");
            let found = Found::breaking("diff-key-optional", message).old(json!({ "required": true }));
            out.push(at(found.new_value(json!({ "required": false })).shown(shown)));
        } else if promises && !promised {
            let message = format!("the key `{key}` is always there now");
            let found = Found::compatible("diff-key-required", message).old(json!({ "required": false }));
            out.push(at(found.new_value(json!({ "required": true }))));
        }
        match (old.tags.get(key), new.tags.get(key)) {
            (None, None) => self.values(key, was, new, is, out),
            (Some(before), Some(after)) if same(before, after) => {}
            (before, after) => {
                let before = tagged(self.old.alternatives(was), before);
                let after = tagged(self.new.alternatives(is), after);
                for mut found in self.alternatives(&before, &after) {
                    let shown = found.shown.take();
                    found.shown = shown.and_then(|value| self.put(new, key, value));
                    out.push(found.under(key));
                }
            }
        }
    }

    /// Compares what holds of the value of a key.
    fn values(&mut self, key: &str, was: &Node<'a>, new: &Alt<'a>, is: &Node<'a>, out: &mut Vec<Found>) {
        for found in self.nodes(was, is).iter() {
            let mut found = found.clone();
            let shown = found.shown.take();
            found.shown = shown.and_then(|value| self.put(new, key, value));
            out.push(found.under(key));
        }
    }

    /// Notes what looks like a rename.
    fn rename(&mut self, removed: &[(usize, Lone<'a>)], added: &[Lone<'a>], out: &mut [Found]) {
        if removed.is_empty() || added.is_empty() || removed.len() * added.len() > 400 {
            return;
        }
        let mut alike = Vec::new();
        for (nth, (_, gone)) in removed.iter().enumerate() {
            for (other, come) in added.iter().enumerate() {
                let likeness = rename::likeness(gone.key, come.key);
                let alone = removed.len() == 1 && added.len() == 1;
                let same_shape = self.nodes(&gone.node, &come.node).is_empty();
                let same_values = same_shape || likeness >= 0.6 && self.same_types(&gone.node, &come.node);
                if same_values && (alone || likeness >= 0.5) {
                    alike.push((likeness, nth, other));
                }
            }
        }
        alike.sort_by(|left, right| right.0.total_cmp(&left.0));
        let (mut used_old, mut used_new) = (BTreeSet::new(), BTreeSet::new());
        for (_, nth, other) in alike {
            if !used_old.insert(nth) || !used_new.insert(other) {
                continue;
            }
            let (gone, come) = (removed[nth].1.key, added[other].key);
            for found in out.iter_mut() {
                let here = |key: &str| found.path == format!("/{}", escape_token(key));
                if here(gone) && found.rule.ends_with("key-removed") {
                    found.note = Some(format!("`{come}` of the same shape is new: it looks like a rename"));
                } else if here(come) && found.rule.starts_with("diff-key-added") {
                    found.note = Some(format!("`{gone}` of the same shape is gone: it looks like a rename"));
                }
            }
        }
    }

    fn same_types(&self, old: &Node<'a>, new: &Node<'a>) -> bool {
        let (old, new) = (self.old.alternatives(old), self.new.alternatives(new));
        !old.is_empty() && names(&old) == names(&new)
    }

    fn patterns_of_keys(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        for pattern in old.key_patterns().union(&new.key_patterns()) {
            let (was, is) = (old.of_pattern(pattern), new.of_pattern(pattern));
            let key = super::pattern::example(pattern);
            for found in self.nodes(&was, &is).iter() {
                let mut found = found.clone();
                found.message = format!("keys like `{pattern}`: {}", found.message);
                let shown = found.shown.take();
                found.shown = shown.zip(key.as_deref()).and_then(|(value, key)| self.put(new, key, value));
                out.push(found.under("*"));
            }
        }
    }

    /// Compares what holds of keys that are not named.
    fn other_keys(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        let (was, is) = (old.other_keys(), new.other_keys());
        match (is_nothing(&was), is_nothing(&is)) {
            (true, true) => {}
            (true, false) => {
                let shown = self.sample_with(new, "anotherKey", &is);
                let message = "other keys than those of the schema are possible now";
                out.push(Found::new("diff-object-opened", Class::Risky, message).old(false).shown(shown));
            }
            (false, true) => {
                let message = "there are no other keys than those of the schema";
                out.push(Found::compatible("diff-object-closed", message).new_value(false));
            }
            (false, false) if was.is_empty() && !is.is_empty() => {
                let message = "other keys than those of the schema are of one shape";
                let told = self.told_new(&is);
                out.push(Found::compatible("diff-object-closed", message).new_value(told));
            }
            (false, false) => {
                for found in self.nodes(&was, &is).iter() {
                    let mut found = found.clone();
                    let shown = found.shown.take();
                    found.shown = shown.and_then(|value| self.put(new, "anotherKey", value));
                    out.push(found.under("*"));
                }
            }
        }
    }

    fn names_of_keys(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        if old.names.is_empty() && new.names.is_empty() {
            return;
        }
        static TEXT: std::sync::LazyLock<Value> = std::sync::LazyLock::new(|| json!({ "type": "string" }));
        let with = |names: &Node<'a>| -> Node<'a> { names.iter().copied().chain([&*TEXT]).collect() };
        for found in self.nodes(&with(&old.names), &with(&new.names)).iter() {
            let mut found = found.clone();
            found.message = format!("names of keys: {}", found.message);
            let key = found.shown.take();
            found.shown = key.as_ref().and_then(Value::as_str).and_then(|key| {
                let value = self.sample_node(&new.key(key), 1)?;
                self.put(new, key, value)
            });
            out.push(found);
        }
    }

    /// Compares which keys need which.
    fn dependencies(&self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        let holds = |alt: &Alt<'_>, key: &str, need: &str| {
            alt.required.contains(need)
                || alt.dependent.get(key).is_some_and(|needs| needs.contains(need))
                || is_nothing(&alt.key(key))
        };
        for (key, needs) in &old.dependent {
            for need in needs.iter().filter(|need| !holds(new, key, need)) {
                let message = format!("where `{key}` is, `{need}` need not be any longer");
                let shown = self.sample_with(new, key, &new.key(key));
                out.push(
                    Found::breaking("diff-dependency-removed", message)
                        .old(json!([key, need]))
                        .shown(shown)
                        .under(need),
                );
            }
        }
        for (key, needs) in &new.dependent {
            for need in needs.iter().filter(|need| !holds(old, key, need)) {
                let message = format!("where `{key}` is, `{need}` is, too");
                out.push(
                    Found::compatible("diff-dependency-added", message)
                        .new_value(json!([key, need]))
                        .under(need),
                );
            }
        }
    }

    /// The types of a node of the old side, for reports.
    fn told_old(&self, node: &Node<'a>) -> Value {
        told(&self.old.alternatives(node))
    }

    fn told_new(&self, node: &Node<'a>) -> Value {
        told(&self.new.alternatives(node))
    }
}

/// The alternatives that take the value of a tag, and take no other.
fn tagged<'a>(alts: Vec<Alt<'a>>, tag: Option<&Value>) -> Vec<Alt<'a>> {
    let Some(tag) = tag else { return alts };
    let takes = |alt: &Alt<'a>| {
        alt.kind() == Kind::of(tag)
            && keeps(alt, tag)
            && alt.values.as_ref().is_none_or(|values| values.iter().any(|value| same(value, tag)))
    };
    let mut alts: Vec<Alt<'a>> = alts.into_iter().filter(takes).collect();
    alts.iter_mut().for_each(|alt| alt.values = Some(vec![tag.clone()]));
    alts
}

fn told(alts: &[Alt<'_>]) -> Value {
    if brief(alts) == "anything" { json!("anything") } else { names(alts) }
}
