//! JSON Schemas that are printed or in the repository: whether they are valid, and whether they describe output.

use agentnative_contract::Schema;
use serde_json::Value;

/// Words in the name or the title of a schema for settings.
const SETTINGS_WORDS: [&str; 3] = ["config", "settings", "preset"];
/// Words that indicate a schema for output nevertheless.
const OUTPUT_WORDS: [&str; 3] = ["output", "report", "result"];

pub(super) enum SchemaError {
    /// It is not a valid JSON Schema.
    Invalid(String),
    /// It refers to another document, which is not read; without the reference it is valid.
    ExternalReference(String),
}

/// Compiles a self-contained schema.
pub(super) fn compile(schema: &Value) -> Result<Schema, SchemaError> {
    Schema::compile(schema).map_err(|error| {
        let (mut rest, mut elsewhere) = (schema.clone(), None);
        remove_references(&mut rest, &mut elsewhere);
        match elsewhere {
            Some(reference) if Schema::compile(&rest).is_ok() => SchemaError::ExternalReference(reference),
            _ => SchemaError::Invalid(error.message),
        }
    })
}

/// Removes the references to other documents from a schema, and returns the first of them in `first`.
fn remove_references(schema: &mut Value, first: &mut Option<String>) {
    match schema {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str).filter(|uri| !uri.starts_with('#'));
            if let Some(uri) = reference.map(str::to_owned) {
                first.get_or_insert(uri);
                members.remove("$ref");
            }
            members.values_mut().for_each(|member| remove_references(member, first));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| remove_references(element, first)),
        _ => {}
    }
}

/// True if the name or the title of a schema indicates settings, not output.
pub(super) fn is_for_settings(file: &str, schema: Option<&Value>) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let title = schema.and_then(|schema| schema.get("title")?.as_str()).unwrap_or_default();
    let words = format!("{name} {title}").to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    has(&SETTINGS_WORDS) && !has(&OUTPUT_WORDS)
}
