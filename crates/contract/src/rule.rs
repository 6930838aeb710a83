//! The rules of a contract that schemas cannot say: what they are, not how they are judged.

use super::pointer::{Located, Pointer};
use serde::{Serialize, Serializer};
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;
use strict_json::{JsonKind, JsonType, TapeNode};

/// A rule over one document, or over the events of a stream.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    /// Its name, unique in the contract.
    pub id: String,
    /// Its requirement, in a sentence.
    pub what: String,
    /// The events (or the document) that it is about.
    pub filter: Pattern,
    pub kind: RuleKind,
    /// The ID of the finding that a violation of it shows: a warning, not an error.
    pub finding: Option<String>,
}

/// What a rule demands.
#[derive(Debug, Clone)]
pub(crate) enum RuleKind {
    /// What `uses` name was named by `defines` before (or by the same event).
    Refer { defines: Vec<PatternValue>, uses: Vec<PatternValue> },
    /// For each key, the events go through states.
    StateMachine(StateMachine),
    /// Two values of an event stand in a relation, where both are there.
    Compare { left: Term, relation: Relation, right: Term },
    /// What these pointers name has one value over the whole stream.
    Same(Vec<Pointer>),
    /// The object there has the same keys in all documents or records.
    SameKeys(Pointer),
    /// Each scalar there is one of these values.
    OneOf { at: Pointer, values: Vec<Value> },
}

impl Rule {
    /// The rule for events of this type (as far as they have one) alone; see [`Pattern::for_type`].
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
            RuleKind::StateMachine(life) => {
                patterns.extend(life.steps.iter_mut().map(|step| &mut step.pattern));
            }
            RuleKind::Compare { left, right, .. } => {
                let totals = [left, right].into_iter().filter_map(Term::total_mut);
                patterns.extend(totals.map(|total| &mut total.pattern));
            }
            RuleKind::Same(_) | RuleKind::SameKeys(_) | RuleKind::OneOf { .. } => {}
        }
        patterns
    }

    /// All pointers into an event.
    pub fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        let mut pointers = self.filter.pointers_mut();
        match &mut self.kind {
            RuleKind::Refer { defines, uses } => {
                for place in defines.iter_mut().chain(uses) {
                    pointers.extend(place.pattern.pointers_mut());
                    pointers.push(&mut place.at);
                }
            }
            RuleKind::StateMachine(life) => {
                pointers.extend(life.key.iter_mut().flatten());
                for step in &mut life.steps {
                    pointers.extend(step.pattern.pointers_mut());
                    pointers.extend(&mut step.new);
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
    /// The sides of a comparison of which one comes of all events so far.
    pub fn totals(&self) -> Option<[&Term; 2]> {
        let Self::Compare { left, right, .. } = self else { return None };
        left.total().or(right.total()).map(|_| [left, right])
    }
}

/// A life cycle.
#[derive(Debug, Clone)]
pub(crate) struct StateMachine {
    /// What tells one life from another, all parts together; none for one life in a stream. The first
    /// pointer of a part that names something counts.
    pub key: Vec<Vec<Pointer>>,
    /// Names of the states; the first is that of a key not met before.
    pub states: Vec<String>,
    pub steps: Vec<Transition>,
    /// The states that the stream may end in (indices); none for any.
    pub end: Option<Vec<usize>>,
}

/// A step from states to a state, taken by events of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct Transition {
    /// Bit set of the states that it leads from.
    pub from: u64,
    pub pattern: Pattern,
    /// The event counts only if this value was not met at this step before.
    pub new: Option<Pointer>,
    pub to: usize,
}

/// A value in events of a pattern.
#[derive(Debug, Clone)]
pub(crate) struct PatternValue {
    pub pattern: Pattern,
    pub at: Pointer,
}

/// Which events: of these types, with these values. A document has no type.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pattern {
    /// Any of these types; none for every event.
    pub(crate) on: Option<Vec<String>>,
    pub(crate) when: Vec<(Pointer, Test)>,
}

/// What a value is to be.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Test {
    OneOf(Vec<Value>),
    /// There, whatever it is (or not there).
    Present(bool),
}

/// A number that an event has.
#[derive(Debug, Clone)]
pub(crate) enum Term {
    At(Pointer),
    /// The number of elements with these values.
    Count {
        of: Pointer,
        when: Vec<(Pointer, Test)>,
    },
    /// One number by another; 0 where that is 0.
    Ratio(Box<Term>, Box<Term>),
    /// The sum of two numbers.
    Add(Box<Term>, Box<Term>),
    /// A number that comes of all events so far.
    Total(Total),
}

/// A number that comes of all events of a pattern so far.
#[derive(Debug, Clone)]
pub(crate) struct Total {
    pub kind: TotalKind,
    pub pattern: Pattern,
}

/// How a number comes of events.
#[derive(Debug, Clone)]
pub(crate) enum TotalKind {
    /// The sum of the numbers here.
    Sum(Pointer),
    /// The last number here.
    Last(Pointer),
    /// How many events there are.
    Events,
}

