//! What the rules need to know of one event, taken from it without looking at any other.
//!
//! This half of judging is the same for every event and keeps nothing, so that several threads can do
//! it; what holds between events is decided from these inputs alone (see `stream_state`).

use super::pointer::Pointer;
use super::rule::{Pattern, PatternValue, Rule, RuleKind, StateMachine, Term, TotalKind};
use super::spec::{EventTypes, Framing, Spec, UNTYPED};
use super::tape::{JsonKind, TapeNode};
use super::violation::{Against, Violation, excerpt};
use std::borrow::Cow;
use std::collections::HashMap;
use strict_json::JsonType;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// One thing that a rule, given by its index, needs to know of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuleInput {
    pub rule: usize,
    pub kind: InputKind,
}

/// What a rule needs to know. Values are told apart by their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// The event names something for others to use.
    Define { key: u64 },
    /// The event uses it, at this place of the rule: the value that its pointer names as its `nth`.
    Use { place: usize, nth: usize, key: u64 },
    /// The event takes one of these steps (a bit set) of the life with this key.
    Steps { key: u64, steps: u64 },
    /// The event takes a step if this value was not met there before.
    New { key: u64, step: usize, value: u64 },
    /// The value that this pointer of the rule names as its `nth`.
    Same { pointer: usize, nth: usize, value: u64 },
    /// The keys of the object.
    Keys { keys: u64 },
    /// The event adds this number to a side of the rule, or sets it; as the bits of a binary64.
    Total { side: usize, sets: bool, number: u64 },
    /// The event's own numbers of both sides, as bits; not a number for a side that comes of all events.
    Compare { sides: [u64; 2] },
}

/// A scalar in an event.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    /// The pointer that names it alone.
    pub at: String,
    /// What it says.
    pub text: String,
}

/// Which kind of record it is.
#[derive(Debug, Default)]
pub(crate) struct RecordClass {
    /// Index of its event type among the contract's; none for an unknown one and in documents.
    pub event_type: Option<usize>,
    /// The unknown type.
    pub unknown: Option<String>,
    /// Bit set of the patterns of conditions that it matches.
    pub payload: u64,
}

/// Which rules concern which types of events.
#[derive(Debug)]
pub(crate) struct RuleIndex {
    types: HashMap<String, usize>,
    /// Indices of the rules by type; the last is for unknown types and documents.
    rules: Vec<Vec<usize>>,
    /// Whether the patterns of the conditions are of any concern, likewise.
    payload: Vec<bool>,
}

impl RuleIndex {
    pub fn new(spec: &Spec) -> Self {
        let kinds: Vec<Option<&str>> =
            spec.event_types().map(|name| Some(name.as_str())).chain([None]).collect();
        let concerned = |kind: Option<&str>| -> Vec<usize> {
            (0..spec.rules.len()).filter(|index| concerns(&spec.rules[*index], kind)).collect()
        };
        Self {
            types: spec.event_types().cloned().zip(0..).collect(),
            rules: kinds.iter().map(|kind| concerned(*kind)).collect(),
            payload: kinds.iter().map(|kind| payload(spec).any(|pattern| pattern.concerns(*kind))).collect(),
        }
    }

    /// Extracts what the rules need to know of a document or record, and what it breaks of them by itself.
    pub fn extract(
        &self,
        spec: &Spec,
        value: TapeNode<'_>,
        inputs: &mut Vec<RuleInput>,
        violations: &mut Vec<Violation>,
    ) -> RecordClass {
        let mut class = RecordClass::default();
        let mut name = None;
        if let Some(events) = &spec.events {
            match events.discriminator.of(value).map(TapeNode::kind) {
                Some(JsonKind::Text(text)) => match self.event_type(events, text, value) {
                    Ok(index) => {
                        class.event_type = Some(index);
                        name = Some(events.schemas[index].0.as_str());
                    }
                    Err(text) => {
                        if !events.allow_unknown {
                            let known: Vec<_> = spec.event_types().map(String::as_str).collect();
                            let (found, known) = (excerpt(&text), known.join(", "));
                            let message = format!("unknown event type `{found}`; expected one of {known}");
                            violations.push(event_type(&events.discriminator, message));
                        }
                        class.unknown = Some(excerpt(&text));
                    }
                },
                None if let Some(index) = self.types.get(UNTYPED) => {
                    class.event_type = Some(*index);
                    name = Some(UNTYPED);
                }
                other => {
                    let found = if other.is_some() { "a type that is not a string" } else { "no type" };
                    let message = format!("expected an event type, found {found}");
                    violations.push(event_type(&events.discriminator, message));
                    class.unknown = Some(String::new());
                }
            }
        }
        let group = class.event_type.unwrap_or(self.rules.len() - 1);
        for index in &self.rules[group] {
            extract_rule(spec, *index, name, value, inputs, violations);
        }
        if self.payload[group] {
            for (bit, pattern) in payload(spec).enumerate() {
                class.payload |= u64::from(pattern.matches(name, value)) << bit;
            }
        }
        class
    }
}

