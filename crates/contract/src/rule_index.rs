//! What the rules need to know of one event, taken from it without looking at any other.
//!
//! This half of judging is the same for every event and keeps nothing, so that several threads can do
//! it; what holds between events is decided from these inputs alone (see `stream_state`).

use super::pointer::{Located, Pointer, PointerTree};
use super::rule::{Pattern, PatternValue, Rule, RuleKind, StateMachine, Term, TotalKind, is};
use super::spec::{EventTypes, Spec, UNTYPED};
use super::violation::{Against, Found, Violation, excerpt};
use foldhash::fast::RandomState;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use strict_json::{JsonKind, JsonType, TapeNode};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// The maximum number of values of a rule that a message names.
const MAX_VALUES: usize = 10;

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
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RecordClass {
    /// Index of its event type among the contract's; none for an unknown one and in documents.
    pub event_type: Option<usize>,
    /// The unknown type: its index among the names.
    pub unknown: Option<usize>,
    /// Bit set of the patterns of conditions that it matches.
    pub payload: u64,
}

/// What concerns which types of events.
#[derive(Debug)]
pub(crate) struct RuleIndex {
    types: HashMap<String, usize, RandomState>,
    /// By type; the last is for unknown types and documents.
    by_type: Vec<TypeRules>,
}

/// What concerns the events of one type. No pattern names types here: it concerns all of these events, or none.
#[derive(Debug)]
struct TypeRules {
    /// Each with its index in the contract.
    rules: Vec<(usize, Rule)>,
    /// Patterns of conditions, each with its bit of [`RecordClass::payload`].
    payload: Vec<(usize, Pattern)>,
    /// Their pointers.
    pointers: PointerTree,
}

/// What the rules between events need of some events, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct Extracts {
    pub inputs: Vec<RuleInput>,
    pub names: UnknownNames,
    /// Room for what pointers name in one event.
    found: Vec<Option<usize>>,
}

impl Extracts {
    /// Forgets the events, and keeps the room.
    pub fn clear(&mut self) {
        self.inputs.clear();
        // The names of a few types come again and again.
        if self.names.0.len() > UnknownNames::COMPARED {
            self.names.0.clear();
        }
    }
}

/// The names of unknown types as they are written, and as they are shown.
#[derive(Debug, Default)]
pub(crate) struct UnknownNames(Vec<(Box<str>, Box<str>)>);

impl UnknownNames {
    /// A name is compared with so many before it; of others, one may be there twice.
    const COMPARED: usize = 16;

    /// How the name with this index is shown.
    pub fn shown(&self, index: usize) -> &str {
        self.0.get(index).map_or("", |(_, shown)| shown)
    }

    /// The index of a name.
    fn index(&mut self, name: &str) -> usize {
        let from = self.0.len().saturating_sub(Self::COMPARED);
        let known = self.0[from..].iter().position(|(known, _)| **known == *name);
        known.map_or_else(
            || {
                self.0.push((name.into(), excerpt(name).into()));
                self.0.len() - 1
            },
            |nth| from + nth,
        )
    }
}

impl RuleIndex {
    pub fn new(spec: &Spec) -> Self {
        let kinds: Vec<Option<&str>> =
            spec.event_types().map(|name| Some(name.as_str())).chain([None]).collect();
        let of_type = |kind: &Option<&str>| {
            let rules = spec.rules.iter().enumerate().filter(|(_, rule)| concerns(rule, *kind));
            let payload = payload(spec).enumerate().filter(|(_, pattern)| pattern.concerns(*kind));
            let mut rules: Vec<_> = rules.map(|(index, rule)| (index, rule.for_type(*kind))).collect();
            let mut payload: Vec<_> = payload.map(|(bit, pattern)| (bit, pattern.for_type(*kind))).collect();
            let of_rules = rules.iter_mut().flat_map(|(_, rule)| rule.pointers_mut());
            let of_payload = payload.iter_mut().flat_map(|(_, pattern)| pattern.pointers_mut());
            let pointers = PointerTree::new(of_rules.chain(of_payload));
            TypeRules { rules, payload, pointers }
        };
        Self {
            types: spec.event_types().cloned().zip(0..).collect(),
            by_type: kinds.iter().map(of_type).collect(),
        }
    }

