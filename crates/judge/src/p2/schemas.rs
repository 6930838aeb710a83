//! Validates JSON Schemas, and distinguishes schemas of output from schemas of settings.

use agentnative_contract::Schema;
use serde_json::Value;

/// Words in the file name or title of a JSON Schema that indicate a schema of settings.
const SETTINGS_WORDS: [&str; 3] = ["config", "settings", "preset"];
/// Words in the file name or title of a JSON Schema that indicate a schema of output. They take precedence over
/// [`SETTINGS_WORDS`].
const OUTPUT_WORDS: [&str; 3] = ["output", "report", "result"];

/// The reason why a JSON Schema cannot be compiled.
pub(super) enum SchemaError {
    /// The document is not a valid JSON Schema; the string is the error message.
    Invalid(String),
    /// The schema refers to another document, which is not read; the string is the reference. Without its references to
    /// other documents, the schema is valid.
    ExternalReference(String),
}

/// Compiles a JSON Schema. Fails if the schema is invalid or refers to another document.
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

/// Removes the references to other documents from a schema. Stores the first removed reference in `first`, unless
/// `first` already contains one.
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

/// True if the file name or the title of a schema indicates that it describes settings and not output.
pub(super) fn is_for_settings(file: &str, schema: Option<&Value>) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let title = schema.and_then(|schema| schema.get("title")?.as_str()).unwrap_or_default();
    let words = format!("{name} {title}").to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    has(&SETTINGS_WORDS) && !has(&OUTPUT_WORDS)
}
