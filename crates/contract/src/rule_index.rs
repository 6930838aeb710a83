//! Extracts the inputs of the rules from single events.
//!
//! This half of judging has no state, so several threads can run it. `stream_state` judges the rules between events
//! from these inputs alone.

use super::pointer::{Located, Pointer, PointerTree};
use super::rule::{
    Pattern, PatternValue, Rule, RuleKind, StateMachine, Term, TotalKind, Transition, equals_scalar,
};
use super::spec::{EventTypes, Spec, UNTYPED};
use super::violation::{Against, LimitedViolations, Violation, excerpt};
use foldhash::fast::RandomState;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use strict_json::{JsonKind, JsonType, TapeNode};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Maximum number of allowed values that a message lists.
const MAX_LISTED_VALUES: usize = 10;

/// A fact about an event from which a rule is judged; `rule` is the index of the rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RuleInput {
    pub rule: usize,
    pub kind: InputKind,
}

/// A fact about an event. Values are identified by their hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// The event defines a value, which this and later events can use; `key` is its hash.
    Define { key: u64 },
    /// The event uses the value with the hash `key`: the match `nth` of the pointer with this index in
    /// [`RuleKind::Refer`]'s `uses`.
    Use { index: usize, nth: usize, key: u64 },
    /// The event triggers one of these transitions (a bit set) of the state machine with this key.
    Transitions { key: u64, transitions: u64 },
    /// The event triggers a transition, if the value with this hash has not triggered it before.
    Unseen { key: u64, transition: usize, value: u64 },
    /// The match `nth` of the pointer with this index in [`RuleKind::Same`] has the hash `value`.
    Same { index: usize, nth: usize, value: u64 },
    /// The combined hash of the keys of the object at a pointer.
    Keys { keys: u64 },
    /// The event adds a number to the total on one side of a comparison (0 left, 1 right), or sets the total. The
    /// number is given as the bits of a binary64.
    Total { side: usize, sets: bool, number: u64 },
    /// The numbers on both sides of a comparison that the event itself contains, as the bits of a binary64. NaN for a
    /// side that is a total.
    Compare { sides: [u64; 2] },
}

/// A scalar in an event that a pointer matches.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScalarMatch {
    /// The exact pointer to this value, without `*`.
    pub pointer: String,
    /// The value as text for messages, shortened.
    pub text: String,
}

/// The type of a record, and the patterns that the record matches.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct RecordClass {
    /// Index of the record's event type in the contract; `None` for an unknown type and in documents.
    pub event_type: Option<usize>,
    /// Index of the type's name in [`UnknownNames`] if the contract does not define the type.
    pub unknown_type: Option<usize>,
    /// Bit set of the patterns of conditions that the record matches.
    pub matched_patterns: u64,
}

/// The rules of a contract, and the patterns of its conditions, by event type.
#[derive(Debug)]
pub(crate) struct RuleIndex {
    types: HashMap<String, usize, RandomState>,
    /// The rules for each type, by the index of the type. The last entry is for unknown types and documents.
    by_type: Vec<TypeRules>,
}

/// The rules, and the patterns of conditions, for the events of one type; see [`Pattern::for_type`].
#[derive(Debug)]
struct TypeRules {
    /// The rules, each with its index in the contract.
    rules: Vec<(usize, Rule)>,
    /// Patterns of conditions, each with its bit of [`RecordClass::payload`].
    condition_patterns: Vec<(usize, Pattern)>,
    /// The pointers of all `rules` and all patterns in `payload`.
    pointers: PointerTree,
}

/// The facts about a sequence of events from which rules are judged.
#[derive(Debug, Default)]
pub(crate) struct RuleInputs {
    pub inputs: Vec<RuleInput>,
    pub names: UnknownNames,
    /// Reused buffer for the matches of pointers in one event.
    found: Vec<Option<usize>>,
}

impl RuleInputs {
    /// Removes the inputs, but keeps the buffers.
    pub fn clear(&mut self) {
        self.inputs.clear();
        // A few names recur, so they are kept.
        if self.names.0.len() > UnknownNames::MAX_COMPARED {
            self.names.0.clear();
        }
    }
}

