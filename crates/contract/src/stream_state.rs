//! What holds between the events of a run: remembered and judged event by event.

use super::contract::Contract;
use super::counted::alternatives;
use super::exit_rules::{RunExit, judge_exit};
use super::pointer::Pointer;
use super::rule::{Relation, RuleKind, StateMachine, Term, TotalKind};
use super::rule_index::{InputKind, Place, RecordClass, RuleInput};
use super::spec::Spec;
use super::violation::{Against, Found, Violation};
use foldhash::fast::RandomState;
use serde_json::Number;
use std::collections::{BTreeMap, HashMap, HashSet};

/// Keys that all rules together remember; what comes beyond is counted, not judged.
const MAX_KEYS: usize = 500_000;
/// Names of unknown types that are told apart.
const MAX_NAMES: usize = 100;

/// An event of a run, as far as the events behind it have to do with it.
pub(super) struct RunEvent<'e> {
    pub class: RecordClass,
    /// How its type is shown, if that is unknown.
    pub unknown: Option<&'e str>,
    /// What the rules need of it.
    pub inputs: &'e [RuleInput],
    /// The line that it begins in.
    pub line: u64,
}

/// Gives the scalar that a pointer names in an event, as its n-th value.
pub(super) type PlaceAt<'t> = &'t mut dyn FnMut(&Pointer, usize) -> Option<Place>;

/// What a finished run comes to, besides its violations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamOutcome {
    /// What is found against the run as a whole.
    pub violations: Vec<Violation>,
    /// The known findings that the run shows: warnings, not errors.
    pub known: Vec<Violation>,
    /// Number of records; 1 for a document.
    pub events: u64,
    /// How many records of types that the contract does not know; "" for records without a type.
    pub unknown: BTreeMap<String, u64>,
    /// How many facts were not judged, because too many keys had to be remembered.
    pub unjudged: u64,
}

/// What has to be remembered of the events so far.
#[derive(Debug, Default)]
pub(crate) struct StreamState {
    /// Number of events so far.
    pub events: u64,
    payload: u64,
    unknown: BTreeMap<String, u64>,
    unjudged: u64,
    kept: usize,
    last: Option<usize>,
    last_line: u64,
    memory: Vec<Memory>,
    /// By rule: the keys that all documents and records have. Outlives a run.
    keys: Vec<Option<u64>>,
}

/// What a rule remembers.
#[derive(Debug, Default, Clone)]
struct Memory {
    named: HashSet<u64, RandomState>,
    lives: HashMap<u64, (u8, u64), RandomState>,
    value: Option<u64>,
    /// The sums and last values of a comparison.
    totals: [Option<f64>; 2],
}

impl StreamState {
    pub fn new(spec: &Spec) -> Self {
        let rules = spec.rules.len();
        Self { memory: vec![Memory::default(); rules], keys: vec![None; rules], ..Self::default() }
    }

    /// Goes on by one event. `place` gives what stands at a pointer of it.
    pub fn step(&mut self, spec: &Spec, event: RunEvent<'_>, out: &mut Found, place: PlaceAt<'_>) {
        let RunEvent { class, unknown, inputs, line } = event;
        self.events += 1;
        self.payload |= class.payload;
        self.last_line = line;
        if let Some(events) = &spec.events {
            let name = class.event_type.map(|kind| &events.schemas[kind].0);
            if let (1, Some(first)) = (self.events, &events.first)
                && name.is_none_or(|name| !first.contains(name))
                && !out.counts(Against::Stream)
            {
                let found = name.map(String::as_str).or(unknown).unwrap_or_default();
                let message = format!("the stream begins with `{found}` instead of {}", first.join(" or "));
                let at = &events.discriminator.text;
                out.violations.push(Violation::of_rule(Against::Stream, "first-event", at, message));
            }
            // An unknown type says nothing of where the stream stands.
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
            self.judge(spec, *input, place, out);
        }
    }

