//! Compares a sample with a schema. Each document of the sample is validated. Values that the schema rejects and keys
//! that it does not name are changes.

mod keywords;
mod occurrences;
mod schema_tree;
mod side;

pub use side::SampleSide;

use super::bundle::{self, Bundle, DATA_SCHEMA};
use super::canonicalize::Canonicalizer;
use super::change::{Change, ChangeSeverity, SamplePosition};
use super::predicates::contains;
use super::schema_comparer::{excerpt, type_phrase};
use super::streams::framing_phrase;
use super::typed_schema::{accepts_nothing, type_bit};
use super::variants::candidate_discriminators;
use super::witness::missing_key;
use crate::infer::detect_framing;
use crate::samples::{bad_json, no_samples};
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{
    Against, Contract, DataFile, Decimal, Framing, JudgedRecord, OutputSpec, RecordObserver, RunExit,
    Settings, Validation, Verdict, Violation,
};
use occurrences::{Occurrence, Occurrences};
use schema_tree::{Alternative, Located, Nodes, Schemas, Visit};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use strict_json::{JsonType, ProblemKind, TapeKey, TapeNode, escape_token};

/// Maximum number of errors examined per record. Further errors are only counted.
const MAX_ERRORS: usize = 10_000;
/// Maximum number of errors examined per sample in the coarse comparison, which does not keep the values.
const MAX_COARSE_ERRORS: usize = 1_000;

/// The result of comparing a sample with a schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleComparison {
    /// Changes between the schema and the sample, the most severe first.
    pub changes: Vec<Change>,
    /// Number of documents or records in the sample.
    pub records: u64,
    /// Number of documents or records in the sample that the schema rejects.
    pub rejected: u64,
}

/// Compares the documents or records in a file with a contract. A plain schema is passed in the form of a contract. No
/// schema is inferred from the file: each change occurs at a place in it. `side` says whether the file is the old or
/// the new version.
///
/// # Errors
/// A usage error if the file cannot be opened; a configuration error if it contains no strict JSON or no samples.
pub fn compare_sample(contract: &Arc<Contract>, sample: &Path, side: SampleSide) -> Result<SampleComparison> {
    let found = framing(contract, sample)?;
    let framing = match (contract.framing(), found) {
        (Framing::Array, Framing::Document) => Framing::Array,
        (Framing::Document, found) => found,
        (expected, found) if expected == found => found,
        (expected, found) => return Ok(SampleComparison::framing_change(expected, found, side)),
    };
    let whole = budget::run_within(Budget::COMPARISON, {
        let (contract, sample) = (Arc::clone(contract), sample.to_owned());
        move || compare_records(&contract, &sample, framing, side)
    });
    whole.unwrap_or_else(|spent| {
        let mut compared = compare_coarsely(contract, sample, framing, side)?;
        let message =
            format!("keys that the schema does not name were not reported: the comparison needs {spent}");
        compared.changes.push(Change::undecided(message));
        compared.changes.sort_by_key(|change| change.class);
        Ok(compared)
    })
}

/// Returns the framing of a sample. The name of a JSON Lines file decides. So does any other known name if the contract
/// is for documents. Otherwise the contents decide.
fn framing(contract: &Contract, sample: &Path) -> Result<Framing> {
    let mut file = DataFile::open(sample)?;
    match file.framing {
        Some(framing) if framing == Framing::Lines || contract.framing() == Framing::Document => Ok(framing),
        _ => detect_framing(&mut file.reader, &mut Vec::new())
            .map_err(|error| Error::data_file(sample, &error)),
    }
}

impl SampleComparison {
    fn framing_change(expected: Framing, found: Framing, side: SampleSide) -> Self {
        let message = format!("expected {}, found {}", framing_phrase(expected), framing_phrase(found));
        let change = Change::breaking("diff-framing-changed", message);
        let (old, new) = match side {
            SampleSide::New => (expected, found),
            SampleSide::Old => (found, expected),
        };
        Self { changes: vec![change.old(old.name()).new_value(new.name())], ..Self::default() }
    }
}

