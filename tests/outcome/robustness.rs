//! Steps of the parsing strategy, rules of error handling, and limits.

use super::{assistant, event, outcome_of, outcome_of_lines, part, session, text, tool};
use crate::chunked_reader::ChunkedReader;
use agentnative_outcome::{Collector, MAX_LINE, OutcomeOptions};
use serde_json::{Value, json};
use std::io::{self, Read};

fn to_lines(events: &[Value]) -> Vec<String> {
    events.iter().map(Value::to_string).collect()
}

fn valid_events() -> [Value; 3] {
    [session("s"), assistant("m", json!({})), text("m", "p", "Done.")]
}

#[test]
fn step_1_stdout_is_read_and_then_stderr() {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read_lines(to_lines(&valid_events()));
    let error = event(
        "session.error",
        json!({ "sessionID": "s", "error": { "name": "E", "message": "from stderr" } }),
    );
    collector.read(format!("plain words\n{error}\n").as_bytes(), "stderr").unwrap();
    let outcome = collector.outcome().unwrap();
    assert_eq!(outcome.error.as_deref(), Some("from stderr"));
    assert_eq!(outcome.message.as_deref(), Some("Done."));
    assert_eq!(outcome.warnings.len(), 1);
    assert_eq!(collector.line_warnings(), outcome.warnings);
}

