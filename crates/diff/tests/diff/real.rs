//! Breaking changes that happened in real programs.

use crate::support::{changes, rules, spec_of, worst};
use agentnative_contract::{Contract, Framing, OutputSpec};
use agentnative_diff::{Change, ChangeSeverity, compare};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

fn bundled(name: &str) -> OutputSpec {
    OutputSpec::from_contract(&Contract::bundled(name).unwrap())
}

fn schema_of(contract: &str, file: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts").join(contract).join(file);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn with_rule<'a>(changes: &'a [Change], rule: &str) -> Vec<&'a Change> {
    changes.iter().filter(|change| change.rule == rule).collect()
}

/// Returns the success output of agent.js in one of its releases.
fn agent_js(without: &[&str], with: &[(&str, Value)]) -> Value {
    let whole = schema_of("agent-js", "output.schema.json");
    let mut success = whole["$defs"]["success"].clone();
    success["$defs"] = whole["$defs"].clone();
    success.as_object_mut().unwrap().remove("allOf");
    for key in without {
        success["properties"].as_object_mut().unwrap().remove(*key);
        success["required"].as_array_mut().unwrap().retain(|name| name != key);
    }
    for (key, schema) in with {
        success["properties"][*key] = schema.clone();
        success["required"].as_array_mut().unwrap().push(json!(key));
    }
    success
}

/// The contract of a program is compatible with the contract of its documentation; a rule with severity warn guarantees
/// nothing.
#[test]
fn programs_satisfy_their_documentation() {
    for (document, program) in [
        ("dexter-flat", "dexter-flat@2026.2"),
        ("dexter-nested", "dexter-nested@2026.2"),
        ("agent-js", "agent-js@1.5.8"),
    ] {
        let found = compare(&[bundled(document)], &[bundled(program)]);
        let breaks =
            |change: &Change| matches!(change.class, ChangeSeverity::Breaking | ChangeSeverity::Risky);
        assert!(!found.is_empty() && !found.iter().any(breaks), "{document}: {found:#?}");
        let back = compare(&[bundled(program)], &[bundled(document)]);
        assert_eq!(worst(&back), Some(ChangeSeverity::Breaking), "{document}");
    }
}

#[test]
fn the_four_shapes_of_agent_js() {
    let legacy = [("legacyModeMappedFrom", json!({ "type": ["string", "null"] }))];
    let v139 = agent_js(&["health", "status", "termination"], &legacy);
    let v140 = agent_js(&["health", "status", "termination"], &[]);
    let v151 = agent_js(&["status", "termination"], &[]);
    let v158 = agent_js(&[], &[]);

    let found = changes(&v139, &v140);
    assert_eq!(rules(&found), ["diff-key-removed"]);
    assert_eq!(
        (found[0].class, found[0].pointer.as_str()),
        (ChangeSeverity::Breaking, "/legacyModeMappedFrom")
    );
    let witness = found[0].witness.as_ref().unwrap();
    assert!(witness.document.get("legacyModeMappedFrom").is_none() && witness.document["ok"] == json!(true));

    // The objects are closed: consumers that validate strictly reject the new shape.
    let found = changes(&v140, &v151);
    assert_eq!(
        (rules(&found), worst(&found)),
        (vec!["diff-key-added-to-closed".to_owned()], Some(ChangeSeverity::Risky))
    );
    assert_eq!(found[0].pointer, "/health");
    let found = changes(&v151, &v158);
    assert_eq!(rules(&found), ["diff-key-added-to-closed", "diff-key-added-to-closed"]);
    assert_eq!(worst(&changes(&v158, &v139)), Some(ChangeSeverity::Breaking));
}

#[test]
fn a_key_of_the_whole_agent_js_contract() {
    let whole = schema_of("agent-js", "output.schema.json");
    assert!(changes(&whole, &whole).is_empty());
    let mut without = whole.clone();
    for def in ["success", "failedRun"] {
        without["$defs"][def]["properties"].as_object_mut().unwrap().remove("timingMs");
        without["$defs"][def]["required"].as_array_mut().unwrap().retain(|key| key != "timingMs");
    }
    let found = changes(&whole, &without);
    assert!(
        with_rule(&found, "diff-key-removed").iter().any(|change| change.pointer == "/timingMs"),
        "{found:#?}"
    );
}

