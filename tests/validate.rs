//! `agentnative validate`: positions, limits, framing, exit codes, and kinds of input.

use agentnative_contract::{Against, Contract, Framing, RunExit, Settings, Validation, Verdict};
use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::io::Read;
use std::path::Path;
use tempfile::TempDir;

fn validate(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("agentnative").unwrap();
    command.env_clear().arg("validate").args(args);
    command
}

fn settings(framing: Framing, threads: usize) -> Settings<'static> {
    Settings { framing, max_errors: 20, exit: RunExit::default(), threads }
}

fn verdict(contract: &Contract, reader: impl Read + Send, threads: usize) -> Verdict {
    Validation::new(contract, settings(contract.framing(), threads)).validate(reader, &mut |_| ()).unwrap()
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (path, text) in files {
        fs::write(folder.path().join(path), text).unwrap();
    }
    folder
}

#[test]
fn errors_have_file_line_column_pointer_and_path_in_the_schema() {
    let text = "{\n  \"success\": true,\n  \"query\": \"é\", \"answer\": 1\n}\n";
    let files = folder(&[("x.json", text)]);
    validate(&["--contract", "dexter-flat", "x.json"]).current_dir(files.path()).assert().code(1).stdout(
        predicate::str::contains("x.json:3:27: /answer: expected a string, found the number 1 [output.schema.json#/$defs/success/properties/answer/type]")
            .and(predicate::str::contains("x.json:1:1: (root): missing key `model`"))
            .and(predicate::str::contains("x.json: invalid: 5 errors (1 record)")),
    );
}

#[test]
fn the_first_event_selects_the_contract() {
    let example = |path: &str| format!("{}/contracts/{path}", env!("CARGO_MANIFEST_DIR"));
    let (codex, claude) = (
        example("codex-exec/examples/valid/answer.jsonl"),
        example("claude-stream/examples/valid/interrupted.jsonl"),
    );
    let output = validate(&["--contract", "auto", "--json", &codex, &claude]).assert().code(1);
    let data: Value = serde_json::from_slice(&output.get_output().stdout).unwrap();
    let files = data["data"]["files"].as_array().unwrap();
    let contracts: Vec<&Value> = files.iter().map(|file| &file["contract"]).collect();
    assert_eq!(contracts, ["codex-exec", "claude-stream@2.1.197"]);
    let args = ["--contract", "auto", "--exit-code", "0", "--condition", "interrupted", &claude];
    validate(&args).assert().code(0).stdout(predicate::str::contains(
        "valid (1 record, contract claude-stream@2.1.197, 1 known finding)",
    ));
    validate(&["--contract", "auto"])
        .write_stdin("{\"type\":\"x\"}")
        .assert()
        .code(1)
        .stderr(predicate::str::contains("-: no bundled contract accepts the first event"));
}

#[test]
fn an_interrupted_run_has_to_be_declared() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/contracts/codex-exec/examples/valid/interrupted.jsonl");
    validate(&["--contract", "codex-exec", "--exit-code", "1", file]).assert().code(1).stdout(
        predicate::str::contains(
            "; if the run is `interrupted` (SIGINT ended the run), declare it: `validate --condition interrupted`",
        ),
    );
}

#[test]
fn exit_code_and_data_are_judged_together() {
    let error = r#"{"success":false,"query":"","error":"no"}"#;
    validate(&["--contract", "dexter-flat", "--exit-code", "1"]).write_stdin(error).assert().code(0);
    validate(&["--contract", "dexter-flat", "--exit-code", "0"])
        .write_stdin(error)
        .assert()
        .code(1)
        .stdout(predicate::str::contains("exit code 0").and(predicate::str::contains("[exit-code]")));
    validate(&["--contract", "dexter-flat", "--exit-code", "130"]).write_stdin("").assert().code(0);
    validate(&["--contract", "dexter-flat", "--exit-code", "1"]).write_stdin("").assert().code(1);
    validate(&["--contract", "dexter-flat"]).write_stdin("").assert().code(1);
    validate(&["--contract", "dexter-flat", "--condition", "usage"]).write_stdin(error).assert().code(0);
    validate(&["--contract", "dexter-flat", "--condition", "none"]).write_stdin(error).assert().code(2);
    validate(&["--contract", "agent-js"]).write_stdin("{\"ok\":true}").assert().code(1);
    let files = folder(&[("err.txt", "Loading\n")]);
    let stderr = |file| [&["--contract", "gemini-json", "--exit-code", "53", "--stderr", file][..]].concat();
    let silent = validate(&stderr("err.txt")).current_dir(files.path()).write_stdin("").assert().code(1);
    silent.stdout(predicate::str::contains("stderr contains no JSON object"));
    validate(&stderr("gone.txt")).current_dir(files.path()).write_stdin("").assert().code(2);
}

