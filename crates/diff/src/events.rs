//! Compares two event streams: the event types with their schemas, the first and last events, and the order of types.

use super::bundle::{self, Bundle, DATA_SCHEMA};
use super::canonicalize::Canonicalizer;
use super::change::{Change, ChangeSeverity, Witness};
use super::outputs::OutputComparison;
use super::rename;
use super::schema_comparer::{SchemaComparer, any_schema};
use super::typed_schema::TypedSchema;
use super::validator::valid;
use super::variants::{Variants, by_tag, candidate_discriminators};
use super::witness::Witnesses;
use agentnative_contract::{EventSpec, Framing, OutputSpec, UNTYPED};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strict_json::{JsonType, escape_token, unescape_token};

/// The event types of one version of a stream, with the schemas of their records.
struct EventTypes<'b> {
    events: EventSpec,
    /// Schemas of the records, as alternatives by event type.
    variants: Variants<'b>,
}

impl<'b> EventTypes<'b> {
    /// Returns the alternatives of all records: those of all event types, or those of the data schema if no event type
    /// has any.
    fn records(&self, side: Canonicalizer<'b>, bundle: &'b Bundle) -> Vec<TypedSchema<'b>> {
        let typed = self.variants.values().flat_map(|(_, alts)| alts.iter().cloned());
        let others =
            bundle.schema(DATA_SCHEMA).map(|schema| side.alternatives(&[schema])).unwrap_or_default();
        typed.chain(others.into_iter().filter(|_| self.variants.is_empty())).collect()
    }
}