    fn judge(&mut self, spec: &Spec, input: RuleInput, place: PlaceAt<'_>, out: &mut Found) {
        let rule = &spec.rules[input.rule];
        let memory = &mut self.memory[input.rule];
        let (full, tally) = (self.kept >= MAX_KEYS, spec.tally(rule));
        let (pointer, message) = match (&rule.kind, input.kind) {
            (RuleKind::Refer { .. }, InputKind::Define { .. })
            | (RuleKind::StateMachine(_), InputKind::New { .. })
                if full =>
            {
                self.unjudged += 1;
                return;
            }
            (RuleKind::Refer { .. }, InputKind::Define { key }) => {
                self.kept += usize::from(memory.named.insert(key));
                return;
            }
            (RuleKind::Refer { defines, uses }, InputKind::Use { place: used, nth, key }) => {
                if memory.named.contains(&key) {
                    return;
                }
                if full {
                    self.unjudged += 1;
                    return;
                }
                if out.counts(tally) {
                    return;
                }
                let names = alternatives(defines.iter().map(|place| place.pattern.to_string()).collect());
                let found = place_of(&uses[used].at, nth, place);
                (found.at, format!("`{}` was not defined before by {names}", found.text))
            }
            (RuleKind::StateMachine(_), InputKind::New { key, step, value }) => {
                let mark = value ^ key.rotate_left(17) ^ (step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                if memory.named.insert(mark) {
                    self.kept += 1;
                    let kind = InputKind::Steps { key, steps: 1 << step };
                    self.judge(spec, RuleInput { kind, ..input }, place, out);
                }
                return;
            }
            (RuleKind::StateMachine(life), InputKind::Steps { key, steps }) => {
                let Some(state) = self.rejected_in(input.rule, life, key, steps, full) else { return };
                if out.counts(tally) {
                    return;
                }
                invalid_transition(life, state, steps, place)
            }
            (RuleKind::Same(pointers), InputKind::Same { pointer, nth, value }) => {
                if *memory.value.get_or_insert(value) == value || out.counts(tally) {
                    return;
                }
                let found = place_of(&pointers[pointer], nth, place);
                (found.at, format!("`{}` differs from the first value", found.text))
            }
            (RuleKind::Compare { .. }, InputKind::Total { side, sets, number }) => {
                let (number, total) = (f64::from_bits(number), &mut memory.totals[side]);
                *total = Some(if sets { number } else { total.unwrap_or(0.0) + number });
                return;
            }
            (RuleKind::Compare { left, relation, right }, InputKind::Compare { sides }) => {
                let Some(message) = compared(memory, [left, right], *relation, sides) else { return };
                if out.counts(tally) {
                    return;
                }
                let own = if left.total().is_some() { right } else { left };
                (own.pointer().to_owned(), message)
            }
            (RuleKind::SameKeys(pointer), InputKind::Keys { keys }) => {
                if *self.keys[input.rule].get_or_insert(keys) == keys || out.counts(tally) {
                    return;
                }
                let message = "the keys differ from those of the first record";
                (pointer.text.clone(), message.to_owned())
            }
            _ => return,
        };
        out.violations.push(spec.violation(rule, &pointer, message));
    }

    /// Takes the first of these steps that the state of the life of this key allows; returns the state if it allows none.
    fn rejected_in(
        &mut self,
        rule: usize,
        life: &StateMachine,
        key: u64,
        steps: u64,
        is_full: bool,
    ) -> Option<u8> {
        let lives = &mut self.memory[rule].lives;
        let known = lives.get(&key).copied();
        if known.is_none() && is_full {
            self.unjudged += 1;
            return None;
        }
        let state = known.map_or(0, |(state, _)| state);
        let allowed = |nth: &usize| steps >> nth & 1 == 1 && life.steps[*nth].from >> state & 1 == 1;
        let Some(step) = (0..life.steps.len()).find(allowed) else { return Some(state) };
        let to = u8::try_from(life.steps[step].to).unwrap_or(u8::MAX);
        self.kept += usize::from(lives.insert(key, (to, self.events)).is_none());
        None
    }

    /// Judges the end of the run and forgets it.
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

    /// Judges what a stream that was not cut off ends with.
    fn judge_end(&self, spec: &Spec, out: &mut Vec<Violation>) {
        if !spec.framing.has_events() {
            if self.events == 0 {
                let message = "expected a document, found none".to_owned();
                out.push(Violation::of_rule(Against::Schema, "document", "", message));
            }
            return;
        }
        if let Some(events) = &spec.events
            && let Some(expected) = &events.last
        {
            let name = self.last.map(|kind| &events.schemas[kind].0);
            if name.is_none_or(|name| !expected.contains(name)) {
                let found = name.map_or_else(|| "is empty".to_owned(), |name| format!("ends with `{name}`"));
                let message = format!("the stream {found}; expected {} at its end", expected.join(" or "));
                let at = &events.discriminator.text;
                let violation = Violation::of_rule(Against::Stream, "last-event", at, message);
                out.push(if self.events > 0 { violation.at(self.events, self.last_line) } else { violation });
            }
        }
        for (rule, memory) in spec.rules.iter().zip(&self.memory) {
            let RuleKind::StateMachine(StateMachine { end: Some(end), states, key, .. }) = &rule.kind else {
                continue;
            };
            let mut open: Vec<(u64, usize)> =
                memory.lives.values().map(|(state, event)| (*event, usize::from(*state))).collect();
            if key.is_empty() && open.is_empty() {
                open.push((self.events, 0));
            }
            open.retain(|(_, state)| !end.contains(state));
            open.sort_unstable();
            let names = alternatives(end.iter().map(|state| format!("`{}`", states[*state])).collect());
            for (event, state) in open {
                let message = format!("the stream ends in state `{}` instead of {names}", states[state]);
                let violation = spec.violation(rule, "", message);
                out.push(Violation { event: (event > 0).then_some(event), ..violation });
            }
        }
    }
}

/// How two numbers do not stand as they should; none where they do, or one of them is not there.
fn compared(memory: &Memory, terms: [&Term; 2], relation: Relation, own: [u64; 2]) -> Option<String> {
    let number = |side: usize| {
        let number = match terms[side].total() {
            // Of no events there is a sum, but no last one.
            Some(total) if !matches!(total.kind, TotalKind::Last(_)) => {
                Some(memory.totals[side].unwrap_or(0.0))
            }
            Some(_) => memory.totals[side],
            None => Some(f64::from_bits(own[side])),
        };
        number.and_then(whole_or_not)
    };
    let (left, right) = (number(0)?, number(1)?);
    let [one, other] = terms.map(Term::describe);
    let message = || format!("expected {one} {} {other}, found {left} and {right}", relation.name());
    (!relation.holds(&left, &right)).then(message)
}

/// A number, without a fraction where it has none.
fn whole_or_not(number: f64) -> Option<Number> {
    let digits = format!("{number}");
    digits.parse::<i64>().map(Number::from).ok().or_else(|| Number::from_f64(number))
}

/// The scalar at a pointer; where nothing more is known of the event, the pointer alone.
fn place_of(pointer: &Pointer, nth: usize, place: PlaceAt<'_>) -> Place {
    place(pointer, nth).unwrap_or_else(|| Place { at: pointer.text.clone(), ..Place::default() })
}

/// Where and how an event does not fit the state of its life.
fn invalid_transition(life: &StateMachine, state: u8, steps: u64, place: PlaceAt<'_>) -> (String, String) {
    let matched = (0..life.steps.len()).find(|nth| steps >> nth & 1 == 1).unwrap_or(0);
    let pattern = &life.steps[matched].pattern;
    let pointer = pattern.when.last().map(|(pointer, _)| pointer).or(life.steps[matched].new.as_ref());
    let here = pointer.or_else(|| life.key.last().and_then(|part| part.first()));
    let key: Vec<String> =
        life.key.iter().filter_map(|part| part.iter().find_map(|at| Some(place(at, 0)?.text))).collect();
    let of = if key.is_empty() { String::new() } else { format!(" of {}", key.join(", ")) };
    let next = life.steps.iter().filter(|step| step.from >> state & 1 == 1);
    let mut next: Vec<String> = next.map(|step| step.pattern.to_string()).collect();
    next.dedup();
    let expected = if next.is_empty() { "no further event".to_owned() } else { alternatives(next) };
    let state = &life.states[usize::from(state)];
    let message = format!("expected {expected} in state `{state}`{of}, found {pattern}");
    (here.map_or_else(String::new, |pointer| pointer.text.clone()), message)
}