/// Returns the codex contract from before the rename of `item_type` to `type`.
fn old_codex() -> OutputSpec {
    let mut spec = bundled("codex-exec");
    for document in spec.documents.values_mut() {
        rename_items(document);
    }
    spec
}

fn rename_items(schema: &mut Value) {
    let text = serde_json::to_string(&schema["$defs"]["item"]).unwrap();
    let text = text.replace("\"type\":{\"const\"", "\"item_type\":{\"const\"");
    let text = text.replace("\"type\":{\"type\":\"string\"}", "\"item_type\":{\"type\":\"string\"}");
    let text = text
        .replace("\"type\":{\"enum\"", "\"item_type\":{\"enum\"")
        .replace("agent_message", "assistant_message");
    let mut item: Value = serde_json::from_str(&text).unwrap();
    fn required(value: &mut Value) {
        match value {
            Value::Object(members) => {
                if let Some(Value::Array(keys)) = members.get_mut("required") {
                    keys.iter_mut().filter(|key| **key == "type").for_each(|key| *key = json!("item_type"));
                }
                members.values_mut().for_each(required);
            }
            Value::Array(elements) => elements.iter_mut().for_each(required),
            _ => {}
        }
    }
    required(&mut item);
    schema["$defs"]["item"] = item;
}

#[test]
fn codex_item_type_became_type() {
    let (old, new) = (old_codex(), bundled("codex-exec"));
    assert_ne!(old, new);
    let found = compare(&[old], &[new]);
    let removed: Vec<&Change> = with_rule(&found, "diff-key-removed");
    let at = removed
        .iter()
        .find(|change| change.pointer == "/item/item_type")
        .unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(at.class, ChangeSeverity::Breaking);
    assert!(
        at.note.as_ref().is_some_and(|note| note.contains("`type`") && note.contains("rename")),
        "{at:#?}"
    );
}

#[test]
fn codex_assistant_message_became_agent_message() {
    let item = |name: &str| {
        json!({ "oneOf": [
            { "type": "object", "required": ["item_type", "text"],
              "properties": { "item_type": { "const": name }, "text": { "type": "string" } } },
            { "type": "object", "required": ["item_type", "command"],
              "properties": { "item_type": { "const": "command_execution" }, "command": { "type": "string" } } },
        ]})
    };
    let found = changes(&item("assistant_message"), &item("agent_message"));
    assert_eq!(rules(&found), ["diff-variant-added", "diff-variant-removed"]);
    assert!(found[0].note.as_ref().is_some_and(|note| note.contains("assistant_message")), "{found:#?}");
    assert_eq!(found[0].witness.as_ref().unwrap().document["item_type"], json!("agent_message"));

    let new = json!({ "oneOf": [
        { "type": "object", "required": ["type", "text"],
          "properties": { "type": { "const": "agent_message" }, "text": { "type": "string" } } },
        { "type": "object", "required": ["type", "command"],
          "properties": { "type": { "const": "command_execution" }, "command": { "type": "string" } } },
    ]});
    let found = changes(&item("assistant_message"), &new);
    let removed = with_rule(&found, "diff-key-removed");
    assert!(
        removed.iter().any(|change| change.pointer == "/item_type" && change.note.is_some()),
        "{found:#?}"
    );
}

#[test]
fn claude_object_became_array() {
    let object = json!({ "type": "object", "required": ["type", "result"],
        "properties": { "type": { "const": "result" }, "result": { "type": "string" } } });
    let array = json!({ "type": "array", "items": { "type": "object", "required": ["type"],
        "properties": { "type": { "type": "string" } } } });
    let found = changes(&object, &array);
    assert_eq!(rules(&found), ["diff-object-became-array"]);
    assert_eq!((found[0].class, found[0].pointer.as_str()), (ChangeSeverity::Breaking, ""));
    assert_eq!(found[0].witness.as_ref().unwrap().document, json!([]));
    assert_eq!(rules(&changes(&array, &object)), ["diff-array-became-object"]);
}

