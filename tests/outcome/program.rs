//! The command `agentnative outcome`.

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

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn text_is_a_readable_summary() {
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
    assert_eq!(stdout(&output), expected);
    assert_eq!(stderr(&output), "warning: line 8 is skipped: expected a JSON value, found `oops`\n");
}

#[test]
fn text_of_a_failure_begins_with_the_error() {
    let error = event(
        "session.error",
        json!({ "error": { "name": "APIError", "data": { "message": "no\ncredit" } } }),
    );
    let output = program(&[]).write_stdin(stream() + &error.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert!(stdout(&output).starts_with("failure: no\n         credit\n"), "{}", stdout(&output));
}

#[test]
fn json_is_an_envelope_with_the_outcome() {
    for args in [&["--output", "json"][..], &["--json"], &["--json", "-"]] {
        let output = program(args).write_stdin(stream() + "oops\n").output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&document["ok"], &document["command"]), (&json!(true), &json!("outcome")));
        assert_eq!(document["data"]["success"], true);
        assert!(document["data"]["warnings"][1].as_str().unwrap().starts_with("line 8 is skipped"));
        assert_eq!(stderr(&output), "", "warnings are printed only in text mode");
        assert_eq!(stdout(&output).lines().count(), 1);
    }
}

#[test]
fn jsonl_is_the_outcome_on_one_line() {
    let output = program(&["--jsonl"]).write_stdin(stream()).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["session_id"], "s");
    assert_eq!(stdout(&output).lines().count(), 1);
}

#[test]
fn a_failed_run_has_an_outcome_and_exit_code_0() {
    let output = program(&["--json", "--from", "pi"]).write_stdin("").output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&document["ok"], &document["data"]["success"]), (&json!(true), &json!(false)));
    assert_eq!(stderr(&output), "");
}

#[test]
fn a_stream_of_no_known_agent_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.jsonl");
    fs::write(&file, "{\"type\":\"unknown\"}\n").unwrap();
    let file = file.to_str().unwrap();
    let message = "no known event in 1 line: the event types are unknown";
    for (args, prefix) in [
        (&["--json", file][..], ""),
        (&["--json", "--from", "claude", file], ""),
        (&["--json", "--format", "atif", file], ""),
        (&["--json", "--each", file], "{file}: "),
    ] {
        let output = program(args).output().unwrap();
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        assert_eq!((output.status.code(), &error["kind"]), (Some(1), &json!("unrecognised")), "{args:?}");
        assert_eq!(error["message"], prefix.replace("{file}", file) + message);
        assert_eq!(stdout(&output), "");
    }
    // Of several files, the others are summarized.
    let known = folder.path().join("y.jsonl");
    fs::write(&known, stream()).unwrap();
    let output = program(&["--json", "--each", file, known.to_str().unwrap()]).output().unwrap();
    let data = serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
    assert_eq!((output.status.code(), &data["summary"]["runs"]), (Some(1), &json!(1)), "{data}");
    assert_eq!(data["unreadable"][0]["message"], format!("{file}: {message}"));
}

#[test]
fn a_stream_without_its_beginning_is_incomplete() {
    let stream = stream();
    let (head, tail) = stream.split_once('\n').unwrap();
    let (_, tail) = tail.split_once('\n').unwrap();
    for (stream, incomplete) in [(stream.as_str(), Value::Null), (tail, json!(true)), (head, Value::Null)] {
        let output = program(&["--json"]).write_stdin(stream).output().unwrap();
        let data = serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
        assert_eq!(data["incomplete"], incomplete, "{data}");
    }
    let output = program(&[]).write_stdin(tail).output().unwrap();
    assert!(stdout(&output).contains("incomplete: the beginning of the stream is missing\n"));
}

#[test]
fn options_apply_to_the_outcome() {
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
    assert!(!stdout(&minimal).contains("SECRET"));
    let other = program(&["--json", "--from", "opencode-run"]).write_stdin(stream()).output().unwrap();
    assert!(stderr(&other).contains("no known event"));
}

#[test]
fn atif_is_printed_without_an_envelope_in_each_output_format() {
    let recording = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/outcome/pi-tool");
    let expected = fs::read_to_string(format!("{recording}.atif.json")).unwrap();
    let stream = format!("{recording}.stdout");
    for format in ["text", "json"] {
        let output = program(&["--format", "atif", "--output", format, &stream]).output().unwrap();
        assert_eq!((stdout(&output), stderr(&output)), (expected.clone(), String::new()), "{format}");
    }
    let output = program(&["--format", "atif", "--jsonl", &stream]).output().unwrap();
    assert_eq!(stdout(&output).lines().count(), 1);
    let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    assert_eq!(parse(&stdout(&output)), parse(&expected));
    // The prompt of the option is the first step, also for a run without steps.
    let args = ["--format", "atif", "--from", "pi", "--initial-prompt", "do it", "--exit-code", "1"];
    let output = program(&args).write_stdin("").output().unwrap();
    let document = parse(&stdout(&output));
    let step = json!([{ "step_id": 1, "source": "user", "message": "do it" }]);
    assert_eq!((output.status.code(), &document["steps"]), (Some(0), &step));
    assert_eq!(document["extra"]["success"], false);
}

#[test]
fn several_files_are_one_run_and_stderr_is_read_after_them() {
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
    // Text on stderr is not a warning; it is the error of a failed run without an error event, without its colours.
    assert!(!data["warnings"].to_string().contains("words"), "{data}");
    fs::write(&three, "\u{1b}[91mloading\nError: \u{1b}[0mSession not found\nbye\n").unwrap();
    for (args, error) in [
        (&["--json", "--from", "pi", "-", "--stderr", &three][..], "loading\nError: Session not found\nbye"),
        (
            &["--json", "--from", "pi", "-", "--stderr", &three, "--exit-code", "1"],
            "loading\nError: Session not found\nbye; the program exited with 1",
        ),
    ] {
        let output = program(args).write_stdin("").output().unwrap();
        let data = serde_json::from_slice::<Value>(&output.stdout).unwrap()["data"].clone();
        assert_eq!(data["error"], error);
        assert_eq!(data["warnings"], Value::Null);
    }
    // Text on stderr does not make a success a failure.
    let output = program(&["--json", &one, &two, "--stderr", &three]).output().unwrap();
    assert!(stdout(&output).contains("\"success\":true"), "{}", stdout(&output));
    // Stdin and files can be combined.
    let output = program(&["--json", &one, "-"]).write_stdin(tail).output().unwrap();
    assert!(stdout(&output).contains("\"success\":true"), "{}", stdout(&output));
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
        assert_eq!(stdout(&output), "");
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
fn the_output_is_valid_against_its_schema() {
    let schema = Command::cargo_bin("agentnative").unwrap().arg("schema").output().unwrap();
    let schema: Value = serde_json::from_slice(&schema.stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for input in [stream(), String::new()] {
        let output =
            program(&["--json", "--full", "--from", "opencode"]).write_stdin(input).output().unwrap();
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(validator.is_valid(&document), "{document:#}");
    }
}
