//! Two promises side by side: what is not in schemas, and then the schemas.

use super::bundle::{Bundle, DATA, ERROR};
use super::canonicalize::Canonicalizer;
use super::change::{Change, Class};
use super::typed_schema::TypedSchema;
use super::walk::Walker;
use super::witness::Witnesses;
use agentnative_contract::budget::Spent;
use agentnative_contract::{ErrorOutput, Errors, Exit, Framing, OutputSpec, Payload, Stream};
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

    /// All changes, those of the whole output first. The schemas are left out where comparing them has spent its
    /// budget.
    pub fn compare(mut self, spent: Option<Spent>) -> Vec<Change> {
        if self.old.unknown.is_some() || self.new.unknown.is_some() {
            self.not_compared();
            return self.changes;
        }
        self.exits();
        let moved = self.error_channel();
        // Where an error moved, the stream that it left or came to says nothing more of data.
        let empty =
            |spec: &OutputSpec| !matches!(spec.stdout(), Some(Payload::Whole | Payload::Part | Payload::Any));
        let data = !(moved && (empty(self.old) || empty(self.new))) && self.stdout();
        match spent {
            None => self.schemas(data),
            Some(spent) => {
                self.add(Change::undecided(format!("the schemas were not compared: this needs {spent}")));
            }
        }
        if data {
            self.kinds();
        }
        self.rules();
        self.key_order();
        self.changes
    }

    /// Tells which side says nothing and why, and that the exit code is another one if the old one is known.
    fn not_compared(&mut self) {
        let sides = [("old", &self.old.unknown), ("new", &self.new.unknown)];
        let why = sides.map(|(side, why)| why.as_ref().map(|why| format!("the {side} side: {why}")));
        let why = why.into_iter().flatten().collect::<Vec<_>>().join("; ");
        if self.old.unknown.is_none() {
            self.exits();
        }
        if self.changes.is_empty() {
            return self.add(Change::undecided(format!("nothing was compared: {why}")));
        }
        self.changes
            .iter_mut()
            .for_each(|change| change.note = Some(format!("nothing else was compared: {why}")));
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

    fn exits(&mut self) {
        let (old, new) = (&self.old.exits, &self.new.exits);
        if old.is_empty() || new.is_empty() {
            if !old.is_empty() && self.new.unknown.is_none() {
                self.add(
                    Change::undecided("the new side has no information about its exit codes").old(codes(old)),
                );
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
                let message = format!(
                    "the exit code{what} changed: now {}, before {}",
                    join_or(&is.codes),
                    join_or(&was.codes)
                );
                let found = Change::breaking("diff-exit-changed", message);
                self.add(found.old(&was.codes).new_value(&is.codes));
                reported.extend(was.codes.iter().chain(&is.codes).copied());
            }
            self.payload(was, is, &what);
            self.error_output(was, is, &what);
        }
        for code in after.difference(&before).filter(|code| !reported.contains(*code)) {
            let message = format!("the exit code {code} is new");
            self.add(Change::breaking("diff-exit-added", message).old(&before).new_value(code));
        }
        for code in before.difference(&after).filter(|code| !reported.contains(*code)) {
            let message = format!("the exit code {code} was removed");
            self.add(Change::compatible("diff-exit-removed", message).old(code).new_value(&after));
        }
    }

    fn payload(&mut self, was: &Exit, is: &Exit, what: &str) {
        let (Some(before), Some(after)) = (was.stdout, is.stdout) else { return };
        // What runs held is compared with their data.
        if was.condition.is_none() || is.condition.is_none() {
            return;
        }
        if before == after {
            return;
        }
        let (held, holds) = (payload_phrase(before), payload_phrase(after));
        let message = format!("stdout contains {holds}{what}; before: {held}");
        let narrower = before == Payload::Any || (before, after) == (Payload::Part, Payload::Whole);
        let class = if narrower { Class::Compatible } else { Class::Breaking };
        let found = Change::new("diff-exit-payload-changed", class, message);
        self.add(found.old(before.name()).new_value(after.name()));
    }

    /// Compares what stderr contains when runs end in a condition.
    fn error_output(&mut self, was: &Exit, is: &Exit, what: &str) {
        let Some(before) = was.stderr.filter(|before| is.stderr != Some(*before)) else { return };
        let after = is.stderr.map_or("unknown contents", ErrorOutput::name);
        let message = format!("stderr contains {after}{what}; before: {}", before.name());
        let found = Change::breaking("diff-exit-payload-changed", message);
        self.add(found.old(before.name()).new_value(after));
    }

    /// Compares the schemas: those of the data, if there is any on both sides, and those of errors.
    fn schemas(&mut self, data: bool) {
        let said = |spec: &'a OutputSpec| (&spec.schema, &spec.events, &spec.errors, &spec.documents);
        if said(self.old) == said(self.new) {
            return;
        }
        let (before, after) = (Bundle::new(self.old), Bundle::new(self.new));
        let mut walker = Walker::new(&before.root, &after.root);
        if data {
            self.data(&mut walker, &before, &after);
        }
        let (Some(was), Some(is)) = (&self.old.errors, &self.new.errors) else { return };
        if was.stream != is.stream || data && was.stream == Stream::Stdout {
            // It moved, or is the data that was compared.
            return;
        }
        match (before.schema(ERROR), after.schema(ERROR)) {
            (Some(old), Some(new)) => self.compare_schemas(&mut walker, old, new, true),
            (Some(_), None) if !is_text(self.new, is) => {
                let found =
                    Change::undecided("the new side has no information about the shape of its errors");
                self.add(Change { in_error: true, ..found });
            }
            _ => {}
        }
    }

    fn data<'b>(&mut self, walker: &mut Walker<'b>, before: &'b Bundle, after: &'b Bundle) {
        let events =
            [self.old.framing, self.new.framing].map(|framing| framing.is_some_and(Framing::has_events));
        if self.events(walker, before, after) && events == [true; 2] {
            return;
        }
        match (before.schema(DATA), after.schema(DATA)) {
            (Some(old), Some(new)) => self.compare_schemas(walker, old, new, false),
            (Some(_), None) if self.new.events.is_none() => {
                self.add(Change::undecided("the new side has no information about the shape of its data"));
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
                    let message = format!(
                        "the rule `{id}` changed; the comparison cannot decide which version is stricter"
                    );
                    self.add(Change::undecided(message).old(old).new_value(new));
                }
                None => {
                    let message = format!("the rule `{id}` was removed");
                    self.add(Change::breaking("diff-rule-removed", message).old(old));
                }
            }
        }
        for (id, new) in self.new.rules.iter().filter(|(id, _)| !self.old.rules.contains_key(*id)) {
            let message = format!("the rule `{id}` is new");
            self.add(Change::compatible("diff-rule-added", message).new_value(new));
        }
    }

    /// Compares the values of keys that name a type, below the type of an event. Where nothing was seen on
    /// one side, that is no change.
    fn kinds(&mut self) {
        let missing = |words: &[String], others: &[String]| -> Vec<String> {
            words.iter().filter(|word| !others.contains(word)).cloned().collect()
        };
        for (pointer, old) in &self.old.kinds {
            let Some(new) = self.new.kinds.get(pointer) else { continue };
            let (gone, come) = (missing(old, new), missing(new, old));
            let renamed = |of: &[String], others: &[String], what: &str| match (of, others) {
                ([_], [other]) => Some(format!("this looks like a rename: `{other}` {what}")),
                _ => None,
            };
            for word in &gone {
                let message = format!("the value `{word}` no longer occurs");
                let found = Change::new("diff-kind-removed", Class::Risky, message).old(word);
                self.add(Change { pointer: pointer.clone(), note: renamed(&gone, &come, "is new"), ..found });
            }
            for word in &come {
                let message = format!("the value `{word}` is new");
                let found = Change::new("diff-kind-added", Class::Risky, message).new_value(word);
                self.add(Change {
                    pointer: pointer.clone(),
                    note: renamed(&come, &gone, "was removed"),
                    ..found
                });
            }
        }
    }

    fn key_order(&mut self) {
        for (pointer, old) in &self.old.key_order {
            let Some(new) = self.new.key_order.get(pointer) else { continue };
            let common = |keys: &[String], other: &[String]| -> Vec<String> {
                keys.iter().filter(|key| other.contains(key)).cloned().collect()
            };
            if common(old, new) != common(new, old) {
                let message = "the order of the keys changed";
                let mut found = Change::compatible("diff-key-order-changed", message);
                found.pointer.clone_from(pointer);
                self.add(found.old(old).new_value(new));
            }
        }
    }
}

fn payload_phrase(payload: Payload) -> &'static str {
    match payload {
        Payload::Whole => "complete data",
        Payload::Part => "complete records, possibly not all",
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

/// Whether the error is known to be text and no object.
pub(super) fn is_text(spec: &OutputSpec, errors: &Errors) -> bool {
    errors.schema.is_none() && spec.is_learnt()
}