/// opencode's tokens: the shape of 1.1 and that of 1.18, which also counts differently.
#[test]
fn opencode_tokens() {
    let tokens = |output: &str, total: bool| {
        let mut schema = json!({ "type": "object", "required": ["input", "output", "reasoning"],
            "properties": { "input": { "type": "integer" }, "output": { "type": "integer" },
                            "reasoning": { "type": "integer" } } });
        if total {
            schema["properties"]["total"] = json!({ "type": "integer" });
        }
        let mut spec = spec_of(&schema);
        spec.framing = Some(Framing::Lines);
        spec.rules.insert("tokens".to_owned(), vec![output.to_owned()]);
        spec
    };
    let old = tokens("/tokens/reasoning <= /tokens/output", false);
    // The shape does not say what a number counts; the rules of a contract do.
    let mut silent = tokens("", true);
    silent.rules.clear();
    let found = compare(std::slice::from_ref(&old), &[silent]);
    assert_eq!(rules(&found), ["diff-key-added", "diff-rule-removed"]);
    assert_eq!(worst(&found), Some(ChangeSeverity::Breaking));
    let found = compare(&[old], &[tokens("/tokens/output <= /tokens/total", true)]);
    assert_eq!(rules(&found), ["diff-key-added", "diff-undecided"]);
    assert_eq!(worst(&found), Some(ChangeSeverity::Undecided));
}

#[test]
fn every_bundled_contract_equals_itself() {
    for name in agentnative_contract::bundled_names() {
        let spec = bundled(name);
        let again: OutputSpec = serde_json::from_value(serde_json::to_value(&spec).unwrap()).unwrap();
        assert_eq!(spec, again, "{name}");
        let found = compare(&[spec], &[again]);
        assert!(found.is_empty(), "{name}: {found:#?}");
    }
}

/// Removing a required key from any bundled contract is never reported as equal or merely compatible.
#[test]
fn a_removed_key_is_reported_in_every_bundled_contract() {
    assert_removed_keys_are_reported(2);
}

#[test]
#[ignore = "takes a minute: run in .ci/more"]
fn long_many_removed_keys_are_reported_in_every_bundled_contract() {
    assert_removed_keys_are_reported(8);
}

/// Removes about `per_contract` required keys of each contract, one at a time.
fn assert_removed_keys_are_reported(per_contract: usize) {
    let mut places = Vec::new();
    for name in agentnative_contract::bundled_names() {
        let bundled = bundled(name);
        let mut of_contract = Vec::new();
        for (uri, document) in &bundled.documents {
            required_keys(document, &mut PathBuf::from("/"), &mut of_contract, uri);
        }
        let step = of_contract.len() / per_contract + 1;
        places.extend(of_contract.into_iter().step_by(step).map(|place| (name, place)));
    }
    let queue = Mutex::new(places.into_iter());
    let reported = AtomicUsize::new(0);
    let next = || queue.lock().unwrap().next();
    std::thread::scope(|threads| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            threads.spawn(|| {
                while let Some((name, (uri, pointer, key))) = next() {
                    let complete = bundled(name);
                    let mut reduced = complete.clone();
                    let object = reduced.documents.get_mut(&uri).unwrap().pointer_mut(&pointer).unwrap();
                    object["required"].as_array_mut().unwrap().retain(|name| *name != key);
                    let found = compare(&[complete], &[reduced]);
                    let worst = worst(&found);
                    // A schema that the contract does not use, or a key that another part requires, makes no
                    // difference.
                    if worst.is_some() {
                        reported.fetch_add(1, Ordering::Relaxed);
                        assert!(
                            worst <= Some(ChangeSeverity::Undecided),
                            "{name}: {pointer} {key}: {found:#?}"
                        );
                    }
                }
            });
        }
    });
    let reported = reported.into_inner();
    assert!(reported > 4 * per_contract, "{reported}");
}

fn required_keys(schema: &Value, at: &mut PathBuf, out: &mut Vec<(String, String, String)>, uri: &str) {
    let members: Vec<(String, &Value)> = match schema {
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), value)).collect(),
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(nth, value)| (nth.to_string(), value)).collect()
        }
        _ => return,
    };
    if let (Some(Value::Array(keys)), Some(_)) = (schema.get("required"), schema.get("properties")) {
        let pointer = at.to_string_lossy().trim_end_matches('/').to_owned();
        out.extend(
            keys.iter().filter_map(|key| Some((uri.to_owned(), pointer.clone(), key.as_str()?.to_owned()))),
        );
    }
    for (key, value) in
        members.into_iter().filter(|(key, _)| !["if", "not", "enum", "const"].contains(&key.as_str()))
    {
        at.push(key.replace('~', "~0").replace('/', "~1"));
        required_keys(value, at, out, uri);
        at.pop();
    }
}
