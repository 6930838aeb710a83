//! Compares two output specifications: exit codes, streams, schemas and rules.

use super::bundle::{Bundle, DATA_SCHEMA, ERROR_SCHEMA};
use super::canonicalize::Canonicalizer;
use super::change::{Change, ChangeSeverity};
use super::schema_comparer::SchemaComparer;
use super::typed_schema::TypedSchema;
use super::witness::Witnesses;
use agentnative_contract::budget::ExceededLimit;
use agentnative_contract::{ErrorOutput, ErrorSpec, ExitSpec, Framing, OutputSpec, Payload, Stream};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A comparison of the old and the new version of one output specification, with the changes that it found.
pub(super) struct OutputComparison<'a> {
    pub old: &'a OutputSpec,
    pub new: &'a OutputSpec,
    pub changes: Vec<Change>,
}

impl<'a> OutputComparison<'a> {
    pub fn new(old: &'a OutputSpec, new: &'a OutputSpec) -> Self {
        Self { old, new, changes: Vec::new() }
    }

    /// Compares both versions and returns the changes. If `spent` is set, an earlier comparison exceeded that limit:
    /// the schemas are skipped and reported as undecided.
    pub fn compare(mut self, spent: Option<ExceededLimit>) -> Vec<Change> {
        if self.old.unknown.is_some() || self.new.unknown.is_some() {
            self.report_unknown_sides();
            return self.changes;
        }
        self.compare_exits();
        let error_moved = self.compare_error_stream();
        // If an error moved, an empty stream on either side is no change of data.
        let has_no_contents =
            |spec: &OutputSpec| !matches!(spec.stdout(), Some(Payload::Whole | Payload::Part | Payload::Any));
        let has_data = !(error_moved && (has_no_contents(self.old) || has_no_contents(self.new)))
            && self.compare_stdout();
        match spent {
            None => self.compare_all_schemas(has_data),
            Some(spent) => {
                self.add(Change::undecided(format!(
                    "the schemas were not compared: the comparison needs {spent}"
                )));
            }
        }
        if has_data {
            self.compare_kinds();
        }
        self.compare_rules();
        self.compare_key_order();
        self.changes
    }

    /// Reports why a version is unknown. If only the new version is unknown, its exit codes are still compared.
    fn report_unknown_sides(&mut self) {
        let sides = [("old", &self.old.unknown), ("new", &self.new.unknown)];
        let reason =
            sides.map(|(side, reason)| reason.as_ref().map(|reason| format!("the {side} side: {reason}")));
        let reason = reason.into_iter().flatten().collect::<Vec<_>>().join("; ");
        if self.old.unknown.is_none() {
            self.compare_exits();
        }
        if self.changes.is_empty() {
            return self.add(Change::undecided(format!("nothing was compared: {reason}")));
        }
        self.changes
            .iter_mut()
            .for_each(|change| change.note = Some(format!("nothing else was compared: {reason}")));
    }

    /// Adds a change unless an equal one exists. Its pointer must begin at the root of the output; probe and format are
    /// set here.
    pub fn add(&mut self, change: Change) {
        let probe = self.new.probe.clone().or_else(|| self.old.probe.clone());
        let format = self.new.format.or(self.old.format);
        let change = Change { probe, format, example: None, ..change };
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }

    fn compare_exits(&mut self) {
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
        for (old_exit, new_exit) in pair_exits(old, new) {
            if old_exit.codes.is_empty() || new_exit.codes.is_empty() {
                continue;
            }
            let condition =
                new_exit.condition.as_ref().map_or_else(String::new, |name| format!(" when `{name}`"));
            if !old_exit.codes.iter().any(|code| new_exit.codes.contains(code)) {
                let message = format!(
                    "the exit code{condition} changed from {} to {}",
                    join_or(&old_exit.codes),
                    join_or(&new_exit.codes)
                );
                let change = Change::breaking("diff-exit-changed", message);
                self.add(change.old(&old_exit.codes).new_value(&new_exit.codes));
                reported.extend(old_exit.codes.iter().chain(&new_exit.codes).copied());
            }
            self.compare_payload(old_exit, new_exit, &condition);
            self.compare_stderr(old_exit, new_exit, &condition);
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

    fn compare_payload(&mut self, old: &ExitSpec, new: &ExitSpec, condition: &str) {
        let (Some(before), Some(after)) = (old.stdout, new.stdout) else { return };
        // The contents of stdout in all runs are compared with the data.
        if old.condition.is_none() || new.condition.is_none() {
            return;
        }
        if before == after {
            return;
        }
        let (old_phrase, new_phrase) = (payload_phrase(before), payload_phrase(after));
        let message = format!("stdout contains {new_phrase}{condition}; before: {old_phrase}");
        let narrower = before == Payload::Any || (before, after) == (Payload::Part, Payload::Whole);
        let class = if narrower { ChangeSeverity::Compatible } else { ChangeSeverity::Breaking };
        let change = Change::new("diff-exit-payload-changed", class, message);
        self.add(change.old(before.name()).new_value(after.name()));
    }

    /// Compares what stderr contains at an exit. `condition` is the condition of the exit as text for the message.
    fn compare_stderr(&mut self, old: &ExitSpec, new: &ExitSpec, condition: &str) {
        let Some(before) = old.stderr.filter(|before| new.stderr != Some(*before)) else { return };
        let after = new.stderr.map_or("unknown contents", ErrorOutput::name);
        let message = format!("stderr contains {after}{condition}; before: {}", before.name());
        let change = Change::breaking("diff-exit-payload-changed", message);
        self.add(change.old(before.name()).new_value(after));
    }

    /// Compares the schemas of the error objects. If `has_data` is set, also compares the schemas of the data.
    fn compare_all_schemas(&mut self, has_data: bool) {
        let schemas = |spec: &'a OutputSpec| (&spec.schema, &spec.events, &spec.errors, &spec.documents);
        if schemas(self.old) == schemas(self.new) {
            return;
        }
        let (before, after) = (Bundle::new(self.old), Bundle::new(self.new));
        let mut comparer = SchemaComparer::new(&before.root, &after.root);
        if has_data {
            self.compare_data(&mut comparer, &before, &after);
        }
        let (Some(old_errors), Some(new_errors)) = (&self.old.errors, &self.new.errors) else { return };
        if old_errors.stream != new_errors.stream || has_data && old_errors.stream == Stream::Stdout {
            // The error moved to the other stream, or is the data that was already compared.
            return;
        }
        match (before.schema(ERROR_SCHEMA), after.schema(ERROR_SCHEMA)) {
            (Some(old), Some(new)) => self.compare_schemas(&mut comparer, old, new, true),
            (Some(_), None) if !is_text(self.new, new_errors) => {
                let change =
                    Change::undecided("the new side has no information about the shape of its errors");
                self.add(Change { in_error: true, ..change });
            }
            _ => {}
        }
    }

    fn compare_data<'b>(&mut self, comparer: &mut SchemaComparer<'b>, before: &'b Bundle, after: &'b Bundle) {
        let events =
            [self.old.framing, self.new.framing].map(|framing| framing.is_some_and(Framing::has_events));
        if self.compare_events(comparer, before, after) && events == [true; 2] {
            return;
        }
        match (before.schema(DATA_SCHEMA), after.schema(DATA_SCHEMA)) {
            (Some(old), Some(new)) => self.compare_schemas(comparer, old, new, false),
            (Some(_), None) if self.new.events.is_none() => {
                self.add(Change::undecided("the new side has no information about the shape of its data"));
            }
            _ => {}
        }
    }

    /// Compares two schemas and adds their changes. `in_error` marks the changes as those of the error object instead
    /// of the data.
    fn compare_schemas<'b>(
        &mut self,
        comparer: &mut SchemaComparer<'b>,
        old: &'b Value,
        new: &'b Value,
        in_error: bool,
    ) {
        let changes = comparer.compare_nodes(&[old], &[new]);
        let changes = changes.iter().map(|change| Change { in_error, ..change.clone() }).collect();
        let roots = (comparer.old.combined_schema(&[old]), comparer.new.combined_schema(&[new]));
        self.add_with_witnesses(changes, &roots, &comparer.old.alternatives(&[old]), comparer.old);
    }

