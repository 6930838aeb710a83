//! The rules of a contract that schemas cannot express. The modules `rule_index` and `stream_state` judge them.

use super::pointer::{Located, Pointer};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;
use strict_json::{JsonKind, JsonType, TapeNode};

/// A rule over one document, or over the events of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Its ID, unique in the contract.
    pub id: String,
    /// Its requirement, in a sentence.
    pub what: String,
    /// The events (or the document) that it applies to.
    pub filter: Pattern,
    pub kind: RuleKind,
    /// The ID of a known finding: a violation is then a warning, not an error.
    pub finding: Option<String>,
}

/// The requirement of a rule.
#[derive(Debug, Clone)]
pub(crate) enum RuleKind {
    /// Each value at `uses` is defined by `defines` in an earlier event or in the same one.
    Refer { defines: Vec<PatternValue>, uses: Vec<PatternValue> },
    /// For each key, the events follow the transitions of a state machine.
    StateMachine(StateMachine),
    /// A relation holds between two numbers of an event, if both are present.
    Compare { left: Term, relation: Relation, right: Term },
    /// All values at these pointers are the same throughout the stream.
    Same(Vec<Pointer>),
    /// The object at the pointer has the same keys in all documents or records.
    SameKeys(Pointer),
    /// Each scalar at the pointer is one of these values.
    OneOf { at: Pointer, values: Vec<Value> },
}

impl Rule {
    /// Returns the rule restricted to events of a type; see [`Pattern::for_type`].
    pub fn for_type(&self, event_type: Option<&str>) -> Self {
        let mut rule = self.clone();
        for pattern in rule.patterns_mut() {
            *pattern = pattern.for_type(event_type);
        }
        rule
    }

    fn patterns_mut(&mut self) -> Vec<&mut Pattern> {
        let mut patterns = vec![&mut self.filter];
        match &mut self.kind {
            RuleKind::Refer { defines, uses } => {
                patterns.extend(defines.iter_mut().chain(uses).map(|place| &mut place.pattern));
            }
            RuleKind::StateMachine(machine) => {
                patterns.extend(machine.transitions.iter_mut().map(|transition| &mut transition.pattern));
            }
            RuleKind::Compare { left, right, .. } => {
                let totals = [left, right].into_iter().filter_map(Term::total_mut);
                patterns.extend(totals.map(|total| &mut total.pattern));
            }
            RuleKind::Same(_) | RuleKind::SameKeys(_) | RuleKind::OneOf { .. } => {}
        }
        patterns
    }

    /// Returns all pointers into an event.
    pub fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        let mut pointers = self.filter.pointers_mut();
        match &mut self.kind {
            RuleKind::Refer { defines, uses } => {
                for place in defines.iter_mut().chain(uses) {
                    pointers.extend(place.pattern.pointers_mut());
                    pointers.push(&mut place.at);
                }
            }
            RuleKind::StateMachine(machine) => {
                pointers.extend(machine.key.iter_mut().flatten());
                for transition in &mut machine.transitions {
                    pointers.extend(transition.pattern.pointers_mut());
                    pointers.extend(&mut transition.unseen);
                }
            }
            RuleKind::Compare { left, right, .. } => {
                pointers.extend([left, right].into_iter().flat_map(Term::pointers_mut));
            }
            RuleKind::Same(all) => pointers.extend(all),
            RuleKind::SameKeys(pointer) | RuleKind::OneOf { at: pointer, .. } => pointers.push(pointer),
        }
        pointers
    }
}

impl RuleKind {
    /// Returns the sides of a comparison if at least one is a [`Term::Total`].
    pub fn totals(&self) -> Option<[&Term; 2]> {
        let Self::Compare { left, right, .. } = self else { return None };
        left.total().or(right.total()).map(|_| [left, right])
    }
}

/// A state machine that the events of a stream drive.
#[derive(Debug, Clone)]
pub(crate) struct StateMachine {
    /// The parts of the key; each key has its own machine. Empty for one machine per stream. Each part is the scalar at
    /// the first of its pointers that matches.
    pub key: Vec<Vec<Pointer>>,
    /// Names of the states; the first is the initial state.
    pub states: Vec<String>,
    pub transitions: Vec<Transition>,
    /// Indices of the states that a stream may end in; `None` for any.
    pub end: Option<Vec<usize>>,
}

/// A transition between states, triggered by events that match a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Transition {
    /// Bit set of the source states.
    pub from: u64,
    pub pattern: Pattern,
    /// If set, an event triggers it only if the value here did not trigger it before.
    pub unseen: Option<Pointer>,
    pub to: usize,
}