/// A known finding of a contract is a warning, both for a value and for the exit of a run.
#[test]
fn known_findings_are_listed_and_the_file_is_valid() {
    let error = |code: &str| format!("{{\"ok\": false, \"error\": \"no\", \"code\": {code}}}\n");
    let pi = "contracts/pi-json/examples/valid/provider-error.jsonl";
    let pi = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(pi)).unwrap();
    let files = folder(&[("new.json", &error("\"TEAPOT\"")), ("bad.json", &error("7")), ("pi.jsonl", &pi)]);
    let run = |args: &[&str], code: i32| {
        let output = validate(args).current_dir(files.path()).assert().code(code).get_output().stdout.clone();
        String::from_utf8(output).unwrap()
    };
    let text = run(&["--contract", "agent-js", "--exit-code", "6", "new.json"], 0);
    assert!(
        text.contains("new.json:1:38: known finding: /code: expected one of \"AGENT_CONFIG_INVALID\", "),
        "{text}"
    );
    assert!(text.contains(" and 13 more, found `TEAPOT`") && text.contains("[error-code]"), "{text}");
    assert!(text.ends_with("new.json: valid (1 record, 1 known finding)\n"), "{text}");
    // A value of another type is an error, and so is a value that the selected version does not print.
    run(&["--contract", "agent-js", "bad.json"], 1);
    assert!(run(&["--contract", "agent-js@1.5.8", "new.json"], 1).contains("/properties/code/enum]"));

    let json: Value =
        serde_json::from_str(&run(&["--json", "--contract", "agent-js", "new.json"], 0)).unwrap();
    let file = &json["data"]["files"][0];
    assert_eq!((&file["valid"], &file["errors"], &file["more"]), (&json!(true), &json!([]), &json!(0)));
    let known = &file["known"][0];
    let position = json!([known["line"], known["column"], known["pointer"], known["rule"], known["against"]]);
    assert_eq!(position, json!([1, 38, "/code", "error-code", "schema"]));
    assert_eq!(known["finding"]["id"], "unknown-error-code");
    let counted = run(&["--json", "--max-errors", "0", "--contract", "agent-js", "new.json"], 0);
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert_eq!(counted["data"]["files"][0]["more_known"], 1);

    let lines = run(&["--jsonl", "--contract", "pi-json", "--exit-code", "0", "pi.jsonl"], 0);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["known", "file", "summary"]);
    assert_eq!(
        (&lines[0]["finding"]["id"], &lines[0]["against"]),
        (&json!("failure-as-success"), &json!("exit"))
    );
    assert_eq!((&lines[1]["valid"], &lines[2]["invalid"]), (&json!(true), &json!(0)));
}

#[test]
fn invalid_arguments_and_invalid_contracts_have_different_exit_codes() {
    let files = folder(&[("bad.json", "{\n \"type\": 1}"), ("x.json", "{}")]);
    let run = |args: &[&str]| validate(args).current_dir(files.path()).assert();
    run(&["x.json"]).code(2);
    run(&["--contract", "p2-error", "none.json"]).code(2);
    run(&["--contract", "p2-eror", "x.json"])
        .code(78)
        .stderr(predicate::str::contains("did you mean `p2-error`?"));
    run(&["--contract", "bad.json", "x.json"]).code(78).stderr(predicate::str::contains("bad.json:2:10"));
    let output = run(&["--json", "--contract", "bad.json", "x.json"]).code(78).get_output().stderr.clone();
    let error: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!((&error["kind"], &error["issues"][0]["line"]), (&json!("config"), &json!(2)));
}

