//! `agentnative outcome` as a program.

use super::{assistant, event, session, text, tool};
use assert_cmd::Command;
use serde_json::{Value, json};
use std::fs;
use std::process::Output;

fn program(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("agentnative").unwrap();
    command.arg("outcome").args(args).env_remove("NO_COLOR").env_remove("CLICOLOR_FORCE");
    command
}

fn stream() -> String {
    let events = [
        session("s"),
        assistant(
            "m",
            json!({ "time": { "created": 1000, "completed": 8700 }, "cost": 0.01, "tokens": { "input": 1000, "output": 500 }, "modelID": "claude-sonnet", "providerID": "anthropic" }),
        ),
        tool(
            "a",
            "bash",
            json!({ "status": "completed", "input": { "command": "SECRET" }, "time": { "start": 1, "end": 1501 } }),
        ),
        tool(
            "b",
            "write",
            json!({ "status": "completed", "input": { "filePath": "src/a.rs", "content": "abc" }, "metadata": { "exists": false } }),
        ),
        event(
            "session.status",
            json!({ "sessionID": "s", "status": { "type": "retry", "attempt": 1, "message": "Rate \u{1b}[31mlimited" } }),
        ),
        event("session.idle", json!({ "sessionID": "s" })),
        text("m", "p", "All done.\n\n    code stays"),
    ];
    events.iter().map(|event| format!("{event}\n")).collect()
}

fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn text_is_what_a_person_likes_to_read() {
    let output = program(&[]).write_stdin(stream() + "oops\n").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let expected = "\
success
anthropic/claude-sonnet · 7.7 s · 1500 tokens · $0.01 · s

Message
  All done.

      code stays

Tools (2)
  bash   completed  1.5 s
  write  completed

Files (1)
  created  3 B  src/a.rs

Warnings
  Session retry: Rate \\x1b[31mlimited (attempt 1)
";
    assert_eq!(out(&output), expected);
    assert_eq!(err(&output), "warning: line 8 is skipped: expected a JSON value, found `oops`\n");
}

#[test]
fn text_of_a_failure_says_why() {
    let error = event(
        "session.error",
        json!({ "error": { "name": "APIError", "data": { "message": "no\ncredit" } } }),
    );
    let output = program(&[]).write_stdin(stream() + &error.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).starts_with("failure: no\n         credit\n"), "{}", out(&output));
}

#[test]
fn json_is_the_envelope_with_the_outcome() {
    for args in [&["--output", "json"][..], &["--json"], &["--json", "-"]] {
        let output = program(args).write_stdin(stream() + "oops\n").output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&document["ok"], &document["command"]), (&json!(true), &json!("outcome")));
        assert_eq!(document["data"]["success"], true);
        assert!(document["data"]["warnings"][1].as_str().unwrap().starts_with("line 8 is skipped"));
        assert_eq!(err(&output), "", "diagnostics are for text mode");
        assert_eq!(out(&output).lines().count(), 1);
    }
}

#[test]
fn jsonl_is_the_outcome_in_a_line() {
    let output = program(&["--jsonl"]).write_stdin(stream()).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["session_id"], "s");
    assert_eq!(out(&output).lines().count(), 1);
}

#[test]
fn a_failed_run_is_an_outcome_all_the_same() {
    let output = program(&["--json"]).write_stdin("").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["ok"], &document["data"]["success"]), (&json!(true), &json!(false)));
    assert_eq!(err(&output), "");
}

#[test]
fn options_reach_the_outcome() {
    let args = [
        "--json",
        "--full",
        "--exit-code",
        "-2",
        "--initial-prompt",
        "do it",
        "--attempt",
        "3",
        "--from",
        "opencode",
    ];
    let output = program(&args).write_stdin(stream()).output().unwrap();
    let data = serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
    assert_eq!(data["tool_calls"][0]["inputs"]["command"], "SECRET");
    assert_eq!(data["error"], "the program exited with -2");
    assert_eq!(data["metadata"]["initial_prompt"], "do it");
    assert_eq!(
        (&data["metadata"]["attempt_number"], &data["metadata"]["retry_count"]),
        (&json!(3), &json!(2))
    );
    let minimal = program(&["--json"]).write_stdin(stream()).output().unwrap();
    assert!(!out(&minimal).contains("SECRET"));
    let other = program(&["--json", "--from", "opencode-run"]).write_stdin(stream()).output().unwrap();
    assert!(out(&other).contains("no known event"));
}

