//! Tests of the schema files of a user's contract: loading, references and errors.

use super::folder::{document, folder, issues, load};
use agentnative_contract::error::ErrorKind;
use agentnative_contract::{Contract, Framing, RunExit, Settings, Validation};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

/// `multipleOf` and `integer` are exact beyond the precision of a double.
#[test]
fn numbers_are_judged_exactly() {
    let schema = json!({ "properties": { "m": { "multipleOf": 1.5 }, "i": { "type": "integer" } } });
    let files = folder(&[("s.json", &schema.to_string())]);
    let contract = Contract::load(&files.path().join("s.json")).unwrap();
    let settings =
        Settings { framing: Framing::Document, max_errors: 9, exit: RunExit::default(), threads: 1 };
    for (text, message) in [
        (r#"{"m":9007199254740993}"#, None),
        (r#"{"m":9007199254740994.5}"#, None),
        (r#"{"m":9007199254740992}"#, Some("expected a multiple of 1.5, found the number 9007199254740992")),
        (r#"{"i":9007199254740993.5}"#, Some("expected an integer")),
        (r#"{"i":9007199254740993.0}"#, None),
    ] {
        let verdict = Validation::new(&contract, settings).validate(text.as_bytes(), &mut |_| ()).unwrap();
        let found = verdict.errors.first();
        assert_eq!(found.is_some(), message.is_some(), "{text} {found:?}");
        assert!(found.is_none_or(|found| found.message.contains(message.unwrap())), "{found:?}");
        assert!(found.is_none_or(|found| found.keyword.is_some()), "{found:?}");
    }
}

/// Data in place of a schema would allow every value.
#[test]
fn a_file_without_a_schema_keyword_is_rejected() {
    for (schema, is_valid) in [
        (r#"{"id":1,"title":"x"}"#, false),
        (r#"{"results":[{"type":"object"}]}"#, false),
        (r#"{"description":"any","not":{}}"#, true),
        ("{}", true),
        ("true", true),
        (r#"{"$schema":"https://json-schema.org/draft/2020-12/schema"}"#, true),
    ] {
        let files = folder(&[("s.json", schema)]);
        let loaded = Contract::load(&files.path().join("s.json"));
        assert_eq!(loaded.is_ok(), is_valid, "{schema}");
        if let Err(error) = loaded {
            let expected = "s.json:1:1: it contains no JSON Schema keyword and would allow every value";
            assert_eq!(issues(&error), [expected]);
        }
    }
}

#[test]
fn events_in_a_document_contract_are_reported() {
    let text = document(
        "[events]\ntype = \"/t\"\nunknown = \"allow\"\n[events.schemas]\n\
                         [[rule]]\nid = \"x\"\nwhat = \"w\"\non = \"a\"\nsame = \"/a\"\n",
    );
    let found = issues(&load(&[("contract.toml", &text), ("s.json", "{}")]).unwrap_err());
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(found[0].contains("`events` requires framing = \"lines\""), "{found:#?}");
    assert!(found[1].contains("a document has no events"), "{found:#?}");
}

#[test]
fn an_error_in_a_schema_has_its_place() {
    let cases = [
        ("{\n  \"type\": \"strin\"\n}", "s.json:2:11: ", "\"strin\""),
        ("{\n  \"type\": \"string\",\n  \"type\": \"null\"\n}", "s.json:3:3: ", "key"),
        ("{\"properties\": {\"a\": {\"pattern\": \"(?=x)y\"}}}", "s.json:1:34: ", "(?=x)y"),
        ("{\"properties\": {\"a\": {\"$ref\": \"#/$defs/none\"}}}", "s.json:1:31: ", "none"),
        ("{\"a\": ", "s.json:1:7: ", "expected a JSON value"),
        ("{\"minimum\": \"1\"}", "s.json:1:13: ", "number"),
    ];
    for (schema, place, message) in cases {
        let error = load(&[("contract.toml", &document("")), ("s.json", schema)]).unwrap_err();
        let found = issues(&error);
        assert!(
            found.len() == 1 && found[0].starts_with(place) && found[0].contains(message),
            "{schema}: {error:?}"
        );
    }
}

#[test]
fn a_dangling_reference_is_reported() {
    for reference in ["none.json", "s.json#/none"] {
        let text = document("").replace("s.json", reference);
        let error = load(&[("contract.toml", &text), ("s.json", "{}")]).unwrap_err();
        let found = format!("{error:?}");
        assert!(found.contains("none"), "{found}");
        assert_eq!(error.kind, ErrorKind::Config);
    }
}

#[test]
fn schemas_refer_to_files_of_their_folder_and_bundled_schemas() {
    let files = [
        ("contract.toml", &*document("")),
        (
            "s.json",
            r##"{"properties": {"a": {"$ref": "parts/a.json#/$defs/a"}, "e": {"$ref": "agentnative:/p2-error/error.schema.json"}}}"##,
        ),
        (
            "parts/a.json",
            r##"{"$schema": "http://json-schema.org/draft-04/schema#", "$defs": {"a": {"$ref": "b%20c.json"}}}"##,
        ),
        ("parts/b c.json", r#"{"type": "integer"}"#),
    ];
    let folder = folder(&files);
    for path in [folder.path().to_owned(), folder.path().join("s.json")] {
        let contract = Contract::load(&path).unwrap();
        assert_eq!(contract.framing(), Framing::Document);
        assert_eq!(
            contract.validator().push(1, &json!({"a": 1, "e": {"error": "x", "kind": "x", "message": "x"}})),
            []
        );
        let found = contract.validator().push(1, &json!({"a": "1", "e": {}}));
        let pointers: Vec<&str> = found.iter().map(|violation| violation.pointer.as_str()).collect();
        assert_eq!(pointers, ["/a", "/e", "/e", "/e"]);
        assert_eq!(found[0].rule, "parts/b%20c.json#/type");
        assert_eq!(found[1].rule, "agentnative:/p2-error/error.schema.json#/required");
    }
}

#[test]
fn schemas_refer_to_nothing_else() {
    let outer = folder(&[("secret.json", "{}"), ("c/contract.toml", &document("")), ("c/s.json", "{}")]);
    let contract = outer.path().join("c");
    std::os::unix::fs::symlink("../secret.json", contract.join("link.json")).unwrap();
    for reference in [
        "../secret.json",
        "link.json",
        "http://127.0.0.1:9/x.json",
        "file:///etc/hosts",
        "https://json.schemastore.org/x",
    ] {
        fs::write(contract.join("s.json"), json!({"$ref": reference}).to_string()).unwrap();
        let issues = issues(&Contract::load(&contract).unwrap_err());
        assert!(issues[0].starts_with("s.json:1:9: "), "{reference}: {issues:?}");
    }
    // A file in the folder does not replace one of the same name outside.
    fs::write(contract.join("secret.json"), "{}").unwrap();
    for reference in ["../secret.json", "/secret.json", "d/../../secret.json"] {
        fs::write(contract.join("s.json"), json!({"$ref": reference}).to_string()).unwrap();
        let error = Contract::load(&contract).unwrap_err();
        let issues = issues(&error);
        assert!(
            issues[0].starts_with("s.json:1:9: ")
                && issues[0].contains("`secret.json`, outside the contract's folder"),
            "{reference}: {issues:?}"
        );
    }
}

#[test]
fn an_unknown_meta_schema_has_its_place() {
    for name in ["", "https://example.org/none"] {
        let schema = format!("{{\"type\": \"object\", \"$schema\": \"{name}\"}}");
        let found = issues(&load(&[("contract.toml", &document("")), ("s.json", &schema)]).unwrap_err());
        assert!(found[0].starts_with("s.json:1:31: "), "{found:?}");
    }
}

#[test]
fn messages_quote_values_as_written() {
    for (schema, text, expected) in [
        (r#"{"maximum": -1}"#, "1e-400", "expected at most -1, found the number 1e-400"),
        (r#"{"type": "string"}"#, "1.50", "expected a string, found the number 1.50"),
        (
            r#"{"additionalProperties": false}"#,
            r#"{"b": [], "a": 1}"#,
            "unexpected keys `a`, `b`; the schema allows no additional keys",
        ),
        (
            r#"{"propertyNames": false}"#,
            r#"{"a": 1}"#,
            "unexpected key `a`; the schema allows no additional keys",
        ),
        (r#"{"properties": {"a": false}}"#, r#"{"a": {}}"#, "expected no value, found an empty object"),
    ] {
        let contract = load(&[("contract.toml", &document("")), ("s.json", schema)]).unwrap();
        let settings =
            Settings { framing: Framing::Document, max_errors: 9, exit: RunExit::default(), threads: 1 };
        let verdict = Validation::new(&contract, settings).validate(text.as_bytes(), &mut |_| ()).unwrap();
        assert_eq!(verdict.errors[0].message, expected);
    }
}

#[test]
fn a_named_pipe_is_rejected_without_opening_it() {
    let folder = folder(&[("contract.toml", &document("")), ("s.json", r#"{"$ref": "pipe.json"}"#)]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.json")).status();
    assert!(made.unwrap().success());
    let (sender, receiver) = std::sync::mpsc::channel();
    let path = folder.path().to_owned();
    std::thread::spawn(move || sender.send(Contract::load(&path).unwrap_err()));
    let error = receiver.recv_timeout(Duration::from_secs(30)).expect("an answer in time");
    assert!(error.issues[0].message.contains("pipe.json is not a regular file"), "{error:?}");
}

#[test]
fn patterns_take_linear_time_and_schemas_may_be_circular() {
    let schema = r##"{"properties": {"p": {"pattern": "^(a+)+$"}, "x": {"$ref": "#"}}, "allOf": [{"$ref": "#/$defs/same"}], "$defs": {"same": {"$ref": "#"}}}"##;
    let folder = folder(&[("s.json", schema)]);
    let contract = Contract::load(&folder.path().join("s.json")).unwrap();
    let started = Instant::now();
    let mut value = json!({"p": "a".repeat(40_000) + "!"});
    for _ in 0..200 {
        value = json!({ "x": value });
    }
    assert!(!contract.validator().push(1, &value).is_empty());
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_long_chain_of_references_is_followed() {
    let next = |number: u32| json!({ "properties": { "a": { "$ref": format!("#/$defs/{number}") } } });
    let mut definitions: serde_json::Map<String, Value> =
        (0..150).map(|number| (number.to_string(), next(number + 1))).collect();
    definitions.insert("150".to_owned(), json!({ "type": "string" }));
    let schema = json!({ "$ref": "#/$defs/0", "$defs": definitions }).to_string();
    let folder = folder(&[("s.json", &schema)]);
    let contract = Contract::load(&folder.path().join("s.json")).unwrap();
    let nested = |value: Value| (0..150).fold(value, |value, _| json!({ "a": value }));
    assert_eq!(contract.validator().push(1, &nested(json!("b"))), []);
    assert_eq!(contract.validator().push(1, &nested(json!(1))).len(), 1);
}

#[test]
fn a_schema_that_nests_too_deep_is_rejected() {
    let schema = "{\"not\":".repeat(500) + "{}" + &"}".repeat(500);
    let folder = folder(&[("s.json", &schema)]);
    let error = Contract::load(&folder.path().join("s.json")).unwrap_err();
    assert!(issues(&error)[0].contains("levels of nesting"), "{error:?}");
}
