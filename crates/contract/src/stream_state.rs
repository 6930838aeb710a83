//! The rules between the events of a run: keeps the state of a stream and judges event by event.

use super::contract::Contract;
use super::counted::alternatives;
use super::exit_rules::{RunExit, judge_exit};
use super::pointer::Pointer;
use super::rule::{Relation, RuleKind, StateMachine, Term, TotalKind, Transition};
use super::rule_index::{InputKind, RecordClass, RuleInput, ScalarMatch};
use super::spec::Spec;
use super::violation::{Against, LimitedViolations, Violation};
use foldhash::fast::RandomState;
use serde_json::Number;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Maximum number of hashes of values that all rules together store. Facts that need more are counted, not judged.
const MAX_KEYS: usize = 500_000;
/// Maximum number of unknown event types that are counted by name; further ones are counted together.
const MAX_NAMES: usize = 100;

/// The facts about an event that are needed to judge the rules between events.
pub(super) struct RunEvent<'e> {
    pub class: RecordClass,
    /// The name of the event's type as displayed, if the contract does not define the type.
    pub unknown: Option<&'e str>,
    /// The facts from which the rules are judged.
    pub inputs: &'e [RuleInput],
    /// Number of the line where the event begins.
    pub line: u64,
}

/// Returns the n-th match of a pointer in the current event, if it is a scalar other than null.
pub(super) type ScalarLookup<'t> = &'t mut dyn FnMut(&Pointer, usize) -> Option<ScalarMatch>;

/// The result of judging a finished run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamOutcome {
    /// Violations of the run as a whole.
    pub violations: Vec<Violation>,
    /// The known findings that the run shows, which are warnings.
    pub known: Vec<Violation>,
    /// Number of records; 1 for a document.
    pub events: u64,
    /// Number of records of each type that the contract does not define; "" for records without a type.
    pub unknown: BTreeMap<String, u64>,
    /// Number of facts that were not judged because the rules had stored too many values.
    pub unjudged: u64,
}

/// The state of judging a run, after the events so far.
#[derive(Debug, Default)]
pub(crate) struct StreamState {
    /// Number of events so far.
    pub events: u64,
    /// Union of [`RecordClass::payload`] of all events.
    payload: u64,
    unknown: BTreeMap<String, u64>,
    unjudged: u64,
    stored_keys: usize,
    /// Index of the last event type that the contract defines.
    last: Option<usize>,
    last_line: u64,
    rules: Vec<RuleState>,
    /// For each rule: the hash of the keys that all documents and records must have. It remains for the next run.
    keys: Vec<Option<u64>>,
}

/// The state of judging one rule in a run. Values are identified by their hashes.
#[derive(Debug, Default, Clone)]
struct RuleState {
    /// The values that events have defined, or that have already triggered a transition.
    seen: HashSet<u64, RandomState>,
    /// For each key of a state machine: the index of its state, and the number of the event that changed it last.
    machines: HashMap<u64, (u8, u64), RandomState>,
    first_value: Option<u64>,
    /// The total on each side of a comparison: a sum, a count or the last value.
    totals: [Option<f64>; 2],
}

impl StreamState {
    pub fn new(spec: &Spec) -> Self {
        let rules = spec.rules.len();
        Self { rules: vec![RuleState::default(); rules], keys: vec![None; rules], ..Self::default() }
    }

    /// Judges the rules between events for the next event. `lookup` finds scalars in this event for messages.
    pub fn push(
        &mut self,
        spec: &Spec,
        event: RunEvent<'_>,
        out: &mut LimitedViolations,
        lookup: ScalarLookup<'_>,
    ) {
        let RunEvent { class, unknown, inputs, line } = event;
        self.events += 1;
        self.payload |= class.matched_patterns;
        self.last_line = line;
        if let Some(events) = &spec.events {
            let name = class.event_type.map(|event_type| &events.schemas[event_type].0);
            if let (1, Some(first)) = (self.events, &events.first)
                && name.is_none_or(|name| !first.contains(name))
                && !out.count_if_full(Against::Stream)
            {
                let found = name.map(String::as_str).or(unknown).unwrap_or_default();
                let message =
                    format!("expected the stream to begin with {}, found `{found}`", first.join(" or "));
                let at = &events.discriminator.text;
                out.violations.push(Violation::new(Against::Stream, "first-event", at, message));
            }
            // An unknown type does not count as the last one.
            self.last = class.event_type.or(self.last);
        }
        if let Some(unknown) = unknown {
            if let Some(count) = self.unknown.get_mut(unknown) {
                *count += 1;
            } else {
                let name = if self.unknown.len() < MAX_NAMES { unknown } else { "…" };
                *self.unknown.entry(name.to_owned()).or_default() += 1;
            }
        }
        for input in inputs {
            self.judge(spec, *input, lookup, out);
        }
    }

