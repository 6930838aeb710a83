//! Numbers, strings, booleans: listed values, bounds, lengths, patterns, formats.

use super::change::{Change, is_harmless, severity};
use super::pattern::{self, Covers};
use super::predicates::{INWARD, contains, distinct, divides, is_as_strict, is_within};
use super::typed_schema::{Bound, TypedSchema};
use super::validator;
use super::walk::{Walker, any_schema, excerpt, full_schema, type_names, unknown_conditions};
use serde_json::{Value, json};
use strict_json::JsonType;

/// Each format with those that are part of it.
const SUBFORMATS: &[(&str, &[&str])] = &[
    ("uri-reference", &["uri"]),
    ("iri-reference", &["uri", "iri", "uri-reference"]),
    ("iri", &["uri"]),
    ("idn-email", &["email"]),
    ("idn-hostname", &["hostname"]),
];

impl<'a> Walker<'a> {
    /// Compares alternatives of one type that is no array and no object.
    pub(super) fn scalars(&self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let mut out = Vec::new();
        let (before, after) = (listed_values(old), listed_values(new));
        let open = |alts: &[TypedSchema<'a>]| -> Vec<TypedSchema<'a>> {
            alts.iter().filter(|alt| alt.values.is_none()).cloned().collect()
        };
        let (old_open, new_open) = (open(old), open(new));
        // Whether an alternative takes a value; none where that cannot be told.
        let takes = |alt: &TypedSchema<'a>, value: &Value| match &alt.values {
            Some(values) if !contains(values, value) => Some(false),
            None if !is_within(alt, value) => Some(false),
            _ if alt.conditions.iter().any(|condition| condition.opaque) => None,
            Some(_) => Some(true),
            None => Some(validator::valid(&full_schema(&self.old, alt), value) != Some(false)),
        };
        let mut unclear: Vec<Change> = Vec::new();
        for value in &after {
            if old.iter().any(|alt| takes(alt, value) == Some(true)) {
                continue;
            }
            let mut unknown = old.iter().filter(|alt| takes(alt, value).is_none()).peekable();
            if unknown.peek().is_some() {
                unclear.extend(unknown.flat_map(unknown_conditions));
                continue;
            }
            let message = format!("the value {} is new", excerpt(value));
            let found = Change::breaking("diff-enum-value-added", message).old(one_or_many(&before));
            out.push(found.new_value(value).sample(Some(value.clone())));
        }
        unclear.dedup();
        out.extend(unclear);
        let kept =
            |value: &Value| contains(&after, value) || new_open.iter().any(|alt| is_within(alt, value));
        for value in before.iter().filter(|value| !kept(value)) {
            let message = format!("the value {} was removed", excerpt(value));
            let found = Change::compatible("diff-enum-value-removed", message);
            out.push(found.old(value).new_value(one_or_many(&after)));
        }
        match (old_open.as_slice(), new_open.as_slice()) {
            ([], []) => {}
            ([], _) => {
                let sample = new_open.iter().find_map(|alt| self.sample_other_than(alt, &before));
                let message =
                    format!("the values were only {}; other values are now possible", join_capped(&before));
                let found = Change::breaking("diff-enum-opened", message).old(one_or_many(&before));
                out.push(found.new_value(type_names(&new_open)).sample(sample));
            }
            (_, []) => {
                let message = format!("the values are now only {}", join_capped(&after));
                out.push(Change::compatible("diff-enum-closed", message).new_value(one_or_many(&after)));
            }
            ([old], [new]) => out.extend(self.facets(old, new)),
            _ => self.open_alternatives(&old_open, &new_open, &mut out),
        }
        out
    }

