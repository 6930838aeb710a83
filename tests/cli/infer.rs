//! `contract infer`: the schema in each format, and the errors of samples.

use super::support::{Folder, output_of};
use serde_json::{Value, json};

#[test]
fn a_schema_is_printed_in_each_format() {
    let folder = Folder::new();
    folder.write("a.jsonl", "{\"id\":1}\n{\"id\":2,\"name\":\"b\"}\n");
    std::fs::create_dir(folder.path().join("more")).unwrap();
    folder.write("more/b.json", "{\n  \"id\": 3\n}\n");
    let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
        "required": ["id"], "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}});
    let text = folder.run(&["contract", "infer", "a.jsonl", "more"]);
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""));
    assert_eq!(serde_json::from_str::<Value>(&text.out).unwrap(), schema);
    let data = folder.run(&["contract", "infer", "--json", "a.jsonl", "more"]).data();
    assert_eq!((&data["files"], &data["records"], &data["schema"]), (&json!(2), &json!(3), &schema));
    assert_eq!(folder.run(&["contract", "infer", "--jsonl", "a.jsonl", "more"]).lines(), [data]);
    // Characters that are unsafe for a terminal are escaped; the value is unchanged.
    folder.write("odd.json", "{\"\u{202e}x\":1}");
    let escaped = folder.run(&["contract", "infer", "odd.json"]).out;
    assert!(escaped.contains("\\u202e") && !escaped.contains('\u{202e}'), "{escaped}");
    assert_eq!(serde_json::from_str::<Value>(&escaped).unwrap()["required"], json!(["\u{202e}x"]));
}

#[test]
fn invalid_samples_are_errors_with_positions_and_give_no_schema() {
    let folder = Folder::new();
    folder.write("good.jsonl", "{\"id\":1}\n");
    folder.write("bad.jsonl", "{\"id\":1}\n{\"id\":1,\"id\":2}\n{\"id\":}\n");
    let text = folder.run(&["contract", "infer", "good.jsonl", "bad.jsonl"]);
    assert_eq!((text.code, text.out.as_str()), (Some(1), ""));
    assert!(text.err.contains("bad.jsonl:2:9: /id: expected unique keys"), "{}", text.err);
    assert!(text.err.contains("bad.jsonl:3:7: /id: expected a JSON value"), "{}", text.err);
    let error = folder.run(&["contract", "infer", "--json", "good.jsonl", "bad.jsonl"]).error();
    assert_eq!((&error["issues"][0]["line"], &error["issues"][0]["column"]), (&json!(2), &json!(9)));
    // A document with the framing of lines, and lines with the framing of a document.
    folder.write("pretty.jsonl", "{\n\"id\":1\n}\n");
    folder.write("lines.json", "{\"id\":1}\n{\"id\":2}\n");
    for name in ["pretty.jsonl", "lines.json"] {
        let text = folder.run(&["contract", "infer", name]);
        assert!(text.code == Some(1) && text.err.contains("--framing"), "{}", text.err);
    }
    assert_eq!(folder.run(&["contract", "infer", "--framing", "lines", "lines.json"]).code, Some(0));
    folder.write("array.json", "[{\"id\":1},{\"id\":2,\"name\":\"b\"}]");
    let items = folder.run(&["contract", "infer", "--framing", "array", "--json", "array.json"]).data();
    assert_eq!((&items["records"], &items["schema"]["required"]), (&json!(2), &json!(["id"])));
    let text = folder.run(&["contract", "infer", "--framing", "array", "good.jsonl"]);
    assert!(text.code == Some(1) && text.err.contains("expected an array of events"), "{}", text.err);
    for (args, code) in [(&["absent.json"][..], 2), (&["--enum-threshold", "x"], 2), (&[], 1)] {
        let args = [&["contract", "infer"], args].concat();
        assert_eq!(
            output_of(folder.command().args(&args).stdin(std::process::Stdio::null())).code,
            Some(code)
        );
    }
}