    /// Adds changes between two schemas, each with a witness if its example is one. `roots` contains the old and the
    /// new schema, and `before` the alternatives of the old one.
    pub fn add_with_witnesses<'b>(
        &mut self,
        mut changes: Vec<Change>,
        roots: &(Value, Value),
        before: &[TypedSchema<'b>],
        side: Canonicalizer<'b>,
    ) {
        let witnesses = Witnesses::new(roots, side, before);
        for change in changes
            .iter_mut()
            .filter(|change| matches!(change.class, ChangeSeverity::Breaking | ChangeSeverity::Risky))
        {
            change.witness = change.example.take().and_then(|example| witnesses.check(change, &example));
        }
        // The schema algebra ignores formats.
        let is_breaking = |change: &Change| {
            change.class == ChangeSeverity::Breaking && change.rule != "diff-format-loosened"
        };
        let mut breaking = changes.iter().filter(|change| is_breaking(change)).peekable();
        let unwitnessed = breaking.peek().is_some() && breaking.all(|change| change.witness.is_none());
        if unwitnessed && super::validator::covers(&roots.0, &roots.1) == Some(true) {
            // The changes are in parts that no valid output has.
            changes.retain(|change| !is_breaking(change));
        }
        changes.into_iter().for_each(|change| self.add(change));
    }

    fn compare_rules(&mut self) {
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

    /// Compares the values of keys that name a type, such as `type`. The key of the event type is not included. A key
    /// for which only one version has values is no change.
    fn compare_kinds(&mut self) {
        let missing = |words: &[String], others: &[String]| -> Vec<String> {
            words.iter().filter(|word| !others.contains(word)).cloned().collect()
        };
        for (pointer, old) in &self.old.kinds {
            let Some(new) = self.new.kinds.get(pointer) else { continue };
            let (removed, added) = (missing(old, new), missing(new, old));
            let renamed = |words: &[String], others: &[String], suffix: &str| match (words, others) {
                ([_], [other]) => Some(format!("this looks like a rename: `{other}` {suffix}")),
                _ => None,
            };
            for word in &removed {
                let message = format!("the value `{word}` no longer occurs");
                let change = Change::new("diff-kind-removed", ChangeSeverity::Risky, message).old(word);
                self.add(Change {
                    pointer: pointer.clone(),
                    note: renamed(&removed, &added, "is new"),
                    ..change
                });
            }
            for word in &added {
                let message = format!("the value `{word}` is new");
                let change = Change::new("diff-kind-added", ChangeSeverity::Risky, message).new_value(word);
                self.add(Change {
                    pointer: pointer.clone(),
                    note: renamed(&added, &removed, "was removed"),
                    ..change
                });
            }
        }
    }

    fn compare_key_order(&mut self) {
        for (pointer, old) in &self.old.key_order {
            let Some(new) = self.new.key_order.get(pointer) else { continue };
            let common = |keys: &[String], other: &[String]| -> Vec<String> {
                keys.iter().filter(|key| other.contains(key)).cloned().collect()
            };
            if common(old, new) != common(new, old) {
                let message = "the order of the keys changed";
                let mut change = Change::compatible("diff-key-order-changed", message);
                change.pointer.clone_from(pointer);
                self.add(change.old(old).new_value(new));
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

fn codes(exits: &[ExitSpec]) -> BTreeSet<i32> {
    exits.iter().flat_map(|exit| exit.codes.iter().copied()).collect()
}

fn join_or(codes: &[i32]) -> String {
    codes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" or ")
}

/// Pairs the exits of both versions that have the same condition. If each version has a single exit, the two are paired
/// whatever their conditions are.
fn pair_exits<'b>(old: &'b [ExitSpec], new: &'b [ExitSpec]) -> Vec<(&'b ExitSpec, &'b ExitSpec)> {
    if let ([old], [new]) = (old, new) {
        return vec![(old, new)];
    }
    let by_name: BTreeMap<&Option<String>, &ExitSpec> =
        new.iter().map(|exit| (&exit.condition, exit)).collect();
    old.iter().filter_map(|exit| Some((exit, *by_name.get(&exit.condition)?))).collect()
}

/// Returns whether errors are known to be text instead of a JSON object: the specification is inferred, and has no
/// schema for errors.
pub(super) fn is_text(spec: &OutputSpec, errors: &ErrorSpec) -> bool {
    errors.schema.is_none() && spec.is_inferred()
}
