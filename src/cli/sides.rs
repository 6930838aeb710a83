//! The two sides of `contract diff`: what each promises, wherever that is told.

use super::inputs::{is_lines, name, open, threads};
use crate::contract::infer::{Inference, Rules};
use crate::contract::lock::Lock;
use crate::contract::{CONTRACT_FILE, Contract, Events, Framing, Promise, contract_path};
use crate::error::{Error, Issue, Place, Result};
use crate::output::Output;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// Commands in the place of files.
#[derive(clap::Args)]
pub(super) struct LiveArgs {}

/// One side.
pub(super) struct Side {
    /// As it was named.
    pub name: String,
    /// What it promises.
    pub promises: Vec<Promise>,
}

/// Both sides, old and new.
pub(super) fn both(
    named: &[String],
    _live: &LiveArgs,
    _output: &mut Output,
    _executable: &Path,
) -> Result<(Side, Side)> {
    match named {
        [old, new] => Ok((read(old)?, read(new)?)),
        _ => {
            let error = Error::usage(format!("there are {} sides, expected two", named.len()));
            Err(error.hint("agentnative contract diff OLD NEW"))
        }
    }
}

/// What a name stands for.
fn read(named: &str) -> Result<Side> {
    let side = |promises: Vec<Promise>| Side { name: named.to_owned(), promises };
    let path = Path::new(named);
    let is_file =
        path.is_file() && (contract_path(Path::new(""), named).is_some() || path.extension().is_some());
    if path.is_dir() && !path.join(CONTRACT_FILE).is_file() {
        return Ok(side(Lock::read(path)?.compared()));
    }
    if !is_file || is_schema(path)? {
        let contract = Contract::named(Path::new(""), named)?;
        return Ok(side(vec![Promise::of_contract(&contract)]));
    }
    Ok(side(vec![samples(path)?]))
}

/// Keywords that only a schema has, with what their values are.
const KEYWORDS: [(&str, fn(&Value) -> bool); 10] = [
    ("$schema", Value::is_string),
    ("$ref", Value::is_string),
    ("$defs", Value::is_object),
    ("definitions", Value::is_object),
    ("properties", Value::is_object),
    ("items", |value| value.is_object() || value.is_boolean()),
    ("oneOf", Value::is_array),
    ("anyOf", Value::is_array),
    ("allOf", Value::is_array),
    ("enum", Value::is_array),
];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Whether a file holds a schema and not samples.
fn is_schema(path: &Path) -> Result<bool> {
    let text = path.as_os_str().to_string_lossy();
    if text.ends_with(".schema.json") {
        return Ok(true);
    }
    if is_lines(path) {
        return Ok(false);
    }
    let unreadable = |error| Error::usage(format!("cannot read {}: {error}", path.display()));
    let length = fs::metadata(path).map_err(unreadable)?.len();
    if length > 16 << 20 {
        return Ok(false);
    }
    let bytes = fs::read(path).map_err(unreadable)?;
    // What cannot be read is told of with its place by whoever takes it for what its name says.
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(path.extension().is_some_and(|extension| extension == "json"));
    };
    let Some(members) = value.as_object() else { return Ok(value.is_boolean()) };
    let one = |value: &Value| value.as_str().is_some_and(|name| TYPES.contains(&name));
    let types = |value: &Value| {
        one(value) || value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(one))
    };
    let typed = members.get("type");
    if typed.is_some_and(|typed| !types(typed)) {
        return Ok(members.contains_key("$schema"));
    }
    let keyword = KEYWORDS.iter().any(|(key, fits)| members.get(*key).is_some_and(fits));
    Ok(typed.is_some() || keyword || members.is_empty())
}

/// What samples promise, as far as they show it.
fn samples(path: &Path) -> Result<Promise> {
    let (reader, length) = open(path)?;
    let framing = if is_lines(path) {
        Some(Framing::Lines)
    } else {
        path.extension().filter(|extension| *extension == "json").map(|_| Framing::Document)
    };
    let threads = if length.is_some_and(|length| length < 2 << 20) { 1 } else { threads(None) };
    let mut inference = Inference::new();
    let faults = inference.input(reader, framing, threads, &mut |_| {});
    let faults =
        faults.map_err(|error| Error::general(format!("cannot learn from {}: {error}", name(path))))?;
    if !faults.is_empty() {
        let issue = |fault: crate::contract::Finding| {
            let at = |position: Option<u64>| {
                position.and_then(|position| usize::try_from(position).ok()).unwrap_or(0)
            };
            let place = Place { file: path.to_owned(), line: at(fault.line), column: at(fault.column) };
            Issue { place: Some(place), message: fault.message }
        };
        let error = Error::config(format!("{} holds no strict JSON", name(path)));
        return Err(error.issues(faults.into_iter().map(issue).collect()));
    }
    if inference.records() == 0 {
        return Err(Error::config(format!("{} holds no samples", name(path))));
    }
    let rules = Rules::default();
    let lines = framing.unwrap_or(if inference.records() > 1 { Framing::Lines } else { Framing::Document });
    let mut promise = Promise { framing: Some(lines), ..Promise::default() };
    if lines == Framing::Lines {
        let found = ["type", "kind", "event"]
            .into_iter()
            .find_map(|key| Some((key, inference.variants(key, &rules)?)));
        if let Some((key, variants)) = found {
            let types =
                variants.into_iter().filter_map(|one| Some((one.tag.as_str()?.to_owned(), one.schema)));
            promise.events = Some(Events {
                discriminator: format!("/{key}"),
                types: types.collect(),
                ..Events::default()
            });
            return Ok(promise);
        }
    }
    promise.schema = Some(inference.schema(&rules));
    Ok(promise)
}
