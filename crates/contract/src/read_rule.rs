//! Reads a `[[rule]]` and its parts.

use super::pointer::Pointer;
use super::read_values::non_empty_string;
use super::rule::{
    Pattern, PatternValue, Relation, Rule, RuleKind, StateMachine, Term, Total, TotalKind, Transition,
    ValueTest,
};
use super::spec::{EventTypes, Framing};
use crate::spanned_toml::{Table, Value, collect_all, name_hint};
use serde_json::Value as Json;
use toml::de::DeValue;

/// Maximum number of states of a state machine, of its transitions, and of patterns in all conditions: each of them is
/// a bit of a `u64`.
pub(super) const MAX_BITS: usize = 64;

/// Keys of a `[[rule]]` of which it has exactly one. This key determines the kind of the rule.
const KINDS: [&str; 6] = ["uses", "steps", "compare", "same", "same_keys", "one_of"];

/// The event types that a contract defines; `None` if it describes documents, which have no types.
pub(super) struct KnownTypes(Option<Vec<String>>);

impl KnownTypes {
    pub fn new(framing: Framing, events: Option<&EventTypes>) -> Self {
        let names = |events: &EventTypes| events.schemas.iter().map(|(name, _)| name.clone()).collect();
        Self(framing.has_events().then(|| events.map(names).unwrap_or_default()))
    }

    pub fn from_names(names: Vec<String>) -> Self {
        Self(Some(names))
    }

    /// Reads one event type or an array of event types; reports types that the contract does not define.
    pub fn read(&self, value: &Value<'_>) -> Option<Vec<String>> {
        let Some(known) = &self.0 else {
            return value.report("a document has no events; use `when` instead");
        };
        let names = one_or_more(value, "event types")?.into_iter().map(|element| {
            let name = element.string("an event type (a string)")?.text;
            if known.contains(&name) {
                return Some(name);
            }
            let near = name_hint(&name, known.iter().map(String::as_str));
            element.report(&format!("unknown event type `{name}`: it is not in [events.schemas]; {near}"))
        });
        collect_all(names)
    }
}

pub(super) fn read(table: &Table<'_>, types: &KnownTypes) -> Option<Rule> {
    let id = table.require("id", "a word").and_then(|value| non_empty_string(&value));
    let what = table.require("what", "a sentence").and_then(|value| non_empty_string(&value));
    let filter = pattern(table, types);
    let mut kinds = KINDS.into_iter().filter_map(|key| Some((key, table.get(key)?)));
    let (Some((key, value)), second) = (kinds.next(), kinds.next()) else {
        let all = KINDS.map(|key| format!("`{key}`")).join(", ");
        table.diagnostics.add(&table.span, format!("[[rule]] has no requirement; expected one of {all}"));
        return None;
    };
    if let Some((other, value)) = second {
        value.report::<()>(&format!("[[rule]] has `{key}` and `{other}`; expected one of the two"));
    }
    let kind_keys: &[&str] = match key {
        "uses" => &["defines"],
        "steps" => &["key", "start", "end"],
        "one_of" => &["at"],
        _ => &[],
    };
    table.report_unknown_keys(&[&["id", "what", "on", "when", "finding", key], kind_keys].concat());
    let kind = match key {
        "uses" => references(table, &value, types),
        "steps" => state_machine(table, &value, types).map(RuleKind::StateMachine),
        "compare" => compare(&value, types),
        "same" => collect_all(one_or_more(&value, "JSON pointers")?.iter().map(wildcard_pointer))
            .map(RuleKind::Same),
        "same_keys" => pointer(&value).map(RuleKind::SameKeys),
        _ => one_of(table, &value),
    };
    let finding = table.get("finding").and_then(|value| non_empty_string(&value));
    Some(Rule { id: id?, what: what?, filter, kind: kind?, finding })
}

fn one_of(table: &Table<'_>, values: &Value<'_>) -> Option<RuleKind> {
    let at = table.require("at", "the JSON pointer of the value").and_then(|value| wildcard_pointer(&value));
    let values = scalars(values);
    Some(RuleKind::OneOf { at: at?, values: values? })
}

fn references(table: &Table<'_>, uses: &Value<'_>, types: &KnownTypes) -> Option<RuleKind> {
    let defines = table.require("defines", "the places that define the values");
    let defines = defines.and_then(|value| pattern_values(&value, types));
    Some(RuleKind::Refer { uses: pattern_values(uses, types)?, defines: defines? })
}

/// Reads an array of places: `[{ on = …, when = …, at = "/pointer" }]`.
fn pattern_values(value: &Value<'_>, types: &KnownTypes) -> Option<Vec<PatternValue>> {
    let values = one_or_more(value, "places: { on = …, at = \"/pointer\" }")?.into_iter().map(|element| {
        let table = element.table("the place", "a table: { on = …, at = \"/pointer\" }")?;
        table.report_unknown_keys(&["on", "when", "at"]);
        let at = table.require("at", "a pointer").and_then(|value| wildcard_pointer(&value));
        Some(PatternValue { pattern: pattern(&table, types), at: at? })
    });
    collect_all(values)
}

