//! A sample beside a schema: each document is validated, and what it contains that the schema does not allow or
//! name is a change.

mod findings;
mod keywords;
mod places;
mod side;

pub use side::SampleSide;

use super::bundle::{self, Bundle, DATA};
use super::canonicalize::Canonicalizer;
use super::change::{Change, Class, SamplePlace};
use super::channels::framed;
use super::predicates::contains;
use super::typed_schema::{accepts_nothing, bit};
use super::variants::candidates;
use super::walk::{excerpt, type_phrase};
use super::witness::missing_key;
use crate::infer::glance;
use crate::samples::{bad_json, no_samples};
use agentnative_contract::budget::{self, Budget};
use agentnative_contract::error::{Error, Result};
use agentnative_contract::{
    Against, Contract, DataFile, Decimal, Framing, JudgedRecord, OutputSpec, RecordObserver, RunExit,
    Settings, Validation, Verdict, Violation,
};
use findings::{Findings, Found};
use places::{Alternative, Located, Place, Schemas, Unnamed};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use strict_json::{JsonType, Key, ProblemKind, TapeNode, escape_token};

/// Errors of one record that are looked at; the others are counted.
const MAX_ERRORS: usize = 10_000;
/// Errors of a whole sample that are looked at where its values are not.
const MAX_COARSE_ERRORS: usize = 1_000;

/// The result of comparing a sample with a schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SampleComparison {
    /// The changes, by descending severity.
    pub changes: Vec<Change>,
    /// The number of documents or records in the sample.
    pub records: u64,
    /// The number of those that the schema rejects.
    pub rejected: u64,
}

/// Compares the documents or records in a file with a contract, or a schema that stands for one. Nothing is inferred
/// from them: a change shows what is in the file.
///
/// # Errors
/// Usage, when the file cannot be opened; configuration, when it holds no strict JSON or no samples.
pub fn compare_sample(contract: &Arc<Contract>, sample: &Path, side: SampleSide) -> Result<SampleComparison> {
    let found = framing(contract, sample)?;
    let framing = match (contract.framing(), found) {
        (Framing::Array, Framing::Document) => Framing::Array,
        (Framing::Document, found) => found,
        (expected, found) if expected == found => found,
        (expected, found) => return Ok(SampleComparison::of_framing(expected, found, side)),
    };
    let whole = budget::within(Budget::COMPARISON, {
        let (contract, sample) = (Arc::clone(contract), sample.to_owned());
        move || compare(&contract, &sample, framing, side)
    });
    whole.unwrap_or_else(|spent| {
        let mut compared = compare_coarsely(contract, sample, framing, side)?;
        let message = format!("keys that the schema does not name were not looked for: this needs {spent}");
        compared.changes.push(Change::undecided(message));
        compared.changes.sort_by_key(|change| change.class);
        Ok(compared)
    })
}

/// How data is put into a sample: by its name where a schema of documents leaves it open, else by its contents.
fn framing(contract: &Contract, sample: &Path) -> Result<Framing> {
    let mut file = DataFile::open(sample)?;
    match file.framing {
        Some(framing) if framing == Framing::Lines || contract.framing() == Framing::Document => Ok(framing),
        _ => glance(&mut file.reader, &mut Vec::new()).map_err(|error| Error::data(sample, &error)),
    }
}

impl SampleComparison {
    fn of_framing(expected: Framing, found: Framing, side: SampleSide) -> Self {
        let message = format!("expected {}, found {}", framed(expected), framed(found));
        let change = Change::breaking("diff-framing-changed", message);
        let (old, new) = match side {
            SampleSide::New => (expected, found),
            SampleSide::Old => (found, expected),
        };
        Self { changes: vec![change.old(old.name()).new_value(new.name())], ..Self::default() }
    }
}

/// Compares record by record, each value with the schemas of its place.
fn compare(
    contract: &Contract,
    sample: &Path,
    framing: Framing,
    side: SampleSide,
) -> Result<SampleComparison> {
    let bundle = Bundle::new(&OutputSpec::of_contract(contract));
    let mut documents = Documents {
        contract,
        bundle: &bundle,
        schemas: Schemas::new(Canonicalizer { root: &bundle.root }),
        findings: Findings::new(side),
        records: 0,
        rejected: 0,
    };
    let read =
        |validation: &mut Validation<'_>, file: DataFile| validation.observed(file.reader, &mut documents);
    let (of_run, unjudged) = validate(contract, sample, framing, MAX_ERRORS, read)?;
    let Documents { mut findings, records, rejected, .. } = documents;
    of_run.violations.iter().for_each(|violation| findings.add(of_violation(violation, records)));
    Ok(SampleComparison { changes: findings.into_changes(unjudged), records, rejected })
}