/// Compares a sample with a contract in full: each value of each record with the schemas that apply to it.
fn compare_records(
    contract: &Contract,
    sample: &Path,
    framing: Framing,
    side: SampleSide,
) -> Result<SampleComparison> {
    let bundle = Bundle::new(&OutputSpec::from_contract(contract));
    let mut comparer = SampleComparer {
        contract,
        bundle: &bundle,
        schemas: Schemas::new(Canonicalizer { root: &bundle.root }),
        occurrences: Occurrences::new(side),
        records: 0,
        rejected: 0,
    };
    let read = |validation: &mut Validation<'_>, file: DataFile| {
        validation.validate_observed(file.reader, &mut comparer)
    };
    let (of_run, incomplete) = validate(contract, sample, framing, MAX_ERRORS, read)?;
    let SampleComparer { mut occurrences, records, rejected, .. } = comparer;
    of_run.violations.iter().for_each(|violation| occurrences.add(violation_occurrence(violation, records)));
    Ok(SampleComparison { changes: occurrences.into_changes(incomplete), records, rejected })
}

/// Compares a sample with a contract by its violations alone. This needs little memory, but finds no keys that the
/// schema does not name.
fn compare_coarsely(
    contract: &Contract,
    sample: &Path,
    framing: Framing,
    side: SampleSide,
) -> Result<SampleComparison> {
    let mut occurrences = Occurrences::new(side);
    let read = |validation: &mut Validation<'_>, file: DataFile| {
        validation.validate(file.reader, &mut |_| budget::finish_step())
    };
    let (found, incomplete) = validate(contract, sample, framing, MAX_COARSE_ERRORS, read)?;
    let rejected: BTreeSet<_> =
        found.violations.iter().map(|violation| violation.event.or(violation.line)).collect();
    let rejected = if framing == Framing::Document { rejected.len().min(1) } else { rejected.len() };
    found
        .violations
        .iter()
        .for_each(|violation| occurrences.add(violation_occurrence(violation, found.records)));
    let (records, rejected) = (found.records, rejected as u64);
    Ok(SampleComparison { changes: occurrences.into_changes(incomplete), records, rejected })
}

/// The violations of a schema or contract in a sample, and the number of its records.
struct Validated {
    violations: Vec<Violation>,
    records: u64,
}

/// Validates a sample. Returns its violations, and the number of further errors that were counted but not kept.
fn validate(
    contract: &Contract,
    sample: &Path,
    framing: Framing,
    max_errors: usize,
    read: impl FnOnce(&mut Validation<'_>, DataFile) -> io::Result<Verdict>,
) -> Result<(Validated, u64)> {
    let file = DataFile::open(sample)?;
    let name = file.name.clone();
    let settings = Settings { framing, max_errors, exit: RunExit::default(), threads: 1 };
    let verdict = read(&mut Validation::new(contract, settings), file);
    let verdict = verdict.map_err(|error| Error::data_file(sample, &error))?;
    let (mut bad, violations): (Vec<_>, Vec<_>) =
        verdict.errors.into_iter().partition(|violation| violation.against == Against::Json);
    // A sample may consist of any values, although the lines of a stream are objects.
    bad.retain(|violation| violation.rule != ProblemKind::NotObject.name());
    if !bad.is_empty() {
        return Err(bad_json(&name, sample, bad));
    }
    if verdict.records == 0 {
        return Err(no_samples(&name));
    }
    let incomplete = verdict.omitted.count_against(Against::Schema)
        + verdict.omitted.count_against(Against::Stream)
        + verdict.skipped_facts;
    Ok((Validated { violations, records: verdict.records }, incomplete))
}

/// Creates an occurrence of a change from a violation alone. `records` is the number of the record if the violation
/// names none.
fn violation_occurrence(violation: &Violation, records: u64) -> Occurrence {
    let location = SamplePosition {
        record: violation.event.unwrap_or(records),
        line: violation.line,
        column: violation.column,
        pointer: violation.pointer.clone(),
    };
    let tokens = violation.pointer.split('/');
    let tokens = tokens.map(|token| if keywords::is_index(token) { "*" } else { token });
    let pointer = tokens.collect::<Vec<_>>().join("/");
    let constraint = violation.rule.clone();
    let occurrence =
        Occurrence { pointer, constraint, location, ..Occurrence::new(keywords::rule_of(violation, None)) };
    occurrence.message(keywords::message(violation))
}

/// Observer that compares each record of a sample with the schemas, and collects the occurrences of changes.
struct SampleComparer<'b> {
    contract: &'b Contract,
    bundle: &'b Bundle,
    schemas: Schemas<'b>,
    occurrences: Occurrences,
    records: u64,
    rejected: u64,
}