fn state_machine(table: &Table<'_>, steps: &Value<'_>, types: &KnownTypes) -> Option<StateMachine> {
    let start = table.require("start", "the initial state");
    let start = start.and_then(|value| non_empty_string(&value))?;
    let key = table.get("key").map_or(Some(Vec::new()), |value| {
        collect_all(one_or_more(&value, "JSON pointers")?.iter().map(pointers))
    });
    let mut states = vec![start];
    let elements = one_or_more(steps, "steps: { from = …, on = …, to = … }")?;
    let transitions: Vec<_> =
        elements.iter().map(|element| transition(element, &mut states, types)).collect();
    if states.len() > MAX_BITS || elements.len() > MAX_BITS {
        return steps.report(&format!("more than {MAX_BITS} steps or states; the maximum is {MAX_BITS}"));
    }
    let transitions: Vec<Transition> = transitions.into_iter().collect::<Option<Vec<_>>>()?;
    let end = table.get("end").map(|value| {
        let names = one_or_more(&value, "state names")?.into_iter().map(|element| {
            let name = element.string("a state name")?.text;
            states.iter().position(|state| *state == name).or_else(|| {
                let near = name_hint(&name, states.iter().map(String::as_str));
                element.report(&format!("unknown state `{name}`; {near}"))
            })
        });
        collect_all(names)
    });
    let is_reachable = |index: usize| index == 0 || transitions.iter().any(|next| next.to == index);
    if let Some(unreachable) = (0..states.len()).find(|index| !is_reachable(*index)) {
        let state = &states[unreachable];
        table.diagnostics.add(
            &table.span,
            format!("no step leads to state `{state}`; add one, or use a state that can be reached"),
        );
    }
    Some(StateMachine { key: key?, states, transitions, end: end.map_or(Some(None), |end| end.map(Some))? })
}

fn transition(element: &Value<'_>, states: &mut Vec<String>, types: &KnownTypes) -> Option<Transition> {
    let table = element.table("the step", "a table: { from = …, on = …, to = … }")?;
    table.report_unknown_keys(&["from", "on", "when", "new", "to"]);
    let mut state = |value: &Value<'_>| {
        let name = non_empty_string(value)?;
        let known = states.iter().position(|state| *state == name);
        Some(known.unwrap_or_else(|| {
            states.push(name);
            states.len() - 1
        }))
    };
    let mut from = 0_u64;
    for value in one_or_more(&table.require("from", "the states before the step")?, "state names")? {
        from |= 1_u64.checked_shl(u32::try_from(state(&value)?).ok()?).unwrap_or(0);
    }
    let to = state(&table.require("to", "the state after the step")?)?;
    let unseen = table.get("new").map_or(Some(None), |value| pointer(&value).map(Some))?;
    Some(Transition { from, pattern: pattern(&table, types), unseen, to })
}

/// Reads a comparison, such as `["/a", "<=", "/b"]`.
fn compare(value: &Value<'_>, types: &KnownTypes) -> Option<RuleKind> {
    const EXPECTED: &str = "two terms with a relation between them, such as [\"/start\", \"<=\", \"/end\"]";
    let elements = value.elements(EXPECTED)?;
    let [left, relation, right] = elements.as_slice() else {
        return value.report(&format!("expected {EXPECTED}"));
    };
    let relation = relation.choice(&Relation::NAMES);
    let (left, right) = (term(left, types), term(right, types));
    Some(RuleKind::Compare { left: left?, relation: relation?, right: right? })
}

/// Reads a term of a comparison: a pointer, such as `"/a"`, or a table, such as `{ count = "/a" }`. A total (`sum`,
/// `last` or `events`) cannot be part of another term.
fn term(value: &Value<'_>, types: &KnownTypes) -> Option<Term> {
    if value.inner.is_str() {
        return pointer(value).map(Term::At);
    }
    let expected = "a pointer, { count = \"/pointer\", when = … }, { ratio = [\"/a\", \"/b\"] } (or `add`), or \
                    { sum = \"/pointer\", on = … } (or `last`, or `events`)";
    let table = value.table("the term", expected)?;
    if let Some(key) = ["sum", "last"].into_iter().find(|key| table.get(key).is_some()) {
        table.report_unknown_keys(&[key, "on", "when"]);
        let value = table.get(key)?;
        let kind = match key {
            "sum" => TotalKind::Sum(wildcard_pointer(&value)?),
            _ => TotalKind::Last(pointer(&value)?),
        };
        return Some(Term::Total(Total { kind, pattern: pattern(&table, types) }));
    }
    if let Some(on) = table.get("events") {
        table.report_unknown_keys(&["events", "when"]);
        let pattern = Pattern { on: Some(types.read(&on)?), when: value_tests(&table) };
        return Some(Term::Total(Total { kind: TotalKind::Events, pattern }));
    }
    for (key, what, make) in
        [("ratio", "a ratio", Term::Ratio as fn(_, _) -> _), ("add", "an addition", Term::Add)]
    {
        let Some(value) = table.get(key) else { continue };
        table.report_unknown_keys(&[key]);
        let elements = value.elements("two terms")?;
        let [left, right] = elements.as_slice() else { return value.report("expected two terms") };
        let (left, right) = (term(left, types)?, term(right, types)?);
        if left.total().or(right.total()).is_some() {
            return value.report(&format!("{what} has no `sum`, `last` or `events`"));
        }
        return Some(make(Box::new(left), Box::new(right)));
    }
    table.report_unknown_keys(&["count", "when"]);
    let array = pointer(&table.require("count", "the JSON pointer of an array")?)?;
    Some(Term::Count { array, when: value_tests(&table) })
}