impl RuleIndex {
    /// The index of the type that an event is of: with its second part if that makes a type of the contract, else
    /// without. The name of an unknown one is given back.
    fn event_type<'v>(
        &self,
        events: &EventTypes,
        text: &'v str,
        value: TapeNode<'v>,
    ) -> Result<usize, Cow<'v, str>> {
        let known = |name: &str| self.types.get(name).copied();
        let Some(subtype) = &events.subtype else { return known(text).ok_or(Cow::Borrowed(text)) };
        let Some(JsonKind::Text(second)) = subtype.of(value).map(TapeNode::kind) else {
            return known(text).ok_or(Cow::Borrowed(text));
        };
        let both = format!("{text}/{second}");
        known(&both).or_else(|| known(text)).ok_or(Cow::Owned(both))
    }
}

fn event_type(discriminator: &Pointer, message: String) -> Violation {
    Violation::of_rule(Against::Schema, "event-type", &discriminator.text, message)
}

/// The patterns of all conditions in their order: a bit of [`RecordClass::payload`] each.
pub(crate) fn payload(spec: &Spec) -> impl Iterator<Item = &Pattern> {
    spec.conditions.iter().flat_map(|condition| condition.some.iter().chain(&condition.none))
}

fn concerns(rule: &Rule, kind: Option<&str>) -> bool {
    let parts = || match &rule.kind {
        RuleKind::Refer { defines, uses } => {
            defines.iter().chain(uses).any(|place| place.pattern.concerns(kind))
        }
        RuleKind::StateMachine(life) => life.steps.iter().any(|step| step.pattern.concerns(kind)),
        RuleKind::Compare { .. } | RuleKind::Same(_) | RuleKind::SameKeys(_) => true,
    };
    let totals = rule.kind.totals().into_iter().flatten().filter_map(Term::total);
    let adds = totals.into_iter().any(|total| total.pattern.concerns(kind));
    adds || rule.filter.concerns(kind) && parts()
}

fn extract_rule(
    spec: &Spec,
    index: usize,
    name: Option<&str>,
    value: TapeNode<'_>,
    inputs: &mut Vec<RuleInput>,
    violations: &mut Vec<Violation>,
) {
    let rule = &spec.rules[index];
    let mut push = |kind| inputs.push(RuleInput { rule: index, kind });
    if let Some(sides) = rule.kind.totals() {
        extract_totals(rule, sides, name, value, push);
        return;
    }
    if !rule.filter.matches(name, value) {
        return;
    }
    match &rule.kind {
        RuleKind::Refer { defines, uses } => {
            let matches = |place: &&PatternValue| place.pattern.matches(name, value);
            for (_, key) in defines.iter().filter(matches).flat_map(|place| keys(&place.at, value)) {
                push(InputKind::Define { key });
            }
            for (place, used) in uses.iter().enumerate().filter(|(_, used)| matches(used)) {
                keys(&used.at, value).for_each(|(nth, key)| push(InputKind::Use { place, nth, key }));
            }
        }
        RuleKind::StateMachine(life) => extract_steps(life, name, value, push),
        RuleKind::Compare { left, relation, right } => {
            let (Some(one), Some(other)) = (left.of(value), right.of(value)) else { return };
            if !relation.holds(&one, &other) {
                let (left_is, relation, right_is) = (left.describe(), relation.name(), right.describe());
                let what = &rule.what;
                let message =
                    format!("expected {left_is} {relation} {right_is}, found {one} and {other}: {what}");
                violations.push(Violation::of_rule(within(spec), &rule.id, left.pointer(), message));
            }
        }
        RuleKind::Same(pointers) => {
            for (pointer, at) in pointers.iter().enumerate() {
                keys(at, value).for_each(|(nth, value)| push(InputKind::Same { pointer, nth, value }));
            }
        }
        RuleKind::SameKeys(pointer) => {
            if let Some(object) = pointer.of(value).filter(|object| object.is(JsonType::Object)) {
                let hashes = object.pairs().map(|(key, _)| xxh3_64(key.as_bytes()));
                let keys = hashes.fold(0, u64::wrapping_add);
                push(InputKind::Keys { keys });
            }
        }
    }
}

