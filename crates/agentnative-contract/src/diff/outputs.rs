//! Two promises side by side: what is not in schemas, and then the schemas.

use super::bundle::{Bundle, DATA, ERROR};
use super::change::{Change, Class, Witness};
use super::delta::Delta;
use super::typed_schema::TypedSchema;
use super::walk::Walker;
use crate::Stream;
use crate::{Exit, Framing, Payload, Promise};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Compares two versions of one promise.
pub(super) struct OutputComparison<'a> {
    pub old: &'a Promise,
    pub new: &'a Promise,
    pub changes: Vec<Change>,
    /// The records were compared by type.
    pub by_type: bool,
}

impl<'a> OutputComparison<'a> {
    pub fn new(old: &'a Promise, new: &'a Promise) -> Self {
        Self { old, new, changes: Vec::new(), by_type: false }
    }

    /// All changes, those of the whole output first.
    pub fn compare(mut self) -> Vec<Change> {
        let (before, after) = (Bundle::new(self.old), Bundle::new(self.new));
        let framed = self.framing();
        self.exits();
        self.error_channel();
        if framed {
            self.schemas(&before, &after);
        }
        self.rules();
        self.key_order();
        self.changes
    }

    /// Adds a change of the whole output.
    pub fn add(&mut self, found: Delta) {
        self.push(found, None, false, None);
    }

    /// Adds a change in the records of a type, in the error object, or in the data.
    pub fn push(&mut self, found: Delta, event: Option<&str>, in_error: bool, witness: Option<Witness>) {
        let probe = self.new.probe.clone().or_else(|| self.old.probe.clone());
        let change = Change {
            rule: found.rule.to_owned(),
            class: found.class,
            probe,
            format: self.new.format.or(self.old.format),
            event: event.map(str::to_owned),
            in_error,
            pointer: found.path,
            old: found.old,
            new: found.new,
            message: found.message,
            note: found.note,
            witness,
        };
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    /// Whether the data can be compared any further.
    fn framing(&mut self) -> bool {
        match (self.old.framing, self.new.framing) {
            (Some(old), Some(new)) if old != new => {
                let phrase = |framing| match framing {
                    Framing::Document => "one JSON document",
                    Framing::Lines => "JSON lines",
                };
                let message = format!("it was {}, it is {}", phrase(old), phrase(new));
                let found = Delta::breaking("diff-framing-changed", message);
                self.add(found.old(old.name()).new_value(new.name()));
                false
            }
            (Some(old), None) => {
                let message = "it was data, now nothing is known to be";
                self.add(Delta::undecided(message).old(old.name()));
                false
            }
            _ => true,
        }
    }

    fn exits(&mut self) {
        let (old, new) = (&self.old.exits, &self.new.exits);
        if old.is_empty() || new.is_empty() {
            if !old.is_empty() {
                self.add(Delta::undecided("nothing is known of the new exit codes").old(json!(codes(old))));
            }
            return;
        }
        let (before, after) = (codes(old), codes(new));
        let (removed, added): (Vec<i32>, Vec<i32>) =
            (before.difference(&after).copied().collect(), after.difference(&before).copied().collect());
        let mut reported = BTreeSet::new();
        for (was, is) in paired(old, new) {
            if was.codes.is_empty() || is.codes.is_empty() {
                continue;
            }
            let what = is.condition.as_ref().map_or_else(String::new, |name| format!(" when `{name}`"));
            if !was.codes.iter().any(|code| is.codes.contains(code)) {
                let message =
                    format!("the exit code{what} is {}, it was {}", join_or(&is.codes), join_or(&was.codes));
                self.add(
                    Delta::breaking("diff-exit-changed", message)
                        .old(json!(was.codes))
                        .new_value(json!(is.codes)),
                );
                reported.extend(was.codes.iter().chain(&is.codes).copied());
            }
            self.payload(was, is, &what);
        }
        for code in added.iter().filter(|code| !reported.contains(*code)) {
            let message = format!("the exit code {code} is new");
            self.add(Delta::breaking("diff-exit-added", message).old(json!(before)).new_value(*code));
        }
        for code in removed.iter().filter(|code| !reported.contains(*code)) {
            let message = format!("the exit code {code} is gone");
            self.add(Delta::compatible("diff-exit-removed", message).old(*code).new_value(json!(after)));
        }
    }

    fn payload(&mut self, was: &Exit, is: &Exit, what: &str) {
        let (Some(before), Some(after)) = (was.stdout, is.stdout) else { return };
        if before == after {
            return;
        }
        let message = format!(
            "standard output holds {}{what}, it held {}",
            payload_phrase(after),
            payload_phrase(before)
        );
        let narrower = before == Payload::Any || (before, after) == (Payload::Part, Payload::Whole);
        let class = if narrower { Class::Compatible } else { Class::Breaking };
        let found = Delta::new("diff-exit-payload-changed", class, message);
        self.add(found.old(before.name()).new_value(after.name()));
    }

    fn error_channel(&mut self) {
        let (Some(old), new) = (&self.old.errors, &self.new.errors) else { return };
        let stream = |stream| if stream == Stream::Stdout { "stdout" } else { "stderr" };
        match new {
            Some(new) if new.stream != old.stream => {
                let message =
                    format!("errors are on {} now, they were on {}", stream(new.stream), stream(old.stream));
                let found = Delta::breaking("diff-error-stream-changed", message);
                self.add(found.old(stream(old.stream)).new_value(stream(new.stream)));
            }
            None => {
                let message = "nothing is known of where errors are now";
                self.add(Delta::undecided(message).old(stream(old.stream)));
            }
            _ => {}
        }
    }

    fn schemas(&mut self, before: &Bundle, after: &Bundle) {
        let mut walker = Walker::new(&before.root, &after.root);
        self.events(&mut walker, before, after);
        if !self.is_compared_by_type() {
            match (before.schema(DATA), after.schema(DATA)) {
                (Some(old), Some(new)) => self.compare_schemas(&mut walker, old, new, None, false),
                (Some(_), None) if self.new.events.is_none() => {
                    self.add(Delta::undecided("nothing is known of the new shape"));
                }
                _ => {}
            }
        }
        match (before.schema(ERROR), after.schema(ERROR)) {
            (Some(old), Some(new)) => self.compare_schemas(&mut walker, old, new, None, true),
            (Some(_), None) => {
                self.push(Delta::undecided("nothing is known of the new shape of errors"), None, true, None);
            }
            _ => {}
        }
    }

    /// Compares two schemas.
    pub fn compare_schemas<'b>(
        &mut self,
        walker: &mut Walker<'b>,
        old: &'b Value,
        new: &'b Value,
        event: Option<&str>,
        in_error: bool,
    ) {
        let found = walker.nodes(&vec![old], &vec![new]);
        let roots = (walker.old.schema(&vec![old]), walker.new.schema(&vec![new]));
        self.push_with_witnesses(
            &found,
            &roots,
            &walker.old.alternatives(&[old]),
            walker.old,
            event,
            in_error,
        );
    }

