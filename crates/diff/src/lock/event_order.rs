//! Infers from streams which record types come first and last, and which type always precedes another.

use agentnative_contract::{EventSpec, TypeOrder, type_keys};
use std::collections::BTreeSet;
use strict_json::{Event, Sink};

/// Maximum number of different record types in a stream. With more, its key is not a type key.
const MAX_TYPES: usize = 64;

/// The record types of one stream, according to one type key such as `type`.
#[derive(Default, Clone)]
struct TypeSequence {
    /// Different types in the order in which they first occur; `None` if a record lacks the key or there are too many
    /// types.
    first_seen: Option<Vec<String>>,
    last: String,
    /// Type of the current record; `None` until its type key was read.
    current: Option<String>,
}

/// Sink that records the order of the record types in one stream.
pub(crate) struct EventOrder {
    depth: usize,
    /// Index in [`type_keys`] of the key that was just read; its value is the next event.
    pending_key: Option<usize>,
    /// One sequence of record types for each key of [`type_keys`].
    types: Vec<TypeSequence>,
    records: u64,
}

impl Default for EventOrder {
    fn default() -> Self {
        let empty = |_| TypeSequence { first_seen: Some(Vec::new()), ..TypeSequence::default() };
        Self { depth: 0, pending_key: None, types: type_keys().map(empty).collect(), records: 0 }
    }
}

impl Sink for EventOrder {
    fn wants_text(&self) -> bool {
        self.pending_key.is_some()
    }
    fn begin_record(&mut self, _line: u64, _offset: u64) {
        (self.depth, self.pending_key) = (0, None);
        self.types.iter_mut().for_each(|types| types.current = None);
    }
    fn end_record(&mut self, _offset: u64, whole: bool) {
        if !whole {
            return;
        }
        self.records += 1;
        for types in &mut self.types {
            match (types.current.take(), &mut types.first_seen) {
                (Some(current), Some(first_seen)) => {
                    if !first_seen.contains(&current) {
                        first_seen.push(current.clone());
                    }
                    if first_seen.len() > MAX_TYPES {
                        types.first_seen = None;
                    }
                    types.last = current;
                }
                _ => types.first_seen = None,
            }
        }
    }
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(..) => {
                self.depth += 1;
                self.pending_key = None;
            }
            Event::End(_) => self.depth -= 1,
            Event::Key(_, text) => {
                let known = || type_keys().position(|key| key == text);
                self.pending_key = if self.depth == 1 { known() } else { None };
            }
            Event::String(_, text) => {
                if let Some(key) = self.pending_key.take() {
                    self.types[key].current = Some(text.to_owned());
                }
            }
            _ => {}
        }
    }
}

/// Collects streams, and infers the order of record types that holds in all of them.
#[derive(Default)]
pub(crate) struct EventOrders {
    streams: Vec<EventOrder>,
}

impl EventOrders {
    /// Adds a stream. A stream without records is ignored.
    pub fn add(&mut self, stream: EventOrder) {
        if stream.records > 0 {
            self.streams.push(stream);
        }
    }

    /// Returns the type key, such as `type`, and an event specification with the first types, the last types and the
    /// order that hold in all streams. `None` if no key names the type of every record.
    pub fn infer_order(&self) -> Option<(&'static str, EventSpec)> {
        let is_typed =
            |key: &usize| self.streams.iter().all(|stream| stream.types[*key].first_seen.is_some());
        let (key, name) =
            type_keys().enumerate().find(|(key, _)| is_typed(key)).filter(|_| !self.streams.is_empty())?;
        let first_seen = || self.streams.iter().filter_map(|stream| stream.types[key].first_seen.as_ref());
        let first: BTreeSet<String> =
            first_seen().filter_map(|first_seen| first_seen.first().cloned()).collect();
        let last: BTreeSet<String> =
            self.streams.iter().map(|stream| stream.types[key].last.clone()).collect();
        let all: BTreeSet<&String> = first_seen().flatten().collect();
        let position =
            |first_seen: &[String], kind: &String| first_seen.iter().position(|other| other == kind);
        let before = |a: &String, b: &String| {
            first_seen().all(|first_seen| match (position(first_seen, a), position(first_seen, b)) {
                (Some(a), Some(b)) => a < b,
                (None, Some(_)) => false,
                (_, None) => true,
            })
        };
        let mut order = Vec::new();
        for a in &all {
            let after = all.iter().filter(|b| a != *b && before(a, b));
            order.extend(after.map(|b| TypeOrder { before: (*a).clone(), after: (*b).clone() }));
        }
        let events = EventSpec {
            discriminator: format!("/{name}"),
            first: Some(first.into_iter().collect()),
            last: Some(last.into_iter().collect()),
            order: transitive_reduction(order),
            ..EventSpec::default()
        };
        Some((name, events))
    }
}

/// Removes pairs that follow from other pairs (transitive reduction): `a < c` follows from `a < b` and `b < c`.
fn transitive_reduction(order: Vec<TypeOrder>) -> Vec<TypeOrder> {
    let known: BTreeSet<(&str, &str)> =
        order.iter().map(|pair| (pair.before.as_str(), pair.after.as_str())).collect();
    let follows = |pair: &TypeOrder| {
        known.iter().any(|(before, middle)| {
            *before == pair.before && *middle != pair.after && known.contains(&(middle, pair.after.as_str()))
        })
    };
    let mut kept: Vec<TypeOrder> = order.iter().filter(|pair| !follows(pair)).cloned().collect();
    kept.sort();
    kept
}

/// Adds pairs that follow from other pairs (transitive closure): `a < c` follows from `a < b` and `b < c`.
pub(super) fn transitive_closure(order: &[TypeOrder]) -> Vec<TypeOrder> {
    let mut pairs: BTreeSet<(&str, &str)> =
        order.iter().map(|pair| (pair.before.as_str(), pair.after.as_str())).collect();
    loop {
        let known = pairs.clone();
        for (before, middle) in &known {
            let following = known.iter().filter(|(from, _)| from == middle);
            pairs.extend(following.map(|(_, last)| (*before, *last)));
        }
        if pairs == known {
            break;
        }
    }
    let pairs = pairs.into_iter().filter(|(before, after)| before != after);
    pairs.map(|(before, after)| TypeOrder { before: before.to_owned(), after: after.to_owned() }).collect()
}