impl RecordObserver for SampleComparer<'_> {
    fn observe(&mut self, record: JudgedRecord<'_>) {
        budget::finish_step();
        self.records += 1;
        let (violations, Some(root)) = (&record.violations, record.value.root()) else { return };
        self.rejected += u64::from(!violations.is_empty());
        let event = record.event_type.map(str::to_owned);
        let nodes = self.nodes(record.event_type);
        let context = RecordContext { record: &record, number: self.records, event, nodes, root };
        if let Some(name) = record.unknown.filter(|name| !name.is_empty())
            && violations.iter().all(|violation| violation.rule != "event-type")
        {
            self.report_unknown_type(&context, name);
        }
        self.report_unnamed_keys(&context);
        for violation in violations {
            self.report_violation(&context, violation);
        }
    }
}

/// A record of the sample, with its number, its event type and the schemas that apply to it.
struct RecordContext<'r, 'b> {
    record: &'r JudgedRecord<'r>,
    number: u64,
    /// Event type of the record; `None` if it has none.
    event: Option<String>,
    nodes: Nodes<'b>,
    root: TapeNode<'r>,
}

impl RecordContext<'_, '_> {
    /// Returns the position of a value in the sample. `pointer` is its JSON Pointer in the record.
    fn position(&self, pointer: &str, value: TapeNode<'_>) -> SamplePosition {
        let at = self.record.locate(value.offset());
        SamplePosition {
            record: self.number,
            line: Some(at.map_or(self.record.line, |at| at.line)),
            column: at.map(|at| at.column),
            pointer: pointer.to_owned(),
        }
    }

    /// Creates an occurrence of a change with the given rule. Its position is the one of `value`.
    fn occurrence(&self, rule: &'static str, located: &Located<'_, '_>, value: TapeNode<'_>) -> Occurrence {
        Occurrence {
            event: self.event.clone(),
            variant: located.variant.clone(),
            pointer: located.general_pointer.clone(),
            value: Some(value_summary(value)),
            types: type_bit(value.json_type()),
            location: self.position(&located.pointer, value),
            ..Occurrence::new(rule)
        }
    }
}