/// Compares by the violations alone, in little memory.
fn compare_coarsely(
    contract: &Contract,
    sample: &Path,
    framing: Framing,
    side: SampleSide,
) -> Result<SampleComparison> {
    let mut findings = Findings::new(side);
    let read = |validation: &mut Validation<'_>, file: DataFile| {
        validation.input(file.reader, &mut |_| budget::progress())
    };
    let (found, unjudged) = validate(contract, sample, framing, MAX_COARSE_ERRORS, read)?;
    let rejected: BTreeSet<_> =
        found.violations.iter().map(|violation| violation.event.or(violation.line)).collect();
    let rejected = if framing == Framing::Document { rejected.len().min(1) } else { rejected.len() };
    found.violations.iter().for_each(|violation| findings.add(of_violation(violation, found.records)));
    let (records, rejected) = (found.records, rejected as u64);
    Ok(SampleComparison { changes: findings.into_changes(unjudged), records, rejected })
}

/// What validating a sample gives that is no fault of JSON.
struct Validated {
    violations: Vec<Violation>,
    records: u64,
}

/// Validates a sample; gives also how many errors are not among the violations.
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
    let verdict = verdict.map_err(|error| Error::data(sample, &error))?;
    let (mut bad, violations): (Vec<_>, Vec<_>) =
        verdict.findings.into_iter().partition(|violation| violation.against == Against::Json);
    // A sample may be any value, also where lines are mostly objects.
    bad.retain(|violation| violation.rule != ProblemKind::NotObject.name());
    if !bad.is_empty() {
        return Err(bad_json(&name, sample, bad));
    }
    if verdict.records == 0 {
        return Err(no_samples(&name));
    }
    let unjudged = verdict.more.of(Against::Schema) + verdict.more.of(Against::Stream) + verdict.unjudged;
    Ok((Validated { violations, records: verdict.records }, unjudged))
}

/// What is found by a violation alone, without the value.
fn of_violation(violation: &Violation, records: u64) -> Found {
    let at = SamplePlace {
        record: violation.event.unwrap_or(records),
        line: violation.line,
        column: violation.column,
        pointer: violation.pointer.clone(),
    };
    let tokens = violation.pointer.split('/');
    let tokens = tokens.map(|token| if keywords::is_index(token) { "*" } else { token });
    let pointer = tokens.collect::<Vec<_>>().join("/");
    let what = violation.rule.clone();
    let found = Found { pointer, what, at, ..Found::new(keywords::rule_of(violation, None)) };
    found.message(keywords::message(violation))
}

/// Takes the records of a sample and collects what is found in them.
struct Documents<'b> {
    contract: &'b Contract,
    bundle: &'b Bundle,
    schemas: Schemas<'b>,
    findings: Findings,
    records: u64,
    rejected: u64,
}

impl RecordObserver for Documents<'_> {
    fn record(&mut self, record: JudgedRecord<'_>) {
        budget::progress();
        self.records += 1;
        let (found, Some(root)) = (&record.found, record.value.root()) else { return };
        self.rejected += u64::from(!found.is_empty());
        let event = record.event_type.map(str::to_owned);
        let place = self.place(record.event_type);
        let at = RecordPlace { record: &record, number: self.records, event, place, root };
        if let Some(name) = record.unknown.filter(|name| !name.is_empty())
            && found.iter().all(|violation| violation.rule != "event-type")
        {
            self.unknown_type(&at, name);
        }
        self.unnamed(&at);
        for violation in found {
            self.violation(&at, violation);
        }
    }
}

/// A record, and what it is compared with.
struct RecordPlace<'r, 'b> {
    record: &'r JudgedRecord<'r>,
    number: u64,
    /// Its type of event.
    event: Option<String>,
    place: Place<'b>,
    root: TapeNode<'r>,
}

impl RecordPlace<'_, '_> {
    /// Where a value of the record is.
    fn of(&self, pointer: &str, value: TapeNode<'_>) -> SamplePlace {
        let at = self.record.locate(value.offset());
        SamplePlace {
            record: self.number,
            line: Some(at.map_or(self.record.line, |at| at.line)),
            column: at.map(|at| at.column),
            pointer: pointer.to_owned(),
        }
    }