/// Reads the keys `on` and `when` of a table as a pattern.
pub(super) fn pattern(table: &Table<'_>, types: &KnownTypes) -> Pattern {
    Pattern { on: table.get("on").and_then(|value| types.read(&value)), when: value_tests(table) }
}

pub(super) fn patterns(value: &Value<'_>, types: &KnownTypes) -> Option<Vec<Pattern>> {
    let elements = one_or_more(value, "patterns: { on = …, when = … }")?;
    collect_all(elements.iter().map(|element| inline_pattern(element, types)))
}

/// Reads a pattern: `{ on = …, when = … }`.
fn inline_pattern(value: &Value<'_>, types: &KnownTypes) -> Option<Pattern> {
    let table = value.table("the pattern", "a table: { on = …, when = … }")?;
    table.report_unknown_keys(&["on", "when"]);
    Some(pattern(&table, types))
}

/// Reads the key `when` of a table: `when = { "/pointer" = value }`. A value is a scalar, an array of scalars, or
/// `{ present = true }`.
fn value_tests(table: &Table<'_>) -> Vec<(Pointer, ValueTest)> {
    let expected = "a table that maps JSON pointers to values, such as { \"/ok\" = true }";
    let Some(when) = table.get("when").and_then(|value| value.table("`when`", expected)) else {
        return Vec::new();
    };
    let keys = when.entries.keys().filter_map(|key| {
        let text: &str = key.get_ref();
        let pointer = parse_pointer(text).map_err(|fault| when.diagnostics.add(&key.span(), fault)).ok()?;
        Some((pointer, value_test(&when.get(text)?)?))
    });
    keys.collect()
}

fn value_test(value: &Value<'_>) -> Option<ValueTest> {
    if value.inner.is_table() {
        let table = value.table("the test", "a table")?;
        table.report_unknown_keys(&["present"]);
        return table.require("present", "`true` or `false`")?.boolean().map(ValueTest::Present);
    }
    scalars(value).map(ValueTest::OneOf)
}

/// Reads a scalar or an array of scalars.
fn scalars(value: &Value<'_>) -> Option<Vec<Json>> {
    let elements = one_or_more(value, "values")?;
    let values = elements.iter().map(|element| match element.inner {
        DeValue::String(text) => Some(Json::from(&**text)),
        DeValue::Boolean(value) => Some(Json::from(*value)),
        DeValue::Integer(integer) => {
            i64::from_str_radix(integer.as_str(), integer.radix()).ok().map(Json::from)
        }
        _ => element.report_type("a string, an integer, `true` or `false`"),
    });
    collect_all(values)
}

/// Reads a pointer without `*`; reports any other value.
pub(super) fn pointer(value: &Value<'_>) -> Option<Pointer> {
    let pointer = wildcard_pointer(value)?;
    if !pointer.is_single() {
        let message =
            "refers to several values, expected one; use `*` only in `when`, `at`, `same` and `sum`";
        return value.report(&format!("{:?} {message}", pointer.text));
    }
    Some(pointer)
}

/// Reads a pointer that may contain `*`; reports any other value.
fn wildcard_pointer(value: &Value<'_>) -> Option<Pointer> {
    let text = value.string("a JSON pointer, such as \"/ok\"")?.text;
    parse_pointer(&text).or_else(|fault| value.report(&fault).ok_or(())).ok()
}

/// Parses a pointer; the error is a message for the user.
fn parse_pointer(text: &str) -> Result<Pointer, String> {
    let message = "is not a JSON pointer; expected one such as \"/ok\" (\"\" is the complete document)";
    Pointer::parse(text).ok_or_else(|| format!("{text:?} {message}"))
}

/// Reads one or more pointers without `*`.
fn pointers(value: &Value<'_>) -> Option<Vec<Pointer>> {
    collect_all(one_or_more(value, "JSON pointers")?.iter().map(pointer))
}

/// Returns the elements of an array, and reports an empty array. Any other value counts as an array of one element.
/// `what` names the elements in messages.
pub(super) fn one_or_more<'a>(value: &Value<'a>, what: &str) -> Option<Vec<Value<'a>>> {
    if !value.inner.is_array() {
        return Some(vec![value.clone()]);
    }
    let elements = value.elements(what)?;
    if elements.is_empty() {
        value.report(&format!("the array is empty; expected {what}"))
    } else {
        Some(elements)
    }
}