/// The names of event types that the contract does not define: each as in the input, and as displayed.
#[derive(Debug, Default)]
pub(crate) struct UnknownNames(Vec<(Box<str>, Box<str>)>);

impl UnknownNames {
    /// Maximum number of earlier names with which a new name is compared. With more names, a name may be listed twice.
    const MAX_COMPARED: usize = 16;

    /// Returns the name with this index as it is displayed.
    pub fn display_name(&self, index: usize) -> &str {
        self.0.get(index).map_or("", |(_, displayed)| displayed)
    }

    /// Returns the index of a name, which is added if it is not known.
    fn index(&mut self, name: &str) -> usize {
        let from = self.0.len().saturating_sub(Self::MAX_COMPARED);
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
        let types: Vec<Option<&str>> =
            spec.event_types().map(|name| Some(name.as_str())).chain([None]).collect();
        let for_type = |event_type: &Option<&str>| {
            let rules = spec.rules.iter().enumerate().filter(|(_, rule)| applies(rule, *event_type));
            let payload =
                condition_patterns(spec).enumerate().filter(|(_, pattern)| pattern.can_match(*event_type));
            let mut rules: Vec<_> = rules.map(|(index, rule)| (index, rule.for_type(*event_type))).collect();
            let mut payload: Vec<_> =
                payload.map(|(bit, pattern)| (bit, pattern.for_type(*event_type))).collect();
            let rule_pointers = rules.iter_mut().flat_map(|(_, rule)| rule.pointers_mut());
            let payload_pointers = payload.iter_mut().flat_map(|(_, pattern)| pattern.pointers_mut());
            let pointers = PointerTree::new(rule_pointers.chain(payload_pointers));
            TypeRules { rules, condition_patterns: payload, pointers }
        };
        Self {
            types: spec.event_types().cloned().zip(0..).collect(),
            by_type: types.iter().map(for_type).collect(),
        }
    }

    /// Extracts the rule inputs of a document or record to `rule_inputs`. Judges the rules on its own values, and adds
    /// their violations to `out`. Returns the type of the record and the patterns that it matches.
    pub fn extract(
        &self,
        spec: &Spec,
        value: TapeNode<'_>,
        rule_inputs: &mut RuleInputs,
        out: &mut LimitedViolations,
    ) -> RecordClass {
        let mut class = RecordClass::default();
        if let Some(events) = &spec.events {
            match events.discriminator.first_match(value).map(TapeNode::kind) {
                Some(JsonKind::Text(text)) => match self.event_type(events, text, value) {
                    Ok(index) => class.event_type = Some(index),
                    Err(text) => {
                        let index = rule_inputs.names.index(&text);
                        class.unknown_type = Some(index);
                        if !events.allow_unknown {
                            let known: Vec<_> = spec.event_types().map(String::as_str).collect();
                            let (found, known) = (rule_inputs.names.display_name(index), known.join(", "));
                            let message = format!("unknown event type `{found}`; expected one of {known}");
                            out.add(event_type_violation(&events.discriminator, message));
                        }
                    }
                },
                None if let Some(index) = self.types.get(UNTYPED) => class.event_type = Some(*index),
                other => {
                    let found = if other.is_some() { "a type that is not a string" } else { "no type" };
                    let message = format!("expected an event type, found {found}");
                    out.add(event_type_violation(&events.discriminator, message));
                    class.unknown_type = Some(rule_inputs.names.index(""));
                }
            }
        }
        let type_rules = &self.by_type[class.event_type.unwrap_or(self.by_type.len() - 1)];
        if type_rules.rules.is_empty() && type_rules.condition_patterns.is_empty() {
            return class;
        }
        let value = type_rules.pointers.locate(value, &mut rule_inputs.found);
        for (index, rule) in &type_rules.rules {
            extract_rule(spec, *index, rule, value, &mut rule_inputs.inputs, out);
        }
        for (bit, pattern) in &type_rules.condition_patterns {
            class.matched_patterns |= u64::from(pattern.matches(value)) << bit;
        }
        class
    }
}

