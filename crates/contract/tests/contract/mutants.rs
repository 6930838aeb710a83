//! Invalid examples of a contract that need no file: valid ones without a required key, or with a key more in
//! an object that takes no others.

use agentnative_contract::{Against, Contract, Framing, OutputSpec, split_version};
use jsonschema::{Registry, Validator};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// What a schema demands of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Demand {
    /// This key.
    Key(String),
    /// No other keys than it has.
    Closed,
}

/// A document or record of a valid example in which one object breaks one demand.
pub struct Mutant {
    /// The file, and which of its records.
    pub example: String,
    /// What has become of the record.
    pub record: Value,
    /// The object.
    pub pointer: String,
    /// What it breaks.
    pub demand: Demand,
}

impl fmt::Display for Mutant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {:?} broken at {:?}", self.example, self.demand, self.pointer)
    }
}

/// A mutant for each demand that the schemas of a contract make of its valid examples: once for each type of
/// event, place in the data and schema that makes it.
pub fn mutants(contract: &Contract) -> Vec<Mutant> {
    let promise = OutputSpec::of_contract(contract);
    let mut registry = Registry::new();
    for (uri, schema) in &promise.documents {
        registry = registry.add(uri, schema).unwrap();
    }
    let registry = registry.prepare().unwrap();
    let compile = |schema: &Value| jsonschema::options().with_registry(&registry).build(schema).unwrap();
    let events = promise.events.as_ref();
    let types = events.iter().flat_map(|events| &events.types);
    let of_types: BTreeMap<&str, Validator> =
        types.map(|(name, schema)| (&**name, compile(schema))).collect();
    let of_others = promise.schema.as_ref().map(compile);

    let mut met = BTreeSet::new();
    let mut mutants = Vec::new();
    for (example, record) in valid_records(contract) {
        let name = events.and_then(|events| {
            let first = record.pointer(&events.discriminator)?.as_str()?;
            let second = events.subtype.as_ref().and_then(|pointer| record.pointer(pointer)?.as_str());
            let both = second.map(|second| format!("{first}/{second}"));
            Some(both.filter(|both| of_types.contains_key(&**both)).unwrap_or_else(|| first.to_owned()))
        });
        let schema = name.as_ref().and_then(|name| of_types.get(&**name)).or(of_others.as_ref());
        for (pointer, demand, by) in schema.iter().flat_map(|schema| demands(schema, &promise, &record)) {
            if met.insert((name.clone(), any_element(&pointer), demand.clone(), by)) {
                let mut record = record.clone();
                let object = record.pointer_mut(&pointer).and_then(Value::as_object_mut).unwrap();
                match &demand {
                    Demand::Key(key) => assert!(object.remove(key).is_some()),
                    Demand::Closed => {
                        assert!(object.insert("of no schema".to_owned(), Value::Null).is_none())
                    }
                }
                mutants.push(Mutant { example: example.clone(), record, pointer, demand });
            }
        }
    }
    mutants
}

/// What a schema demands of the objects in a value: where they are, the demand and the schema that makes it.
fn demands(schema: &Validator, promise: &OutputSpec, value: &Value) -> Vec<(String, Demand, String)> {
    let evaluation = serde_json::to_value(schema.evaluate(value).list()).unwrap();
    let mut found = Vec::new();
    for unit in evaluation["details"].as_array().unwrap() {
        let text = |key: &str| unit[key].as_str().unwrap();
        let (at, by) = (text("instanceLocation"), text("schemaLocation"));
        let (uri, pointer) = by.split_once('#').unwrap_or((by, ""));
        let schema = promise.documents.get(uri).and_then(|document| document.pointer(pointer));
        // What a condition looks for, or one of several forms, is not demanded.
        let path = format!("{}/", text("evaluationPath"));
        let optional = ["/if/", "/not/", "/anyOf/", "/oneOf/"].iter().any(|part| path.contains(part));
        let (Some(schema), false, true) = (schema, optional, value.pointer(at).unwrap().is_object()) else {
            continue;
        };
        let keys = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let keys = keys.map(|key| Demand::Key(key.as_str().unwrap().to_owned()));
        let closed = ["additionalProperties", "unevaluatedProperties"]
            .iter()
            .any(|keyword| schema.get(keyword) == Some(&Value::Bool(false)));
        let all = keys.chain(closed.then_some(Demand::Closed));
        found.extend(all.map(|demand| (at.to_owned(), demand, by.to_owned())));
    }
    found
}

/// A pointer with `*` for the position in each array.
fn any_element(pointer: &str) -> String {
    let token = |token: &str| if token.parse::<usize>().is_ok() { "*" } else { token }.to_owned();
    pointer.split('/').map(token).collect::<Vec<_>>().join("/")
}

/// The documents or records of the valid examples, and what each is called; of a version those that it accepts.
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
