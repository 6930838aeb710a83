//! `contract diff` of a schema and samples: the samples are validated, and their violations are changes.

use super::support::{CliOutput, Folder};
use serde_json::{Value, json};

const SCHEMA: &str = r#"{
  "type": "object", "required": ["items"],
  "properties": { "items": { "type": "array", "items": {
    "type": "object", "required": ["id", "done"],
    "properties": {
      "id": { "type": "integer" }, "done": { "type": "boolean" }, "kind": { "enum": ["a", "b"] },
      "note": { "type": ["string", "null"] }
    } } } }
}"#;

fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new();
    folder.write("list.schema.json", SCHEMA);
    for (name, text) in files {
        folder.write(name, text);
    }
    folder
}

fn diff(folder: &Folder, args: &[&str]) -> CliOutput {
    folder.run(&[&["contract", "diff"], args].concat())
}

/// Class, rule and pointer of each change.
fn changes(output: &CliOutput) -> Vec<(String, String, String)> {
    let data = output.data();
    let word = |change: &Value, key: &str| change[key].as_str().unwrap().to_owned();
    let each = data["changes"].as_array().unwrap().iter();
    each.map(|change| (word(change, "class"), word(change, "rule"), word(change, "pointer"))).collect()
}

fn row(class: &str, rule: &str, pointer: &str) -> (String, String, String) {
    (class.to_owned(), rule.to_owned(), pointer.to_owned())
}

