//! Streams: types of events that come and go, what begins and ends a stream, what comes before what.

use super::bundle::{self, Bundle, DATA};
use super::change::{Class, Witness};
use super::delta::Delta;
use super::outputs::OutputComparison;
use super::typed_schema::TypedSchema;
use super::union::{by_tag, candidates};
use super::walk::{Walker, full_schema};
use crate::{Events, Framing};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use strict_json::{JsonType, escape_token, unescape_token};

/// The types of events of one side.
struct Stream<'b> {
    events: Events,
    /// What its records may be, by type.
    alts: BTreeMap<String, Vec<TypedSchema<'b>>>,
}

impl OutputComparison<'_> {
    /// Whether the records were compared by type.
    pub fn is_compared_by_type(&self) -> bool {
        let lines = |framing| framing == Some(Framing::Lines);
        lines(self.old.framing) && lines(self.new.framing) && self.by_type
    }

    /// Compares the types of records.
    pub fn events<'b>(&mut self, walker: &mut Walker<'b>, before: &'b Bundle, after: &'b Bundle) {
        let old = stream(walker, before, self.old.events.as_ref(), self.old.framing, false);
        let new = stream(walker, after, self.new.events.as_ref(), self.new.framing, true);
        let (Some(old), Some(new)) = (old, new) else {
            if self.old.events.is_some() && self.new.events.is_none() {
                self.by_type = true;
                self.add(Delta::undecided("nothing is known of the new types of events"));
            }
            return;
        };
        self.by_type = true;
        if old.events.discriminator != new.events.discriminator {
            let message = format!(
                "the type of an event is at {} instead of {}",
                new.events.discriminator, old.events.discriminator
            );
            let mut found = Delta::breaking("diff-discriminator-changed", message);
            found.path.clone_from(&old.events.discriminator);
            self.add(found.old(json!(old.events.discriminator)).new_value(json!(new.events.discriminator)));
        }
        self.types(walker, &old, &new);
        self.bounds(&old.events, &new.events);
        self.order(&old.events, &new.events);
    }

    fn types<'b>(&mut self, walker: &mut Walker<'b>, old: &Stream<'b>, new: &Stream<'b>) {
        let at = |found: Delta| Delta { path: new.events.discriminator.clone(), ..found };
        let gone: Vec<&String> = old.alts.keys().filter(|name| !new.alts.contains_key(*name)).collect();
        let come: Vec<&String> = new.alts.keys().filter(|name| !old.alts.contains_key(*name)).collect();
        let pairs = {
            let variants = |stream: &Stream<'b>| {
                let all = stream.alts.iter();
                all.map(|(name, alts)| (name.clone(), (json!(name), alts.clone()))).collect()
            };
            walker.renames(&variants(old), &gone, &variants(new), &come)
        };
        let last = |events: &Events, name: &str| {
            events.last.as_ref().is_some_and(|last| last.iter().any(|one| one == name))
        };
        for name in &come {
            let (class, why) = if old.events.closed {
                (Class::Breaking, "; there were no others")
            } else if last(&new.events, name) {
                (Class::Breaking, "; it ends a stream")
            } else {
                (Class::Risky, "")
            };
            let mut found =
                Delta::new("diff-event-added", class, format!("events of type `{name}` are new{why}"));
            found.note = pairs
                .iter()
                .find(|(_, to)| to == *name)
                .map(|(from, _)| format!("`{from}` of the same shape is gone: it looks like a rename"));
            let witness = walker.sample_of(&new.alts[*name]).map(|mut document| {
                set_type(&mut document, &new.events.discriminator, name);
                let expected: Vec<&str> = old.alts.keys().map(String::as_str).collect();
                let rejected = format!("the type is `{name}`, expected one of {}", expected.join(", "));
                Witness { document, rejected }
            });
            let witness = witness.filter(|witness| {
                let takes = |alt: &TypedSchema<'b>| {
                    super::validator::valid(&full_schema(&walker.new, alt), &witness.document) == Some(true)
                };
                new.alts[*name].iter().any(takes)
            });
            self.push(at(found.new_value(json!(name))), Some(name), false, witness);
        }
        for name in &gone {
            let (class, why) = if last(&old.events, name) {
                (Class::Breaking, "; it ended a stream")
            } else if old.events.closed {
                (Class::Breaking, "; it was one of a closed set")
            } else {
                (Class::Risky, "")
            };
            let mut found =
                Delta::new("diff-event-removed", class, format!("events of type `{name}` are gone{why}"));
            found.note = pairs
                .iter()
                .find(|(from, _)| from == *name)
                .map(|(_, to)| format!("`{to}` of the same shape is new: it looks like a rename"));
            let found = Delta { path: old.events.discriminator.clone(), ..found };
            self.push(found.old(json!(name)), Some(name), false, None);
        }
        match (old.events.closed, new.events.closed) {
            (true, false) => {
                let message = "there may be events of other types now";
                self.add(at(Delta::breaking("diff-events-opened", message).old("closed").new_value("open")));
            }
            (false, true) => {
                let message = "there are no events of other types";
                self.add(at(Delta::compatible("diff-events-closed", message)
                    .old("open")
                    .new_value("closed")));
            }
            _ => {}
        }
        for (name, before) in &old.alts {
            let Some(after) = new.alts.get(name) else { continue };
            let found = walker.alternatives(before, after);
            if found.is_empty() {
                continue;
            }
            let any = |alts: &[TypedSchema<'b>], side| match alts {
                [only] => full_schema(side, only),
                several => {
                    json!({ "anyOf": several.iter().map(|alt| full_schema(side, alt)).collect::<Vec<_>>() })
                }
            };
            let roots = (any(before, &walker.old), any(after, &walker.new));
            self.push_with_witnesses(&found, &roots, before, walker.old, Some(name), false);
        }
    }

    fn bounds(&mut self, old: &Events, new: &Events) {
        let all = [
            ("diff-first-event-changed", "begins", &old.first, &new.first),
            ("diff-terminal-event-changed", "ends", &old.last, &new.last),
        ];
        for (rule, verb, before, after) in all {
            let set = |names: &Option<Vec<String>>| {
                names.as_ref().map(|names| names.iter().cloned().collect::<BTreeSet<String>>())
            };
            let (before, after) = (set(before), set(after));
            let words = |names: &BTreeSet<String>| {
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
                    format!("it is no longer promised that a stream {verb} with {}", words(before)),
                ),
                (None, Some(after)) => (Class::Compatible, format!("a stream {verb} with {}", words(after))),
                (None, None) => continue,
            };
            let found = Delta::new(rule, class, message);
            self.add(Delta {
                old: before.map(|names| json!(names)),
                new: after.map(|names| json!(names)),
                ..found
            });
        }
    }

    fn order(&mut self, old: &Events, new: &Events) {
        for order in &old.order {
            // Where there are no such events any longer, that has been told.
            let gone = |name: &String| !new.types.is_empty() && !new.types.contains_key(name);
            if new.order.contains(order) || gone(&order.after) || gone(&order.before) {
                continue;
            }
            let message = format!("`{}` need not come before `{}` any longer", order.before, order.after);
            let found = Delta::breaking("diff-event-order-changed", message);
            self.add(found.old(json!([order.before, order.after])));
        }
        for order in new.order.iter().filter(|order| !old.order.contains(order)) {
            let known = |name: &String| old.types.is_empty() || old.types.contains_key(name);
            if known(&order.before) && known(&order.after) {
                let message = format!("`{}` always comes before `{}`", order.before, order.after);
                let found = Delta::compatible("diff-event-order-changed", message);
                self.add(found.new_value(json!([order.before, order.after])));
            }
        }
    }
}

