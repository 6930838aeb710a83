//! Numbers, strings, booleans: listed values, bounds, lengths, patterns, formats.

use super::alt::{Alt, Bound, Kind};
use super::decide::{at_least, at_most, divides, keeps, same};
use super::found::{Found, harmless, weight};
use super::pattern::{self, Covers};
use super::validator;
use super::walk::{Walker, short, whole};
use serde_json::{Value, json};

/// Each format with those that are part of it.
const PARTS: &[(&str, &[&str])] = &[
    ("uri-reference", &["uri"]),
    ("iri-reference", &["uri", "iri", "uri-reference"]),
    ("iri", &["uri"]),
    ("idn-email", &["email"]),
    ("idn-hostname", &["hostname"]),
];

impl<'a> Walker<'a> {
    /// Compares alternatives of one type that is no array and no object.
    pub(super) fn scalars(&mut self, old: &[Alt<'a>], new: &[Alt<'a>]) -> Vec<Found> {
        let mut out = Vec::new();
        let (before, after) = (listed(old), listed(new));
        let open = |alts: &[Alt<'a>]| -> Vec<Alt<'a>> {
            alts.iter().filter(|alt| alt.values.is_none()).cloned().collect()
        };
        let (old_open, new_open) = (open(old), open(new));
        let taken = |value: &Value| {
            before.iter().any(|other| same(value, other))
                || old_open.iter().any(|alt| {
                    keeps(alt, value) && validator::valid(&whole(&self.old, alt), value) != Some(false)
                })
        };
        for value in after.iter().filter(|value| !taken(value)) {
            let message = format!("the value {} is new", short(value));
            let found = Found::breaking("diff-enum-value-added", message).old(list(&before));
            out.push(found.new_value(value.clone()).shown(Some((*value).clone())));
        }
        let kept = |value: &Value| {
            after.iter().any(|other| same(value, other)) || new_open.iter().any(|alt| keeps(alt, value))
        };
        for value in before.iter().filter(|value| !kept(value)) {
            let message = format!("the value {} is gone", short(value));
            let found = Found::compatible("diff-enum-value-removed", message);
            out.push(found.old(value.clone()).new_value(list(&after)));
        }
        match (old_open.as_slice(), new_open.as_slice()) {
            ([], []) => {}
            ([], _) => {
                let shown = new_open.iter().find_map(|alt| self.other_value(alt, &before));
                let message = format!("the values were {} only, now there may be others", words(&before));
                out.push(
                    Found::breaking("diff-enum-opened", message)
                        .old(list(&before))
                        .new_value(super::walk::names(&new_open))
                        .shown(shown),
                );
            }
            (_, []) => {
                let message = format!("the values are {} only", words(&after));
                out.push(Found::compatible("diff-enum-closed", message).new_value(list(&after)));
            }
            ([old], [new]) => self.facets(old, new, &mut out),
            _ => self.open_alternatives(&old_open, &new_open, &mut out),
        }
        out
    }

    /// Several ranges or patterns against several.
    fn open_alternatives(&mut self, old: &[Alt<'a>], new: &[Alt<'a>], out: &mut Vec<Found>) {
        for one in new {
            let mut best: Option<Vec<Found>> = None;
            for other in old {
                let mut found = Vec::new();
                self.facets(other, one, &mut found);
                if best.as_ref().is_none_or(|best| weight(&found) < weight(best)) {
                    best = Some(found);
                }
            }
            let best = best.unwrap_or_default();
            if harmless(&best) {
                out.extend(best);
                continue;
            }
            let wide: Vec<Value> = old.iter().map(|alt| whole(&self.old, alt)).collect();
            match validator::covers(&json!({ "anyOf": wide }), &whole(&self.new, one)) {
                Some(true) => {}
                _ => out.extend(best),
            }
        }
        out.dedup();
    }

    /// Compares bounds, lengths, patterns, formats.
    fn facets(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        if old.kind() == Kind::Number {
            self.numbers(old, new, out);
        } else {
            self.lengths(old.kind(), old, new, out);
            self.patterns(old, new, out);
            self.formats(old, new, out);
        }
        self.conditions(old, new, out);
    }

    fn numbers(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        if old.integer && !new.integer {
            let shown = self.sample_number(new, false);
            let found = Found::breaking("diff-integer-became-number", "it need not be an integer any longer");
            out.push(found.old("integer").new_value("number").shown(shown));
        } else if new.integer && !old.integer {
            let found = Found::compatible("diff-type-narrowed", "it is always an integer");
            out.push(found.old("number").new_value("integer"));
        }
        let beyond = |bound: &Bound, step: f64| bound.at.as_f64().map(|at| number(at + step));
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
                    (false, format!("the {which} number is {} instead of {}", bound(after), bound(before)))
                }
                (Some(before), Some(after)) => {
                    (true, format!("the {which} number is {} instead of {}", bound(after), bound(before)))
                }
                (Some(before), None) => {
                    (true, format!("the {which} number was {}; now there is none", bound(before)))
                }
                (None, Some(after)) => (false, format!("the {which} number is {}", bound(after))),
                (None, None) => continue,
            };
            let shown = rule.then(|| {
                let edge = before.as_ref().and_then(|before| {
                    if before.open { Some(Value::Number(before.at.clone())) } else { beyond(before, step) }
                });
                let near = after.as_ref().map(|after| Value::Number(after.at.clone()));
                let half = before.as_ref().and_then(|before| beyond(before, step / 2.0));
                [edge, near, half].into_iter().flatten().find(|value| keeps(new, value) && !keeps(old, value))
            });
            let found = if rule {
                Found::breaking("diff-range-loosened", class_message)
            } else {
                Found::compatible("diff-range-tightened", class_message)
            };
            let told = |side: &Option<Bound>| side.as_ref().map(|bound| Value::Number(bound.at.clone()));
            out.push(Found { old: told(before), new: told(after), shown: shown.flatten(), ..found });
        }
        let lost = old.multiples.iter().filter(|by| !new.multiples.iter().any(|other| divides(by, other)));
        let lost: Vec<_> = lost.cloned().collect();
        for by in &lost {
            let shown = (1..50).map(|n| number(f64::from(n))).chain(self.sample_number(new, false));
            let shown = shown.into_iter().find(|value| keeps(new, value) && !keeps(old, value));
            let message = format!("it need not be a multiple of {by} any longer");
            out.push(Found::breaking("diff-range-loosened", message).old(by.clone()).shown(shown));
        }
        let gained = new.multiples.iter().find(|by| !old.multiples.iter().any(|other| divides(by, other)));
        if let (Some(by), true) = (gained, lost.is_empty()) {
            let message = format!("it is always a multiple of {by}");
            out.push(Found::compatible("diff-range-tightened", message).new_value(by.clone()));
        }
    }

    /// Compares how long strings, arrays and objects may be.
    pub(super) fn lengths(&mut self, kind: Kind, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        let unit = match kind {
            Kind::Array => "elements",
            Kind::Object => "keys",
            _ => "characters",
        };
        let (mut before, mut after) = (old.length(), new.length());
        if kind == Kind::Object {
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
            let shown = self.sample_of_length(new, after.0);
            out.push(
                Found::breaking("diff-length-loosened", message)
                    .old(before.0)
                    .new_value(after.0)
                    .shown(shown),
            );
        } else if after.0 > before.0 {
            let message = format!("there are at least {} {unit}", after.0);
            out.push(Found::compatible("diff-length-tightened", message).old(before.0).new_value(after.0));
        }
        match (before.1, after.1) {
            (Some(was), is) if is.is_none_or(|is| is > was) => {
                let now = is.map_or_else(|| "there is no such bound".to_owned(), |is| is.to_string());
                let message = format!("there were at most {was} {unit}, now {now}");
                let shown = self.sample_of_length(new, was + 1);
                let found = Found::breaking("diff-length-loosened", message).old(was).shown(shown);
                out.push(Found { new: is.map(Value::from), ..found });
            }
            (was, Some(is)) if was.is_none_or(|was| is < was) => {
                let message = format!("there are at most {is} {unit}");
                let found = Found::compatible("diff-length-tightened", message).new_value(is);
                out.push(Found { old: was.map(Value::from), ..found });
            }
            _ => {}
        }
    }

    fn patterns(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
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
                    let shown = self.sample_text(new, Some(&text));
                    let message = match after.as_slice() {
                        [] => format!("it need not match `{pattern}` any longer"),
                        _ => {
                            format!("it need not match `{pattern}` any longer, but `{}`", after.join("`, `"))
                        }
                    };
                    let found = Found::breaking("diff-pattern-loosened", message).old(*pattern).shown(shown);
                    out.push(Found { new: after.first().map(|first| json!(first)), ..found });
                }
                Covers::Unknown => {
                    loosened = true;
                    let found = Found::undecided(format!(
                        "it cannot be told whether what matches {} matches `{pattern}`",
                        if after.is_empty() {
                            "nothing else".to_owned()
                        } else {
                            format!("`{}`", after.join("`, `"))
                        }
                    ));
                    out.push(Found { new: after.first().map(|first| json!(first)), ..found.old(*pattern) });
                }
            }
        }
        let mut further = new.patterns.difference(&old.patterns);
        if let Some(pattern) = further.find(|pattern| pattern::covers(pattern, &before) != Covers::Yes)
            && !loosened
        {
            let message = format!("it always matches `{pattern}`");
            let found = Found::compatible("diff-pattern-tightened", message).new_value(*pattern);
            out.push(Found { old: before.first().map(|first| json!(first)), ..found });
        }
    }

    fn formats(&mut self, old: &Alt<'a>, new: &Alt<'a>, out: &mut Vec<Found>) {
        let within = |wide: &str, narrow: &str| {
            wide == narrow || PARTS.iter().any(|(name, parts)| *name == wide && parts.contains(&narrow))
        };
        let kept = |format: &&String| new.formats.iter().any(|other| within(format, other));
        let lost: Vec<&String> = old.formats.iter().filter(|format| !kept(format)).collect();
        for format in &lost {
            let message = format!("it need not be of the format `{format}` any longer");
            let shown = self.sample_text(new, None);
            let shown = shown.or_else(|| self.sample_text(new, Some("text")));
            let found = Found::breaking("diff-format-loosened", message).old((*format).clone()).shown(shown);
            out.push(Found { new: new.formats.first().map(|format| json!(format)), ..found });
        }
        let gained = new.formats.iter().find(|format| !old.formats.contains(*format));
        if let (Some(format), true) = (gained, lost.is_empty()) {
            let message = format!("it is always of the format `{format}`");
            let found = Found::compatible("diff-format-tightened", message).new_value(format.clone());
            out.push(Found { old: old.formats.first().map(|format| json!(format)), ..found });
        }
    }
}

fn listed(alts: &[Alt<'_>]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for value in alts.iter().filter_map(|alt| alt.values.as_ref()).flatten() {
        if !all.iter().any(|other| same(value, other)) {
            all.push(value.clone());
        }
    }
    all
}

fn list(values: &[Value]) -> Value {
    match values {
        [only] => only.clone(),
        _ => Value::Array(values.to_vec()),
    }
}

fn words(values: &[Value]) -> String {
    let all: Vec<String> = values.iter().take(12).map(short).collect();
    if values.len() > 12 { format!("{} …", all.join(", ")) } else { all.join(", ") }
}

fn bound(bound: &Bound) -> String {
    if bound.open { format!("{} (itself left out)", bound.at) } else { bound.at.to_string() }
}

/// A number as JSON: an integer where it is one.
pub(super) fn number(value: f64) -> Value {
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(value as i64) } else { json!(value) }
}