/// What an event adds to sums over the stream, and then what is compared in it.
fn extract_totals(
    rule: &Rule,
    sides: [&Term; 2],
    name: Option<&str>,
    value: TapeNode<'_>,
    mut push: impl FnMut(InputKind),
) {
    for (side, total) in sides.iter().enumerate().filter_map(|(side, term)| Some((side, term.total()?))) {
        if let Some(number) = total.part(name, value) {
            let sets = matches!(total.kind, TotalKind::Last(_));
            push(InputKind::Total { side, sets, number: number.to_bits() });
        }
    }
    if rule.filter.matches(name, value) {
        let own = |term: &Term| term.of(value).and_then(|number| number.as_f64()).unwrap_or(f64::NAN);
        push(InputKind::Compare { sides: sides.map(|term| own(term).to_bits()) });
    }
}

/// What a rule over the values of one event belongs to.
pub(crate) fn within(spec: &Spec) -> Against {
    match spec.framing {
        Framing::Document => Against::Schema,
        Framing::Lines | Framing::Array => Against::Stream,
    }
}

fn extract_steps(
    life: &StateMachine,
    name: Option<&str>,
    value: TapeNode<'_>,
    mut push: impl FnMut(InputKind),
) {
    let mut life_key = 0;
    for part in &life.key {
        let Some(part) = part.iter().find_map(|pointer| key(pointer, value)) else { return };
        life_key = xxh3_64_with_seed(&part.to_le_bytes(), life_key);
    }
    let mut steps = 0_u64;
    for (nth, step) in life.steps.iter().enumerate().filter(|(_, step)| step.pattern.matches(name, value)) {
        match &step.new {
            None => steps |= 1 << nth,
            Some(pointer) => {
                if let Some(value) = key(pointer, value) {
                    push(InputKind::New { key: life_key, step: nth, value });
                }
            }
        }
    }
    if steps != 0 {
        push(InputKind::Steps { key: life_key, steps });
    }
}

/// The hash of a scalar that something is told by.
fn key(pointer: &Pointer, value: TapeNode<'_>) -> Option<u64> {
    keys(pointer, value).next().map(|(_, key)| key)
}

/// The hashes of the scalars that a pointer names, each with its number among all that it names.
fn keys<'a>(pointer: &'a Pointer, value: TapeNode<'a>) -> impl Iterator<Item = (usize, u64)> + 'a {
    let hash = |found: TapeNode<'_>| match found.kind() {
        JsonKind::Text(text) => Some(xxh3_64(text.as_bytes())),
        JsonKind::Number(number) => Some(xxh3_64_with_seed(number.to_string().as_bytes(), 1)),
        JsonKind::Bool(value) => Some(u64::from(value)),
        JsonKind::Null | JsonKind::Array | JsonKind::Object => None,
    };
    pointer.all(value).enumerate().filter_map(move |(nth, found)| Some((nth, hash(found)?)))
}

/// Where the value is that a pointer names as its `nth`, and its text if it is a scalar, for messages.
pub(crate) fn place(pointer: &Pointer, nth: usize, value: TapeNode<'_>) -> Option<Place> {
    let (at, found) = pointer.place(value, nth)?;
    let text = match found.kind() {
        JsonKind::Text(text) => Some(excerpt(text)),
        JsonKind::Number(number) => Some(number.to_string()),
        JsonKind::Bool(value) => Some(value.to_string()),
        JsonKind::Null | JsonKind::Array | JsonKind::Object => None,
    };
    Some(Place { at, text: text? })
}
