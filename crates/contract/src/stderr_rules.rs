//! Judges whether stderr matches a condition: nothing, text, or a JSON object.

use super::contract::Contract;
use super::spec::{Condition, ErrorOutput};
use serde_json::Value;

/// Maximum number of bytes of stderr that are judged, counted from its end.
const MAX_BYTES: usize = 1 << 20;

/// Returns why stderr does not match a condition; `None` if it does. `nth` is the index of the condition in the
/// contract.
pub(super) fn mismatch(
    contract: &Contract,
    nth: usize,
    condition: &Condition,
    stderr: &[u8],
) -> Option<String> {
    let text = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(MAX_BYTES)..]);
    match condition.stderr? {
        ErrorOutput::Nothing if text.trim().is_empty() => None,
        ErrorOutput::Nothing => Some("expected nothing on stderr, found text".to_owned()),
        ErrorOutput::Text if text.trim().is_empty() => Some("expected text on stderr, found none".to_owned()),
        ErrorOutput::Text => None,
        ErrorOutput::Json => {
            let objects = json_objects(&text);
            let Some(last) = objects.last() else {
                return Some("stderr contains no JSON object".to_owned());
            };
            let schema = contract.stderr_schemas[nth].as_ref()?;
            if objects.iter().any(|object| schema.violations(object).is_empty()) {
                return None;
            }
            let first = schema.violations(last).into_iter().next();
            first.map(|violation| {
                format!("no JSON object on stderr is valid; error in the last one: {violation}")
            })
        }
    }
}

/// Returns the JSON objects in a text. Each begins a line, alone or among warnings and stack traces.
pub(super) fn json_objects(text: &str) -> Vec<Value> {
    let mut objects = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let is_object = rest.trim_start_matches([' ', '\t']).starts_with('{');
        let object = is_object.then(|| values.next()).flatten().and_then(Result::ok);
        let length = if object.is_some() { values.byte_offset() } else { 0 };
        objects.extend(object);
        rest = rest[length..].split_once('\n').map_or("", |(_, next)| next);
    }
    objects
}