impl RuleIndex {
    /// Returns the index of the type of an event: the type with its subtype if the contract defines that, or else the
    /// type without it.
    ///
    /// # Errors
    /// The name of the type, if it is unknown.
    fn event_type<'v>(
        &self,
        events: &EventTypes,
        text: &'v str,
        value: TapeNode<'v>,
    ) -> Result<usize, Cow<'v, str>> {
        let known = |name: &str| self.types.get(name).copied();
        let Some(subtype) = &events.subtype else { return known(text).ok_or(Cow::Borrowed(text)) };
        let Some(JsonKind::Text(subtype)) = subtype.first_match(value).map(TapeNode::kind) else {
            return known(text).ok_or(Cow::Borrowed(text));
        };
        let full = format!("{text}/{subtype}");
        known(&full).or_else(|| known(text)).ok_or(Cow::Owned(full))
    }
}

fn event_type_violation(discriminator: &Pointer, message: String) -> Violation {
    Violation::new(Against::Schema, "event-type", &discriminator.text, message)
}

/// Returns the patterns of all conditions in order; each has a bit of [`RecordClass::payload`].
pub(crate) fn condition_patterns(spec: &Spec) -> impl Iterator<Item = &Pattern> {
    spec.conditions.iter().flat_map(|condition| condition.some.iter().chain(&condition.none))
}

/// Returns whether a rule can apply to events of a type. `None` stands for an unknown type and documents.
fn applies(rule: &Rule, event_type: Option<&str>) -> bool {
    let kind_applies = || match &rule.kind {
        RuleKind::Refer { defines, uses } => {
            defines.iter().chain(uses).any(|value| value.pattern.can_match(event_type))
        }
        RuleKind::StateMachine(machine) => {
            machine.transitions.iter().any(|transition| transition.pattern.can_match(event_type))
        }
        RuleKind::Compare { .. } | RuleKind::Same(_) | RuleKind::SameKeys(_) | RuleKind::OneOf { .. } => true,
    };
    let totals = rule.kind.totals().into_iter().flatten().filter_map(Term::total);
    let contributes = totals.into_iter().any(|total| total.pattern.can_match(event_type));
    contributes || rule.filter.can_match(event_type) && kind_applies()
}

fn extract_rule(
    spec: &Spec,
    index: usize,
    rule: &Rule,
    value: Located<'_>,
    inputs: &mut Vec<RuleInput>,
    out: &mut LimitedViolations,
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
            let matches = |at: &&PatternValue| at.pattern.matches(value);
            for define in defines.iter().filter(matches) {
                each_hash(&define.at, value, |_, key| push(InputKind::Define { key }));
            }
            for (index, used) in uses.iter().enumerate().filter(|(_, used)| matches(used)) {
                each_hash(&used.at, value, |nth, key| push(InputKind::Use { index, nth, key }));
            }
        }
        RuleKind::StateMachine(machine) => extract_transitions(machine, value, push),
        RuleKind::Compare { left, relation, right } => {
            let (Some(one), Some(other)) = (left.evaluate(value), right.evaluate(value)) else { return };
            if !relation.holds(&one, &other) {
                let (left_is, relation, right_is) = (left.describe(), relation.name(), right.describe());
                let message = format!("expected {left_is} {relation} {right_is}, found {one} and {other}");
                out.add(spec.violation(rule, left.pointer(), message));
            }
        }
        RuleKind::OneOf { at, values } => at.for_each_match(value, |nth, found| {
            if hash(found).is_none() || values.iter().any(|value| equals_scalar(found, value)) {
                return;
            }
            if out.count_if_full(spec.category(rule)) {
                return;
            }
            let scalar = nth_scalar(at, nth, value.value).unwrap_or_default();
            let message = format!("expected {}, found `{}`", one_of(values), scalar.text);
            out.violations.push(spec.violation(rule, &scalar.pointer, message));
        }),
        RuleKind::Same(pointers) => {
            for (index, pointer) in pointers.iter().enumerate() {
                each_hash(pointer, value, |nth, value| push(InputKind::Same { index, nth, value }));
            }
        }
        RuleKind::SameKeys(pointer) => {
            if let Some(object) =
                pointer.first_match(value).filter(|object| object.has_type(JsonType::Object))
            {
                let hashes = object.members().map(|(key, _)| xxh3_64(key.as_bytes()));
                let keys = hashes.fold(0, u64::wrapping_add);
                push(InputKind::Keys { keys });
            }
        }
    }
}

