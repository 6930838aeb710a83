//! Decides whether a file contains a schema or samples, and infers an output specification from a file of samples.

use crate::infer::{Inference, InferenceOptions};
use crate::lock::{EventOrder, EventOrders};
use agentnative_contract::error::{Error, Issue, Result};
use agentnative_contract::{
    DataFile, EventSpec, Framing, OutputSpec, Violation, framing, is_schema, type_keys,
};
use serde_json::Value;
use std::fs;
use std::io::Read as _;
use std::path::Path;
use strict_json::{ReadOptions, read_lines};

/// Maximum length of a schema file, in bytes. A longer file counts as samples.
const MAX_SCHEMA: u64 = 16 << 20;

/// Returns whether a file contains a JSON Schema instead of samples. Fails with a usage error if the file cannot be
/// read.
pub fn is_schema_file(path: &Path) -> Result<bool> {
    let text = path.as_os_str().to_string_lossy();
    if text.ends_with(".schema.json") {
        return Ok(true);
    }
    if framing(path) == Some(Framing::Lines) {
        return Ok(false);
    }
    let unreadable = |error| Error::data_file(path, &error);
    let length = fs::metadata(path).map_err(unreadable)?.len();
    if length > MAX_SCHEMA {
        return Ok(false);
    }
    let mut file = DataFile::open(path)?;
    if file.compressed {
        return Ok(false);
    }
    let mut bytes = Vec::new();
    file.reader.read_to_end(&mut bytes).map_err(unreadable)?;
    // The reader for the kind that the file name suggests reports the syntax error with its position.
    let Ok(value) = serde_json::from_slice::<Value>(&bytes) else {
        return Ok(framing(path) == Some(Framing::Document));
    };
    Ok(is_schema(&value) || value.as_object().is_some_and(serde_json::Map::is_empty))
}

/// Infers an output specification from the samples in a file. Fails with a usage error if the file cannot be opened,
/// and with a configuration error if it is not strict JSON or contains no samples.
pub fn infer_spec(path: &Path) -> Result<OutputSpec> {
    let file = DataFile::open(path)?;
    let (name, framing, threads) = (file.name.clone(), file.framing, file.thread_count(None));
    let mut inference = Inference::new();
    let violations = inference
        .add_input(file.reader, framing, threads, &mut |_| {})
        .map_err(|error| Error::data_file(path, &error))?;
    if !violations.is_empty() {
        return Err(bad_json(&name, path, violations));
    }
    if inference.records() == 0 {
        return Err(no_samples(&name));
    }
    let options = InferenceOptions::cautious();
    let default_framing = if inference.records() > 1 { Framing::Lines } else { Framing::Document };
    let framing = framing.unwrap_or(default_framing);
    let mut spec = OutputSpec { framing: Some(framing), ..OutputSpec::default() };
    spec.kinds = inference.kinds(&options);
    let mut keys = type_keys().filter(|_| framing == Framing::Lines);
    match keys.find_map(|key| Some((key, inference.variants(key, &options)?))) {
        Some((key, variants)) => {
            let types = variants
                .into_iter()
                .filter_map(|variant| Some((variant.tag.as_str()?.to_owned(), variant.schema)));
            let discriminator = format!("/{key}");
            spec.kinds.remove(&discriminator);
            let bounds = infer_first_and_last_types(path, key)?;
            spec.events = Some(EventSpec { discriminator, types: types.collect(), ..bounds });
        }
        None => spec.schema = Some(inference.schema(&options)),
    }
    Ok(spec)
}

/// Creates the error for a file that is not strict JSON, with the position of each violation.
pub(crate) fn bad_json(name: &str, path: &Path, violations: Vec<Violation>) -> Error {
    let issue =
        |violation: Violation| Issue { place: Some(violation.place(path)), message: violation.message };
    let error = Error::config(format!("{name} is not strict JSON"));
    error.issues(violations.into_iter().map(issue).collect())
}

/// Creates the error for a file without samples.
pub(crate) fn no_samples(name: &str) -> Error {
    Error::config(format!("{name} contains no samples"))
}

/// Returns an event specification with the first and the last event type of the stream in a file, according to `key`.
/// It is empty if `key` does not name the type of every record.
fn infer_first_and_last_types(path: &Path, key: &str) -> Result<EventSpec> {
    let unreadable = |error| Error::data_file(path, &error);
    let file = DataFile::open(path)?.reader;
    let (mut orders, mut order) = (EventOrders::default(), EventOrder::default());
    read_lines(file, &ReadOptions::default(), &mut order).map_err(unreadable)?;
    orders.add(order);
    let found = orders.infer_order().filter(|(found, _)| *found == key);
    Ok(found.map_or_else(EventSpec::default, |(_, events)| EventSpec { order: Vec::new(), ..events }))
}