#[test]
fn a_valid_sample_has_no_difference() {
    let folder = folder(&[("list.json", r#"{"items":[{"id":1,"done":true}]}"#)]);
    let to = diff(&folder, &["list.schema.json", "list.json", "--strict"]);
    assert_eq!((to.code, to.out.as_str()), (Some(0), "no difference in 1 document\n"), "{to:?}");
    let from = diff(&folder, &["list.json", "list.schema.json", "--strict"]);
    assert_eq!((from.code, from.out.as_str()), (Some(0), "no difference in 1 document\n"), "{from:?}");
}

/// Each change has its number of occurrences and the first of them.
#[test]
fn contents_of_a_sample_that_the_schema_does_not_allow_are_changes() {
    let text = "{\"items\":[\n {\"id\":1,\"done\":true,\"kind\":\"c\",\"extra\":1},\n {\"id\":\"2\",\"kind\":\"d\"}]}\n";
    let folder = folder(&[("list.json", text)]);
    let output = diff(&folder, &["list.schema.json", "list.json", "--json"]);
    assert_eq!(output.code, Some(1), "{output:?}");
    assert_eq!(
        changes(&output),
        [
            row("breaking", "diff-enum-value-added", "/items/*/kind"),
            row("breaking", "diff-key-optional", "/items/*/done"),
            row("breaking", "diff-type-widened", "/items/*/id"),
            row("compatible", "diff-key-added", "/items/*/extra"),
        ]
    );
    let data = output.data();
    assert_eq!(data["sample"], json!({ "side": "new", "records": 1, "rejected": 1 }));
    assert_eq!(data["changes"][0]["new"], json!(["c", "d"]));
    assert_eq!(
        data["changes"][0]["evidence"],
        json!({ "count": 2, "places": [
            { "record": 1, "line": 2, "column": 29, "pointer": "/items/0/kind" },
            { "record": 1, "line": 3, "column": 19, "pointer": "/items/1/kind" },
        ]})
    );
    let schema = serde_json::from_str(&folder.run(&["schema", "output"]).out).unwrap();
    let schema = agentnative_contract::Schema::compile(&schema).unwrap();
    assert_eq!(schema.violations(&output.json()), Vec::new());
    let text = diff(&folder, &["list.schema.json", "list.json"]);
    for line in [
        "breaking[diff-enum-value-added]: expected one of \"a\", \"b\", found the string \"c\"",
        "  --> /items/*/kind",
        "    = new: [\"c\",\"d\"]",
        "    = found at: list.json:2:29: /items/0/kind",
        "    = found at: list.json:3:19: /items/1/kind",
        "breaking[diff-key-optional]: missing key `done`",
        "breaking[diff-type-widened]: expected an integer, found the string \"2\"",
        "compatible[diff-key-added]: the key `extra` is new",
        "3 breaking, 1 compatible",
        "list.schema.json rejects 1 of 1 document",
    ] {
        assert!(text.out.lines().any(|own| own == line), "{line}\n{}", text.out);
    }
    assert_eq!(text.err, "error: 3 breaking changes\n");
    for absent in ["false", "null", "note", "other", "now possible"] {
        assert!(!text.out.contains(absent), "{absent}\n{}", text.out);
    }
}

#[test]
fn each_line_of_json_lines_is_a_document() {
    let lines = "{\"items\":[]}\n{\"items\":null}\n{}\n{\"items\":null}\n";
    let folder = folder(&[("lists.jsonl", lines)]);
    let output = diff(&folder, &["list.schema.json", "lists.jsonl", "--json"]);
    assert_eq!(
        changes(&output),
        [row("breaking", "diff-null-added", "/items"), row("breaking", "diff-key-optional", "/items")]
    );
    let data = output.data();
    assert_eq!(data["sample"], json!({ "side": "new", "records": 4, "rejected": 3 }));
    let places = &data["changes"][0]["evidence"];
    assert_eq!(
        (&places["count"], &places["places"][1]["record"], &places["places"][1]["line"]),
        (&json!(2), &json!(4), &json!(4))
    );
    let rows = diff(&folder, &["list.schema.json", "lists.jsonl", "--jsonl"]);
    let rows: Vec<Value> = rows.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (rows.len(), &rows[2]["type"], &rows[2]["sample"]["rejected"]),
        (3, &json!("summary"), &json!(3))
    );
    assert_eq!(rows[0]["evidence"], data["changes"][0]["evidence"]);
}

/// An old sample shows which old documents the new schema rejects. A narrower schema is compatible; a value that can
/// only have another type is breaking, and a key that the schema no longer names may be gone.
#[test]
fn an_old_sample_is_validated_against_the_new_schema() {
    let lines = "{\"items\":[{\"id\":\"1\",\"done\":null,\"kind\":\"c\",\"extra\":1}]}\n{\"items\":[{\"id\":\"2\",\"kind\":\"a\"}]}\n";
    let closed = SCHEMA.replace("\"required\": [\"items\"]", "\"required\": [\"items\", \"total\"]");
    let folder = folder(&[("old.jsonl", lines), ("new.schema.json", &closed)]);
    let output = diff(&folder, &["old.jsonl", "new.schema.json", "--json"]);
    assert_eq!(
        changes(&output),
        [
            row("breaking", "diff-type-changed", "/items/*/id"),
            row("risky", "diff-optional-key-removed", "/items/*/extra"),
            row("compatible", "diff-key-required", "/total"),
            row("compatible", "diff-null-removed", "/items/*/done"),
            row("compatible", "diff-enum-value-removed", "/items/*/kind"),
            row("compatible", "diff-key-required", "/items/*/done"),
        ]
    );
    let data = output.data();
    assert_eq!((output.code, &data["sample"]["rejected"]), (Some(1), &json!(2)));
    assert_eq!((&data["changes"][0]["old"], &data["changes"][0]["new"]), (&json!(["1", "2"]), &Value::Null));
    // If values of the expected type occur as well, the schema was only narrowed.
    folder.write("mixed.jsonl", "{\"items\":[{\"id\":\"1\",\"done\":true}],\"total\":1}\n{\"items\":[{\"id\":1,\"done\":true}],\"total\":1}\n");
    let output = diff(&folder, &["mixed.jsonl", "list.schema.json", "--json"]);
    assert_eq!(
        changes(&output),
        [
            row("risky", "diff-optional-key-removed", "/total"),
            row("compatible", "diff-type-narrowed", "/items/*/id"),
        ]
    );
    assert_eq!(output.code, Some(0));
}

#[test]
fn keys_of_closed_objects_and_of_maps_are_distinguished() {
    let schema = r#"{"type":"object","properties":{"a":{},
        "closed":{"type":"object","properties":{"x":{}},"additionalProperties":false},
        "map":{"type":"object","additionalProperties":{"type":"integer"}},
        "free":{"type":"object"}}}"#;
    let sample = r#"{"closed":{"x":1,"y":2,"z":3},"map":{"one":1,"two":"2"},"free":{"any":1}}"#;
    let folder = folder(&[("s.schema.json", schema), ("s.json", sample)]);
    let output = diff(&folder, &["s.schema.json", "s.json", "--json"]);
    assert_eq!(
        changes(&output),
        [
            row("breaking", "diff-type-widened", "/map/*"),
            row("risky", "diff-key-added-to-closed", "/closed/y"),
            row("risky", "diff-key-added-to-closed", "/closed/z"),
        ]
    );
    let output = diff(&folder, &["s.json", "s.schema.json", "--json"]);
    let removed = |key: &str| row("risky", "diff-optional-key-removed", key);
    assert!(changes(&output).contains(&removed("/closed/y")), "{output:?}");
}

