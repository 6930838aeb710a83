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
    /// ID of the rule, unique in the contract.
    pub id: String,
    /// Requirement of the rule, in one sentence.
    pub what: String,
    /// The events (or the document) that the rule applies to.
    pub filter: Pattern,
    pub kind: RuleKind,
    /// The ID of a known finding of the contract. A violation of the rule is then a warning, not an error.
    pub finding: Option<String>,
}

/// The requirement of a rule.
#[derive(Debug, Clone)]
pub(crate) enum RuleKind {
    /// Each value at a place in `uses` also occurs at a place in `defines`, in an earlier event or in the same one.
    Refer { defines: Vec<PatternValue>, uses: Vec<PatternValue> },
    /// For each key of a [`StateMachine`], the events follow its transitions.
    StateMachine(StateMachine),
    /// A relation holds between two numbers of an event, if the event has both.
    Compare { left: Term, relation: Relation, right: Term },
    /// All values at these pointers are the same throughout the stream.
    Same(Vec<Pointer>),
    /// The object at the pointer has the same keys in all documents or records.
    SameKeys(Pointer),
    /// Each scalar at the pointer is one of these values.
    OneOf { at: Pointer, values: Vec<Value> },
}

impl Rule {
    /// Returns a copy of the rule for the events of one type only; see [`Pattern::for_type`].
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

    /// Returns all pointers of the rule that are looked up in an event.
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
    /// Returns the left and the right side of a comparison if at least one of them is a [`Term::Total`].
    pub fn totals(&self) -> Option<[&Term; 2]> {
        let Self::Compare { left, right, .. } = self else { return None };
        left.total().or(right.total()).map(|_| [left, right])
    }
}

/// A state machine whose transitions are triggered by the events of a stream.
#[derive(Debug, Clone)]
pub(crate) struct StateMachine {
    /// The parts of the key, such as the ID of a call. Each key has its own machine; without parts, there is one
    /// machine per stream. A part is the scalar at the first of its pointers that matches.
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
    /// Bit set of the states in which the transition is possible, by index.
    pub from: u64,
    pub pattern: Pattern,
    /// If set, an event triggers the transition only if the value at this pointer has not triggered it before.
    pub unseen: Option<Pointer>,
    pub to: usize,
}

/// The values at a pointer, in events that match a pattern.
#[derive(Debug, Clone)]
pub(crate) struct PatternValue {
    pub pattern: Pattern,
    pub at: Pointer,
}

/// A filter that selects events by their type and by their values. A document has no type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pattern {
    /// The types of which an event has one; `None` for every event.
    pub(crate) on: Option<Vec<String>>,
    pub(crate) when: Vec<(Pointer, ValueTest)>,
}

/// A test of the values at a pointer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ValueTest {
    OneOf(Vec<Value>),
    /// `true` if a value has to be present, `false` if it has to be missing.
    Present(bool),
}

/// A side of a comparison: a number that is computed from an event.
#[derive(Debug, Clone)]
pub(crate) enum Term {
    At(Pointer),
    /// The number of elements of an array that pass all tests.
    Count {
        array: Pointer,
        when: Vec<(Pointer, ValueTest)>,
    },
    /// The quotient of two numbers; 0 if the divisor is 0.
    Ratio(Box<Term>, Box<Term>),
    /// The sum of two numbers.
    Add(Box<Term>, Box<Term>),
    /// A number that is computed from all events so far.
    Total(Total),
}

/// A number that is computed from all events so far that match a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Total {
    pub kind: TotalKind,
    pub pattern: Pattern,
}

/// How a [`Total`] is computed from the events.
#[derive(Debug, Clone)]
pub(crate) enum TotalKind {
    /// The sum of all numbers at the pointer.
    Sum(Pointer),
    /// The number at the pointer in the last event that has one.
    Last(Pointer),
    /// The number of events that match the pattern.
    Events,
}

impl Total {
    /// Returns the number that an event adds to the total; for [`TotalKind::Last`], the number that becomes the total.
    /// `None` if the event changes nothing.
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
                at.for_each_match(value, |_, found| sum += number(found).unwrap_or(0.0));
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
    /// Returns a copy of the pattern for the events of one type only. It does not test the type: if events of this type
    /// cannot match, it matches nothing. `None` stands for events of an unknown type and documents.
    pub(crate) fn for_type(&self, event_type: Option<&str>) -> Self {
        let on = if self.can_match(event_type) { None } else { Some(Vec::new()) };
        Self { on, when: self.when.clone() }
    }

    /// Returns all pointers of the pattern, which are looked up in an event.
    pub(crate) fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        self.when.iter_mut().map(|(pointer, _)| pointer).collect()
    }

    /// Returns whether an event matches the pattern. Only for a pattern that [`Pattern::for_type`] has returned for the
    /// type of this event.
    pub(crate) fn matches(&self, value: Located<'_>) -> bool {
        self.on.is_none() && passes_all_tests(&self.when, value)
    }

    /// Returns whether events of a type can match the pattern. `None` stands for events of an unknown type and
    /// documents.
    pub(crate) fn can_match(&self, event_type: Option<&str>) -> bool {
        self.on.as_ref().is_none_or(|types| types.iter().any(|name| Some(name.as_str()) == event_type))
    }
}

/// Formats the pattern for messages, such as `result with /ok true`.
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

/// Returns whether a value passes all tests, each on the values at a pointer.
fn passes_all_tests(when: &[(Pointer, ValueTest)], value: Located<'_>) -> bool {
    when.iter().all(|(pointer, test)| match test {
        ValueTest::Present(present) => pointer.any_match(value, |_, _| true) == *present,
        ValueTest::OneOf(values) => {
            pointer.any_match(value, |_, found| values.iter().any(|value| equals_scalar(found, value)))
        }
    })
}

/// Returns whether a value on a tape equals an expected scalar. Never true for an expected array or object.
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
    /// Computes the number from one event. `None` if a value is missing, and for a total.
    pub fn evaluate(&self, value: Located<'_>) -> Option<Number> {
        match self {
            Self::At(pointer) => match pointer.first_match(value)?.kind() {
                JsonKind::Number(number) => Some(number),
                _ => None,
            },
            Self::Count { array, when } => {
                let array = array.first_match(value).filter(|array| array.has_type(JsonType::Array))?;
                Some(
                    array
                        .elements()
                        .filter(|element| passes_all_tests(when, (*element).into()))
                        .count()
                        .into(),
                )
            }
            Self::Ratio(left, right) => {
                let (left, right) = (left.evaluate(value)?.as_f64()?, right.evaluate(value)?.as_f64()?);
                Number::from_f64(if right == 0.0 { 0.0 } else { left / right })
            }
            Self::Add(left, right) => add(&left.evaluate(value)?, &right.evaluate(value)?),
            Self::Total(_) => None,
        }
    }

    /// Returns a description for messages, such as `the length of /items`.
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

    /// Returns all pointers of the term that are looked up in an event; not those into counted elements.
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

    /// Returns the pointer that a violation by this term has; empty for a total.
    pub fn pointer(&self) -> &str {
        match self {
            Self::At(pointer) | Self::Count { array: pointer, .. } => &pointer.text,
            Self::Ratio(left, _) | Self::Add(left, _) => left.pointer(),
            Self::Total(_) => "",
        }
    }
}