#[test]
fn step_2_malformed_lines_are_skipped_with_line_and_reason() {
    let [a, b, c] = to_lines(&valid_events()).try_into().unwrap();
    let half = &c[..c.len() / 2];
    let cases: [(&str, &str); 8] = [
        ("not JSON", "line 3 is skipped: expected a JSON value, found `not`"),
        (half, "line 3 is skipped: expected the closing quote of a string, found the end of the line"),
        (r#"{"type":"session.idle",}"#, "line 3 is skipped: expected a key in double quotes, found `}`"),
        (r#"{"type":"session.idle"} {"#, "line 3 is skipped: expected a newline after the record, found `{`"),
        (
            r#"{"type":"x","n":NaN}"#,
            "line 3 is skipped: expected a JSON value, found `NaN`: JSON has no such number",
        ),
        ("[1]", "line 3 is skipped: expected an object, found an array"),
        (
            "{\"a\":\"\u{1}\"}",
            "line 3 is skipped: expected control characters in strings to be escaped, found 0x01",
        ),
        ("\0\0", "line 3 is skipped: expected a JSON value, found 0x00"),
    ];
    for (bad, warning) in cases {
        let outcome = outcome_of_lines(&[a.as_str(), &b, bad, &c]);
        assert_eq!(outcome["warnings"], json!([warning]), "{bad}");
        assert_eq!(outcome["message"], "Done.", "{bad}");
        assert_eq!(outcome["success"], true, "{bad}");
    }
    // A type that is not a string, and events of a known type without a required member.
    for (bad, warning) in [
        (json!({ "type": 5 }), "line 3 has no type"),
        (json!({ "typ": "session.idle" }), "line 3 has no type"),
        (json!({ "type": "session.created" }), "line 3 is session.created without an id in properties.info"),
        (
            json!({ "type": "message.updated", "properties": { "info": [] } }),
            "line 3 is message.updated without a role in properties.info",
        ),
        (json!({ "type": "file.edited", "properties": {} }), "line 3 is file.edited without a path"),
    ] {
        let bad = bad.to_string();
        let outcome = outcome_of_lines(&[&a, &b, &bad, &c]);
        assert_eq!(outcome["warnings"], json!([warning]));
        assert_eq!(outcome["message"], "Done.");
    }
}

#[test]
fn step_2_many_malformed_lines_are_counted() {
    let valid = to_lines(&valid_events());
    let bad: Vec<&str> = valid.iter().map(String::as_str).chain(["no"; 500]).collect();
    let outcome = outcome_of_lines(&bad);
    let warnings = outcome["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 11);
    assert_eq!(warnings[10], "490 more lines were skipped or truncated");
}

#[test]
fn step_2_only_the_line_with_bytes_that_are_not_utf_8_is_skipped() {
    let mut stream = to_lines(&valid_events()).join("\n").into_bytes();
    stream.extend(b"\n{\"type\":\"session.idle\",\"x\":\"\xff\"}\n");
    stream.extend(text("m", "q", "More.").to_string().bytes());
    let outcome = outcome_of_lines(&stream.split(|byte| *byte == b'\n').collect::<Vec<_>>());
    assert_eq!(outcome["message"], "Done.\nMore.");
    assert_eq!(outcome["warnings"], json!(["line 4 is skipped: expected UTF-8, found 0xff"]));
}

#[test]
fn step_3_session_info_is_that_of_the_first_session_event() {
    let later = event("session.updated", json!({ "info": { "id": "other" } }));
    assert_eq!(outcome_of(&[later])["session_id"], "s");
}

#[test]
fn step_3_metrics_are_those_of_all_assistant_messages() {
    let first = assistant(
        "m1",
        json!({ "cost": 1, "tokens": { "input": 1, "output": 1 }, "providerID": "a", "modelID": "b" }),
    );
    let last = assistant(
        "m2",
        json!({ "cost": 2, "tokens": { "input": 2, "output": 3 }, "providerID": "c", "modelID": "d" }),
    );
    let outcome = outcome_of(&[first, last.clone(), last, super::user("u")]);
    assert_eq!(outcome["metrics"]["cost"], 3);
    assert_eq!(outcome["metrics"]["tokens_used"], 7);
    assert_eq!(outcome["metrics"]["model_name"], "c/d");
}

#[test]
fn step_3_artifacts_tools_texts_errors_and_warnings_accumulate() {
    let outcome = outcome_of(&[
        event("file.edited", json!({ "path": "/a", "diff": { "before": "", "after": "x" } })),
        tool("c", "bash", json!({ "status": "completed" })),
        text("m", "p", "Text"),
        event(
            "session.status",
            json!({ "sessionID": "s", "status": { "type": "retry", "attempt": 1, "message": "slow" } }),
        ),
        event("permission.updated", json!({ "id": "p", "sessionID": "s", "title": "T" })),
        event("session.error", json!({ "sessionID": "s", "error": { "name": "E", "message": "M" } })),
    ]);
    assert_eq!(outcome["artifacts"].as_array().unwrap().len(), 1);
    assert_eq!(outcome["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(outcome["message"], "Text");
    assert_eq!(outcome["warnings"], json!(["Session retry: slow (attempt 1)", "Permission required: T"]));
    assert_eq!(outcome["error"], "M");
}

#[test]
fn step_4_duration_is_that_of_the_message_or_else_the_session() {
    let time = |created: u64, updated: u64| {
        event(
            "session.updated",
            json!({ "info": { "id": "s", "time": { "created": created, "updated": updated } } }),
        )
    };
    assert_eq!(outcome_of(&[time(100, 350)])["metrics"]["duration_ms"], 250);
    assert_eq!(
        outcome_of(&[time(500, 350)])["metrics"]["duration_ms"],
        Value::Null,
        "no duration if times are reversed"
    );
    let message = assistant("m", json!({ "time": { "created": 200, "completed": 300 } }));
    assert_eq!(outcome_of(&[message.clone(), time(100, 350)])["metrics"]["duration_ms"], 100);
    let total = outcome_of_lines(&to_lines(&[message, time(100, 350)]));
    assert_eq!(total["metadata"]["phase_total_duration_ms"], 250);
}

#[test]
fn steps_5_and_6_the_outcome_is_complete() {
    let outcome = outcome_of_lines(&to_lines(&valid_events()));
    let expected = json!({
        "success": true, "session_id": "s", "message": "Done.",
        "metrics": { "duration_ms": 0, "api_calls_count": 0, "tool_calls_count": 0 },
        "metadata": { "agent": "opencode", "format": "events", "session_id": "s", "phase_total_duration_ms": 0 },
    });
    assert_eq!(outcome, expected);
}

#[test]
fn error_handling_fields_that_are_missing_or_of_another_type_are_left_out() {
    let odd = json!({ "id": "m", "sessionID": "s", "role": "assistant", "time": "noon", "cost": "free", "tokens": [1], "modelID": 7, "error": null });
    let outcome = outcome_of(&[event("message.updated", json!({ "info": odd })), text("m", "p", "x")]);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["metrics"]["cost"], Value::Null);
    assert!(outcome.get("warnings").is_none());
}

#[test]
fn error_handling_partial_data_never_fails() {
    let whole = to_lines(
        &[&valid_events()[..], &[tool("c", "bash", json!({ "status": "completed", "input": { "a": [1] } }))]]
            .concat(),
    )
    .join("\n");
    for end in 0..whole.len() {
        // The stream is truncated at each byte, also inside a character or an escape.
        let Ok(outcome) = agentnative_outcome::outcome(whole.as_bytes()[..end].split(|byte| *byte == b'\n'))
        else {
            continue;
        };
        assert!(outcome.success || outcome.error.is_some());
    }
}

#[test]
fn error_handling_events_can_be_out_of_order() {
    let mut events = vec![
        event("session.idle", json!({ "sessionID": "s" })),
        tool("c", "bash", json!({ "status": "completed", "time": { "start": 1, "end": 3 } })),
        tool("c", "bash", json!({ "status": "pending" })),
        text("m", "p", "Done."),
        assistant("m", json!({ "finish": "stop" })),
        session("s"),
    ];
    for _ in 0..events.len() {
        events.rotate_left(1);
        let outcome = outcome_of_lines(&to_lines(&events));
        assert_eq!(outcome["message"], "Done.", "{events:?}");
        assert_eq!(outcome["session_id"], "s");
        assert_eq!(outcome["tool_calls"].as_array().unwrap().len(), 1);
        assert_eq!(outcome["tool_calls"][0]["status"], "completed");
        assert_eq!(outcome["success"], true);
    }
}

#[test]
fn server_sent_events_are_read() {
    let [a, b, c] = to_lines(&valid_events()).try_into().unwrap();
    let stream =
        format!(": hello\nevent: message\nid: 1\nretry: 5\ndata: {a}\n\ndata:{b}\r\n\r\ndata:  {c}\n\n");
    let collector = Collector::new(OutcomeOptions::default());
    collector.read(stream.as_bytes(), "").unwrap();
    let outcome = collector.outcome().unwrap();
    assert_eq!(outcome.message.as_deref(), Some("Done."));
    assert_eq!(outcome.warnings, Vec::<String>::new());
    let incomplete = outcome_of_lines(&[&a, "data: {\"type\":", "data"]);
    assert_eq!(incomplete["warnings"].as_array().unwrap().len(), 2);
}

#[test]
fn blank_lines_byte_order_marks_and_pretty_printed_events_are_read() {
    let [a, b, c] = valid_events();
    let stream = format!("\u{feff}{a}\r\n\r\n\n{b:#}\n{c}");
    let collector = Collector::new(OutcomeOptions::default());
    collector.read(stream.as_bytes(), "").unwrap();
    assert_eq!(collector.outcome().unwrap().message.as_deref(), Some("Done."));
    assert_eq!(collector.line_warnings(), Vec::<String>::new());
}

#[test]
fn an_array_is_recognized_in_reads_of_any_size() {
    let events = Value::from(valid_events().to_vec());
    for stream in [events.to_string(), format!("\u{feff}{events}"), format!("\u{feff}\r\n{events:#}")] {
        let read = |input: &mut dyn Read| {
            let collector = Collector::new(OutcomeOptions::default());
            collector.read(input, "").unwrap();
            (collector.outcome().unwrap(), collector.line_warnings())
        };
        let in_small_reads = read(&mut ChunkedReader::new(stream.as_bytes(), &[1]));
        assert_eq!(in_small_reads, read(&mut stream.as_bytes()));
        assert_eq!(
            (in_small_reads.0.message.as_deref(), in_small_reads.1.len()),
            (Some("Done."), 0),
            "{stream}"
        );
    }
}

#[test]
fn unknown_events_and_keys_are_ignored() {
    let mut known = text("m", "p", "Done.");
    known["extra"] = json!({ "properties": { "part": { "text": "not this" } } });
    known["properties"]["part"]["other"] = json!([[{ "text": "nor this" }]]);
    let outcome = outcome_of(&[
        event("brand.new", json!({ "text": "x" })),
        part(json!({ "type": "snapshot", "id": "x" })),
        known,
    ]);
    assert_eq!(outcome["message"], "Done.");
    assert!(outcome.get("warnings").is_none());
}

#[test]
fn an_event_with_a_duplicate_key_is_read() {
    let line = r#"{"type":"message.part.updated","properties":{"part":{"id":"p","sessionID":"s","messageID":"m","type":"text","text":"a","text":"b"}}}"#;
    let outcome = outcome_of_lines(&[assistant("m", json!({})).to_string(), line.to_owned()]);
    assert_eq!(outcome["message"], "b");
}

/// A reader that returns one byte a number of times.
struct RepeatedByte(u64, u8);

impl Read for RepeatedByte {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = buffer.len().min(usize::try_from(self.0).unwrap());
        buffer[..length].fill(self.1);
        self.0 -= length as u64;
        Ok(length)
    }
}

#[test]
fn a_line_of_100_mb_is_skipped_and_the_others_are_read() {
    let good = to_lines(&valid_events()).join("\n");
    let head = good.as_bytes().chain(&b"\n{\"type\":\"message.part.updated\",\"properties\":{\"part\":{\"id\":\"p\",\"sessionID\":\"s\",\"messageID\":\"m\",\"type\":\"text\",\"text\":\""[..]);
    let end = text("m", "q", "More.").to_string();
    let stream = head.chain(RepeatedByte(100_000_000, b'x')).chain(&b"\"}}}\n"[..]).chain(end.as_bytes());
    let collector = Collector::new(OutcomeOptions::default());
    collector.read(stream, "").unwrap();
    let outcome = collector.outcome().unwrap();
    assert_eq!(outcome.warnings, [format!("line 4 is skipped: it is longer than {} MiB", MAX_LINE >> 20)]);
    assert_eq!(outcome.message.as_deref(), Some("Done.\nMore."));
    // If it is the only line, it is the error.
    let collector = Collector::new(OutcomeOptions::default());
    collector
        .read((&b"{\"type\":\""[..]).chain(RepeatedByte(100_000_000, b'x')).chain(&b"\"}"[..]), "")
        .unwrap();
    let error = collector.outcome().unwrap_err().to_string();
    assert_eq!(error, "no known event in 1 line; line 1 is skipped: it is longer than 64 MiB");
}

#[test]
fn a_text_over_1_mib_is_truncated_with_a_warning() {
    let long = "é".repeat(600_000);
    let outcome = outcome_of(&[text("m", "p", long)]);
    assert_eq!(outcome["message"].as_str().unwrap().len(), 1 << 20);
    assert_eq!(outcome["warnings"], json!(["line 3 has a text over 1 MiB, which was truncated"]));
}

#[test]
fn warnings_of_a_session_are_bounded() {
    let retry = |attempt: u64| {
        event(
            "session.status",
            json!({ "sessionID": "s", "status": { "type": "retry", "attempt": attempt, "message": "x".repeat(5000) } }),
        )
    };
    let outcome = outcome_of(&(0..1000).map(retry).collect::<Vec<_>>());
    let warnings = outcome["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 51);
    assert_eq!(warnings[50], "950 more warnings of the session");
    assert!(warnings[0].as_str().unwrap().chars().count() <= 301);
}

#[test]
fn events_before_a_read_error_are_kept() {
    struct FailingReader;
    impl Read for FailingReader {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let collector = Collector::new(OutcomeOptions::default());
    let stream = to_lines(&valid_events()).join("\n") + "\n";
    assert!(collector.read(stream.as_bytes().chain(FailingReader), "").is_err());
    assert_eq!(collector.outcome().unwrap().message.as_deref(), Some("Done."));
}

#[test]
fn sums_that_overflow_are_numbers() {
    let init = json!({ "type": "system", "subtype": "init", "session_id": "s", "tools": [], "model": "m" });
    let result =
        json!({ "type": "result", "subtype": "success", "session_id": "s", "total_cost_usd": 1.6e308 });
    let huge = json!({ "cost": 1.6e308, "tokens": { "input": 1.6e308, "output": 1.6e308 } });
    let messages = [session("s"), assistant("m", huge.clone()), assistant("n", huge)];
    for lines in [to_lines(&[init, result]), to_lines(&messages)] {
        let outcome = serde_json::to_value(agentnative_outcome::outcome(&lines).unwrap()).unwrap();
        let metrics = outcome["metrics"].as_object().unwrap();
        assert!(metrics["cost"].as_f64().unwrap() >= 1.6e308, "{outcome}");
        assert!(metrics.values().all(|value| !value.is_null()), "{outcome}");
    }
}