    /// What was found at a value.
    fn found(&self, rule: &'static str, located: &Located<'_, '_>, value: TapeNode<'_>) -> Found {
        Found {
            event: self.event.clone(),
            variant: located.variant.clone(),
            pointer: located.general.clone(),
            value: Some(shown(value)),
            types: bit(value.json_type()),
            at: self.of(&located.pointer, value),
            ..Found::new(rule)
        }
    }
}

impl<'b> Documents<'b> {
    /// What the schema says of a record.
    fn place(&self, event: Option<&str>) -> Place<'b> {
        let of_type = event.and_then(|name| self.bundle.schema(&bundle::event(name)));
        let schema = of_type.or_else(|| self.bundle.schema(DATA));
        schema.map(|schema| vec![self.schemas.node(&[schema])]).unwrap_or_default()
    }

    fn unknown_type(&mut self, at: &RecordPlace<'_, 'b>, name: &str) {
        let Some(discriminator) = self.contract.discriminator() else { return };
        let located = self.schemas.locate(&at.place, at.root, discriminator);
        self.findings.add(Found {
            event: Some(name.to_owned()),
            value: Some(json!(name)),
            messages: [
                format!("the contract does not know the event type `{name}`"),
                format!("the event type `{name}` is new"),
            ],
            ..at.found("diff-event-added", &located, located.value)
        });
    }

    /// Looks for keys that the schema does not name, and remembers which types are where.
    fn unnamed(&mut self, at: &RecordPlace<'_, 'b>) {
        let Self { schemas, findings, .. } = self;
        schemas.walk(&at.place, at.root, &mut |unnamed| match unnamed {
            Unnamed::Type(general, json_type) => findings.seen(general, json_type),
            Unnamed::Key(key, located) => findings.add(of_key(at, "diff-key-added", key, located)),
        });
    }

    fn violation(&mut self, at: &RecordPlace<'_, 'b>, violation: &Violation) {
        let located = self.schemas.locate(&at.place, at.root, &violation.pointer);
        match violation.keyword.as_deref() {
            Some("oneOf" | "anyOf") if self.of_variant(at, &located) => {}
            Some("additionalProperties" | "unevaluatedProperties" | "falseSchema")
                if self.forbidden_keys(at, &located) => {}
            Some("falseSchema") if let Some(key) = keywords::forbidden_key(violation) => {
                self.findings.add(of_key(at, "diff-key-added-to-closed", &key, &located));
            }
            Some("required") if let Some(key) = missing_key(violation) => {
                let rule = keywords::rule_of_missing(&violation.rule);
                let found = at.found(rule, &located, located.value);
                let pointer = format!("{}/{}", found.pointer, escape_token(&key));
                let (variant, message) = (self.schemas.variant(&located), violation.message.clone());
                self.findings.add(Found { pointer, variant, value: None, ..found }.message(message));
            }
            _ => {
                let rule = keywords::rule_of(violation, Some(located.value));
                let what = violation.rule.clone();
                let message = keywords::message(violation);
                let closed = violation.rule == "event-type";
                let class = (closed && self.findings.side == SampleSide::New).then_some(Class::Breaking);
                let found = Found { what, class, ..at.found(rule, &located, located.value) };
                self.findings.add(found.message(message));
            }
        }
    }

    /// Reports a value that no variant of a union accepts by the variant that it is nearest to; false where that says
    /// nothing more.
    fn of_variant(&mut self, at: &RecordPlace<'_, 'b>, located: &Located<'_, 'b>) -> bool {
        let value = located.value;
        let all: Vec<&Alternative<'b>> = located.place.iter().flat_map(|node| &node.alts).collect();
        let of_type: Vec<&Alternative<'b>> =
            all.iter().copied().filter(|alt| alt.schema.json_type() == value.json_type()).collect();
        if all.is_empty() || of_type.iter().any(|alt| self.schemas.accepts(alt, value)) {
            return false;
        }
        if of_type.is_empty() {
            let schemas: Vec<_> = all.iter().map(|alt| alt.schema.clone()).collect();
            let found = value.json_type().with_article();
            let message = format!("expected {}, found {found}", type_phrase(&schemas));
            let rule = keywords::rule_of_type(value, false);
            self.findings.add(at.found(rule, located, value).message(message));
            return true;
        }
        if let Some((key, tag, known)) = self.unknown_tag(&of_type, value) {
            let pointer = format!("{}/{}", located.pointer, escape_token(&key));
            let at_key = self.schemas.locate(&at.place, at.root, &pointer);
            let found = at.found("diff-variant-added", &at_key, at_key.value);
            let variant = located.variant.clone();
            let message = format!("expected `{key}` {}, found {}", known.join(" or "), excerpt(&tag));
            self.findings.add(Found { variant, ..found }.message(message));
            return true;
        }
        let fit = self.schemas.fit(&located.place, value);
        let [nearest] = fit.alts.as_slice() else { return false };
        let of_union = |violation: &Violation| {
            violation.pointer.is_empty() && matches!(violation.keyword.as_deref(), Some("oneOf" | "anyOf"))
        };
        let mut violations = self.schemas.violations(nearest, value, MAX_ERRORS);
        violations.retain(|violation| !of_union(violation));
        for violation in &mut violations {
            violation.pointer = format!("{}{}", located.pointer, violation.pointer);
        }
        violations.iter().for_each(|violation| self.violation(at, violation));
        !violations.is_empty()
    }

    /// The key that tells variants apart and its value, if no variant has that; and the values that they have.
    fn unknown_tag(
        &self,
        alts: &[&Alternative<'b>],
        value: TapeNode<'_>,
    ) -> Option<(String, Value, Vec<String>)> {
        let schemas: Vec<_> = alts.iter().map(|alt| alt.schema.clone()).collect();
        let (key, variants) = candidates(&self.schemas.side, &schemas).into_iter().next()?;
        let tag = value.get(&Key::new(&key))?.to_value();
        let known: Vec<Value> = variants.into_values().map(|(value, _)| value).collect();
        (!contains(&known, &tag)).then(|| (key, tag, known.iter().map(excerpt).collect()))
    }

    /// Reports each key of an object that the schema does not allow. Returns whether there are any.
    fn forbidden_keys(&mut self, at: &RecordPlace<'_, 'b>, located: &Located<'_, 'b>) -> bool {
        // A value that no schema allows is one at a key of its object.
        let object = Some(located.value).filter(|value| value.is(JsonType::Object));
        let fit = self.schemas.fit(&located.place, located.value);
        let forbids = |key: &str| {
            !fit.alts.is_empty() && fit.alts.iter().all(|alt| accepts_nothing(&alt.schema.property(key)))
        };
        let pairs = object.into_iter().flat_map(TapeNode::pairs);
        let keys: Vec<String> =
            pairs.map(|(key, _)| key).filter(|key| forbids(key)).map(str::to_owned).collect();
        for key in &keys {
            let pointer = format!("{}/{}", located.pointer, escape_token(key));
            let at_key = self.schemas.locate(&at.place, at.root, &pointer);
            self.findings.add(of_key(at, "diff-key-added-to-closed", key, &at_key));
        }
        !keys.is_empty()
    }
}