    /// Extracts what the rules need to know of a document or record, and what it breaks of them by itself.
    pub fn extract(
        &self,
        spec: &Spec,
        value: TapeNode<'_>,
        extracts: &mut Extracts,
        out: &mut Found,
    ) -> RecordClass {
        let mut class = RecordClass::default();
        if let Some(events) = &spec.events {
            match events.discriminator.of(value).map(TapeNode::kind) {
                Some(JsonKind::Text(text)) => match self.event_type(events, text, value) {
                    Ok(index) => class.event_type = Some(index),
                    Err(text) => {
                        let index = extracts.names.index(&text);
                        class.unknown = Some(index);
                        if !events.allow_unknown {
                            let known: Vec<_> = spec.event_types().map(String::as_str).collect();
                            let (found, known) = (extracts.names.shown(index), known.join(", "));
                            let message = format!("unknown event type `{found}`; expected one of {known}");
                            out.add(event_type(&events.discriminator, message));
                        }
                    }
                },
                None if let Some(index) = self.types.get(UNTYPED) => class.event_type = Some(*index),
                other => {
                    let found = if other.is_some() { "a type that is not a string" } else { "no type" };
                    let message = format!("expected an event type, found {found}");
                    out.add(event_type(&events.discriminator, message));
                    class.unknown = Some(extracts.names.index(""));
                }
            }
        }
        let of_type = &self.by_type[class.event_type.unwrap_or(self.by_type.len() - 1)];
        if of_type.rules.is_empty() && of_type.payload.is_empty() {
            return class;
        }
        let value = of_type.pointers.locate(value, &mut extracts.found);
        for (index, rule) in &of_type.rules {
            extract_rule(spec, *index, rule, value, &mut extracts.inputs, out);
        }
        for (bit, pattern) in &of_type.payload {
            class.payload |= u64::from(pattern.matches(value)) << bit;
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
        RuleKind::Compare { .. } | RuleKind::Same(_) | RuleKind::SameKeys(_) | RuleKind::OneOf { .. } => true,
    };
    let totals = rule.kind.totals().into_iter().flatten().filter_map(Term::total);
    let adds = totals.into_iter().any(|total| total.pattern.concerns(kind));
    adds || rule.filter.concerns(kind) && parts()
}

fn extract_rule(
    spec: &Spec,
    index: usize,
    rule: &Rule,
    value: Located<'_>,
    inputs: &mut Vec<RuleInput>,
    out: &mut Found,
) {
    let mut push = |kind| inputs.push(RuleInput { rule: index, kind });
    if let Some(sides) = rule.kind.totals() {
        extract_totals(rule, sides, value, push);
        return;
    }
    if !rule.filter.matches(value) {
        return;
    }
    match &rule.kind {
        RuleKind::Refer { defines, uses } => {
            let matches = |place: &&PatternValue| place.pattern.matches(value);
            for place in defines.iter().filter(matches) {
                each_key(&place.at, value, |_, key| push(InputKind::Define { key }));
            }
            for (place, used) in uses.iter().enumerate().filter(|(_, used)| matches(used)) {
                each_key(&used.at, value, |nth, key| push(InputKind::Use { place, nth, key }));
            }
        }
        RuleKind::StateMachine(life) => extract_steps(life, value, push),
        RuleKind::Compare { left, relation, right } => {
            let (Some(one), Some(other)) = (left.of(value), right.of(value)) else { return };
            if !relation.holds(&one, &other) {
                let (left_is, relation, right_is) = (left.describe(), relation.name(), right.describe());
                let message = format!("expected {left_is} {relation} {right_is}, found {one} and {other}");
                out.add(spec.violation(rule, left.pointer(), message));
            }
        }
        RuleKind::OneOf { at, values } => at.each(value, |nth, found| {
            if hash(found).is_none() || values.iter().any(|value| is(found, value)) {
                return;
            }
            if out.counts(spec.tally(rule)) {
                return;
            }
            let place = place(at, nth, value.value).unwrap_or_default();
            let message = format!("expected {}, found `{}`", one_of(values), place.text);
            out.violations.push(spec.violation(rule, &place.at, message));
        }),
        RuleKind::Same(pointers) => {
            for (pointer, at) in pointers.iter().enumerate() {
                each_key(at, value, |nth, value| push(InputKind::Same { pointer, nth, value }));
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

/// The words that messages use for one of some values.
fn one_of(values: &[Value]) -> String {
    let first = values.iter().take(MAX_VALUES).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let more = values.len().saturating_sub(MAX_VALUES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("one of {first}{more}")
}

/// What an event adds to sums over the stream, and then what is compared in it.
fn extract_totals(rule: &Rule, sides: [&Term; 2], value: Located<'_>, mut push: impl FnMut(InputKind)) {
    for (side, total) in sides.iter().enumerate().filter_map(|(side, term)| Some((side, term.total()?))) {
        if let Some(number) = total.part(value) {
            let sets = matches!(total.kind, TotalKind::Last(_));
            push(InputKind::Total { side, sets, number: number.to_bits() });
        }
    }
    if rule.filter.matches(value) {
        let own = |term: &Term| term.of(value).and_then(|number| number.as_f64()).unwrap_or(f64::NAN);
        push(InputKind::Compare { sides: sides.map(|term| own(term).to_bits()) });
    }
}

fn extract_steps(life: &StateMachine, value: Located<'_>, mut push: impl FnMut(InputKind)) {
    let mut life_key = 0;
    for part in &life.key {
        let Some(part) = part.iter().find_map(|pointer| key(pointer, value)) else { return };
        life_key = xxh3_64_with_seed(&part.to_le_bytes(), life_key);
    }
    let mut steps = 0_u64;
    for (nth, step) in life.steps.iter().enumerate().filter(|(_, step)| step.pattern.matches(value)) {
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

/// The hash of the scalar that something is told by, of several the first.
fn key(pointer: &Pointer, value: Located<'_>) -> Option<u64> {
    let mut key = None;
    pointer.any(value, |_, found| {
        key = hash(found);
        key.is_some()
    });
    key
}

/// Takes the hashes of the scalars that a pointer names, each with its number among all that it names.
fn each_key(pointer: &Pointer, value: Located<'_>, mut take: impl FnMut(usize, u64)) {
    pointer.each(value, |nth, found| {
        if let Some(key) = hash(found) {
            take(nth, key);
        }
    });
}

/// The hash of a scalar.
fn hash(value: TapeNode<'_>) -> Option<u64> {
    match value.json_type() {
        JsonType::String => Some(xxh3_64(value.text().as_bytes())),
        JsonType::Number => Some(xxh3_64_with_seed(value.number().to_string().as_bytes(), 1)),
        JsonType::Boolean => value.as_bool().map(u64::from),
        JsonType::Null | JsonType::Array | JsonType::Object => None,
    }
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