/// The stream of a side: as it is declared, or as the variants of its records tell.
fn stream<'b>(
    walker: &Walker<'b>,
    bundle: &'b Bundle,
    declared: Option<&Events>,
    framing: Option<Framing>,
    is_new: bool,
) -> Option<Stream<'b>> {
    let side = if is_new { walker.new } else { walker.old };
    if let Some(events) = declared {
        let key = top_key(&events.discriminator);
        let alternatives = |name: &String| {
            let schema = bundle.schema(&bundle::event(name))?;
            let mut alts = side.alternatives(&[schema]);
            // What has a type at a key is an object.
            if key.is_some() {
                alts.retain(|alt| alt.json_type() == JsonType::Object);
            }
            // What stands for several types is looked at as this one.
            if let Some(key) = key.as_deref()
                && let Some(mut variants) = by_tag(&side, &alts, key)
                && let Some((_, of_type)) = variants.remove(name.as_str())
            {
                alts = of_type;
            }
            Some((name.clone(), alts))
        };
        let alts = events.types.keys().filter_map(alternatives).collect();
        return Some(Stream { events: events.clone(), alts });
    }
    let schema = bundle.schema(DATA).filter(|_| framing == Some(Framing::Lines))?;
    let alts = side.alternatives(&[schema]);
    let mut keys = candidates(&side, &alts).into_iter();
    let (key, variants) = keys.find_map(|key| {
        let variants = by_tag(&side, &alts, &key)?;
        (variants.len() > 1).then_some((key, variants))
    })?;
    let types = variants.keys().map(|name| (name.clone(), Value::Bool(true))).collect();
    let events = Events {
        discriminator: format!("/{}", escape_token(&key)),
        closed: true,
        types,
        ..Events::default()
    };
    Some(Stream { events, alts: variants.into_iter().map(|(name, (_, alts))| (name, alts)).collect() })
}

/// The key that a pointer of one token names.
fn top_key(pointer: &str) -> Option<String> {
    let token = pointer.strip_prefix('/')?;
    (!token.contains('/')).then(|| unescape_token(token))
}

/// Puts the type into a record that was made up.
fn set_type(document: &mut Value, pointer: &str, name: &str) {
    if let (Some(key), Some(members)) = (top_key(pointer), document.as_object_mut()) {
        members.insert(key, json!(name));
    }
}
