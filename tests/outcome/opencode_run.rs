//! Events of `opencode run --format json`.

use super::{as_json, outcome_of_lines, outcome_with};
use agentnative_outcome::{Collector, Dialect, OutcomeOptions};
use serde_json::{Value, json};

fn event(kind: &str, time: u64, part: Value) -> Value {
    json!({ "type": kind, "timestamp": time, "sessionID": "s", "part": part })
}

fn step_start(time: u64, message: &str) -> Value {
    event("step_start", time, json!({ "id": "a", "messageID": message, "type": "step-start" }))
}

fn text(time: u64, message: &str, text: &str) -> Value {
    event("text", time, json!({ "id": text, "messageID": message, "type": "text", "text": text }))
}

fn step_finish(time: u64, message: &str, reason: &str) -> Value {
    let tokens = json!({ "total": 108, "input": 90, "output": 4, "reasoning": 3, "cache": { "write": 0, "read": 11 } });
    event(
        "step_finish",
        time,
        json!({ "messageID": message, "type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0.1 }),
    )
}

fn outcome_of(events: &[Value]) -> Value {
    outcome_of_lines(&events.iter().map(Value::to_string).collect::<Vec<_>>())
}

#[test]
fn sums_and_times_cover_the_run() {
    let outcome = outcome_of(&[
        step_start(1000, "m1"),
        text(1001, "m1", "I shall."),
        step_finish(1200, "m1", "tool-calls"),
        step_start(1300, "m2"),
        text(1350, "m2", "Done."),
        text(1360, "m2", "Really."),
        step_finish(1400, "m2", "stop"),
    ]);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["message"], "Done.\nReally.");
    let metrics = json!({
        "start_time_ms": 1000, "end_time_ms": 1400, "duration_ms": 400, "tokens_used": 188, "total_tokens": 216, "cost": 0.2,
        "input_tokens": 180, "output_tokens": 8, "reasoning_tokens": 6, "cache_read_tokens": 22, "cache_write_tokens": 0,
        "steps": 2,
        "api_calls_count": 0, "tool_calls_count": 0,
    });
    assert_eq!(outcome["metrics"], metrics);
}

#[test]
fn only_some_reasons_of_the_last_step_are_a_success() {
    let ends =
        |reason: &str| outcome_of(&[step_start(1, "m"), text(2, "m", "x"), step_finish(3, "m", reason)]);
    for (reason, success) in [
        ("stop", true),
        ("other", true),
        ("tool-calls", false),
        ("unknown", false),
        ("length", false),
        ("content-filter", false),
        ("error", false),
    ] {
        let outcome = ends(reason);
        assert_eq!(outcome["success"], success, "{reason}");
        assert_eq!(outcome.get("error").is_none(), success, "{reason}");
    }
    assert!(ends("length")["error"].as_str().unwrap().contains("\"length\""));
    let cut = outcome_of(&[step_start(1, "m"), text(2, "m", "half an ans")]);
    assert_eq!(cut["error"], "the stream ends inside a step");
    assert_eq!(cut["message"], "half an ans");
}

#[test]
fn an_error_event_is_a_failure_after_any_events() {
    let error = json!({ "type": "error", "timestamp": 5, "sessionID": "s", "error": { "name": "APIError", "data": { "message": "no" } } });
    for before in [vec![], vec![step_start(1, "m"), step_finish(2, "m", "stop")]] {
        let outcome = outcome_of(&[before, vec![error.clone()]].concat());
        assert_eq!(outcome["success"], false);
        assert_eq!(outcome["error_details"], json!({ "type": "APIError", "message": "no" }));
        assert_eq!(outcome["session_id"], "s");
    }
}

#[test]
fn a_failing_command_is_a_completed_call() {
    let part = json!({ "type": "tool", "tool": "bash", "callID": "c", "messageID": "m",
        "state": { "status": "completed", "input": {}, "output": "", "metadata": { "exit": 1 }, "time": { "start": 1, "end": 2 } } });
    let outcome = outcome_of(&[step_start(1, "m"), event("tool_use", 2, part), step_finish(3, "m", "stop")]);
    assert_eq!(outcome["tool_calls"][0]["status"], "completed");
    assert_eq!(outcome["success"], true);
}

#[test]
fn dialects_are_recognized_by_their_events() {
    let run = [step_start(1, "m"), text(2, "m", "run"), step_finish(3, "m", "stop")];
    let bus = [super::session("s"), super::assistant("m", json!({})), super::text("m", "p", "bus")];
    assert_eq!(outcome_of(&run)["message"], "run");
    assert_eq!(outcome_of(&bus)["message"], "bus");
    // The first event that a dialect knows selects it.
    let unknown = json!({ "type": "plugin.added", "properties": {} });
    assert_eq!(outcome_of(&[&[unknown][..], &run[..], &bus[..]].concat())["message"], "run");
    let as_dialect = |dialect| OutcomeOptions { dialect, ..OutcomeOptions::default() };
    assert_eq!(
        outcome_with(as_dialect(Dialect::OpencodeRun), &[&bus[..], &run[..]].concat())["message"],
        "run"
    );
    let wrong = Collector::new(as_dialect(Dialect::Opencode));
    wrong.read_lines(run.iter().map(Value::to_string));
    let error = wrong.outcome().unwrap_err().to_string();
    assert_eq!(error, "no known event in 3 lines: the event types are unknown");
}

#[test]
fn a_run_can_be_read_in_several_parts() {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read_lines([step_start(1, "m").to_string()]);
    assert!(!collector.outcome().unwrap().success);
    collector.read_lines([text(2, "m", "x").to_string(), step_finish(3, "m", "stop").to_string()]);
    assert_eq!(as_json(&collector.outcome().unwrap())["message"], "x");
    assert!(collector.outcome().unwrap().success);
}