impl OutputComparison<'_> {
    /// Compares the event types if at least one version has any. Returns whether that compared the records completely,
    /// so that the data schemas need no comparison.
    pub fn compare_events<'b>(
        &mut self,
        comparer: &mut SchemaComparer<'b>,
        before: &'b Bundle,
        after: &'b Bundle,
    ) -> bool {
        let (old, new) =
            (event_types(comparer.old, before, self.old), event_types(comparer.new, after, self.new));
        match (old, new) {
            (None, None) => false,
            (Some(old), Some(new)) => {
                self.compare_event_streams(comparer, &old, &new);
                true
            }
            (Some(stream), None) => {
                let old = stream.records(comparer.old, before);
                match after.schema(DATA_SCHEMA) {
                    Some(schema) => {
                        let new = comparer.new.alternatives(&[schema]);
                        self.compare_records(
                            comparer,
                            &old,
                            &new,
                            &stream.events,
                            "diff-discriminator-removed",
                        );
                    }
                    None => {
                        self.add(Change::undecided("the new side has no information about its event types"))
                    }
                }
                true
            }
            (None, Some(stream)) => {
                let new = stream.records(comparer.new, after);
                if let Some(schema) = before.schema(DATA_SCHEMA) {
                    let old = comparer.old.alternatives(&[schema]);
                    self.compare_records(comparer, &old, &new, &stream.events, "diff-discriminator-added");
                }
                true
            }
        }
    }

    /// Compares two versions of a stream that both have event types.
    fn compare_event_streams<'b>(
        &mut self,
        comparer: &mut SchemaComparer<'b>,
        old: &EventTypes<'b>,
        new: &EventTypes<'b>,
    ) {
        let type_keys = |events: &EventSpec| match &events.subtype {
            Some(subtype) => format!("{} and {subtype}", events.discriminator),
            None => events.discriminator.clone(),
        };
        let (old_keys, new_keys) = (type_keys(&old.events), type_keys(&new.events));
        if old_keys != new_keys {
            let message = format!("the event type moved from {old_keys} to {new_keys}");
            let change =
                Change::breaking("diff-discriminator-changed", message).old(old_keys).new_value(new_keys);
            self.add(Change { pointer: old.events.discriminator.clone(), ..change });
        }
        self.compare_event_types(comparer, old, new);
        self.compare_bounds(&old.events, &new.events);
        self.compare_order(&old.events, &new.events);
    }

    /// Compares the schemas of records if only one version has event types. If the other version does not name the key
    /// of the event type, the added or removed key is reported as one breaking change.
    fn compare_records<'b>(
        &mut self,
        comparer: &mut SchemaComparer<'b>,
        old: &[TypedSchema<'b>],
        new: &[TypedSchema<'b>],
        events: &EventSpec,
        rule: &str,
    ) {
        let pointer = &events.discriminator;
        let (other, message) = match rule {
            "diff-discriminator-added" => (old, format!("records now have a type at {pointer}")),
            _ => (new, format!("records no longer have a type at {pointer}")),
        };
        let mut changes = comparer.compare_alternatives(old, new);
        let roots = (any_schema(&comparer.old, old), any_schema(&comparer.new, new));
        let top_level_key = pointer.split('/').nth(1).map_or_else(String::new, unescape_token);
        if !other.iter().any(|alt| alt.named_keys().contains(top_level_key.as_str())) {
            let at_type =
                |change: &Change| change.pointer == *pointer && change.rule.starts_with("diff-key-");
            let example =
                changes.iter_mut().find(|change| at_type(change)).and_then(|change| change.example.take());
            changes.retain(|change| !at_type(change));
            let mut change = Change { pointer: pointer.clone(), ..Change::breaking(rule, message) };
            let witnesses = Witnesses::new(&roots, comparer.old, old);
            change.witness = example.and_then(|example| witnesses.check(&change, &example));
            let types: Vec<&String> = events.types.keys().collect();
            self.add(if std::ptr::eq(other, old) { change.new_value(types) } else { change.old(types) });
        }
        self.add_with_witnesses(changes, &roots, old, comparer.old);
    }

    fn compare_event_types<'b>(
        &mut self,
        comparer: &mut SchemaComparer<'b>,
        old: &EventTypes<'b>,
        new: &EventTypes<'b>,
    ) {
        let (removed, added) = rename::removed_and_added(&old.variants, &new.variants);
        let is_first =
            |events: &EventSpec, name: &String| events.first.iter().flatten().any(|one| one == name);
        let is_last = |events: &EventSpec, name: &String| events.last.iter().flatten().any(|one| one == name);
        for (name, before) in added {
            let (class, reason) = if old.events.closed {
                (ChangeSeverity::Breaking, "; the types were a closed set")
            } else if is_last(&new.events, name) {
                (ChangeSeverity::Breaking, "; it can end a stream")
            } else {
                (ChangeSeverity::Risky, "")
            };
            let message = format!("the event type `{name}` is new{reason}");
            let (_, alts) = &new.variants[name];
            let witness = comparer.example_of(alts).map(|mut document| {
                set_type(&mut document, &new.events, name);
                let expected: Vec<&str> = old.variants.keys().map(String::as_str).collect();
                let rejected = format!("the type is `{name}`, expected one of {}", expected.join(", "));
                Witness { document, rejected }
            });
            let schema = any_schema(&comparer.new, alts);
            self.add(Change {
                pointer: new.events.discriminator.clone(),
                event: Some(name.clone()),
                note: before.map(|from| {
                    format!("this looks like a rename: `{from}`, of the same shape, was removed")
                }),
                witness: witness.filter(|witness| valid(&schema, &witness.document) == Some(true)),
                ..Change::new("diff-event-added", class, message).new_value(name)
            });
        }
        for (name, after) in removed {
            let (class, reason) = if is_first(&old.events, name) {
                (ChangeSeverity::Breaking, "; a stream could begin with it")
            } else if is_last(&old.events, name) {
                (ChangeSeverity::Breaking, "; it could end a stream")
            } else if old.events.closed {
                (ChangeSeverity::Breaking, "; the types were a closed set")
            } else {
                (ChangeSeverity::Risky, "")
            };
            let message = format!("the event type `{name}` was removed{reason}");
            self.add(Change {
                pointer: old.events.discriminator.clone(),
                event: Some(name.clone()),
                note: after.map(|to| format!("this looks like a rename: `{to}`, of the same shape, is new")),
                ..Change::new("diff-event-removed", class, message).old(name)
            });
        }
        let opened = match (old.events.closed, new.events.closed) {
            (true, false) => {
                let message = "events of other types are now possible";
                Some(Change::breaking("diff-events-opened", message).old("closed").new_value("open"))
            }
            (false, true) => {
                let message = "events of other types are no longer possible";
                Some(Change::compatible("diff-events-closed", message).old("open").new_value("closed"))
            }
            _ => None,
        };
        if let Some(change) = opened {
            self.add(Change { pointer: new.events.discriminator.clone(), ..change });
        }
        for (name, (_, before)) in &old.variants {
            let Some((_, after)) = new.variants.get(name) else { continue };
            let mut changes = comparer.compare_alternatives(before, after);
            if changes.is_empty() {
                continue;
            }
            changes.iter_mut().for_each(|change| change.event = Some(name.clone()));
            let roots = (any_schema(&comparer.old, before), any_schema(&comparer.new, after));
            self.add_with_witnesses(changes, &roots, before, comparer.old);
        }
    }

    fn compare_bounds(&mut self, old: &EventSpec, new: &EventSpec) {
        let all = [
            ("diff-first-event-changed", "begins", &old.first, &new.first),
            ("diff-terminal-event-changed", "ends", &old.last, &new.last),
        ];
        for (rule, verb, before, after) in all {
            let [before, after] =
                [before, after].map(|names| names.as_ref().map(BTreeSet::<&String>::from_iter));
            let words = |names: &BTreeSet<&String>| {
                names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" or ")
            };
            let (class, message) = match (&before, &after) {
                (Some(before), Some(after)) if before == after => continue,
                (Some(before), Some(after)) => {
                    let class = if after.is_subset(before) {
                        ChangeSeverity::Compatible
                    } else {
                        ChangeSeverity::Breaking
                    };
                    (class, format!("a stream {verb} with {}; before: {}", words(after), words(before)))
                }
                (Some(before), None) => (
                    ChangeSeverity::Breaking,
                    format!("it is no longer guaranteed that a stream {verb} with {}", words(before)),
                ),
                (None, Some(after)) => {
                    (ChangeSeverity::Compatible, format!("a stream {verb} with {}", words(after)))
                }
                (None, None) => continue,
            };
            self.add(Change::new(rule, class, message).with_old_and_new(before, after));
        }
    }

    fn compare_order(&mut self, old: &EventSpec, new: &EventSpec) {
        for order in &old.order {
            // The removal of an event type is already reported.
            let is_removed = |name: &String| !new.types.is_empty() && !new.types.contains_key(name);
            if new.order.contains(order) || is_removed(&order.after) || is_removed(&order.before) {
                continue;
            }
            let message = format!("`{}` no longer has to precede `{}`", order.before, order.after);
            let change = Change::breaking("diff-event-order-changed", message);
            self.add(change.old([&order.before, &order.after]));
        }
        for order in new.order.iter().filter(|order| !old.order.contains(order)) {
            let is_known = |name: &String| old.types.is_empty() || old.types.contains_key(name);
            if is_known(&order.before) && is_known(&order.after) {
                let message = format!("`{}` now always precedes `{}`", order.before, order.after);
                let change = Change::compatible("diff-event-order-changed", message);
                self.add(change.new_value([&order.before, &order.after]));
            }
        }
    }
}

