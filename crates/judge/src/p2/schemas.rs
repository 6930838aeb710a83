//! JSON Schemas that are printed or lie in the repository: whether they are valid, and what they are of.

use agentnative_contract::Schema;
use serde_json::Value;

/// Words in the name or the title of a schema that is one of settings, not of output.
const SETTINGS: [&str; 3] = ["config", "settings", "preset"];
/// Words that make it one of output all the same.
const OUTPUT: [&str; 3] = ["output", "report", "result"];

/// Why a schema cannot be compiled.
pub(super) enum Refused {
    /// It is no valid JSON Schema.
    Invalid(String),
    /// It refers to another document, which is not read; what it says itself is valid.
    Elsewhere(String),
}

/// Compiles a schema that has to stand alone.
pub(super) fn compile(schema: &Value) -> Result<Schema, Refused> {
    Schema::compile(schema).map_err(|error| {
        let (mut rest, mut elsewhere) = (schema.clone(), None);
        cut_references(&mut rest, &mut elsewhere);
        match elsewhere {
            Some(reference) if Schema::compile(&rest).is_ok() => Refused::Elsewhere(reference),
            _ => Refused::Invalid(error.message),
        }
    })
}

/// Takes the references to other documents out of a schema, and keeps the first of them.
fn cut_references(schema: &mut Value, first: &mut Option<String>) {
    match schema {
        Value::Object(members) => {
            let reference = members.get("$ref").and_then(Value::as_str).filter(|uri| !uri.starts_with('#'));
            if let Some(uri) = reference.map(str::to_owned) {
                first.get_or_insert(uri);
                members.remove("$ref");
            }
            members.values_mut().for_each(|member| cut_references(member, first));
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| cut_references(element, first)),
        _ => {}
    }
}

/// Whether a schema in this file is one of settings, not of output, as its name or its title says.
pub(super) fn is_of_settings(file: &str, schema: Option<&Value>) -> bool {
    let name = file.rsplit('/').next().unwrap_or(file);
    let title = schema.and_then(|schema| schema.get("title")?.as_str()).unwrap_or_default();
    let words = format!("{name} {title}").to_lowercase();
    let has = |list: &[&str]| list.iter().any(|word| words.contains(word));
    has(&SETTINGS) && !has(&OUTPUT)
}