    fn judge(
        &mut self,
        spec: &Spec,
        input: RuleInput,
        lookup: ScalarLookup<'_>,
        out: &mut LimitedViolations,
    ) {
        let rule = &spec.rules[input.rule];
        let state = &mut self.rules[input.rule];
        let (full, category) = (self.stored_keys >= MAX_KEYS, spec.category(rule));
        let (pointer, message) = match (&rule.kind, input.kind) {
            (RuleKind::Refer { .. }, InputKind::Define { .. })
            | (RuleKind::StateMachine(_), InputKind::Unseen { .. })
                if full =>
            {
                self.unjudged += 1;
                return;
            }
            (RuleKind::Refer { .. }, InputKind::Define { key }) => {
                self.stored_keys += usize::from(state.seen.insert(key));
                return;
            }
            (RuleKind::Refer { defines, uses }, InputKind::Use { index, nth, key }) => {
                if state.seen.contains(&key) {
                    return;
                }
                if full {
                    self.unjudged += 1;
                    return;
                }
                if out.count_if_full(category) {
                    return;
                }
                let names = alternatives(defines.iter().map(|define| define.pattern.to_string()).collect());
                let found = lookup_or_pointer(&uses[index].at, nth, lookup);
                (found.pointer, format!("`{}` is not defined by an earlier {names}", found.text))
            }
            (RuleKind::StateMachine(_), InputKind::Unseen { key, transition, value }) => {
                let mark =
                    value ^ key.rotate_left(17) ^ (transition as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                if state.seen.insert(mark) {
                    self.stored_keys += 1;
                    let kind = InputKind::Transitions { key, transitions: 1 << transition };
                    self.judge(spec, RuleInput { kind, ..input }, lookup, out);
                }
                return;
            }
            (RuleKind::StateMachine(machine), InputKind::Transitions { key, transitions }) => {
                let Some(state) = self.rejecting_state(input.rule, machine, key, transitions, full) else {
                    return;
                };
                if out.count_if_full(category) {
                    return;
                }
                invalid_transition(machine, state, transitions, lookup)
            }
            (RuleKind::Same(pointers), InputKind::Same { index, nth, value }) => {
                if *state.first_value.get_or_insert(value) == value || out.count_if_full(category) {
                    return;
                }
                let found = lookup_or_pointer(&pointers[index], nth, lookup);
                (found.pointer, format!("`{}` differs from the first value", found.text))
            }
            (RuleKind::Compare { .. }, InputKind::Total { side, sets, number }) => {
                let (number, total) = (f64::from_bits(number), &mut state.totals[side]);
                *total = Some(if sets { number } else { total.unwrap_or(0.0) + number });
                return;
            }
            (RuleKind::Compare { left, relation, right }, InputKind::Compare { sides }) => {
                let Some(message) = failed_comparison(state, [left, right], *relation, sides) else { return };
                if out.count_if_full(category) {
                    return;
                }
                let event_side = if left.total().is_some() { right } else { left };
                (event_side.pointer().to_owned(), message)
            }
            (RuleKind::SameKeys(pointer), InputKind::Keys { keys }) => {
                if *self.keys[input.rule].get_or_insert(keys) == keys || out.count_if_full(category) {
                    return;
                }
                let message = "the keys differ from those of the first record";
                (pointer.text.clone(), message.to_owned())
            }
            _ => return,
        };
        out.violations.push(spec.violation(rule, &pointer, message));
    }

    /// Performs the first of these transitions (a bit set) that the state for this key allows. Returns the state if it
    /// allows none of them.
    fn rejecting_state(
        &mut self,
        rule: usize,
        machine: &StateMachine,
        key: u64,
        transitions: u64,
        is_full: bool,
    ) -> Option<u8> {
        let machines = &mut self.rules[rule].machines;
        let known = machines.get(&key).copied();
        if known.is_none() && is_full {
            self.unjudged += 1;
            return None;
        }
        let state = known.map_or(0, |(state, _)| state);
        let is_allowed =
            |nth: &usize| transitions >> nth & 1 == 1 && machine.transitions[*nth].from >> state & 1 == 1;
        let Some(next) = (0..machine.transitions.len()).find(is_allowed) else { return Some(state) };
        let to = u8::try_from(machine.transitions[next].to).unwrap_or(u8::MAX);
        self.stored_keys += usize::from(machines.insert(key, (to, self.events)).is_none());
        None
    }

    /// Judges the end of the run and resets the state for the next run.
    pub fn finish(&mut self, contract: &Contract, exit: &RunExit<'_>) -> StreamOutcome {
        let (spec, mut found) = (&contract.spec, Vec::new());
        if judge_exit(contract, exit, self.events, self.payload, &mut found) {
            self.judge_end(spec, &mut found);
        }
        let (known, violations) = found.into_iter().partition(|violation| violation.finding.is_some());
        let (unknown, keys) = (std::mem::take(&mut self.unknown), std::mem::take(&mut self.keys));
        let outcome =
            StreamOutcome { violations, known, events: self.events, unknown, unjudged: self.unjudged };
        *self = Self { keys, ..Self::new(spec) };
        outcome
    }

    /// Judges the end of a stream that has to be complete: its last event, and the final states of its state machines.
    fn judge_end(&self, spec: &Spec, out: &mut Vec<Violation>) {
        if !spec.framing.has_events() {
            if self.events == 0 {
                let message = "expected a document, found none".to_owned();
                out.push(Violation::new(Against::Schema, "document", "", message));
            }
            return;
        }
        if let Some(events) = &spec.events
            && let Some(expected) = &events.last
        {
            let name = self.last.map(|event_type| &events.schemas[event_type].0);
            if name.is_none_or(|name| !expected.contains(name)) {
                let found = name.map_or_else(|| "an empty stream".to_owned(), |name| format!("`{name}`"));
                let message =
                    format!("expected the stream to end with {}, found {found}", expected.join(" or "));
                let at = &events.discriminator.text;
                let violation = Violation::new(Against::Stream, "last-event", at, message);
                out.push(if self.events > 0 {
                    violation.in_record(self.events, self.last_line)
                } else {
                    violation
                });
            }
        }
        for (rule, state) in spec.rules.iter().zip(&self.rules) {
            let RuleKind::StateMachine(StateMachine { end: Some(end), states, key, .. }) = &rule.kind else {
                continue;
            };
            let mut open: Vec<(u64, usize)> =
                state.machines.values().map(|(state, event)| (*event, usize::from(*state))).collect();
            if key.is_empty() && open.is_empty() {
                open.push((self.events, 0));
            }
            open.retain(|(_, state)| !end.contains(state));
            open.sort_unstable();
            let names = alternatives(end.iter().map(|state| format!("`{}`", states[*state])).collect());
            for (event, state) in open {
                let message =
                    format!("expected the stream to end in state {names}, found `{}`", states[state]);
                let violation = spec.violation(rule, "", message);
                out.push(Violation { event: (event > 0).then_some(event), ..violation });
            }
        }
    }
}

/// Returns the message for a comparison that does not hold; `None` if it holds or a side has no number. `event_sides`
/// are the bits of the numbers that the event itself contains.
fn failed_comparison(
    state: &RuleState,
    terms: [&Term; 2],
    relation: Relation,
    event_sides: [u64; 2],
) -> Option<String> {
    let number = |side: usize| {
        let number = match terms[side].total() {
            // Without events there is a sum, but no last value.
            Some(total) if !matches!(total.kind, TotalKind::Last(_)) => {
                Some(state.totals[side].unwrap_or(0.0))
            }
            Some(_) => state.totals[side],
            None => Some(f64::from_bits(event_sides[side])),
        };
        number.and_then(integer_or_float)
    };
    let (left, right) = (number(0)?, number(1)?);
    let [one, other] = terms.map(Term::describe);
    let message = || format!("expected {one} {} {other}, found {left} and {right}", relation.name());
    (!relation.holds(&left, &right)).then(message)
}

/// Converts a number to a JSON number: to an integer if it has no fraction.
fn integer_or_float(number: f64) -> Option<Number> {
    let digits = format!("{number}");
    digits.parse::<i64>().map(Number::from).ok().or_else(|| Number::from_f64(number))
}

/// Returns the n-th match of a pointer; if the event is no longer available, the pointer without a text.
fn lookup_or_pointer(pointer: &Pointer, nth: usize, lookup: ScalarLookup<'_>) -> ScalarMatch {
    let unknown = || ScalarMatch { pointer: pointer.text.clone(), ..ScalarMatch::default() };
    lookup(pointer, nth).unwrap_or_else(unknown)
}

/// Returns the pointer and the message of the violation by an event that the state of a state machine does not allow.
fn invalid_transition(
    machine: &StateMachine,
    state: u8,
    transitions: u64,
    lookup: ScalarLookup<'_>,
) -> (String, String) {
    let matched = (0..machine.transitions.len()).find(|nth| transitions >> nth & 1 == 1).unwrap_or(0);
    let Transition { pattern, unseen, .. } = &machine.transitions[matched];
    let pointer = pattern.when.last().map(|(pointer, _)| pointer).or(unseen.as_ref());
    let pointer = pointer.or_else(|| machine.key.last().and_then(|part| part.first()));
    let key = machine.key.iter().filter_map(|part| part.iter().find_map(|at| Some(lookup(at, 0)?.text)));
    let key: Vec<String> = key.collect();
    let of = if key.is_empty() { String::new() } else { format!(" of {}", key.join(", ")) };
    let next = machine.transitions.iter().filter(|transition| transition.from >> state & 1 == 1);
    let mut next: Vec<String> = next.map(|transition| transition.pattern.to_string()).collect();
    next.dedup();
    let expected = if next.is_empty() { "no further event".to_owned() } else { alternatives(next) };
    let state = &machine.states[usize::from(state)];
    let message = format!("expected {expected} in state `{state}`{of}, found {pattern}");
    (pointer.map_or_else(String::new, |pointer| pointer.text.clone()), message)
}
