//! What is found in a sample, each kind once, however often and in however many documents it is there.

use super::side::SampleSide;
use crate::catalogue::rule;
use crate::change::{Change, Class, Evidence, SamplePlace};
use crate::predicates::contains;
use crate::typed_schema::bit;
use serde_json::Value;
use std::collections::HashMap;
use strict_json::JsonType;

/// Changes, at most; what comes beyond is counted.
const MAX_CHANGES: usize = 1_000;
/// The maximum number of keys of one object that are listed one by one.
const MAX_KEYS: usize = 50;
/// Values of one change that are shown, at most.
const MAX_VALUES: usize = 12;
/// Places of one change that are shown, at most.
const MAX_PLACES: usize = 3;
/// Places whose types are remembered, at most.
const MAX_SEEN: usize = 100_000;

/// Something that is found in a record.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    /// The rule of a change from the schema to the sample.
    pub rule: &'static str,
    /// Its class in this direction, where that is not the usual one.
    pub class: Option<Class>,
    pub event: Option<String>,
    pub variant: Vec<String>,
    /// The place in any document.
    pub pointer: String,
    /// What of the schema it violates: two changes of one rule at one place may differ in this.
    pub what: String,
    /// Its message where the sample is the old side, and where it is the new one.
    pub messages: [String; 2],
    pub value: Option<Value>,
    /// The type of the value, as a bit.
    pub types: u8,
    /// It is about a key of an object.
    pub is_key: bool,
    pub at: SamplePlace,
}

impl Found {
    pub fn new(rule: &'static str) -> Self {
        Self { rule, ..Self::default() }
    }

    /// With the same message in both directions.
    pub fn message(self, message: String) -> Self {
        Self { messages: [message.clone(), message], ..self }
    }
}

type Key = (&'static str, Option<String>, Vec<String>, String, String);

/// One kind of them.
struct Group {
    first: Found,
    values: Vec<Value>,
    types: u8,
    evidence: Evidence,
}

/// Collects what is found.
pub(super) struct Findings {
    pub side: SampleSide,
    groups: Vec<Group>,
    by_key: HashMap<Key, usize>,
    /// The number of keys that are listed one by one, by rule and object.
    keys: HashMap<(&'static str, String), usize>,
    /// The types that the values of a place have.
    types: HashMap<String, u8>,
    /// Number of findings for which there was no room.
    beyond: u64,
}

impl Findings {
    pub fn new(side: SampleSide) -> Self {
        Self {
            side,
            groups: Vec::new(),
            by_key: HashMap::new(),
            keys: HashMap::new(),
            types: HashMap::new(),
            beyond: 0,
        }
    }

    /// Remembers the type of a value at a place.
    pub fn seen(&mut self, pointer: &str, json_type: JsonType) {
        if let Some(types) = self.types.get_mut(pointer) {
            *types |= bit(json_type);
        } else if self.types.len() < MAX_SEEN {
            self.types.insert(pointer.to_owned(), bit(json_type));
        }
    }

    pub fn add(&mut self, mut found: Found) {
        let known = self.by_key.get(&key_of(&found)).copied();
        if known.is_none() && found.is_key {
            self.fold(&mut found);
        }
        let key = key_of(&found);
        let known = known.or_else(|| self.by_key.get(&key).copied());
        let group = match known {
            Some(index) => &mut self.groups[index],
            None if self.groups.len() == MAX_CHANGES => return self.beyond += 1,
            None => {
                self.by_key.insert(key, self.groups.len());
                let (values, evidence) = (Vec::new(), Evidence::default());
                self.groups.push(Group { first: found.clone(), values, types: 0, evidence });
                let last = self.groups.len() - 1;
                &mut self.groups[last]
            }
        };
        group.types |= found.types;
        group.evidence.count += 1;
        if group.evidence.places.len() < MAX_PLACES {
            group.evidence.places.push(found.at);
        }
        let values = group.values.len();
        group
            .values
            .extend(found.value.filter(|value| values < MAX_VALUES && !contains(&group.values, value)));
    }

    /// Takes the further keys of an object with a great many of them for one.
    fn fold(&mut self, found: &mut Found) {
        let parent = found.pointer.rsplit_once('/').map_or("", |(parent, _)| parent).to_owned();
        let keys = self.keys.entry((found.rule, parent.clone())).or_default();
        *keys += 1;
        if *keys > MAX_KEYS {
            found.pointer = format!("{parent}/*");
            found.messages =
                ["the schema does not name further keys", "further keys are new"].map(str::to_owned);
        }
    }

    /// Returns the changes by descending severity, then by their first places. `unjudged` is the number of errors that were
    /// not examined.
    pub fn into_changes(self, unjudged: u64) -> Vec<Change> {
        let Self { side, groups, types, beyond, .. } = self;
        let mut changes: Vec<Change> = groups.into_iter().map(|group| group.change(side, &types)).collect();
        if beyond + unjudged > 0 {
            let message =
                format!("the sample has {} further differences that are not listed", beyond + unjudged);
            changes.push(Change::undecided(message));
        }
        let first = |change: &Change| {
            let place = change.evidence.as_ref().and_then(|evidence| evidence.places.first());
            place.map(|place| (place.record, place.line, place.column))
        };
        changes.sort_by_key(|change| (change.class, first(change)));
        changes
    }
}

fn key_of(found: &Found) -> Key {
    let Found { rule, event, variant, pointer, what, .. } = found;
    (rule, event.clone(), variant.clone(), pointer.clone(), what.clone())
}

impl Group {
    fn change(self, side: SampleSide, types: &HashMap<String, u8>) -> Change {
        let Found { rule: to, class, event, variant, pointer, messages: [of_old, of_new], .. } = self.first;
        let is_new = side == SampleSide::New;
        let others = types.get(&pointer).copied().unwrap_or_default() & !self.types;
        let id = match to {
            to if is_new => to,
            // Whether the key was always there, a sample does not show.
            "diff-key-added" => "diff-optional-key-removed",
            "diff-type-widened" if others == 0 => "diff-type-changed",
            to => rule(to).and_then(|rule| rule.examples.first()).map_or(to, |example| &example.back),
        };
        let usual = rule(id).and_then(|rule| rule.classes.first().copied()).unwrap_or_default();
        let message = if is_new { of_new } else { of_old };
        let value = match self.values.len() {
            0 => None,
            1 => self.values.into_iter().next(),
            _ => Some(Value::Array(self.values)),
        };
        let (old, new) = if is_new { (None, value) } else { (value, None) };
        Change {
            event,
            variant,
            pointer,
            evidence: Some(self.evidence),
            ..Change::new(id, class.unwrap_or(usual), message).sides(old, new)
        }
    }
}