impl<'b> SampleComparer<'b> {
    /// Returns the schemas that apply to a record of the given event type. Without one, these are the schemas of the
    /// data.
    fn nodes(&self, event: Option<&str>) -> Nodes<'b> {
        let event_schema = event.and_then(|name| self.bundle.schema(&bundle::event_schema_name(name)));
        let schema = event_schema.or_else(|| self.bundle.schema(DATA_SCHEMA));
        schema.map(|schema| vec![self.schemas.node(&[schema])]).unwrap_or_default()
    }

    fn report_unknown_type(&mut self, context: &RecordContext<'_, 'b>, name: &str) {
        let Some(discriminator) = self.contract.discriminator() else { return };
        let located = self.schemas.locate(&context.nodes, context.root, discriminator);
        self.occurrences.add(Occurrence {
            event: Some(name.to_owned()),
            value: Some(json!(name)),
            messages: [
                format!("the contract does not declare the event type `{name}`"),
                format!("the event type `{name}` is new"),
            ],
            ..context.occurrence("diff-event-added", &located, located.value)
        });
    }

    /// Reports the keys of a record that the schema allows but does not name, and records the types of all values.
    fn report_unnamed_keys(&mut self, context: &RecordContext<'_, 'b>) {
        let Self { schemas, occurrences, .. } = self;
        schemas.walk(&context.nodes, context.root, &mut |visit| match visit {
            Visit::Type(general, json_type) => occurrences.record_type(general, json_type),
            Visit::UnnamedKey(key, located) => {
                occurrences.add(key_occurrence(context, "diff-key-added", key, located))
            }
        });
    }

    fn report_violation(&mut self, context: &RecordContext<'_, 'b>, violation: &Violation) {
        let located = self.schemas.locate(&context.nodes, context.root, &violation.pointer);
        match violation.keyword.as_deref() {
            Some("oneOf" | "anyOf") if self.report_variant(context, &located) => {}
            Some("additionalProperties" | "unevaluatedProperties" | "falseSchema")
                if self.report_forbidden_keys(context, &located) => {}
            Some("falseSchema") if let Some(key) = keywords::forbidden_key(violation) => {
                self.occurrences.add(key_occurrence(context, "diff-key-added-to-closed", &key, &located));
            }
            Some("required") if let Some(key) = missing_key(violation) => {
                let rule = keywords::rule_of_missing(&violation.rule);
                let occurrence = context.occurrence(rule, &located, located.value);
                let pointer = format!("{}/{}", occurrence.pointer, escape_token(&key));
                let (variant, message) = (self.schemas.variant(&located), violation.message.clone());
                self.occurrences
                    .add(Occurrence { pointer, variant, value: None, ..occurrence }.message(message));
            }
            _ => {
                let rule = keywords::rule_of(violation, Some(located.value));
                let constraint = violation.rule.clone();
                let message = keywords::message(violation);
                let closed = violation.rule == "event-type";
                let class =
                    (closed && self.occurrences.side == SampleSide::New).then_some(ChangeSeverity::Breaking);
                let occurrence =
                    Occurrence { constraint, class, ..context.occurrence(rule, &located, located.value) };
                self.occurrences.add(occurrence.message(message));
            }
        }
    }

    /// Reports why a value matches no variant of a union: by its type, by its unknown tag, or by its violations of the
    /// nearest variant. Returns false if there is nothing to report.
    fn report_variant(&mut self, context: &RecordContext<'_, 'b>, located: &Located<'_, 'b>) -> bool {
        let value = located.value;
        let alts: Vec<&Alternative<'b>> = located.nodes.iter().flat_map(|node| &node.alts).collect();
        let same_type: Vec<&Alternative<'b>> =
            alts.iter().copied().filter(|alt| alt.schema.json_type() == value.json_type()).collect();
        if alts.is_empty() || same_type.iter().any(|alt| self.schemas.accepts(alt, value)) {
            return false;
        }
        if same_type.is_empty() {
            let schemas: Vec<_> = alts.iter().map(|alt| alt.schema.clone()).collect();
            let found = value.json_type().with_article();
            let message = format!("expected {}, found {found}", type_phrase(&schemas));
            let rule = keywords::rule_of_type(value, false);
            self.occurrences.add(context.occurrence(rule, located, value).message(message));
            return true;
        }
        if let Some((key, value_tag, known)) = self.unknown_tag(&same_type, value) {
            let pointer = format!("{}/{}", located.pointer, escape_token(&key));
            let at_key = self.schemas.locate(&context.nodes, context.root, &pointer);
            let occurrence = context.occurrence("diff-variant-added", &at_key, at_key.value);
            let variant = located.variant.clone();
            let message = format!("expected `{key}` {}, found {}", known.join(" or "), excerpt(&value_tag));
            self.occurrences.add(Occurrence { variant, ..occurrence }.message(message));
            return true;
        }
        let matching = self.schemas.matching(&located.nodes, value);
        let [nearest] = matching.alts.as_slice() else { return false };
        let of_union = |violation: &Violation| {
            violation.pointer.is_empty() && matches!(violation.keyword.as_deref(), Some("oneOf" | "anyOf"))
        };
        let mut violations = self.schemas.violations(nearest, value, MAX_ERRORS);
        violations.retain(|violation| !of_union(violation));
        for violation in &mut violations {
            violation.pointer = format!("{}{}", located.pointer, violation.pointer);
        }
        violations.iter().for_each(|violation| self.report_violation(context, violation));
        !violations.is_empty()
    }

    /// Returns the discriminating key, its value in `value`, and the values that the variants have, if none of them has
    /// that value. For example: `type`, `"d"`, and the known values `"a"`, `"b"`.
    fn unknown_tag(
        &self,
        alts: &[&Alternative<'b>],
        value: TapeNode<'_>,
    ) -> Option<(String, Value, Vec<String>)> {
        let schemas: Vec<_> = alts.iter().map(|alt| alt.schema.clone()).collect();
        let (key, variants) = candidate_discriminators(&self.schemas.side, &schemas).into_iter().next()?;
        let tag = value.get(&TapeKey::new(&key))?.to_value();
        let known: Vec<Value> = variants.into_values().map(|(value, _)| value).collect();
        (!contains(&known, &tag)).then(|| (key, tag, known.iter().map(excerpt).collect()))
    }

    /// Reports each key of an object that the schema forbids. Returns whether the object has such a key.
    fn report_forbidden_keys(&mut self, context: &RecordContext<'_, 'b>, located: &Located<'_, 'b>) -> bool {
        // A violation of the `false` schema may be at the value of a key instead of at its object.
        let object = Some(located.value).filter(|value| value.has_type(JsonType::Object));
        let matching = self.schemas.matching(&located.nodes, located.value);
        let forbids = |key: &str| {
            !matching.alts.is_empty()
                && matching.alts.iter().all(|alt| accepts_nothing(&alt.schema.property(key)))
        };
        let pairs = object.into_iter().flat_map(TapeNode::members);
        let keys: Vec<String> =
            pairs.map(|(key, _)| key).filter(|key| forbids(key)).map(str::to_owned).collect();
        for key in &keys {
            let pointer = format!("{}/{}", located.pointer, escape_token(key));
            let at_key = self.schemas.locate(&context.nodes, context.root, &pointer);
            self.occurrences.add(key_occurrence(context, "diff-key-added-to-closed", key, &at_key));
        }
        !keys.is_empty()
    }
}