/// Returns the event types of one version: those that it declares, or those that the variants of its data schema imply.
/// `None` if there are none.
fn event_types<'b>(side: Canonicalizer<'b>, bundle: &'b Bundle, spec: &OutputSpec) -> Option<EventTypes<'b>> {
    if let Some(events) = &spec.events {
        let key = single_key(&events.discriminator);
        let variant = |name: &String| {
            let schema = bundle.schema(&bundle::event_schema_name(name))?;
            let mut alts = side.alternatives(&[schema]);
            // A record that has its type at a key is an object.
            if key.is_some() {
                alts.retain(|alt| alt.json_type() == JsonType::Object);
            }
            // An alternative of several types is restricted to this one.
            let of_type = key.as_deref().and_then(|key| by_tag(&side, &alts, key)?.remove(name));
            Some((name.clone(), of_type.unwrap_or_else(|| (json!(name), alts))))
        };
        let variants = events.types.keys().filter_map(variant).collect();
        return Some(EventTypes { events: events.clone(), variants });
    }
    let schema = bundle.schema(DATA_SCHEMA).filter(|_| spec.framing.is_some_and(Framing::has_events))?;
    let mut candidates = candidate_discriminators(&side, &side.alternatives(&[schema])).into_iter();
    let (key, variants) = candidates.find(|(_, variants)| variants.len() > 1)?;
    let events = EventSpec {
        discriminator: format!("/{}", escape_token(&key)),
        closed: true,
        types: variants.keys().map(|name| (name.clone(), Value::Bool(true))).collect(),
        ..EventSpec::default()
    };
    Some(EventTypes { events, variants })
}

/// Returns the key of a pointer with exactly one token, such as `type` for `/type`; `None` for any other pointer.
fn single_key(pointer: &str) -> Option<String> {
    let token = pointer.strip_prefix('/')?;
    (!token.contains('/')).then(|| unescape_token(token))
}

/// Sets the event type of a generated example record. `name` has the form `type` or `type/subtype`.
fn set_type(document: &mut Value, events: &EventSpec, name: &str) {
    if name == UNTYPED {
        return;
    }
    let (name, subtype) = match &events.subtype {
        Some(pointer) => {
            name.split_once('/').map_or((name, None), |(name, part)| (name, Some((pointer, part))))
        }
        None => (name, None),
    };
    for (pointer, word) in [(&events.discriminator, name)].into_iter().chain(subtype) {
        if let (Some(key), Some(members)) = (single_key(pointer), document.as_object_mut()) {
            members.insert(key, json!(word));
        }
    }
}