/// A value in events that match a pattern.
#[derive(Debug, Clone)]
pub(crate) struct PatternValue {
    pub pattern: Pattern,
    pub at: Pointer,
}

/// A filter on events by type and by values. A document has no type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pattern {
    /// Any of these types; `None` for every event.
    pub(crate) on: Option<Vec<String>>,
    pub(crate) when: Vec<(Pointer, ValueTest)>,
}

/// A test of the values at a pointer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueTest {
    OneOf(Vec<Value>),
    /// Whether a value is present.
    Present(bool),
}

/// A number that is computed from an event.
#[derive(Debug, Clone)]
pub(crate) enum Term {
    At(Pointer),
    /// The number of elements of an array that pass the tests.
    Count {
        array: Pointer,
        when: Vec<(Pointer, ValueTest)>,
    },
    /// The quotient of two numbers; 0 if the divisor is 0.
    Ratio(Box<Term>, Box<Term>),
    /// The sum of two numbers.
    Add(Box<Term>, Box<Term>),
    /// A total over all events so far.
    Total(Total),
}

/// A total over all events so far that match a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Total {
    pub kind: TotalKind,
    pub pattern: Pattern,
}

/// The kind of a total.
#[derive(Debug, Clone)]
pub(crate) enum TotalKind {
    /// The sum of the numbers at the pointer.
    Sum(Pointer),
    /// The last number at the pointer.
    Last(Pointer),
    /// The number of events.
    Events,
}

impl Total {
    /// Returns the number that an event adds, or sets for [`TotalKind::Last`]; `None` if it changes nothing.
    pub fn contribution(&self, value: Located<'_>) -> Option<f64> {
        let number = |found: TapeNode<'_>| match found.kind() {
            JsonKind::Number(number) => number.as_f64(),
            _ => None,
        };
        if !self.pattern.matches(value) {
            return None;
        }
        match &self.kind {
            TotalKind::Sum(at) => {
                let mut sum = 0.0;
                at.each(value, |_, found| sum += number(found).unwrap_or(0.0));
                Some(sum)
            }
            TotalKind::Last(at) => at.first_match(value).and_then(number),
            TotalKind::Events => Some(1.0),
        }
    }

    fn describe(&self) -> String {
        let pattern = &self.pattern;
        match &self.kind {
            TotalKind::Sum(at) => format!("the sum of {} of all {pattern}", at.text),
            TotalKind::Last(at) => format!("the last {} of {pattern}", at.text),
            TotalKind::Events => format!("the number of {pattern}"),
        }
    }
}

/// A relation between two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    LessOrEqual,
    Less,
}

impl Relation {
    pub const NAMES: [(&'static str, Self); 3] =
        [("=", Self::Equal), ("<=", Self::LessOrEqual), ("<", Self::Less)];

    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::LessOrEqual => "<=",
            Self::Less => "<",
        }
    }

    pub fn holds(self, left: &Number, right: &Number) -> bool {
        let order = compare(left, right);
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::LessOrEqual => order.is_some_and(Ordering::is_le),
            Self::Less => order == Some(Ordering::Less),
        }
    }
}

/// Compares two numbers: integers exactly, others as binary64 with a relative tolerance of 10^-9.
fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128()) {
        return Some(left.cmp(&right));
    }
    let (left, right) = (left.as_f64()?, right.as_f64()?);
    if (left - right).abs() <= left.abs().max(right.abs()) * 1e-9 {
        return Some(Ordering::Equal);
    }
    left.partial_cmp(&right)
}

/// Adds two numbers, exactly for integers.
fn add(left: &Number, right: &Number) -> Option<Number> {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128())
        && let Some(sum) = left.checked_add(right).and_then(Number::from_i128)
    {
        return Some(sum);
    }
    Number::from_f64(left.as_f64()? + right.as_f64()?)
}

impl Pattern {
    /// Returns the pattern restricted to events of a type: one without types, or one that matches nothing.
    pub(crate) fn for_type(&self, event_type: Option<&str>) -> Self {
        let on = if self.can_match(event_type) { None } else { Some(Vec::new()) };
        Self { on, when: self.when.clone() }
    }

    /// Returns all pointers into an event.
    pub(crate) fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        self.when.iter_mut().map(|(pointer, _)| pointer).collect()
    }

    /// Returns whether an event matches; only for the result of [`Pattern::for_type`].
    pub(crate) fn matches(&self, value: Located<'_>) -> bool {
        self.on.is_none() && passes(&self.when, value)
    }

    /// Returns whether events of a type can match.
    pub(crate) fn can_match(&self, event_type: Option<&str>) -> bool {
        self.on.as_ref().is_none_or(|types| types.iter().any(|name| Some(name.as_str()) == event_type))
    }
}