/// Describes the allowed values in a message, such as `one of "a", "b"`.
fn one_of(values: &[Value]) -> String {
    let first = values.iter().take(MAX_LISTED_VALUES).map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let more = values.len().saturating_sub(MAX_LISTED_VALUES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("one of {first}{more}")
}

/// Passes the facts for a comparison with totals to `push`: what the event contributes to the totals, and then the
/// numbers to compare.
fn extract_totals(rule: &Rule, sides: [&Term; 2], value: Located<'_>, mut push: impl FnMut(InputKind)) {
    for (side, total) in sides.iter().enumerate().filter_map(|(side, term)| Some((side, term.total()?))) {
        if let Some(number) = total.contribution(value) {
            let sets = matches!(total.kind, TotalKind::Last(_));
            push(InputKind::Total { side, sets, number: number.to_bits() });
        }
    }
    if rule.filter.matches(value) {
        let own = |term: &Term| term.evaluate(value).and_then(|number| number.as_f64()).unwrap_or(f64::NAN);
        push(InputKind::Compare { sides: sides.map(|term| own(term).to_bits()) });
    }
}

fn extract_transitions(machine: &StateMachine, value: Located<'_>, mut push: impl FnMut(InputKind)) {
    let mut key = 0;
    for part in &machine.key {
        let Some(part) = part.iter().find_map(|pointer| first_hash(pointer, value)) else { return };
        key = xxh3_64_with_seed(&part.to_le_bytes(), key);
    }
    let mut transitions = 0_u64;
    for (nth, Transition { unseen, .. }) in
        machine.transitions.iter().enumerate().filter(|(_, transition)| transition.pattern.matches(value))
    {
        match unseen {
            None => transitions |= 1 << nth,
            Some(pointer) => {
                if let Some(value) = first_hash(pointer, value) {
                    push(InputKind::Unseen { key, transition: nth, value });
                }
            }
        }
    }
    if transitions != 0 {
        push(InputKind::Transitions { key, transitions });
    }
}

/// Returns the hash of the first scalar that a pointer matches.
fn first_hash(pointer: &Pointer, value: Located<'_>) -> Option<u64> {
    let mut first = None;
    pointer.any_match(value, |_, found| {
        first = hash(found);
        first.is_some()
    });
    first
}

/// Calls `visit` with the hash of each scalar that a pointer matches, and with its index among all matches.
fn each_hash(pointer: &Pointer, value: Located<'_>, mut visit: impl FnMut(usize, u64)) {
    pointer.for_each_match(value, |nth, found| {
        if let Some(hash) = hash(found) {
            visit(nth, hash);
        }
    });
}

/// Returns the hash of a string, number or boolean; `None` for null and containers.
fn hash(value: TapeNode<'_>) -> Option<u64> {
    match value.json_type() {
        JsonType::String => Some(xxh3_64(value.text().as_bytes())),
        JsonType::Number => Some(xxh3_64_with_seed(value.number().to_string().as_bytes(), 1)),
        JsonType::Boolean => value.as_bool().map(u64::from),
        JsonType::Null | JsonType::Array | JsonType::Object => None,
    }
}

/// Returns the match of a pointer with index `nth`, if it is a scalar other than null.
pub(crate) fn nth_scalar(pointer: &Pointer, nth: usize, value: TapeNode<'_>) -> Option<ScalarMatch> {
    let (pointer, found) = pointer.nth_match(value, nth)?;
    let text = match found.kind() {
        JsonKind::Text(text) => Some(excerpt(text)),
        JsonKind::Number(number) => Some(number.to_string()),
        JsonKind::Bool(value) => Some(value.to_string()),
        JsonKind::Null | JsonKind::Array | JsonKind::Object => None,
    };
    Some(ScalarMatch { pointer, text: text? })
}