/// A document is compared with the nearest variant of a union.
#[test]
fn a_document_of_a_union_is_compared_with_its_variant() {
    let schema = r#"{"oneOf":[
        {"type":"object","required":["type","text"],"properties":{"type":{"const":"text"},"text":{"type":"string"}}},
        {"type":"object","required":["type","path"],"properties":{"type":{"const":"file"},"path":{"type":"string","minLength":1}}}]}"#;
    let lines = "{\"type\":\"text\",\"text\":1}\n{\"type\":\"file\",\"path\":\"\",\"size\":3}\n{\"type\":\"image\"}\n[]\n";
    let folder = folder(&[("parts.schema.json", schema), ("parts.jsonl", lines)]);
    let output = diff(&folder, &["parts.schema.json", "parts.jsonl", "--json"]);
    assert_eq!(
        changes(&output),
        [
            row("breaking", "diff-type-widened", "/text"),
            row("breaking", "diff-length-loosened", "/path"),
            row("breaking", "diff-variant-added", "/type"),
            row("breaking", "diff-type-widened", ""),
            row("compatible", "diff-key-added", "/size"),
        ]
    );
    let data = output.data();
    let variant = |nth: usize| data["changes"][nth]["variant"].clone();
    assert_eq!((variant(0), variant(1)), (json!(["`type` \"text\""]), json!(["`type` \"file\""])));
    assert_eq!((variant(2), variant(4)), (Value::Null, json!(["`type` \"file\""])));
    assert_eq!(data["changes"][2]["new"], "image");
}

#[test]
fn a_stream_is_compared_with_its_contract() {
    let folder = folder(&[]);
    let valid = std::fs::read_dir("contracts/codex-exec/examples/valid").unwrap();
    let valid =
        valid.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_some_and(|e| e == "jsonl"));
    let stream = std::fs::read_to_string(valid.unwrap()).unwrap();
    folder.write("run.jsonl", &stream);
    let output = diff(&folder, &["codex-exec", "run.jsonl", "--json", "--strict"]);
    assert_eq!((output.code, changes(&output)), (Some(0), Vec::new()), "{output:?}");

    let rest = stream.split_once('\n').unwrap().1;
    folder.write("run.jsonl", format!("{{\"type\":\"session.created\"}}\n{rest}"));
    let output = diff(&folder, &["codex-exec", "run.jsonl", "--json"]);
    let found = changes(&output);
    assert!(found.contains(&row("breaking", "diff-first-event-changed", "/type")), "{found:?}");
    assert!(found.iter().any(|(_, rule, _)| rule == "diff-event-added"), "{found:?}");
    let back = diff(&folder, &["run.jsonl", "codex-exec", "--json"]);
    assert!(changes(&back).iter().any(|(_, rule, _)| rule == "diff-event-removed"), "{back:?}");

    folder.write("one.json", "{\n\"type\": \"thread.started\"\n}");
    let output = diff(&folder, &["codex-exec", "one.json", "--json"]);
    assert_eq!(changes(&output), [row("breaking", "diff-framing-changed", "")]);
}

#[test]
fn an_invalid_or_empty_sample_is_an_error() {
    let folder = folder(&[("torn.json", "{\"items\": [1,"), ("empty.jsonl", "")]);
    for (name, message) in [("torn.json", "is not strict JSON"), ("empty.jsonl", "contains no samples")] {
        for sides in [["list.schema.json", name], [name, "list.schema.json"]] {
            // A truncated document is classified by the name of its file.
            let output = diff(&folder, &sides);
            assert_eq!(output.code, Some(78), "{output:?}");
            if name == "empty.jsonl" {
                assert!(output.err.contains(message), "{output:?}");
            }
        }
    }
    folder.write("torn.jsonl", "{\"items\":[]}\n{\"items\":\n");
    let output = diff(&folder, &["list.schema.json", "torn.jsonl"]);
    assert!(output.code == Some(78) && output.err.contains("torn.jsonl:2:"), "{output:?}");
}

/// Each record is read once and not kept; changes of the same kind at the same pointer are counted.
#[test]
fn equal_changes_of_many_documents_are_one_change() {
    use std::fmt::Write as _;
    let mut lines = String::new();
    for n in 0..3000 {
        writeln!(lines, "{{\"items\":[{{\"id\":{n}.5,\"done\":true,\"k{n}\":1,\"kind\":\"{n}\"}}]}}")
            .unwrap();
    }
    let folder = folder(&[("many.jsonl", &lines)]);
    let output = diff(&folder, &["list.schema.json", "many.jsonl", "--json"]);
    let data = output.data();
    let all = data["changes"].as_array().unwrap();
    assert!(all.len() < 100, "{}", all.len());
    let ids = all.iter().find(|change| change["rule"] == "diff-integer-became-number").unwrap();
    assert_eq!((&ids["evidence"]["count"], &ids["pointer"]), (&json!(3000), &json!("/items/*/id")));
    let further = all.iter().find(|change| change["pointer"] == "/items/*/*").unwrap();
    assert_eq!(further["message"], "further keys are new");
    assert_eq!(data["sample"], json!({ "side": "new", "records": 3000, "rejected": 3000 }));
}