    /// Several ranges or patterns against several.
    fn open_alternatives(&self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>], out: &mut Vec<Change>) {
        for one in new {
            let best = old.iter().map(|other| self.facets(other, one)).min_by_key(|found| severity(found));
            let best = best.unwrap_or_default();
            let (wide, narrow) = (|| any_schema(&self.old, old), || full_schema(&self.new, one));
            if is_harmless(&best) || validator::covers(&wide(), &narrow()) != Some(true) {
                out.extend(best);
            }
        }
        out.dedup();
    }

    /// Compares bounds, lengths, patterns, formats.
    fn facets(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Change> {
        let mut out = Vec::new();
        if old.json_type() == JsonType::Number {
            self.numbers(old, new, &mut out);
        } else {
            self.lengths(old, new, &mut out);
            self.patterns(old, new, &mut out);
            self.formats(old, new, &mut out);
        }
        self.compare_conditions(old, new, &mut out);
        out
    }

    fn numbers(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        if old.integer && !new.integer {
            let sample = self.sample_number(new, false);
            let found = Change::breaking("diff-integer-became-number", "the number may now have a fraction");
            out.push(found.old("integer").new_value("number").sample(sample));
        } else if new.integer && !old.integer {
            let found = Change::compatible("diff-type-narrowed", "the number is now always an integer");
            out.push(found.old("number").new_value("integer"));
        }
        let shows = |value: &Value| is_within(new, value) && !is_within(old, value);
        for (side, which, step) in [(0, "minimum", -1.0), (1, "maximum", 1.0)] {
            let (before, after) = (&old.bounds[side], &new.bounds[side]);
            let loosened = !is_as_strict(after, before, INWARD[side]);
            if !loosened && is_as_strict(before, after, INWARD[side]) {
                continue;
            }
            let message = match (before.as_ref().map(describe_bound), after.as_ref().map(describe_bound)) {
                (Some(before), Some(after)) => format!("the {which} changed from {before} to {after}"),
                (Some(before), None) => format!("the {which} {before} was removed"),
                (None, after) => format!("the {which} is now {}", after.unwrap_or_default()),
            };
            let at = |bound: &Option<Bound>| bound.as_ref().map(|bound| Value::Number(bound.at.clone()));
            let found = if loosened {
                let beyond = |step: f64| Some(json_number(before.as_ref()?.at.as_f64()? + step));
                let itself = before.as_ref().is_some_and(|before| before.open);
                let edge = if itself { at(before) } else { beyond(step) };
                let mut near = [edge, at(after), beyond(step / 2.0)].into_iter().flatten();
                Change::breaking("diff-range-loosened", message).sample(near.find(shows))
            } else {
                Change::compatible("diff-range-tightened", message)
            };
            out.push(found.sides(at(before), at(after)));
        }
        let lost = old.multiples.iter().filter(|by| !new.multiples.iter().any(|other| divides(by, other)));
        let lost: Vec<_> = lost.collect();
        for by in &lost {
            let mut some = (1..50).map(|n| json_number(f64::from(n))).chain(self.sample_number(new, false));
            let message = format!("the number no longer has to be a multiple of {by}");
            out.push(Change::breaking("diff-range-loosened", message).old(by).sample(some.find(shows)));
        }
        let gained = new.multiples.iter().find(|by| !old.multiples.iter().any(|other| divides(by, other)));
        if let (Some(by), true) = (gained, lost.is_empty()) {
            let message = format!("the number is now always a multiple of {by}");
            out.push(Change::compatible("diff-range-tightened", message).new_value(by));
        }
    }

    /// Compares how long strings, arrays and objects may be.
    pub(super) fn lengths(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let unit = match old.json_type() {
            JsonType::Array => "elements",
            JsonType::Object => "keys",
            _ => "characters",
        };
        let (mut before, mut after) = (old.length(), new.length());
        if before.0 > 0 {
            // Keys that have to be there count.
            before.0 = before.0.max(old.required.len());
        }
        if before.0 > 0 || after.0 > 0 {
            after.0 = after.0.max(new.required.len());
        }
        if after.0 < before.0 {
            let message = format!("the minimum changed from {} {unit} to {}", before.0, after.0);
            let found = Change::breaking("diff-length-loosened", message).old(before.0).new_value(after.0);
            out.push(found.sample(self.sample_of_length(new, after.0)));
        } else if after.0 > before.0 {
            let message = format!("there are now at least {} {unit}", after.0);
            out.push(Change::compatible("diff-length-tightened", message).old(before.0).new_value(after.0));
        }
        match (before.1, after.1) {
            (Some(was), is) if is.is_none_or(|is| is > was) => {
                let now = is.map_or_else(|| "no limit".to_owned(), |is| is.to_string());
                let message = format!("the maximum changed from {was} {unit} to {now}");
                let sample = self.sample_of_length(new, was.saturating_add(1));
                let found = Change::breaking("diff-length-loosened", message).sample(sample);
                out.push(found.sides(Some(was), is));
            }
            (was, Some(is)) if was.is_none_or(|was| is < was) => {
                let message = format!("there are now at most {is} {unit}");
                out.push(Change::compatible("diff-length-tightened", message).sides(was, Some(is)));
            }
            _ => {}
        }
    }

    fn patterns(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let after: Vec<&str> = new.patterns.iter().copied().collect();
        let before: Vec<&str> = old.patterns.iter().copied().collect();
        let others = format!("`{}`", after.join("`, `"));
        let mut loosened = false;
        for pattern in old.patterns.difference(&new.patterns) {
            let found = match pattern::covers(pattern, &after) {
                Covers::Yes => continue,
                Covers::No(text) => {
                    let but = if after.is_empty() { String::new() } else { format!(", only {others}") };
                    let message = format!("the string no longer has to match `{pattern}`{but}");
                    let sample = self.sample_text(new, Some(&text));
                    Change::breaking("diff-pattern-loosened", message).sample(sample)
                }
                Covers::Unknown => {
                    let others = if after.is_empty() { "no pattern" } else { &others };
                    let message = format!(
                        "the comparison cannot decide whether all strings that match {others} also match `{pattern}`"
                    );
                    Change::undecided(message)
                }
            };
            loosened = true;
            out.push(found.sides(Some(pattern), after.first()));
        }
        let mut further = new.patterns.difference(&old.patterns);
        if let Some(pattern) = further.find(|pattern| pattern::covers(pattern, &before) != Covers::Yes)
            && !loosened
        {
            let message = format!("the string now always matches `{pattern}`");
            let found = Change::compatible("diff-pattern-tightened", message);
            out.push(found.sides(before.first(), Some(pattern)));
        }
    }

    fn formats(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let within = |wide: &str, narrow: &str| {
            wide == narrow || SUBFORMATS.iter().any(|(name, parts)| *name == wide && parts.contains(&narrow))
        };
        let kept = |format: &&String| new.formats.iter().any(|other| within(format, other));
        let lost: Vec<&String> = old.formats.iter().filter(|format| !kept(format)).collect();
        for format in &lost {
            let message = format!("the string no longer has to have the format `{format}`");
            let sample = self.sample_text(new, None);
            let sample = sample.or_else(|| self.sample_text(new, Some("text")));
            let found = Change::breaking("diff-format-loosened", message).sample(sample);
            out.push(found.sides(Some(format), new.formats.first()));
        }
        let gained = new.formats.iter().find(|format| !old.formats.contains(*format));
        if let (Some(format), true) = (gained, lost.is_empty()) {
            let message = format!("the string now always has the format `{format}`");
            let found = Change::compatible("diff-format-tightened", message);
            out.push(found.sides(old.formats.first(), Some(format)));
        }
    }
}

fn listed_values(alts: &[TypedSchema<'_>]) -> Vec<Value> {
    distinct(alts.iter().filter_map(|alt| alt.values.as_ref()).flatten().cloned())
}

fn one_or_many(values: &[Value]) -> Value {
    match values {
        [only] => only.clone(),
        _ => Value::Array(values.to_vec()),
    }
}

fn join_capped(values: &[Value]) -> String {
    let all: Vec<String> = values.iter().take(12).map(excerpt).collect();
    if values.len() > 12 { format!("{} …", all.join(", ")) } else { all.join(", ") }
}

fn describe_bound(bound: &Bound) -> String {
    if bound.open { format!("{} (exclusive)", bound.at) } else { bound.at.to_string() }
}

/// A number as JSON: an integer where it is one.
pub(super) fn json_number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