/// The description in messages.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = self.on.as_ref().map(|types| types.join(" or "));
        let tests = self.when.iter().map(|(pointer, test)| match test {
            ValueTest::Present(true) => format!("{} there", pointer.text),
            ValueTest::Present(false) => format!("no {}", pointer.text),
            ValueTest::OneOf(values) => {
                let values: Vec<String> = values.iter().map(ToString::to_string).collect();
                format!("{} {}", pointer.text, values.join(" or "))
            }
        });
        let tests = tests.collect::<Vec<_>>().join(", ");
        match (types, tests.is_empty()) {
            (Some(types), true) => f.write_str(&types),
            (Some(types), false) => write!(f, "{types} with {tests}"),
            (None, true) => f.write_str("anything"),
            (None, false) => f.write_str(&tests),
        }
    }
}

impl Serialize for Pattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Returns whether a value passes all tests.
fn passes(when: &[(Pointer, ValueTest)], value: Located<'_>) -> bool {
    when.iter().all(|(pointer, test)| match test {
        ValueTest::Present(present) => pointer.any(value, |_, _| true) == *present,
        ValueTest::OneOf(values) => {
            pointer.any(value, |_, found| values.iter().any(|value| equals_scalar(found, value)))
        }
    })
}

/// Returns whether a value equals a scalar.
pub(crate) fn equals_scalar(found: TapeNode<'_>, expected: &Value) -> bool {
    found.json_type() == JsonType::from(expected)
        && match expected {
            Value::String(expected) => found.text() == expected,
            Value::Bool(expected) => found.as_bool() == Some(*expected),
            Value::Number(expected) => compare(&found.number(), expected) == Some(Ordering::Equal),
            Value::Null => true,
            Value::Array(_) | Value::Object(_) => false,
        }
}

impl Term {
    /// Computes the number from an event; `None` if a value is missing, and for a total.
    pub fn evaluate(&self, value: Located<'_>) -> Option<Number> {
        match self {
            Self::At(pointer) => match pointer.first_match(value)?.kind() {
                JsonKind::Number(number) => Some(number),
                _ => None,
            },
            Self::Count { array, when } => {
                let array = array.first_match(value).filter(|array| array.has_type(JsonType::Array))?;
                Some(array.elements().filter(|element| passes(when, (*element).into())).count().into())
            }
            Self::Ratio(left, right) => {
                let (left, right) = (left.evaluate(value)?.as_f64()?, right.evaluate(value)?.as_f64()?);
                Number::from_f64(if right == 0.0 { 0.0 } else { left / right })
            }
            Self::Add(left, right) => add(&left.evaluate(value)?, &right.evaluate(value)?),
            Self::Total(_) => None,
        }
    }

    /// Returns the description in messages.
    pub fn describe(&self) -> String {
        match self {
            Self::At(pointer) => pointer.text.clone(),
            Self::Count { array, when } if when.is_empty() => format!("the length of {}", array.text),
            Self::Count { array, when } => {
                let tests = Pattern { on: None, when: when.clone() };
                format!("the number of elements of {} with {tests}", array.text)
            }
            Self::Ratio(left, right) => format!("{} / {}", left.describe(), right.describe()),
            Self::Add(left, right) => format!("{} + {}", left.describe(), right.describe()),
            Self::Total(total) => total.describe(),
        }
    }

    pub fn total(&self) -> Option<&Total> {
        if let Self::Total(total) = self { Some(total) } else { None }
    }

    /// Returns all pointers into an event, except pointers into counted elements.
    fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        match self {
            Self::At(pointer) | Self::Count { array: pointer, .. } => vec![pointer],
            Self::Ratio(left, right) | Self::Add(left, right) => {
                [left, right].into_iter().flat_map(|term| term.pointers_mut()).collect()
            }
            Self::Total(Total { kind, pattern }) => {
                let mut pointers = pattern.pointers_mut();
                match kind {
                    TotalKind::Sum(pointer) | TotalKind::Last(pointer) => pointers.push(pointer),
                    TotalKind::Events => {}
                }
                pointers
            }
        }
    }

    fn total_mut(&mut self) -> Option<&mut Total> {
        if let Self::Total(total) = self { Some(total) } else { None }
    }

    /// Returns the pointer for violations.
    pub fn pointer(&self) -> &str {
        match self {
            Self::At(pointer) | Self::Count { array: pointer, .. } => &pointer.text,
            Self::Ratio(left, _) | Self::Add(left, _) => left.pointer(),
            Self::Total(_) => "",
        }
    }
}