/// Creates an occurrence of an added key. `rule` says whether the schema forbids the key or does not name it.
fn key_occurrence(
    context: &RecordContext<'_, '_>,
    rule: &'static str,
    key: &str,
    located: &Located<'_, '_>,
) -> Occurrence {
    let messages = match rule {
        "diff-key-added" => {
            [format!("the schema does not name the key `{key}`"), format!("the key `{key}` is new")]
        }
        _ => [
            format!("the schema does not allow the key `{key}`"),
            format!("the key `{key}` is new in an object that allowed no other keys"),
        ],
    };
    let name = json!(type_name(located.value));
    Occurrence {
        messages,
        value: Some(name),
        is_key: true,
        ..context.occurrence(rule, located, located.value)
    }
}

/// Returns a scalar as it is, and the name of the type for an array or object. Long strings are shortened.
fn value_summary(value: TapeNode<'_>) -> Value {
    match value.json_type() {
        JsonType::Array | JsonType::Object => json!(type_name(value)),
        JsonType::String => json!(strict_json::sanitize::sanitize_capped(value.text(), 200)),
        _ => value.to_value(),
    }
}

fn type_name(value: TapeNode<'_>) -> &'static str {
    match value.json_type() {
        JsonType::Number if Decimal::parse(value.text()).is_some_and(|number| number.is_integer()) => {
            "integer"
        }
        json_type => json_type.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::{SampleSide, compare_coarsely, compare_records};
    use agentnative_contract::{Contract, Framing};

    #[test]
    fn coarse_comparison_reports_the_same_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (schema, sample) = (folder.path().join("a.schema.json"), folder.path().join("a.jsonl"));
        let text = r#"{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"enum":[1,2]}}}}"#;
        std::fs::write(&schema, text).unwrap();
        std::fs::write(&sample, "{\"a\":[1,3]}\n{\"a\":null}\n{\"a\":[]}\n{\"a\":[4,1,5]}\n").unwrap();
        let contract = Contract::load(&schema).unwrap();
        for side in [SampleSide::New, SampleSide::Old] {
            let full = compare_records(&contract, &sample, Framing::Lines, side).unwrap();
            let coarse = compare_coarsely(&contract, &sample, Framing::Lines, side).unwrap();
            assert_eq!((coarse.records, coarse.rejected), (full.records, full.rejected));
            let summary = |changes: &[super::Change]| -> Vec<(String, String, u64)> {
                let count =
                    |change: &super::Change| change.evidence.as_ref().map_or(0, |evidence| evidence.count);
                changes
                    .iter()
                    .map(|change| (change.rule.clone(), change.pointer.clone(), count(change)))
                    .collect()
            };
            assert_eq!(summary(&coarse.changes), summary(&full.changes));
        }
    }
}