    /// Adds what was found between two schemas (also given as the alternatives of the old one), with
    /// witnesses.
    pub fn push_with_witnesses<'b>(
        &mut self,
        found: &[Delta],
        roots: &(Value, Value),
        before: &[TypedSchema<'b>],
        side: super::canonicalize::Canonicalizer<'b>,
        event: Option<&str>,
        in_error: bool,
    ) {
        let mut witnesses = super::witness::Witnesses::new(roots, side, before);
        let mut pushed = Vec::new();
        for one in found {
            let shows = matches!(one.class, Class::Breaking | Class::Risky);
            let sample = one.sample.as_ref().filter(|_| shows);
            pushed.push((one.clone(), sample.and_then(|sample| witnesses.check(one, sample))));
        }
        // Formats mean nothing to the algebra.
        let breaks = |one: &Delta| one.class == Class::Breaking && one.rule != "diff-format-loosened";
        let breaking = pushed.iter().any(|(one, _)| breaks(one));
        let witnessed = pushed.iter().any(|(one, witness)| breaks(one) && witness.is_some());
        if breaking && !witnessed && super::validator::covers(&roots.0, &roots.1) == Some(true) {
            // What changed is in parts that can never be there.
            pushed.retain(|(one, _)| !breaks(one));
        }
        for (one, witness) in pushed {
            self.push(one, event, in_error, witness);
        }
    }

    fn rules(&mut self) {
        for (id, old) in &self.old.rules {
            match self.new.rules.get(id) {
                Some(new) if new == old => {}
                Some(new) => {
                    let message =
                        format!("the rule `{id}` is another one: it cannot be told which is stricter");
                    self.add(Delta::undecided(message).old(json!(old)).new_value(json!(new)));
                }
                None => {
                    let message = format!("the rule `{id}` does not hold any longer");
                    self.add(Delta::breaking("diff-rule-removed", message).old(json!(old)));
                }
            }
        }
        for (id, new) in self.new.rules.iter().filter(|(id, _)| !self.old.rules.contains_key(*id)) {
            let message = format!("the rule `{id}` holds");
            self.add(Delta::compatible("diff-rule-added", message).new_value(json!(new)));
        }
    }

    fn key_order(&mut self) {
        for (pointer, old) in &self.old.key_order {
            let Some(new) = self.new.key_order.get(pointer) else { continue };
            let common = |keys: &[String], other: &[String]| -> Vec<String> {
                keys.iter().filter(|key| other.contains(key)).cloned().collect()
            };
            if common(old, new) != common(new, old) {
                let message = "the keys are written in another order";
                let mut found = Delta::compatible("diff-key-order-changed", message);
                found.path.clone_from(pointer);
                self.add(found.old(json!(old)).new_value(json!(new)));
            }
        }
    }
}

fn payload_phrase(payload: Payload) -> &'static str {
    match payload {
        Payload::Whole => "all data",
        Payload::Part => "whole records, perhaps not all",
        Payload::Nothing => "nothing",
        Payload::Any => "anything",
    }
}

fn codes(exits: &[Exit]) -> BTreeSet<i32> {
    exits.iter().flat_map(|exit| exit.codes.iter().copied()).collect()
}

fn join_or(codes: &[i32]) -> String {
    codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// Conditions of the same name; one on either side is a pair whatever it is called.
fn paired<'b>(old: &'b [Exit], new: &'b [Exit]) -> Vec<(&'b Exit, &'b Exit)> {
    if let ([old], [new]) = (old, new) {
        return vec![(old, new)];
    }
    let by_name: BTreeMap<&Option<String>, &Exit> = new.iter().map(|exit| (&exit.condition, exit)).collect();
    old.iter().filter_map(|exit| Some((exit, *by_name.get(&exit.condition)?))).collect()
}
