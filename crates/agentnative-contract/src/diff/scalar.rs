//! Numbers, strings, booleans: listed values, bounds, lengths, patterns, formats.

use super::delta::{Delta, is_harmless, severity};
use super::pattern::{self, Covers};
use super::predicates::{at_least, at_most, divides, equal, is_within};
use super::typed_schema::{Bound, TypedSchema};
use super::validator;
use super::walk::{Walker, excerpt, full_schema};
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
    pub(super) fn scalars(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>]) -> Vec<Delta> {
        let mut out = Vec::new();
        let (before, after) = (listed_values(old), listed_values(new));
        let open = |alts: &[TypedSchema<'a>]| -> Vec<TypedSchema<'a>> {
            alts.iter().filter(|alt| alt.values.is_none()).cloned().collect()
        };
        let (old_open, new_open) = (open(old), open(new));
        let taken = |value: &Value| {
            before.iter().any(|other| equal(value, other))
                || old_open.iter().any(|alt| {
                    is_within(alt, value)
                        && validator::valid(&full_schema(&self.old, alt), value) != Some(false)
                })
        };
        for value in after.iter().filter(|value| !taken(value)) {
            let message = format!("the value {} is new", excerpt(value));
            let found = Delta::breaking("diff-enum-value-added", message).old(one_or_many(&before));
            out.push(found.new_value(value.clone()).sample(Some((*value).clone())));
        }
        let kept = |value: &Value| {
            after.iter().any(|other| equal(value, other)) || new_open.iter().any(|alt| is_within(alt, value))
        };
        for value in before.iter().filter(|value| !kept(value)) {
            let message = format!("the value {} is gone", excerpt(value));
            let found = Delta::compatible("diff-enum-value-removed", message);
            out.push(found.old(value.clone()).new_value(one_or_many(&after)));
        }
        match (old_open.as_slice(), new_open.as_slice()) {
            ([], []) => {}
            ([], _) => {
                let sample = new_open.iter().find_map(|alt| self.sample_other_than(alt, &before));
                let message =
                    format!("the values were {} only, now there may be others", join_capped(&before));
                out.push(
                    Delta::breaking("diff-enum-opened", message)
                        .old(one_or_many(&before))
                        .new_value(super::walk::type_names(&new_open))
                        .sample(sample),
                );
            }
            (_, []) => {
                let message = format!("the values are {} only", join_capped(&after));
                out.push(Delta::compatible("diff-enum-closed", message).new_value(one_or_many(&after)));
            }
            ([old], [new]) => self.facets(old, new, &mut out),
            _ => self.open_alternatives(&old_open, &new_open, &mut out),
        }
        out
    }

    /// Several ranges or patterns against several.
    fn open_alternatives(&mut self, old: &[TypedSchema<'a>], new: &[TypedSchema<'a>], out: &mut Vec<Delta>) {
        for one in new {
            let mut best: Option<Vec<Delta>> = None;
            for other in old {
                let mut found = Vec::new();
                self.facets(other, one, &mut found);
                if best.as_ref().is_none_or(|best| severity(&found) < severity(best)) {
                    best = Some(found);
                }
            }
            let best = best.unwrap_or_default();
            if is_harmless(&best) {
                out.extend(best);
                continue;
            }
            let wide: Vec<Value> = old.iter().map(|alt| full_schema(&self.old, alt)).collect();
            match validator::covers(&json!({ "anyOf": wide }), &full_schema(&self.new, one)) {
                Some(true) => {}
                _ => out.extend(best),
            }
        }
        out.dedup();
    }

    /// Compares bounds, lengths, patterns, formats.
    fn facets(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Delta>) {
        if old.json_type() == JsonType::Number {
            self.numbers(old, new, out);
        } else {
            self.lengths(old.json_type(), old, new, out);
            self.patterns(old, new, out);
            self.formats(old, new, out);
        }
        self.compare_conditions(old, new, out);
    }

    fn numbers(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Delta>) {
        if old.integer && !new.integer {
            let sample = self.sample_number(new, false);
            let found = Delta::breaking("diff-integer-became-number", "it need not be an integer any longer");
            out.push(found.old("integer").new_value("number").sample(sample));
        } else if new.integer && !old.integer {
            let found = Delta::compatible("diff-type-narrowed", "it is always an integer");
            out.push(found.old("number").new_value("integer"));
        }
        let beyond = |bound: &Bound, step: f64| bound.at.as_f64().map(|at| json_number(at + step));
        let bounds = [
            ("least", &old.lower, &new.lower, at_least as fn(&Bound, &Bound) -> bool, -1.0),
            ("greatest", &old.upper, &new.upper, at_most, 1.0),
        ];
        for (which, before, after, strict, step) in bounds {
            let (rule, class_message) = match (before, after) {
                (Some(before), Some(after)) if before == after => continue,
                (Some(before), Some(after)) if strict(after, before) => {
                    if strict(before, after) {
                        continue;
                    }
                    (
                        false,
                        format!(
                            "the {which} number is {} instead of {}",
                            describe_bound(after),
                            describe_bound(before)
                        ),
                    )
                }
                (Some(before), Some(after)) => (
                    true,
                    format!(
                        "the {which} number is {} instead of {}",
                        describe_bound(after),
                        describe_bound(before)
                    ),
                ),
                (Some(before), None) => {
                    (true, format!("the {which} number was {}; now there is none", describe_bound(before)))
                }
                (None, Some(after)) => (false, format!("the {which} number is {}", describe_bound(after))),
                (None, None) => continue,
            };
            let sample = rule.then(|| {
                let edge = before.as_ref().and_then(|before| {
                    if before.open { Some(Value::Number(before.at.clone())) } else { beyond(before, step) }
                });
                let near = after.as_ref().map(|after| Value::Number(after.at.clone()));
                let half = before.as_ref().and_then(|before| beyond(before, step / 2.0));
                [edge, near, half]
                    .into_iter()
                    .flatten()
                    .find(|value| is_within(new, value) && !is_within(old, value))
            });
            let found = if rule {
                Delta::breaking("diff-range-loosened", class_message)
            } else {
                Delta::compatible("diff-range-tightened", class_message)
            };
            let limit = |side: &Option<Bound>| side.as_ref().map(|bound| Value::Number(bound.at.clone()));
            out.push(Delta { old: limit(before), new: limit(after), sample: sample.flatten(), ..found });
        }
        let lost = old.multiples.iter().filter(|by| !new.multiples.iter().any(|other| divides(by, other)));
        let lost: Vec<_> = lost.cloned().collect();
        for by in &lost {
            let sample = (1..50).map(|n| json_number(f64::from(n))).chain(self.sample_number(new, false));
            let sample = sample.into_iter().find(|value| is_within(new, value) && !is_within(old, value));
            let message = format!("it need not be a multiple of {by} any longer");
            out.push(Delta::breaking("diff-range-loosened", message).old(by.clone()).sample(sample));
        }
        let gained = new.multiples.iter().find(|by| !old.multiples.iter().any(|other| divides(by, other)));
        if let (Some(by), true) = (gained, lost.is_empty()) {
            let message = format!("it is always a multiple of {by}");
            out.push(Delta::compatible("diff-range-tightened", message).new_value(by.clone()));
        }
    }

    /// Compares how long strings, arrays and objects may be.
    pub(super) fn lengths(
        &mut self,
        kind: JsonType,
        old: &TypedSchema<'a>,
        new: &TypedSchema<'a>,
        out: &mut Vec<Delta>,
    ) {
        let unit = match kind {
            JsonType::Array => "elements",
            JsonType::Object => "keys",
            _ => "characters",
        };
        let (mut before, mut after) = (old.length(), new.length());
        if kind == JsonType::Object {
            // Keys that have to be there count.
            before.0 = before.0.max(old.required.len() as u64);
            after.0 = after.0.max(new.required.len() as u64);
            if old.lengths[2].0 == 0 {
                before.0 = 0;
            }
            if new.lengths[2].0 == 0 && before.0 == 0 {
                after.0 = 0;
            }
        }
        if after.0 < before.0 {
            let message = format!("there were at least {} {unit}, now {}", before.0, after.0);
            let sample = self.sample_of_length(new, after.0);
            out.push(
                Delta::breaking("diff-length-loosened", message)
                    .old(before.0)
                    .new_value(after.0)
                    .sample(sample),
            );
        } else if after.0 > before.0 {
            let message = format!("there are at least {} {unit}", after.0);
            out.push(Delta::compatible("diff-length-tightened", message).old(before.0).new_value(after.0));
        }
        match (before.1, after.1) {
            (Some(was), is) if is.is_none_or(|is| is > was) => {
                let now = is.map_or_else(|| "there is no such bound".to_owned(), |is| is.to_string());
                let message = format!("there were at most {was} {unit}, now {now}");
                let sample = self.sample_of_length(new, was + 1);
                let found = Delta::breaking("diff-length-loosened", message).old(was).sample(sample);
                out.push(Delta { new: is.map(Value::from), ..found });
            }
            (was, Some(is)) if was.is_none_or(|was| is < was) => {
                let message = format!("there are at most {is} {unit}");
                let found = Delta::compatible("diff-length-tightened", message).new_value(is);
                out.push(Delta { old: was.map(Value::from), ..found });
            }
            _ => {}
        }
    }

    fn patterns(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Delta>) {
        if old.patterns == new.patterns {
            return;
        }
        let after: Vec<&str> = new.patterns.iter().copied().collect();
        let before: Vec<&str> = old.patterns.iter().copied().collect();
        let mut loosened = false;
        for pattern in old.patterns.difference(&new.patterns) {
            match pattern::covers(pattern, &after) {
                Covers::Yes => {}
                Covers::No(text) => {
                    loosened = true;
                    let sample = self.sample_text(new, Some(&text));
                    let message = match after.as_slice() {
                        [] => format!("it need not match `{pattern}` any longer"),
                        _ => {
                            format!("it need not match `{pattern}` any longer, but `{}`", after.join("`, `"))
                        }
                    };
                    let found =
                        Delta::breaking("diff-pattern-loosened", message).old(*pattern).sample(sample);
                    out.push(Delta { new: after.first().map(|first| json!(first)), ..found });
                }
                Covers::Unknown => {
                    loosened = true;
                    let found = Delta::undecided(format!(
                        "it cannot be told whether what matches {} matches `{pattern}`",
                        if after.is_empty() {
                            "nothing else".to_owned()
                        } else {
                            format!("`{}`", after.join("`, `"))
                        }
                    ));
                    out.push(Delta { new: after.first().map(|first| json!(first)), ..found.old(*pattern) });
                }
            }
        }
        let mut further = new.patterns.difference(&old.patterns);
        if let Some(pattern) = further.find(|pattern| pattern::covers(pattern, &before) != Covers::Yes)
            && !loosened
        {
            let message = format!("it always matches `{pattern}`");
            let found = Delta::compatible("diff-pattern-tightened", message).new_value(*pattern);
            out.push(Delta { old: before.first().map(|first| json!(first)), ..found });
        }
    }

    fn formats(&mut self, old: &TypedSchema<'a>, new: &TypedSchema<'a>, out: &mut Vec<Delta>) {
        let within = |wide: &str, narrow: &str| {
            wide == narrow || SUBFORMATS.iter().any(|(name, parts)| *name == wide && parts.contains(&narrow))
        };
        let kept = |format: &&String| new.formats.iter().any(|other| within(format, other));
        let lost: Vec<&String> = old.formats.iter().filter(|format| !kept(format)).collect();
        for format in &lost {
            let message = format!("it need not be of the format `{format}` any longer");
            let sample = self.sample_text(new, None);
            let sample = sample.or_else(|| self.sample_text(new, Some("text")));
            let found =
                Delta::breaking("diff-format-loosened", message).old((*format).clone()).sample(sample);
            out.push(Delta { new: new.formats.first().map(|format| json!(format)), ..found });
        }
        let gained = new.formats.iter().find(|format| !old.formats.contains(*format));
        if let (Some(format), true) = (gained, lost.is_empty()) {
            let message = format!("it is always of the format `{format}`");
            let found = Delta::compatible("diff-format-tightened", message).new_value(format.clone());
            out.push(Delta { old: old.formats.first().map(|format| json!(format)), ..found });
        }
    }
}

fn listed_values(alts: &[TypedSchema<'_>]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in alts.iter().filter_map(|alt| alt.values.as_ref()).flatten() {
        if !all.iter().any(|other| equal(value, other)) {
            all.push(value.clone());
        }
    }
    all
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
    if bound.open { format!("{} (itself left out)", bound.at) } else { bound.at.to_string() }
}

/// A number as JSON: an integer where it is one.
pub(super) fn json_number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