#[test]
fn results_are_one_json_document_or_json_lines() {
    let files = folder(&[
        ("a.json", "{}"),
        ("b.jsonl", "{}\n[]\n"),
        ("s.json", r#"{"required": ["x"]}"#),
        ("no.txt", ""),
    ]);
    let run = |args: &[&str]| {
        let assert =
            validate(args).args(["--contract", "./s.json", "."]).current_dir(files.path()).assert().code(1);
        String::from_utf8(assert.get_output().stdout.clone()).unwrap()
    };
    let document: Value = serde_json::from_str(&run(&["--json"])).unwrap();
    assert_eq!((&document["ok"], &document["command"]), (&json!(false), &json!("validate")));
    let names: Vec<&str> =
        document["data"]["files"].as_array().unwrap().iter().map(|f| f["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["./a.json", "./b.jsonl", "./s.json"]);
    assert_eq!(document["data"]["files"][1]["records"], 2);
    assert_eq!(document["data"]["files"][1]["errors"][1]["against"], "json");
    let lines: Vec<Value> =
        run(&["--jsonl"]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let types: Vec<&str> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["error", "file", "error", "error", "file", "error", "file", "summary"]);
    assert_eq!(
        lines[7],
        json!({"type": "summary", "contract": "./s.json", "valid": false, "files": 3, "invalid": 3, "unreadable": 0})
    );
}

#[test]
fn results_match_the_printed_schema() {
    let schema = Command::cargo_bin("agentnative")
        .unwrap()
        .args(["schema", "output"])
        .assert()
        .get_output()
        .stdout
        .clone();
    let schema = agentnative_contract::Schema::compile(&serde_json::from_slice(&schema).unwrap()).unwrap();
    for args in [
        vec![
            "validate",
            "--json",
            "--contract",
            "opencode-events",
            "contracts/opencode-events/examples/invalid",
        ],
        vec!["validate", "--json", "--contract", "agent-js", "contracts/agent-js/examples/valid"],
        vec!["contract", "show", "agent-js", "--json"],
        vec!["contract", "list", "--json"],
        vec!["contract", "show", "opencode-run", "--json"],
    ] {
        let mut command = Command::cargo_bin("agentnative").unwrap();
        let output =
            command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).assert().get_output().stdout.clone();
        assert_eq!(schema.violations(&serde_json::from_slice(&output).unwrap()), []);
    }
}

#[test]
fn errors_beyond_the_limit_are_counted() {
    let files = folder(&[("s.json", r#"{"required": ["x", "y"]}"#)]);
    let contract = Contract::load(&files.path().join("s.json")).unwrap();
    let input = "{}\n".repeat(100_000) + "{\"x\":\n";
    for threads in [1, 3] {
        let settings = Settings { max_errors: 5, ..settings(Framing::Lines, threads) };
        let mut verdict =
            Validation::new(&contract, settings).validate(input.as_bytes(), &mut |_| ()).unwrap();
        // The first errors of each kind are kept, so the truncated record at the end is listed.
        assert_eq!(verdict.errors.len(), 6);
        assert_eq!(verdict.errors[5].against, Against::Json);
        assert_eq!(verdict.errors[5].offset, Some(input.len() as u64 - 1));
        assert_eq!(verdict.records, 100_001);
        assert_eq!(
            (verdict.omitted.count_against(Against::Schema), verdict.omitted.error_count()),
            (199_995, 199_995)
        );
        verdict.keep_first(5);
        assert_eq!((verdict.errors.len(), verdict.omitted.count_against(Against::Json)), (5, 1));
        assert_eq!(verdict.omitted.error_count(), 200_001 - 5);
    }
}

/// The total number of errors is the same with every limit.
#[test]
fn the_limit_does_not_affect_the_verdict() {
    let files = folder(&[
        (
            "s.json",
            r#"{"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["c"]}"#,
        ),
        ("list.json", r#"{"type": "array", "items": {"$ref": "s.json"}}"#),
    ]);
    let inputs = [
        ("s.json", Framing::Document, r#"{"a":1,"b":2}"#, 3),
        ("s.json", Framing::Document, r#"{"a":1,"a":2,"#, 2),
        ("s.json", Framing::Document, "", 1),
        ("s.json", Framing::Lines, "{\"a\":1,\"b\":2}\n{\"c\":1}\n{\"c\":1,\"c\":1}\nx\n", 5),
        ("list.json", Framing::Document, r#"[{"a":1,"b":2},{"c":1},{}]"#, 4),
    ];
    for (name, framing, input, all) in inputs {
        let contract = Contract::load(&files.path().join(name)).unwrap();
        for (max_errors, threads) in [(0, 1), (1, 1), (2, 3), (20, 1), (0, 3)] {
            let settings = Settings { max_errors, ..settings(framing, threads) };
            let mut verdict =
                Validation::new(&contract, settings).validate(input.as_bytes(), &mut |_| ()).unwrap();
            verdict.keep_first(max_errors);
            let shown = verdict.errors.len();
            assert_eq!(
                (shown, shown as u64 + verdict.omitted.error_count()),
                (max_errors.min(all), all as u64),
                "{input}"
            );
            assert!(!verdict.is_valid());
        }
    }
    // A run with two violations at its end.
    let contract = Contract::bundled("codex-exec").unwrap();
    let totals = [0, 1, 20].map(|max_errors| {
        let settings = Settings { max_errors, ..settings(Framing::Lines, 1) };
        let verdict = Validation::new(&contract, settings).validate("{}\n".as_bytes(), &mut |_| ()).unwrap();
        verdict.errors.len() as u64 + verdict.omitted.error_count()
    });
    assert!(totals[0] > 0 && totals.iter().all(|total| *total == totals[0]), "{totals:?}");
}

#[test]
fn several_threads_find_the_same_errors_at_the_same_positions() {
    let contract = Contract::bundled("opencode-events").unwrap();
    let valid = fs::read_to_string(
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("contracts/opencode-events/examples/valid/whole-run.jsonl"),
    )
    .unwrap();
    // Several chunks with violations of every kind, far apart and next to line ends.
    let mut input = valid.clone();
    let filler = "{\"type\":\"server.heartbeat\",\"properties\":{\"é\":\"x\"}}\n".repeat(30_000);
    for violation in [
        "{\"type\":1}\n",
        "\n",
        "{\"type\":\"session.idle\",\"properties\":{\"sessionID\":\"ses_9\"}}\n",
        "{\"a\":1,\"a\":2}\n",
        "{]\n",
        "[1]\n",
        "\u{feff}{}\n",
    ] {
        input.push_str(&filler);
        input.push_str(violation);
    }
    let with_one_thread = verdict(&contract, input.as_bytes(), 1);
    assert_eq!(with_one_thread.errors.len(), 10, "{:#?}", with_one_thread.errors);
    assert_eq!(with_one_thread.records, 19 + 7 * 30_000 + 6);
    assert_eq!(with_one_thread.bytes, input.len() as u64);
    for threads in [2, 4] {
        assert_eq!(verdict(&contract, input.as_bytes(), threads), with_one_thread);
    }
    // Records of several lines are read by one thread; their positions are the same.
    let with_torn_records =
        input + "{\n  \"type\": \"x\",\n  \"y\": \n 1 }\n" + &filler + "{\"type\":\n" + &filler + "{}\n";
    let with_one_thread = verdict(&contract, with_torn_records.as_bytes(), 1);
    assert_eq!(with_one_thread, verdict(&contract, with_torn_records.as_bytes(), 2));
    let positions: Vec<_> = with_one_thread.errors[10..]
        .iter()
        .map(|finding| (finding.line.unwrap(), finding.rule.as_str()))
        .collect();
    let multi_line_start = 19 + 7 * 30_001 + 1;
    assert_eq!(
        positions,
        [
            (multi_line_start, "multi-line"),
            (multi_line_start + 30_004, "torn"),
            (multi_line_start + 60_005, "event-type")
        ]
    );
}

#[test]
fn documents_of_a_contract_may_be_json_lines() {
    let contract = Contract::bundled("p2-envelope").unwrap();
    let input = "{\"a\":1}\n{\"a\":2}\n{\"b\":1}\n[]\n{\"a\":1}\n";
    let verdict = Validation::new(&contract, settings(Framing::Lines, 1))
        .validate(input.as_bytes(), &mut |_| ())
        .unwrap();
    let found: Vec<_> =
        verdict.errors.iter().map(|finding| (finding.line.unwrap(), finding.rule.as_str())).collect();
    assert_eq!(found, [(3, "same-keys"), (4, "not-object"), (4, "envelope.schema.json#/type")]);
}

#[test]
fn a_long_array_is_validated_element_by_element() {
    let files = folder(&[
        (
            "s.json",
            r##"{"$ref": "#/$defs/list", "$defs": {"list": {"type": "array", "minItems": 3, "items": {"$ref": "item.json"}}}}"##,
        ),
        ("item.json", r#"{"properties": {"n": {"type": "integer"}}}"#),
    ]);
    let contract = Contract::load(&files.path().join("s.json")).unwrap();
    let found = |input: &str| {
        let verdict = verdict(&contract, input.as_bytes(), 1);
        verdict
            .errors
            .into_iter()
            .map(|finding| (finding.line.unwrap(), finding.column.unwrap(), finding.pointer, finding.keyword))
            .collect::<Vec<_>>()
    };
    assert_eq!(found("[1, {\"n\": 1}, [[]], null]"), []);
    let expected = |line, column, pointer: &str, keyword: &str| {
        (line, column, pointer.to_owned(), Some(keyword.to_owned()))
    };
    assert_eq!(
        found("[1,\n {\"é\": 0, \"n\": \"1\"}]"),
        [expected(1, 1, "", "minItems"), expected(2, 16, "/1/n", "type")]
    );
    assert_eq!(found("{}"), [expected(1, 1, "", "type")]);
}
