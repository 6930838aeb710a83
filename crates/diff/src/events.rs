//! Streams: types of events that come and go, what begins and ends a stream, what comes before what.

use super::bundle::{self, Bundle, DATA};
use super::canonicalize::Canonicalizer;
use super::change::{Change, Class, Witness};
use super::outputs::OutputComparison;
use super::rename;
use super::typed_schema::TypedSchema;
use super::validator::valid;
use super::variants::{Variants, by_tag, candidates};
use super::walk::{Walker, any_schema};
use super::witness::Witnesses;
use agentnative_contract::{Events, Framing, OutputSpec, UNTYPED};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use strict_json::{JsonType, escape_token, unescape_token};

/// The types of events of one side.
struct Stream<'b> {
    events: Events,
    /// What its records may be, by type.
    variants: Variants<'b>,
}

impl<'b> Stream<'b> {
    /// What its records may be: those of each type, and those whose type has no schema of its own.
    fn records(&self, side: Canonicalizer<'b>, bundle: &'b Bundle) -> Vec<TypedSchema<'b>> {
        let typed = self.variants.values().flat_map(|(_, alts)| alts.iter().cloned());
        let others = bundle.schema(DATA).map(|schema| side.alternatives(&[schema])).unwrap_or_default();
        typed.chain(others.into_iter().filter(|_| self.variants.is_empty())).collect()
    }
}

impl OutputComparison<'_> {
    /// Compares the types of records; gives whether there is no more to compare of them.
    pub fn events<'b>(&mut self, walker: &mut Walker<'b>, before: &'b Bundle, after: &'b Bundle) -> bool {
        let (old, new) = (stream(walker.old, before, self.old), stream(walker.new, after, self.new));
        match (old, new) {
            (None, None) => false,
            (Some(old), Some(new)) => {
                self.streams(walker, &old, &new);
                true
            }
            (Some(stream), None) => {
                let old = stream.records(walker.old, before);
                match after.schema(DATA) {
                    Some(schema) => {
                        let new = walker.new.alternatives(&[schema]);
                        self.records(walker, &old, &new, &stream.events, "diff-discriminator-removed");
                    }
                    None => {
                        self.add(Change::undecided("the new side has no information about its event types"))
                    }
                }
                true
            }
            (None, Some(stream)) => {
                let new = stream.records(walker.new, after);
                if let Some(schema) = before.schema(DATA) {
                    let old = walker.old.alternatives(&[schema]);
                    self.records(walker, &old, &new, &stream.events, "diff-discriminator-added");
                }
                true
            }
        }
    }

    /// Compares streams whose records have types on both sides.
    fn streams<'b>(&mut self, walker: &mut Walker<'b>, old: &Stream<'b>, new: &Stream<'b>) {
        let parts = |events: &Events| match &events.subtype {
            Some(subtype) => format!("{} and {subtype}", events.discriminator),
            None => events.discriminator.clone(),
        };
        let (was, is) = (parts(&old.events), parts(&new.events));
        if was != is {
            let message = format!("the event type moved from {was} to {is}");
            let found = Change::breaking("diff-discriminator-changed", message).old(was).new_value(is);
            self.add(Change { pointer: old.events.discriminator.clone(), ..found });
        }
        self.types(walker, old, new);
        self.bounds(&old.events, &new.events);
        self.order(&old.events, &new.events);
    }

    /// Compares records as schemas where one side only has types of events. That a type comes or goes, which
    /// the other side does not name at all, is a break in itself.
    fn records<'b>(
        &mut self,
        walker: &mut Walker<'b>,
        old: &[TypedSchema<'b>],
        new: &[TypedSchema<'b>],
        events: &Events,
        rule: &str,
    ) {
        let pointer = &events.discriminator;
        let (other, message) = match rule {
            "diff-discriminator-added" => (old, format!("records now have a type at {pointer}")),
            _ => (new, format!("records no longer have a type at {pointer}")),
        };
        let mut found = walker.alternatives(old, new);
        let roots = (any_schema(&walker.old, old), any_schema(&walker.new, new));
        let top = pointer.split('/').nth(1).map_or_else(String::new, unescape_token);
        if !other.iter().any(|alt| alt.named_keys().contains(top.as_str())) {
            let at_type = |found: &Change| found.pointer == *pointer && found.rule.starts_with("diff-key-");
            let sample = found.iter_mut().find(|found| at_type(found)).and_then(|found| found.sample.take());
            found.retain(|found| !at_type(found));
            let mut change = Change { pointer: pointer.clone(), ..Change::breaking(rule, message) };
            let witnesses = Witnesses::new(&roots, walker.old, old);
            change.witness = sample.and_then(|sample| witnesses.check(&change, &sample));
            let types: Vec<&String> = events.types.keys().collect();
            self.add(if std::ptr::eq(other, old) { change.new_value(types) } else { change.old(types) });
        }
        self.add_with_witnesses(found, &roots, old, walker.old);
    }

    fn types<'b>(&mut self, walker: &mut Walker<'b>, old: &Stream<'b>, new: &Stream<'b>) {
        let (gone, come) = rename::differences(&old.variants, &new.variants);
        let first = |events: &Events, name: &String| events.first.iter().flatten().any(|one| one == name);
        let last = |events: &Events, name: &String| events.last.iter().flatten().any(|one| one == name);
        for (name, before) in come {
            let (class, why) = if old.events.closed {
                (Class::Breaking, "; the types were a closed set")
            } else if last(&new.events, name) {
                (Class::Breaking, "; it can end a stream")
            } else {
                (Class::Risky, "")
            };
            let message = format!("the event type `{name}` is new{why}");
            let (_, alts) = &new.variants[name];
            let witness = walker.sample_of(alts).map(|mut document| {
                set_type(&mut document, &new.events, name);
                let expected: Vec<&str> = old.variants.keys().map(String::as_str).collect();
                let rejected = format!("the type is `{name}`, expected one of {}", expected.join(", "));
                Witness { document, rejected }
            });
            let schema = any_schema(&walker.new, alts);
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
        for (name, after) in gone {
            let (class, why) = if first(&old.events, name) {
                (Class::Breaking, "; a stream could begin with it")
            } else if last(&old.events, name) {
                (Class::Breaking, "; it could end a stream")
            } else if old.events.closed {
                (Class::Breaking, "; the types were a closed set")
            } else {
                (Class::Risky, "")
            };
            let message = format!("the event type `{name}` was removed{why}");
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
        if let Some(found) = opened {
            self.add(Change { pointer: new.events.discriminator.clone(), ..found });
        }
        for (name, (_, before)) in &old.variants {
            let Some((_, after)) = new.variants.get(name) else { continue };
            let mut found = walker.alternatives(before, after);
            if found.is_empty() {
                continue;
            }
            found.iter_mut().for_each(|found| found.event = Some(name.clone()));
            let roots = (any_schema(&walker.old, before), any_schema(&walker.new, after));
            self.add_with_witnesses(found, &roots, before, walker.old);
        }
    }

    fn bounds(&mut self, old: &Events, new: &Events) {
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
                    let class = if after.is_subset(before) { Class::Compatible } else { Class::Breaking };
                    (class, format!("a stream {verb} with {} instead of {}", words(after), words(before)))
                }
                (Some(before), None) => (
                    Class::Breaking,
                    format!("it is no longer guaranteed that a stream {verb} with {}", words(before)),
                ),
                (None, Some(after)) => (Class::Compatible, format!("a stream {verb} with {}", words(after))),
                (None, None) => continue,
            };
            self.add(Change::new(rule, class, message).sides(before, after));
        }
    }

    fn order(&mut self, old: &Events, new: &Events) {
        for order in &old.order {
            // Where there are no such events any longer, that has been told.
            let gone = |name: &String| !new.types.is_empty() && !new.types.contains_key(name);
            if new.order.contains(order) || gone(&order.after) || gone(&order.before) {
                continue;
            }
            let message = format!("`{}` no longer has to precede `{}`", order.before, order.after);
            let found = Change::breaking("diff-event-order-changed", message);
            self.add(found.old([&order.before, &order.after]));
        }
        for order in new.order.iter().filter(|order| !old.order.contains(order)) {
            let known = |name: &String| old.types.is_empty() || old.types.contains_key(name);
            if known(&order.before) && known(&order.after) {
                let message = format!("`{}` now always precedes `{}`", order.before, order.after);
                let found = Change::compatible("diff-event-order-changed", message);
                self.add(found.new_value([&order.before, &order.after]));
            }
        }
    }
}

