//! Two promises side by side: what is not in schemas, and then the schemas.

use super::bundle::{Bundle, DATA, ERROR};
use super::canonicalize::Canonicalizer;
use super::change::{Change, Class};
use super::typed_schema::TypedSchema;
use super::walk::Walker;
use super::witness::Witnesses;
use crate::{Errors, Exit, Framing, OutputSpec, Payload, Stream};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Compares two versions of one promise.
pub(super) struct OutputComparison<'a> {
    pub old: &'a OutputSpec,
    pub new: &'a OutputSpec,
    pub changes: Vec<Change>,
}

impl<'a> OutputComparison<'a> {
    pub fn new(old: &'a OutputSpec, new: &'a OutputSpec) -> Self {
        Self { old, new, changes: Vec::new() }
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

    /// Adds a change whose place in the output is known.
    pub fn add(&mut self, found: Change) {
        let probe = self.new.probe.clone().or_else(|| self.old.probe.clone());
        let format = self.new.format.or(self.old.format);
        let change = Change { probe, format, sample: None, ..found };
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
                let found = Change::breaking("diff-framing-changed", message);
                self.add(found.old(old.name()).new_value(new.name()));
                false
            }
            (Some(old), None) => {
                let message = "it was data, now nothing is known to be";
                self.add(Change::undecided(message).old(old.name()));
                false
            }
            _ => true,
        }
    }

    fn exits(&mut self) {
        let (old, new) = (&self.old.exits, &self.new.exits);
        if old.is_empty() || new.is_empty() {
            if !old.is_empty() {
                self.add(Change::undecided("nothing is known of the new exit codes").old(codes(old)));
            }
            return;
        }
        let (before, after) = (codes(old), codes(new));
        let mut reported = BTreeSet::new();
        for (was, is) in paired(old, new) {
            if was.codes.is_empty() || is.codes.is_empty() {
                continue;
            }
            let what = is.condition.as_ref().map_or_else(String::new, |name| format!(" when `{name}`"));
            if !was.codes.iter().any(|code| is.codes.contains(code)) {
                let message =
                    format!("the exit code{what} is {}, it was {}", join_or(&is.codes), join_or(&was.codes));
                let found = Change::breaking("diff-exit-changed", message);
                self.add(found.old(&was.codes).new_value(&is.codes));
                reported.extend(was.codes.iter().chain(&is.codes).copied());
            }
            self.payload(was, is, &what);
        }
        for code in after.difference(&before).filter(|code| !reported.contains(*code)) {
            let message = format!("the exit code {code} is new");
            self.add(Change::breaking("diff-exit-added", message).old(&before).new_value(code));
        }
        for code in before.difference(&after).filter(|code| !reported.contains(*code)) {
            let message = format!("the exit code {code} is gone");
            self.add(Change::compatible("diff-exit-removed", message).old(code).new_value(&after));
        }
    }

    fn payload(&mut self, was: &Exit, is: &Exit, what: &str) {
        let (Some(before), Some(after)) = (was.stdout, is.stdout) else { return };
        if before == after {
            return;
        }
        let (held, holds) = (payload_phrase(before), payload_phrase(after));
        let message = format!("standard output holds {holds}{what}, it held {held}");
        let narrower = before == Payload::Any || (before, after) == (Payload::Part, Payload::Whole);
        let class = if narrower { Class::Compatible } else { Class::Breaking };
        let found = Change::new("diff-exit-payload-changed", class, message);
        self.add(found.old(before.name()).new_value(after.name()));
    }

    fn error_channel(&mut self) {
        let (Some(old), new) = (&self.old.errors, &self.new.errors) else { return };
        let stream = |errors: &Errors| if errors.stream == Stream::Stdout { "stdout" } else { "stderr" };
        let was = stream(old);
        match new.as_ref().map(stream) {
            Some(is) if is != was => {
                let message = format!("errors are on {is} now, they were on {was}");
                self.add(Change::breaking("diff-error-stream-changed", message).old(was).new_value(is));
            }
            None => self.add(Change::undecided("nothing is known of where errors are now").old(was)),
            _ => {}
        }
    }

    fn schemas(&mut self, before: &Bundle, after: &Bundle) {
        let mut walker = Walker::new(&before.root, &after.root);
        let lines = [self.old.framing, self.new.framing] == [Some(Framing::Lines); 2];
        if !(self.events(&mut walker, before, after) && lines) {
            match (before.schema(DATA), after.schema(DATA)) {
                (Some(old), Some(new)) => self.compare_schemas(&mut walker, old, new, false),
                (Some(_), None) if self.new.events.is_none() => {
                    self.add(Change::undecided("nothing is known of the new shape"));
                }
                _ => {}
            }
        }
        match (before.schema(ERROR), after.schema(ERROR)) {
            (Some(old), Some(new)) => self.compare_schemas(&mut walker, old, new, true),
            (Some(_), None) => {
                let found = Change::undecided("nothing is known of the new shape of errors");
                self.add(Change { in_error: true, ..found });
            }
            _ => {}
        }
    }

    /// Compares the schemas of the data or of the error object.
    fn compare_schemas<'b>(
        &mut self,
        walker: &mut Walker<'b>,
        old: &'b Value,
        new: &'b Value,
        in_error: bool,
    ) {
        let found = walker.nodes(&[old], &[new]);
        let found = found.iter().map(|found| Change { in_error, ..found.clone() }).collect();
        let roots = (walker.old.schema(&[old]), walker.new.schema(&[new]));
        self.add_with_witnesses(found, &roots, &walker.old.alternatives(&[old]), walker.old);
    }

    /// Adds what was found between two schemas (also given as the alternatives of the old one), with
    /// witnesses.
    pub fn add_with_witnesses<'b>(
        &mut self,
        mut found: Vec<Change>,
        roots: &(Value, Value),
        before: &[TypedSchema<'b>],
        side: Canonicalizer<'b>,
    ) {
        let witnesses = Witnesses::new(roots, side, before);
        for one in found.iter_mut().filter(|one| matches!(one.class, Class::Breaking | Class::Risky)) {
            one.witness = one.sample.take().and_then(|sample| witnesses.check(one, &sample));
        }
        // Formats mean nothing to the algebra.
        let breaks = |one: &Change| one.class == Class::Breaking && one.rule != "diff-format-loosened";
        let mut breaking = found.iter().filter(|one| breaks(one)).peekable();
        let unwitnessed = breaking.peek().is_some() && breaking.all(|one| one.witness.is_none());
        if unwitnessed && super::validator::covers(&roots.0, &roots.1) == Some(true) {
            // What changed is in parts that can never be there.
            found.retain(|one| !breaks(one));
        }
        found.into_iter().for_each(|one| self.add(one));
    }

    fn rules(&mut self) {
        for (id, old) in &self.old.rules {
            match self.new.rules.get(id) {
                Some(new) if new == old => {}
                Some(new) => {
                    let message =
                        format!("the rule `{id}` is another one: it cannot be told which is stricter");
                    self.add(Change::undecided(message).old(old).new_value(new));
                }
                None => {
                    let message = format!("the rule `{id}` does not hold any longer");
                    self.add(Change::breaking("diff-rule-removed", message).old(old));
                }
            }
        }
        for (id, new) in self.new.rules.iter().filter(|(id, _)| !self.old.rules.contains_key(*id)) {
            let message = format!("the rule `{id}` holds");
            self.add(Change::compatible("diff-rule-added", message).new_value(new));
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
                let mut found = Change::compatible("diff-key-order-changed", message);
                found.pointer.clone_from(pointer);
                self.add(found.old(old).new_value(new));
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
