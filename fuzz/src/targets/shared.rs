//! Code that several targets share.

use agentnative_contract::error::{Error, ErrorKind};
use agentnative_contract::{Contract, Framing, RunExit, Settings, Validation, Verdict};
use serde_json::Value;
use std::path::Path;
use strict_json::{Event, ReadOptions, Sink};

/// Members with the keywords of JSON Schema.
pub const SCHEMA_WORDS: &[&str] = &[
    "\"type\": \"integer\"",
    "\"type\": [\"string\", \"null\"]",
    "\"minimum\": -1.5",
    "\"maximum\": 1e400",
    "\"exclusiveMinimum\": 0",
    "\"exclusiveMaximum\": 9007199254740993",
    "\"multipleOf\": 0.01",
    "\"multipleOf\": 1.5",
    "\"minLength\": 2",
    "\"maxLength\": 1.0",
    "\"pattern\": \"^a+$\"",
    "\"pattern\": \"^(?=a)\"",
    "\"format\": \"date-time\"",
    "\"enum\": [1, 1.0, \"a\", null, [1]]",
    "\"const\": 0.0",
    "\"required\": [\"a\"]",
    "\"properties\": {\"a\": {}}",
    "\"additionalProperties\": false",
    "\"patternProperties\": {\"^a\": false}",
    "\"propertyNames\": {\"maxLength\": 1}",
    "\"minProperties\": 1",
    "\"dependentRequired\": {\"a\": [\"b\"]}",
    "\"dependentSchemas\": {\"a\": {}}",
    "\"items\": {}",
    "\"items\": [{}, false]",
    "\"prefixItems\": [{}]",
    "\"contains\": {}",
    "\"minContains\": 0",
    "\"uniqueItems\": true",
    "\"anyOf\": [{}, false]",
    "\"oneOf\": [{\"type\": \"null\"}, {}]",
    "\"allOf\": [{}]",
    "\"not\": {}",
    "\"if\": {}, \"then\": false",
    "\"else\": false",
    "\"unevaluatedProperties\": false",
    "\"unevaluatedItems\": false",
    "\"$defs\": {\"a\": {}}",
    "\"$ref\": \"#\"",
    "\"$ref\": \"#/$defs/a\"",
    "\"$ref\": \"#/properties/a\"",
    "\"$dynamicRef\": \"#a\"",
    "\"$dynamicAnchor\": \"a\"",
    "\"$anchor\": \"a\"",
    "\"$id\": \"a.json\"",
    "\"$schema\": \"http://json-schema.org/draft-07/schema#\"",
    "\"$schema\": \"http://json-schema.org/draft-04/schema#\"",
    "\"$recursiveRef\": \"#\"",
    "\"contentMediaType\": \"application/json\"",
    "\"deprecated\": true",
    "true",
    "false",
];

/// Asserts that the locations of an error in this file are positions in its text.
pub fn assert_valid_places(error: &Error, file: &str, text: &str) {
    assert!(!error.message.is_empty());
    for place in error.issues.iter().filter_map(|issue| issue.place.as_ref()) {
        if !place.file.ends_with(file) {
            continue;
        }
        let lines: Vec<&str> = text.split('\n').collect();
        assert!((1..=lines.len()).contains(&place.line), "{place} of {} lines", lines.len());
        let columns = lines[place.line - 1].chars().count() + 1;
        assert!((1..=columns).contains(&place.column), "{place} of {columns} columns");
    }
}

/// Asserts that an error of configuration has locations.
pub fn assert_located(error: &Error) {
    if error.kind == ErrorKind::Config {
        assert!(!error.issues.is_empty(), "{error:?}");
        assert!(error.issues.iter().all(|issue| issue.place.is_some()), "{error:?}");
    }
}

/// Parses a document strictly; `None` if it is rejected or nested more deeply than serde_json supports.
pub fn document(bytes: &[u8]) -> Option<Value> {
    let options = ReadOptions { max_depth: 127, ..ReadOptions::default() };
    let read = strict_json::read_document(bytes, &options, &mut ()).ok()?;
    (!read.rejected()).then(|| serde_json::from_slice(bytes).ok()).flatten()
}

/// Returns whether validating with a schema is certainly cheap. Repeated branches of references are not.
pub fn is_cheap(schema: &[u8]) -> bool {
    schema.len() < 8 << 10
        && schema.windows(4).filter(|window| window == b"Ref\"" || window == b"ref\"").count() < 10
}

/// Returns whether binary64 or a 64-bit integer represents all numbers exactly. serde_json rounds others.
pub fn is_exact(bytes: &[u8]) -> bool {
    struct Numbers(bool);
    impl Sink for Numbers {
        fn event(&mut self, event: Event<'_>) {
            if let Event::Number(_, text) = event {
                let parsed = text.parse::<serde_json::Number>().map(|number| number.to_string());
                self.0 &= parsed.is_ok_and(|parsed| digits(&parsed) == digits(text));
            }
        }
    }
    let mut numbers = Numbers(true);
    strict_json::read_document(bytes, &ReadOptions::default(), &mut numbers).is_ok() && numbers.0
}

/// Returns the significant digits of a number and the power of ten of the last one, which are the same for all spellings
/// of a number.
fn digits(number: &str) -> (String, i64) {
    let number = number.strip_prefix('-').unwrap_or(number);
    let (mantissa, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = format!("{whole}{fraction}");
    let digits = all_digits.trim_start_matches('0').trim_end_matches('0').to_owned();
    let power = power.parse::<i64>().unwrap_or(i64::MAX / 2) - fraction.len() as i64;
    let zeros = all_digits.len() - all_digits.trim_end_matches('0').len();
    let power = if digits.is_empty() { 0 } else { power + zeros as i64 };
    (digits, power)
}

/// Validates these bytes against a contract.
pub fn validate(contract: &Contract, framing: Framing, bytes: &[u8], threads: usize) -> Verdict {
    let settings = Settings { framing, max_errors: 10_000, exit: RunExit::default(), threads };
    Validation::new(contract, settings).validate(bytes, &mut |_| ()).expect("memory can be read")
}

/// Loads a schema as a contract, from a file that is written to this folder.
pub fn load_schema(schema: &[u8], folder: &Path) -> agentnative_contract::error::Result<Contract> {
    let path = folder.join("schema.json");
    std::fs::write(&path, schema).expect("a fresh folder can be written");
    Contract::load(&path)
}