/// The stream of a side: as it is declared, or as the variants of its records tell.
fn stream<'b>(side: Canonicalizer<'b>, bundle: &'b Bundle, spec: &OutputSpec) -> Option<Stream<'b>> {
    if let Some(events) = &spec.events {
        let key = top_key(&events.discriminator);
        let variant = |name: &String| {
            let schema = bundle.schema(&bundle::event(name))?;
            let mut alts = side.alternatives(&[schema]);
            // What has a type at a key is an object.
            if key.is_some() {
                alts.retain(|alt| alt.json_type() == JsonType::Object);
            }
            // What stands for several types is looked at as this one.
            let of_type = key.as_deref().and_then(|key| by_tag(&side, &alts, key)?.remove(name));
            Some((name.clone(), of_type.unwrap_or_else(|| (json!(name), alts))))
        };
        let variants = events.types.keys().filter_map(variant).collect();
        return Some(Stream { events: events.clone(), variants });
    }
    let schema = bundle.schema(DATA).filter(|_| spec.framing.is_some_and(Framing::has_events))?;
    let mut candidates = candidates(&side, &side.alternatives(&[schema])).into_iter();
    let (key, variants) = candidates.find(|(_, variants)| variants.len() > 1)?;
    let events = Events {
        discriminator: format!("/{}", escape_token(&key)),
        closed: true,
        types: variants.keys().map(|name| (name.clone(), Value::Bool(true))).collect(),
        ..Events::default()
    };
    Some(Stream { events, variants })
}

/// The key that a pointer of one token names.
fn top_key(pointer: &str) -> Option<String> {
    let token = pointer.strip_prefix('/')?;
    (!token.contains('/')).then(|| unescape_token(token))
}

/// Puts the type into a record that was made up.
fn set_type(document: &mut Value, events: &Events, name: &str) {
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
        if let (Some(key), Some(members)) = (top_key(pointer), document.as_object_mut()) {
            members.insert(key, json!(word));
        }
    }
}
