//! The order in which a stream's types of records come.

use agentnative_contract::{Events, Order, type_keys};
use std::collections::BTreeSet;
use strict_json::{Event, Sink};

/// More types than this have no order.
const MOST: usize = 64;

/// The types of one stream by one key.
#[derive(Default, Clone)]
struct Types {
    /// In the order of their first record; none when a record has no type.
    came: Option<Vec<String>>,
    last: String,
    /// That of the record under way.
    now: Option<String>,
}

/// Takes the records of one stream.
pub(crate) struct EventOrder {
    depth: usize,
    /// The key that waits for its value.
    waiting: Option<usize>,
    /// By each of [`type_keys`].
    types: Vec<Types>,
    records: u64,
}

impl Default for EventOrder {
    fn default() -> Self {
        let empty = |_| Types { came: Some(Vec::new()), ..Types::default() };
        Self { depth: 0, waiting: None, types: type_keys().map(empty).collect(), records: 0 }
    }
}

impl Sink for EventOrder {
    fn wants_text(&self) -> bool {
        self.waiting.is_some()
    }
    fn begin_record(&mut self, _line: u64, _offset: u64) {
        (self.depth, self.waiting) = (0, None);
        self.types.iter_mut().for_each(|types| types.now = None);
    }
    fn end_record(&mut self, _offset: u64, whole: bool) {
        if !whole {
            return;
        }
        self.records += 1;
        for types in &mut self.types {
            match (types.now.take(), &mut types.came) {
                (Some(now), Some(came)) => {
                    if !came.contains(&now) {
                        came.push(now.clone());
                    }
                    if came.len() > MOST {
                        types.came = None;
                    }
                    types.last = now;
                }
                _ => types.came = None,
            }
        }
    }
    #[inline(always)]
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Begin(..) => {
                self.depth += 1;
                self.waiting = None;
            }
            Event::End(_) => self.depth -= 1,
            Event::Key(_, text) => {
                let known = || type_keys().position(|key| key == text);
                self.waiting = if self.depth == 1 { known() } else { None };
            }
            Event::String(_, text) => {
                if let Some(key) = self.waiting.take() {
                    self.types[key].now = Some(text.to_owned());
                }
            }
            _ => {}
        }
    }
}

/// What holds of the order in all streams so far.
#[derive(Default)]
pub(crate) struct EventOrders {
    streams: Vec<EventOrder>,
}

impl EventOrders {
    /// Adds a stream; one without records says nothing.
    pub fn add(&mut self, stream: EventOrder) {
        if stream.records > 0 {
            self.streams.push(stream);
        }
    }

    /// The key that names types, and what holds of their order in all streams; none when not every record
    /// has a type.
    pub fn ordered(&self) -> Option<(&'static str, Events)> {
        let typed = |key: &usize| self.streams.iter().all(|stream| stream.types[*key].came.is_some());
        let (key, name) =
            type_keys().enumerate().find(|(key, _)| typed(key)).filter(|_| !self.streams.is_empty())?;
        let came = || self.streams.iter().filter_map(|stream| stream.types[key].came.as_ref());
        let first: BTreeSet<String> = came().filter_map(|came| came.first().cloned()).collect();
        let last: BTreeSet<String> =
            self.streams.iter().map(|stream| stream.types[key].last.clone()).collect();
        let all: BTreeSet<&String> = came().flatten().collect();
        let place = |came: &[String], kind: &String| came.iter().position(|other| other == kind);
        let before = |a: &String, b: &String| {
            came().all(|came| match (place(came, a), place(came, b)) {
                (Some(a), Some(b)) => a < b,
                (None, Some(_)) => false,
                (_, None) => true,
            })
        };
        let mut order = Vec::new();
        for a in &all {
            let after = all.iter().filter(|b| a != *b && before(a, b));
            order.extend(after.map(|b| Order { before: (*a).clone(), after: (*b).clone() }));
        }
        let events = Events {
            discriminator: format!("/{name}"),
            first: Some(first.into_iter().collect()),
            last: Some(last.into_iter().collect()),
            order: reduced(order),
            ..Events::default()
        };
        Some((name, events))
    }
}

/// Without the pairs that follow from others.
fn reduced(order: Vec<Order>) -> Vec<Order> {
    let known: BTreeSet<(&str, &str)> =
        order.iter().map(|pair| (pair.before.as_str(), pair.after.as_str())).collect();
    let follows = |pair: &Order| {
        known.iter().any(|(before, middle)| {
            *before == pair.before && *middle != pair.after && known.contains(&(middle, pair.after.as_str()))
        })
    };
    let mut kept: Vec<Order> = order.iter().filter(|pair| !follows(pair)).cloned().collect();
    kept.sort();
    kept
}

/// With the pairs that follow from others.
pub(super) fn closed(order: &[Order]) -> Vec<Order> {
    let mut pairs: BTreeSet<(&str, &str)> =
        order.iter().map(|pair| (pair.before.as_str(), pair.after.as_str())).collect();
    loop {
        let known = pairs.clone();
        for (before, middle) in &known {
            let behind = known.iter().filter(|(from, _)| from == middle);
            pairs.extend(behind.map(|(_, last)| (*before, *last)));
        }
        if pairs == known {
            break;
        }
    }
    let pairs = pairs.into_iter().filter(|(before, after)| before != after);
    pairs.map(|(before, after)| Order { before: before.to_owned(), after: after.to_owned() }).collect()
}
