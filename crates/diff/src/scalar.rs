//! Compares the schemas of numbers, strings, booleans and nulls: listed values, bounds, lengths, patterns and formats.

use super::change::{Change, count_by_severity, is_harmless};
use super::pattern::{self, Coverage};
use super::predicates::{INWARD, contains, distinct, divides, is_as_strict, is_within};
use super::schema_comparer::{
    SchemaComparer, any_schema, excerpt, full_schema, type_names, unknown_conditions,
};
use super::typed_schema::{Bound, TypedSchema};
use super::validator;
use serde_json::{Value, json};
use strict_json::JsonType;

/// Formats, each with the formats whose strings it accepts, too: every `uri` is a `uri-reference`.
const SUBFORMATS: &[(&str, &[&str])] = &[
    ("uri-reference", &["uri"]),
    ("iri-reference", &["uri", "iri", "uri-reference"]),
    ("iri", &["uri"]),
    ("idn-email", &["email"]),
    ("idn-hostname", &["hostname"]),
];

impl<'a> SchemaComparer<'a> {
    /// Compares the old and new alternatives of one scalar type, such as string.
    pub(super) fn compare_scalars(&self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Change> {
        let mut out = Vec::new();
        let (before, after) = (listed_values(old), listed_values(new));
        let open = |alts: &[TypedSchema<'a>]| -> Vec<TypedSchema<'a>> {
            alts.iter().filter(|alt| alt.values.is_none()).cloned().collect()
        };
        let (old_open, new_open) = (open(old), open(new));
        // Returns whether an alternative accepts a value; `None` if this cannot be decided.
        let accepts = |alt: &TypedSchema<'a>, value: &Value| match &alt.values {
            Some(values) if !contains(values, value) => Some(false),
            None if !is_within(alt, value) => Some(false),
            _ if alt.conditions.iter().any(|condition| condition.opaque) => None,
            Some(_) => Some(true),
            None => Some(validator::valid(&full_schema(&self.old, alt), value) != Some(false)),
        };
        let mut undecided: Vec<Change> = Vec::new();
        for value in &after {
            if old.iter().any(|alt| accepts(alt, value) == Some(true)) {
                continue;
            }
            let mut unknown = old.iter().filter(|alt| accepts(alt, value).is_none()).peekable();
            if unknown.peek().is_some() {
                undecided.extend(unknown.flat_map(unknown_conditions));
                continue;
            }
            let message = format!("the value {} is new", excerpt(value));
            let change = Change::breaking("diff-enum-value-added", message).old(one_or_many(&before));
            out.push(change.new_value(value).example(Some(value.clone())));
        }
        undecided.dedup();
        out.extend(undecided);
        let is_possible =
            |value: &Value| contains(&after, value) || new_open.iter().any(|alt| is_within(alt, value));
        for value in before.iter().filter(|value| !is_possible(value)) {
            let message = format!("the value {} was removed", excerpt(value));
            let change = Change::compatible("diff-enum-value-removed", message);
            out.push(change.old(value).new_value(one_or_many(&after)));
        }
        match (old_open.as_slice(), new_open.as_slice()) {
            ([], []) => {}
            ([], _) => {
                let example = new_open.iter().find_map(|alt| self.example_other_than(alt, &before));
                let message =
                    format!("the values were only {}; other values are now possible", join_capped(&before));
                let change = Change::breaking("diff-enum-opened", message).old(one_or_many(&before));
                out.push(change.new_value(type_names(&new_open)).example(example));
            }
            (_, []) => {
                let message = format!("the values are now only {}", join_capped(&after));
                out.push(Change::compatible("diff-enum-closed", message).new_value(one_or_many(&after)));
            }
            ([old], [new]) => out.extend(self.compare_facets(old, new)),
            _ => self.compare_open_alternatives(&old_open, &new_open, &mut out),
        }
        out
    }

    /// Compares alternatives without listed values if a version has several of them. Each new alternative is compared
    /// with the most similar old one.
    fn compare_open_alternatives(
        &self,
        old: &[TypedSchema<'a>],
        new: &[TypedSchema<'a>],
        out: &mut Vec<Change>,
    ) {
        for new_alt in new {
            let nearest = old
                .iter()
                .map(|old_alt| self.compare_facets(old_alt, new_alt))
                .min_by_key(|changes| count_by_severity(changes));
            let nearest = nearest.unwrap_or_default();
            let (wide, narrow) = (|| any_schema(&self.old, old), || full_schema(&self.new, new_alt));
            if is_harmless(&nearest) || validator::covers(&wide(), &narrow()) != Some(true) {
                out.extend(nearest);
            }
        }
        out.dedup();
    }

    /// Compares the bounds, lengths, patterns, formats and conditions of two alternatives of one scalar type.
    fn compare_facets(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>) -> Vec<Change> {
        let mut out = Vec::new();
        if old.json_type() == JsonType::Number {
            self.compare_numbers(old, new, &mut out);
        } else {
            self.compare_lengths(old, new, &mut out);
            self.compare_patterns(old, new, &mut out);
            self.compare_formats(old, new, &mut out);
        }
        self.compare_conditions(old, new, &mut out);
        out
    }

    fn compare_numbers(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        if old.integer && !new.integer {
            let example = self.example_number(new, false);
            let change = Change::breaking("diff-integer-became-number", "the number may now have a fraction");
            out.push(change.old("integer").new_value("number").example(example));
        } else if new.integer && !old.integer {
            let change = Change::compatible("diff-type-narrowed", "the number is now always an integer");
            out.push(change.old("number").new_value("integer"));
        }
        let is_new = |value: &Value| is_within(new, value) && !is_within(old, value);
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
            let bound_value =
                |bound: &Option<Bound>| bound.as_ref().map(|bound| Value::Number(bound.value.clone()));
            let change = if loosened {
                let past_bound = |step: f64| Some(json_number(before.as_ref()?.value.as_f64()? + step));
                let is_exclusive = before.as_ref().is_some_and(|before| before.exclusive);
                let edge = if is_exclusive { bound_value(before) } else { past_bound(step) };
                let mut near = [edge, bound_value(after), past_bound(step / 2.0)].into_iter().flatten();
                Change::breaking("diff-range-loosened", message).example(near.find(is_new))
            } else {
                Change::compatible("diff-range-tightened", message)
            };
            out.push(change.with_old_and_new(bound_value(before), bound_value(after)));
        }
        let removed = old.multiples.iter().filter(|by| !new.multiples.iter().any(|other| divides(by, other)));
        let removed: Vec<_> = removed.collect();
        for by in &removed {
            let mut candidates =
                (1..50).map(|n| json_number(f64::from(n))).chain(self.example_number(new, false));
            let message = format!("the number no longer has to be a multiple of {by}");
            out.push(
                Change::breaking("diff-range-loosened", message).old(by).example(candidates.find(is_new)),
            );
        }
        let added = new.multiples.iter().find(|by| !old.multiples.iter().any(|other| divides(by, other)));
        if let (Some(by), true) = (added, removed.is_empty()) {
            let message = format!("the number is now always a multiple of {by}");
            out.push(Change::compatible("diff-range-tightened", message).new_value(by));
        }
    }

    /// Compares the minimum and maximum lengths of two alternatives for strings, arrays or objects.
    pub(super) fn compare_lengths(
        &self,
        old: &TypedSchema<'a>,
        new: &TypedSchema<'a>,
        out: &mut Vec<Change>,
    ) {
        let unit = match old.json_type() {
            JsonType::Array => "elements",
            JsonType::Object => "keys",
            _ => "characters",
        };
        let (mut before, mut after) = (old.length(), new.length());
        if before.0 > 0 {
            // Required keys imply a minimum.
            before.0 = before.0.max(old.required.len());
        }
        if before.0 > 0 || after.0 > 0 {
            after.0 = after.0.max(new.required.len());
        }
        if after.0 < before.0 {
            let message = format!("the minimum changed from {} {unit} to {}", before.0, after.0);
            let change = Change::breaking("diff-length-loosened", message).old(before.0).new_value(after.0);
            out.push(change.example(self.example_of_length(new, after.0)));
        } else if after.0 > before.0 {
            let message = format!("there are now at least {} {unit}", after.0);
            out.push(Change::compatible("diff-length-tightened", message).old(before.0).new_value(after.0));
        }
        match (before.1, after.1) {
            (Some(old_max), new_max) if new_max.is_none_or(|new_max| new_max > old_max) => {
                let now = new_max.map_or_else(|| "no limit".to_owned(), |new_max| new_max.to_string());
                let message = format!("the maximum changed from {old_max} {unit} to {now}");
                let example = self.example_of_length(new, old_max.saturating_add(1));
                let change = Change::breaking("diff-length-loosened", message).example(example);
                out.push(change.with_old_and_new(Some(old_max), new_max));
            }
            (old_max, Some(new_max)) if old_max.is_none_or(|old_max| new_max < old_max) => {
                let message = format!("there are now at most {new_max} {unit}");
                out.push(
                    Change::compatible("diff-length-tightened", message)
                        .with_old_and_new(old_max, Some(new_max)),
                );
            }
            _ => {}
        }
    }

    fn compare_patterns(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let after: Vec<&str> = new.patterns.iter().copied().collect();
        let before: Vec<&str> = old.patterns.iter().copied().collect();
        let others = format!("`{}`", after.join("`, `"));
        let mut loosened = false;
        for pattern in old.patterns.difference(&new.patterns) {
            let change = match pattern::covers(pattern, &after) {
                Coverage::Yes => continue,
                Coverage::No(text) => {
                    let suffix = if after.is_empty() { String::new() } else { format!(", only {others}") };
                    let message = format!("the string no longer has to match `{pattern}`{suffix}");
                    let example = self.example_text(new, Some(&text));
                    Change::breaking("diff-pattern-loosened", message).example(example)
                }
                Coverage::Unknown => {
                    let others = if after.is_empty() { "no pattern" } else { &others };
                    let message = format!(
                        "the comparison cannot decide whether all strings that match {others} also match `{pattern}`"
                    );
                    Change::undecided(message)
                }
            };
            loosened = true;
            out.push(change.with_old_and_new(Some(pattern), after.first()));
        }
        let mut further = new.patterns.difference(&old.patterns);
        if let Some(pattern) = further.find(|pattern| pattern::covers(pattern, &before) != Coverage::Yes)
            && !loosened
        {
            let message = format!("the string now always matches `{pattern}`");
            let change = Change::compatible("diff-pattern-tightened", message);
            out.push(change.with_old_and_new(before.first(), Some(pattern)));
        }
    }

    fn compare_formats(&self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Change>) {
        let within = |wide: &str, narrow: &str| {
            wide == narrow || SUBFORMATS.iter().any(|(name, parts)| *name == wide && parts.contains(&narrow))
        };
        let is_kept = |format: &&String| new.formats.iter().any(|other| within(format, other));
        let removed: Vec<&String> = old.formats.iter().filter(|format| !is_kept(format)).collect();
        for format in &removed {
            let message = format!("the string no longer has to have the format `{format}`");
            let example = self.example_text(new, None);
            let example = example.or_else(|| self.example_text(new, Some("text")));
            let change = Change::breaking("diff-format-loosened", message).example(example);
            out.push(change.with_old_and_new(Some(format), new.formats.first()));
        }
        let added = new.formats.iter().find(|format| !old.formats.contains(*format));
        if let (Some(format), true) = (added, removed.is_empty()) {
            let message = format!("the string now always has the format `{format}`");
            let change = Change::compatible("diff-format-tightened", message);
            out.push(change.with_old_and_new(old.formats.first(), Some(format)));
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
    if bound.exclusive { format!("{} (exclusive)", bound.value) } else { bound.value.to_string() }
}

/// Converts a number to JSON. A number without a fraction becomes an integer: `1` instead of `1.0`.
pub(super) fn json_number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