/// A key that the schema does not name, or does not allow.
fn of_key(at: &RecordPlace<'_, '_>, rule: &'static str, key: &str, located: &Located<'_, '_>) -> Found {
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
    Found { messages, value: Some(name), is_key: true, ..at.found(rule, located, located.value) }
}

/// A value as a change shows it: a scalar as it is, anything else by its type.
fn shown(value: TapeNode<'_>) -> Value {
    match value.json_type() {
        JsonType::Array | JsonType::Object => json!(type_name(value)),
        JsonType::String => json!(strict_json::sanitize::capped(value.text(), 200)),
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
    use super::{SampleSide, compare, compare_coarsely};
    use agentnative_contract::{Contract, Framing};

    #[test]
    fn without_the_values_the_violations_are_the_same_changes() {
        let folder = tempfile::tempdir().unwrap();
        let (schema, sample) = (folder.path().join("a.schema.json"), folder.path().join("a.jsonl"));
        let text = r#"{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"enum":[1,2]}}}}"#;
        std::fs::write(&schema, text).unwrap();
        std::fs::write(&sample, "{\"a\":[1,3]}\n{\"a\":null}\n{\"a\":[]}\n{\"a\":[4,1,5]}\n").unwrap();
        let contract = Contract::load(&schema).unwrap();
        for side in [SampleSide::New, SampleSide::Old] {
            let fine = compare(&contract, &sample, Framing::Lines, side).unwrap();
            let coarse = compare_coarsely(&contract, &sample, Framing::Lines, side).unwrap();
            assert_eq!((coarse.records, coarse.rejected), (fine.records, fine.rejected));
            let told = |changes: &[super::Change]| -> Vec<(String, String, u64)> {
                let count = |change: &super::Change| change.evidence.as_ref().map_or(0, |found| found.count);
                changes.iter().map(|one| (one.rule.clone(), one.pointer.clone(), count(one))).collect()
            };
            assert_eq!(told(&coarse.changes), told(&fine.changes));
        }
    }
}