#[test]
fn atif_is_the_whole_of_stdout_in_the_form_of_the_output_format() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/outcome/pi-tool");
    let expected = fs::read_to_string(format!("{recording}.atif.json")).unwrap();
    let stream = format!("{recording}.stdout");
    for format in ["text", "json"] {
        let output = program(&["--format", "atif", "--output", format, &stream]).output().unwrap();
        assert_eq!((out(&output), err(&output)), (expected.clone(), String::new()), "{format}");
    }
    let output = program(&["--format", "atif", "--jsonl", &stream]).output().unwrap();
    assert_eq!(out(&output).lines().count(), 1);
    let of = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(of(&out(&output)), of(&expected));
    // The prompt, where the stream does not have it, and a run that has no step.
    let args = ["--format", "atif", "--initial-prompt", "do it", "--exit-code", "1"];
    let output = program(&args).write_stdin("").output().unwrap();
    let document = of(&out(&output));
    let step = json!([{ "step_id": 1, "source": "user", "message": "do it" }]);
    assert_eq!((output.status.code(), &document["steps"]), (Some(0), &step));
    assert_eq!(document["extra"]["success"], false);
}

#[test]
fn several_files_are_one_run_and_stderr_comes_behind_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (one, two, three) = (path("one.jsonl"), path("two.jsonl"), path("err"));
    let stream = stream();
    let third = stream.match_indices('\n').nth(2).unwrap().0;
    let (head, tail) = stream.split_at(third + 1);
    fs::write(&one, head).unwrap();
    fs::write(&two, tail).unwrap();
    fs::write(
        &three,
        format!("words\n{}", event("session.error", json!({ "error": { "name": "E", "message": "late" } }))),
    )
    .unwrap();
    let output = program(&["--json", &one, &two, "--stderr", &three]).output().unwrap();
    let data = serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
    assert_eq!(data["error"], "late");
    assert_eq!(data["tool_calls"].as_array().unwrap().len(), 2);
    // Text is no warning; it says why a run failed that has no event for it, whatever its colour.
    assert!(!data["warnings"].to_string().contains("words"), "{data}");
    fs::write(&three, "\u{1b}[91mloading\nError: \u{1b}[0mSession not found\nbye\n").unwrap();
    for (args, error) in [
        (&["--json", "-", "--stderr", &three][..], "loading\nError: Session not found\nbye"),
        (
            &["--json", "-", "--stderr", &three, "--exit-code", "1"],
            "loading\nError: Session not found\nbye; the program exited with 1",
        ),
    ] {
        let output = program(args).write_stdin("").output().unwrap();
        let data = serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
        assert_eq!(data["error"], error);
        assert_eq!(data["warnings"], Value::Null);
    }
    // It is no reason to call a success a failure.
    let output = program(&["--json", &one, &two, "--stderr", &three]).output().unwrap();
    assert!(out(&output).contains("\"success\":true"), "{}", out(&output));
    // Standard input among files.
    let output = program(&["--json", &one, "-"]).write_stdin(tail).output().unwrap();
    assert!(out(&output).contains("\"success\":true"), "{}", out(&output));
}

#[test]
fn a_file_that_cannot_be_read_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().to_str().unwrap();
    for (file, message) in
        [("/no/such/file", "cannot read /no/such/file: "), (empty, &format!("{empty} contains no "))]
    {
        let output = program(&["--json", file]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(out(&output), "");
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert!(error["message"].as_str().unwrap().starts_with(message), "{error}");
        assert_eq!(error["kind"], "usage");
    }
}

#[test]
fn wrong_options_are_usage_errors() {
    for args in [&["--from", "other"][..], &["--attempt", "0"], &["--exit-code", "x"], &["--stderr"]] {
        assert_eq!(program(args).write_stdin("").output().unwrap().status.code(), Some(2), "{args:?}");
    }
}

#[test]
fn what_is_printed_is_what_the_schema_says() {
    let schema = Command::cargo_bin("agentnative").unwrap().arg("schema").output().unwrap();
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for input in [stream(), String::new()] {
        let output = program(&["--json", "--full"]).write_stdin(input).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(validator.is_valid(&document), "{document:#}");
    }
}
