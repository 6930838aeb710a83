//! Generates invalid examples of a contract: valid ones without a required key, or with an additional key in a closed
//! object.

use agentnative_contract::{Against, Contract, Framing, OutputSpec, split_version};
use jsonschema::{Registry, Validator};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// A constraint of a schema on the keys of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyConstraint {
    /// The key is required.
    Required(String),
    /// Additional keys are not allowed.
    Closed,
}

/// A document or record of a valid example in which one object violates one constraint.
pub struct Mutant {
    /// The file and the number of the record.
    pub example: String,
    /// The mutated record.
    pub record: Value,
    /// The pointer to the object.
    pub pointer: String,
    pub constraint: KeyConstraint,
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?} violated at {:?}", self.example, self.constraint, self.pointer)
    }
}

/// Returns a mutant for each constraint of the contract's schemas on its valid examples: one per event type, place in
/// the data and schema.
pub fn mutants(contract: &Contract) -> Vec<Mutant> {
    let spec = OutputSpec::from_contract(contract);
    let mut registry = Registry::new();
    for (uri, schema) in &spec.documents {
        registry = registry.add(uri, schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let compile = |schema: &Value| jsonschema::options().with_registry(&registry).build(schema).unwrap();
    let events = spec.events.as_ref();
    let types = events.iter().flat_map(|events| &events.types);
    let by_type: BTreeMap<&str, Validator> = types.map(|(name, schema)| (&**name, compile(schema))).collect();
    let default = spec.schema.as_ref().map(compile);

    let mut seen = BTreeSet::new();
    let mut mutants = Vec::new();
    for (example, record) in valid_records(contract) {
        let name = events.and_then(|events| {
            let first = record.pointer(&events.discriminator)?.as_str()?;
            let second = events.subtype.as_ref().and_then(|pointer| record.pointer(pointer)?.as_str());
            let both = second.map(|second| format!("{first}/{second}"));
            Some(both.filter(|both| by_type.contains_key(&**both)).unwrap_or_else(|| first.to_owned()))
        });
        let schema = name.as_ref().and_then(|name| by_type.get(&**name)).or(default.as_ref());
        for (pointer, constraint, location) in
            schema.iter().flat_map(|schema| constraints(schema, &spec, &record))
        {
            if seen.insert((name.clone(), wildcard_pointer(&pointer), constraint.clone(), location)) {
                let mut record = record.clone();
                let object = record.pointer_mut(&pointer).and_then(Value::as_object_mut).unwrap();
                match &constraint {
                    KeyConstraint::Required(key) => assert!(object.remove(key).is_some()),
                    KeyConstraint::Closed => {
                        assert!(object.insert("of no schema".to_owned(), Value::Null).is_none())
                    }
                }
                mutants.push(Mutant { example: example.clone(), record, pointer, constraint });
            }
        }
    }
    mutants
}

/// Returns the constraints of a schema on the objects in a value: the pointer to the object, the constraint and the
/// location of the schema.
fn constraints(schema: &Validator, spec: &OutputSpec, value: &Value) -> Vec<(String, KeyConstraint, String)> {
    let evaluation = serde_json::to_value(schema.evaluate(value).list()).unwrap();
    let mut found = Vec::new();
    for unit in evaluation["details"].as_array().unwrap() {
        let text = |key: &str| unit[key].as_str().unwrap();
        let (at, location) = (text("instanceLocation"), text("schemaLocation"));
        let (uri, pointer) = location.split_once('#').unwrap_or((location, ""));
        let schema = spec.documents.get(uri).and_then(|document| document.pointer(pointer));
        // A schema in a condition or an alternative is not a requirement.
        let path = format!("{}/", text("evaluationPath"));
        let optional = ["/if/", "/not/", "/anyOf/", "/oneOf/"].iter().any(|part| path.contains(part));
        let (Some(schema), false, true) = (schema, optional, value.pointer(at).unwrap().is_object()) else {
            continue;
        };
        let keys = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let keys = keys.map(|key| KeyConstraint::Required(key.as_str().unwrap().to_owned()));
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| schema.get(keyword) == Some(&Value::Bool(false)));
        let all = keys.chain(closed.then_some(KeyConstraint::Closed));
        found.extend(all.map(|constraint| (at.to_owned(), constraint, location.to_owned())));
    }
    found
}

/// Returns the pointer with `*` in place of each array index.
fn wildcard_pointer(pointer: &str) -> String {
    let token = |token: &str| if token.parse::<usize>().is_ok() { "*" } else { token }.to_owned();
    pointer.split('/').map(token).collect::<Vec<_>>().join("/")
}

/// Returns the documents or records of the valid examples with their names; for a version, those that it accepts.
fn valid_records(contract: &Contract) -> Vec<(String, Value)> {
    let (name, version) = split_version(contract.name());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("contracts").join(name);
    let files = fs::read_dir(folder.join("examples/valid")).unwrap();
    let mut files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut found = Vec::new();
    for file in files {
        let bytes = fs::read(&file).unwrap();
        let records = serde_json::Deserializer::from_slice(&bytes).into_iter().map(Result::unwrap);
        let records: Vec<Value> = match contract.framing() {
            Framing::Array => records.flat_map(|array: Value| array.as_array().unwrap().clone()).collect(),
            Framing::Document | Framing::Lines => records.collect(),
        };
        let name = |nth| format!("{}, record {nth}", file.display());
        found.extend((1..).zip(records).map(|(nth, record)| (name(nth), record)));
    }
    let fits = |record: &Value| {
        let found = contract.validator().push(1, record);
        found.iter().all(|violation| violation.against != Against::Schema)
    };
    found.retain(|(_, record)| version.is_none() || fits(record));
    found
}
