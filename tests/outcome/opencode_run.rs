//! What `opencode run --format json` prints.

use super::{as_json, lines, with};
use agentnative_outcome::{Collector, Dialect, OutcomeOptions};
use serde_json::{Value, json};

fn event(kind: &str, time: u64, part: Value) -> Value {
    json!({ "type": kind, "timestamp": time, "sessionID": "s", "part": part })
}

fn start(time: u64, message: &str) -> Value {
    event("step_start", time, json!({ "id": "a", "messageID": message, "type": "step-start" }))
}

fn text(time: u64, message: &str, text: &str) -> Value {
    event("text", time, json!({ "id": text, "messageID": message, "type": "text", "text": text }))
}

fn finish(time: u64, message: &str, reason: &str) -> Value {
    let tokens = json!({ "total": 108, "input": 90, "output": 4, "reasoning": 3, "cache": { "write": 0, "read": 11 } });
    event(
        "step_finish",
        time,
        json!({ "messageID": message, "type": "step-finish", "reason": reason, "tokens": tokens, "cost": 0.1 }),
    )
}

fn of(events: &[Value]) -> Value {
    lines(&events.iter().map(Value::to_string).collect::<Vec<_>>())
}

#[test]
fn sums_and_times_span_the_run_and_the_last_step_has_its_own_tokens_and_cost() {
    let outcome = of(&[
        start(1000, "m1"),
        text(1001, "m1", "I shall."),
        finish(1200, "m1", "tool-calls"),
        start(1300, "m2"),
        text(1350, "m2", "Done."),
        text(1360, "m2", "Really."),
        finish(1400, "m2", "stop"),
    ]);
    assert_eq!(outcome["success"], true);
    assert_eq!(outcome["message"], "Done.\nReally.");
    let metrics = json!({
        "start_time_ms": 1000, "end_time_ms": 1400, "duration_ms": 400, "tokens_used": 94, "cost": 0.1,
        "input_tokens": 180, "output_tokens": 8, "reasoning_tokens": 6, "cache_read_tokens": 22, "cache_write_tokens": 0,
        "total_cost": 0.2, "steps": 2,
        "api_calls_count": 0, "tool_calls_count": 0,
    });
    assert_eq!(outcome["metrics"], metrics);
}

#[test]
fn only_a_stop_is_a_success() {
    let ends = |reason: &str| of(&[start(1, "m"), text(2, "m", "x"), finish(3, "m", reason)]);
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
    let cut = of(&[start(1, "m"), text(2, "m", "half an ans")]);
    assert_eq!(cut["error"], "the stream ends inside a step");
    assert_eq!(cut["message"], "half an ans");
}

#[test]
fn an_error_line_is_a_failure_whatever_came_before() {
    let error = json!({ "type": "error", "timestamp": 5, "sessionID": "s", "error": { "name": "APIError", "data": { "message": "no" } } });
    for before in [vec![], vec![start(1, "m"), finish(2, "m", "stop")]] {
        let outcome = of(&[before, vec![error.clone()]].concat());
        assert_eq!(outcome["success"], false);
        assert_eq!(outcome["error_details"], json!({ "type": "APIError", "message": "no" }));
        assert_eq!(outcome["session_id"], "s");
    }
}

#[test]
fn a_failing_command_is_a_completed_call() {
    let part = json!({ "type": "tool", "tool": "bash", "callID": "c", "messageID": "m",
        "state": { "status": "completed", "input": {}, "output": "", "metadata": { "exit": 1 }, "time": { "start": 1, "end": 2 } } });
    let outcome = of(&[start(1, "m"), event("tool_use", 2, part), finish(3, "m", "stop")]);
    assert_eq!(outcome["tool_calls"][0]["status"], "completed");
    assert_eq!(outcome["success"], true);
}

#[test]
fn the_dialects_are_told_apart_by_their_events() {
    let run = [start(1, "m"), text(2, "m", "run"), finish(3, "m", "stop")];
    let bus = [super::session("s"), super::assistant("m", json!({})), super::text("m", "p", "bus")];
    assert_eq!(of(&run)["message"], "run");
    assert_eq!(of(&bus)["message"], "bus");
    // The first event that is understood decides; what no dialect knows does not.
    let unknown = json!({ "type": "plugin.added", "properties": {} });
    assert_eq!(of(&[&[unknown][..], &run[..], &bus[..]].concat())["message"], "run");
    let told = |dialect| OutcomeOptions { dialect, ..OutcomeOptions::default() };
    assert_eq!(with(told(Dialect::OpencodeRun), &[&bus[..], &run[..]].concat())["message"], "run");
    let wrong = with(told(Dialect::Opencode), &run);
    assert_eq!(wrong["success"], false);
    assert_eq!(wrong["error"], "no known event in 3 lines: the types are unknown");
}

#[test]
fn a_run_may_be_read_in_several_pieces() {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read_lines([start(1, "m").to_string()]);
    assert!(!collector.outcome().success);
    collector.read_lines([text(2, "m", "x").to_string(), finish(3, "m", "stop").to_string()]);
    assert_eq!(as_json(&collector.outcome())["message"], "x");
    assert!(collector.outcome().success);
}
