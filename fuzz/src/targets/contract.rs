//! Contract folders: `contract.toml`, then other files (the first line is the name), of which `data` is validated.
//!
//! A folder is valid, or its errors have locations in its files. Validating data has the same result from bytes and from
//! values in memory.

use super::shared::{
    SCHEMA_WORDS, assert_located, assert_valid_places, document, is_cheap, is_exact, validate,
};
use crate::{Target, corpus};
use agentnative_contract::{CONTRACT_FILE, Contract, Framing, RunExit, Violation};
use std::fs;

pub const TARGET: Target = Target { name: "contract", run, seeds, words: SCHEMA_WORDS };

fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for file in corpus::files(&["contracts"], &[CONTRACT_FILE]) {
        let Some(folder) = file.parent() else { continue };
        let mut parts = vec![corpus::read(&file)];
        let entries =
            fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).map(|entry| entry.path());
        let mut schemas: Vec<_> =
            entries.filter(|path| path.extension().is_some_and(|it| it == "json")).collect();
        schemas.sort();
        let named = |name: &str, text: &[u8]| [name.as_bytes(), b"\n", text].concat();
        for path in schemas {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            parts.push(named(&name, &corpus::read(&path)));
        }
        let examples = corpus::files(&[&format!("contracts/{}", folder_name(folder))], &[".jsonl", ".json"]);
        let examples =
            examples.iter().filter(|path| path.components().any(|part| part.as_os_str() == "examples"));
        for example in examples.step_by(3) {
            let mut with_data = parts.clone();
            with_data.push(named("data", &corpus::read(example)));
            seeds.push(corpus::join(&with_data));
        }
    }
    seeds.retain(|seed| seed.len() < corpus::MAX_INPUT);
    seeds
}

fn folder_name(folder: &std::path::Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn run(bytes: &[u8]) {
    let mut parts = corpus::parts(bytes);
    let toml = parts.next().unwrap_or_default();
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let write = |name: &str, bytes: &[u8]| {
        fs::write(folder.path().join(name), bytes).expect("a fresh folder can be written");
    };
    write(CONTRACT_FILE, toml);
    let (mut data, mut cheap, mut exact) = (None, true, true);
    for part in parts {
        let name_end = part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
        let (name, text) = (&part[..name_end], part.get(name_end + 1..).unwrap_or_default());
        let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
        match std::str::from_utf8(name) {
            Ok("data") => data = Some(text),
            Ok(name) if name.ends_with(".json") && name.bytes().all(|byte| is_allowed(&byte)) => {
                (cheap, exact) = (cheap && (is_cheap(text) || text.len() > 8 << 10), exact && is_exact(text));
                write(name, text);
            }
            _ => {}
        }
    }
    let contract = match Contract::load(folder.path()) {
        Ok(contract) => contract,
        Err(error) => {
            if let Ok(text) = std::str::from_utf8(toml) {
                assert_located(&error);
                assert_valid_places(&error, CONTRACT_FILE, text);
            }
            return;
        }
    };
    assert!(!contract.summary().facts().is_empty());
    let Some(data) = data.filter(|_| cheap) else { return };
    let framing = contract.framing();
    let from_bytes = validate(&contract, framing, data, 1);
    assert_eq!(from_bytes, validate(&contract, framing, data, 2));
    if exact && let Some(in_memory) = validate_in_memory(&contract, data) {
        // Messages differ: they quote numbers as they are written.
        let sorted = |all: Vec<Violation>| {
            let mut all: Vec<_> = all.into_iter().map(|it| (it.pointer, it.rule, it.keyword)).collect();
            all.sort();
            all
        };
        assert_eq!(sorted(from_bytes.errors), sorted(in_memory));
    }
}

/// Returns the violations of values in memory, if all data is strict JSON with exact numbers.
fn validate_in_memory(contract: &Contract, data: &[u8]) -> Option<Vec<Violation>> {
    let mut validator = contract.validator();
    let mut violations = Vec::new();
    if contract.framing() == Framing::Lines {
        for (line, number) in data.split_inclusive(|byte| *byte == b'\n').zip(1..) {
            let value = document(line).filter(|value| value.is_object() && is_exact(line))?;
            violations.extend(validator.push(number, &value));
        }
    } else {
        let value = document(data).filter(|_| is_exact(data))?;
        violations.extend(validator.push_document(&value));
    }
    violations.extend(validator.finish(&RunExit::default()).violations);
    Some(violations)
}