impl Total {
    /// What an event adds, or sets where only the last number counts; none if it does neither.
    pub fn part(&self, value: Located<'_>) -> Option<f64> {
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
            TotalKind::Last(at) => at.of(value).and_then(number),
            TotalKind::Events => Some(1.0),
        }
    }

    fn describe(&self) -> String {
        let of = &self.pattern;
        match &self.kind {
            TotalKind::Sum(at) => format!("the sum of {} of all {of}", at.text),
            TotalKind::Last(at) => format!("the last {} of {of}", at.text),
            TotalKind::Events => format!("the number of {of}"),
        }
    }
}

/// How two numbers are to stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    AtMost,
    Below,
}

impl Relation {
    pub const NAMES: [(&'static str, Self); 3] =
        [("=", Self::Equal), ("<=", Self::AtMost), ("<", Self::Below)];

    pub fn name(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::AtMost => "<=",
            Self::Below => "<",
        }
    }

    pub fn holds(self, left: &Number, right: &Number) -> bool {
        let order = compare(left, right);
        match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::AtMost => order.is_some_and(Ordering::is_le),
            Self::Below => order == Some(Ordering::Less),
        }
    }
}

/// Integers are compared as such; other numbers as binary64, where a part in 10^9 is no difference.
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

/// The sum of two numbers, exact for integers.
fn add(left: &Number, right: &Number) -> Option<Number> {
    if let (Some(left), Some(right)) = (left.as_i128(), right.as_i128())
        && let Some(sum) = left.checked_add(right).and_then(Number::from_i128)
    {
        return Some(sum);
    }
    Number::from_f64(left.as_f64()? + right.as_f64()?)
}

impl Pattern {
    /// The pattern for events of this type (as far as they have one) alone: it names no type, or it matches nothing.
    pub(crate) fn for_type(&self, event_type: Option<&str>) -> Self {
        let on = if self.concerns(event_type) { None } else { Some(Vec::new()) };
        Self { on, when: self.when.clone() }
    }

    /// All pointers into an event.
    pub(crate) fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        self.when.iter_mut().map(|(pointer, _)| pointer).collect()
    }

    /// Whether an event matches that the pattern is for.
    pub(crate) fn matches(&self, value: Located<'_>) -> bool {
        self.on.is_none() && fits(&self.when, value)
    }

    /// Whether events of this type can match.
    pub(crate) fn concerns(&self, event_type: Option<&str>) -> bool {
        self.on.as_ref().is_none_or(|types| types.iter().any(|name| Some(name.as_str()) == event_type))
    }
}

/// The words that messages use for it.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = self.on.as_ref().map(|types| types.join(" or "));
        let tests = self.when.iter().map(|(pointer, test)| match test {
            Test::Present(true) => format!("{} there", pointer.text),
            Test::Present(false) => format!("no {}", pointer.text),
            Test::OneOf(values) => {
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

/// Whether a value has all these values in it.
fn fits(when: &[(Pointer, Test)], value: Located<'_>) -> bool {
    when.iter().all(|(pointer, test)| match test {
        Test::Present(present) => pointer.any(value, |_, _| true) == *present,
        Test::OneOf(values) => pointer.any(value, |_, found| values.iter().any(|value| is(found, value))),
    })
}

/// Whether a scalar is this value.
pub(crate) fn is(found: TapeNode<'_>, expected: &Value) -> bool {
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
    /// The number; none where it, or what it is made of, is not there.
    pub fn of(&self, value: Located<'_>) -> Option<Number> {
        match self {
            Self::At(pointer) => match pointer.of(value)?.kind() {
                JsonKind::Number(number) => Some(number),
                _ => None,
            },
            Self::Count { of, when } => {
                let array = of.of(value).filter(|array| array.is(JsonType::Array))?;
                Some(array.items().filter(|element| fits(when, (*element).into())).count().into())
            }
            Self::Ratio(left, right) => {
                let (left, right) = (left.of(value)?.as_f64()?, right.of(value)?.as_f64()?);
                Number::from_f64(if right == 0.0 { 0.0 } else { left / right })
            }
            Self::Add(left, right) => add(&left.of(value)?, &right.of(value)?),
            Self::Total(_) => None,
        }
    }

    /// The words that messages use for it.
    pub fn describe(&self) -> String {
        match self {
            Self::At(pointer) => pointer.text.clone(),
            Self::Count { of, when } if when.is_empty() => format!("the length of {}", of.text),
            Self::Count { of, when } => {
                let tests = Pattern { on: None, when: when.clone() };
                format!("the number of elements of {} with {tests}", of.text)
            }
            Self::Ratio(left, right) => format!("{} / {}", left.describe(), right.describe()),
            Self::Add(left, right) => format!("{} + {}", left.describe(), right.describe()),
            Self::Total(total) => total.describe(),
        }
    }

    /// What it comes of, if that is all events so far.
    pub fn total(&self) -> Option<&Total> {
        if let Self::Total(total) = self { Some(total) } else { None }
    }

    /// All pointers into an event; not those into elements that are counted.
    fn pointers_mut(&mut self) -> Vec<&mut Pointer> {
        match self {
            Self::At(pointer) | Self::Count { of: pointer, .. } => vec![pointer],
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

    /// The pointer that a violation names.
    pub fn pointer(&self) -> &str {
        match self {
            Self::At(pointer) | Self::Count { of: pointer, .. } => &pointer.text,
            Self::Ratio(left, _) | Self::Add(left, _) => left.pointer(),
            Self::Total(_) => "",
        }
    }
}
