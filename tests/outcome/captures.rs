//! What happened in each real capture of opencode, written down by hand from reading it, and the
//! outcome of each. The captures are in `../shared/captures`, so these tests run when they are asked for.

use super::as_json;
use agentnative_outcome::{Collector, OutcomeOptions};
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;

/// What happened: the members of the outcome that are known. The message is always the same one.
struct Seen {
    capture: &'static str,
    success: bool,
    /// Whether the agent answered.
    answered: bool,
    /// Name, status and milliseconds of each call.
    calls: &'static [(&'static str, &'static str, u64)],
    tokens: Option<u64>,
    cost: Option<f64>,
    /// The error, or how it begins.
    error: &'static str,
    error_type: Option<&'static str>,
}

const ANSWER: &str = "Mock answer: forty-two.";

const FAILED: Seen = Seen {
    capture: "",
    success: false,
    answered: false,
    calls: &[],
    tokens: None,
    cost: None,
    error: "",
    error_type: None,
};

const WORKED: Seen =
    Seen { success: true, answered: true, tokens: Some(94), cost: Some(0.000_105_1), ..FAILED };

const SEEN: &[Seen] = &[
    // One step: a text, stop. 90 tokens in, 4 out.
    Seen { capture: "opencode-text.stdout", ..WORKED },
    Seen { capture: "opencode-attach-text.stdout", ..WORKED },
    // Two steps: bash from ...511 to ...793 and tool-calls; a text and stop. Each of the same usage.
    Seen { capture: "opencode-tool.stdout", calls: &[("bash", "completed", 282)], ..WORKED },
    Seen { capture: "opencode-attach-tool.stdout", calls: &[("bash", "completed", 356)], ..WORKED },
    // The tool is write, to a file that did not exist.
    Seen { capture: "opencode-attach-write.stdout", calls: &[("write", "completed", 23)], ..WORKED },
    // Three steps, two calls of bash.
    Seen {
        capture: "opencode-two.stdout",
        calls: &[("bash", "completed", 316), ("bash", "completed", 201)],
        ..WORKED
    },
    // The model called a tool that there is none of; opencode let its tool "invalid" answer.
    Seen { capture: "opencode-unknown-tool.stdout", calls: &[("invalid", "completed", 5)], ..WORKED },
    // 1.1.11 counts 7 tokens out.
    Seen {
        capture: "opencode-1.1.11-tool.stdout",
        calls: &[("bash", "completed", 20)],
        tokens: Some(97),
        cost: Some(0.000_111_1),
        ..WORKED
    },
    // One step that stopped, without any text.
    Seen { capture: "opencode-empty.stdout", answered: false, ..WORKED },
    // The call of bash was rejected, and that was the end.
    Seen {
        capture: "opencode-permission-reject.stdout",
        calls: &[("bash", "error", 742)],
        tokens: Some(94),
        cost: Some(0.000_105_1),
        error: "the agent stopped without an answer: a permission was rejected",
        ..FAILED
    },
    // The connection broke in each of 97 steps, which have no usage; the 98th had begun.
    Seen {
        capture: "opencode-midstream.stdout",
        tokens: Some(0),
        cost: Some(0.0),
        error: "the stream ends inside a step",
        ..FAILED
    },
    // One error event each.
    Seen {
        capture: "opencode-err400.stdout",
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
    Seen {
        capture: "opencode-attach-err400.stdout",
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
    Seen {
        capture: "opencode-1.1.11-err400.stdout",
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
    Seen {
        capture: "opencode-err500.stdout",
        error: "mock internal error",
        error_type: Some("APIError"),
        ..FAILED
    },
    Seen {
        capture: "opencode-badmodel.stdout",
        error: "Unexpected server error.",
        error_type: Some("UnknownError"),
        ..FAILED
    },
    Seen {
        capture: "opencode-badprovider.stdout",
        error: "Unexpected server error.",
        error_type: Some("UnknownError"),
        ..FAILED
    },
    // Nothing on standard output.
    Seen { capture: "opencode-sigint.stdout", error: "no known event: the stream is empty", ..FAILED },
    Seen { capture: "opencode-badflag.stdout", error: "no known event: the stream is empty", ..FAILED },
    Seen { capture: "opencode-1.0.0-tool.stdout", error: "no known event: the stream is empty", ..FAILED },
    Seen { capture: "opencode-1.0.0-err400.stdout", error: "no known event: the stream is empty", ..FAILED },
    // A usage text of 18 lines, three of them blank.
    Seen {
        capture: "opencode-0.5.29-tool.stdout",
        error: "no known event in 15 lines; line 1 is skipped",
        ..FAILED
    },
    Seen {
        capture: "opencode-0.5.29-err400.stdout",
        error: "no known event in 15 lines; line 1 is skipped",
        ..FAILED
    },
    // The server bus: the last assistant message alone has the usage of the last step.
    Seen { capture: "opencode-bus-text.jsonl", ..WORKED },
    Seen { capture: "opencode-bus-tool.jsonl", calls: &[("bash", "completed", 356)], ..WORKED },
    Seen {
        capture: "opencode-bus-err400.jsonl",
        tokens: Some(0),
        cost: Some(0.0),
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
];

fn capture(name: &str) -> File {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/captures"));
    File::open(folder.join(name)).unwrap()
}

fn outcome_of(name: &str, options: OutcomeOptions) -> Value {
    let collector = Collector::new(options);
    collector.read(capture(name), "").unwrap();
    as_json(&collector.outcome())
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_real_captures_give_true_outcomes() {
    for seen in SEEN {
        let outcome = outcome_of(seen.capture, OutcomeOptions::default());
        let name = seen.capture;
        assert_eq!(outcome["success"], seen.success, "{name}: {outcome:#}");
        assert_eq!(outcome["message"], json!(seen.answered.then_some(ANSWER)), "{name}");
        let calls: Vec<Value> = outcome["tool_calls"].as_array().cloned().unwrap_or_default();
        let expected: Vec<Value> = seen
            .calls
            .iter()
            .map(|(name, status, ms)| json!({ "name": name, "inputs": null, "status": status, "duration_ms": ms }))
            .collect();
        assert_eq!(calls, expected, "{name}");
        let metrics = &outcome["metrics"];
        assert_eq!(metrics["tokens_used"], json!(seen.tokens), "{name}");
        assert_eq!(metrics["cost"].as_f64(), seen.cost, "{name}");
        let error = outcome["error"].as_str().unwrap_or_default();
        assert!(
            error.starts_with(seen.error) && error.is_empty() == seen.error.is_empty(),
            "{name}: {error}"
        );
        assert_eq!(outcome["error_details"]["type"], json!(seen.error_type), "{name}");
    }
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_a_written_file_is_created() {
    let outcome = outcome_of("opencode-attach-write.stdout", OutcomeOptions::default());
    let file = json!({ "path": "/srv/project/out.txt", "operation": "created", "size": 6, "type": "file" });
    assert_eq!(outcome["artifacts"], json!([file]));
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_a_rejected_permission_is_told() {
    let outcome = outcome_of("opencode-permission-reject.stdout", OutcomeOptions::default());
    assert_eq!(outcome["requires_approval"], true);
    assert_eq!(outcome["warnings"], json!(["Permission required: bash"]));
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_times_models_and_sessions_of_captures() {
    let bus = outcome_of("opencode-bus-tool.jsonl", OutcomeOptions::default());
    assert_eq!(bus["session_id"], "ses_e000d352fffeBhh3TBNPuvtgpZ");
    let metrics = json!({
        "start_time_ms": 1_795_295_471_146_u64, "end_time_ms": 1_795_295_471_883_u64, "duration_ms": 737,
        "tokens_used": 94, "cost": 0.000_105_1, "api_calls_count": 1, "tool_calls_count": 1,
        "input_tokens": 180, "output_tokens": 8, "reasoning_tokens": 6, "cache_read_tokens": 22,
        "cache_write_tokens": 0, "total_cost": 0.000_210_2, "steps": 2,
        "model_name": "mock/mock-1",
    });
    assert_eq!(bus["metrics"], metrics);
    // The session was created at ...464144 and updated last at ...471899.
    assert_eq!(bus["metadata"]["phase_total_duration_ms"], 7755);
    let run = outcome_of("opencode-tool.stdout", OutcomeOptions::default());
    assert_eq!(run["session_id"], "ses_e00365694ffegjHYVSVT2Fn0tO");
    assert_eq!(run["metrics"]["start_time_ms"], 1_795_292_771_664_u64);
    assert_eq!(run["metrics"]["end_time_ms"], 1_795_292_772_190_u64);
    assert_eq!(run["metrics"]["model_name"], Value::Null, "the stream has no model");
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_one_run_has_one_cost_in_both_streams() {
    let of = |name: &str| outcome_of(name, OutcomeOptions::default())["metrics"].clone();
    let (bus, run) = (of("opencode-bus-tool.jsonl"), of("opencode-attach-tool.stdout"));
    let kinds = [
        ("tokens_used", 94.0),
        ("cost", 0.000_105_1),
        ("total_cost", 0.000_210_2),
        ("input_tokens", 180.0),
        ("output_tokens", 8.0),
        ("reasoning_tokens", 6.0),
        ("cache_read_tokens", 22.0),
        ("cache_write_tokens", 0.0),
        ("steps", 2.0),
    ];
    for (key, value) in kinds {
        assert_eq!((bus[key].as_f64(), run[key].as_f64()), (Some(value), Some(value)), "{key}");
    }
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_a_run_that_was_ended_from_outside_is_a_failure() {
    let options = OutcomeOptions { exit_code: Some(124), ..OutcomeOptions::default() };
    let outcome = outcome_of("opencode-midstream.stdout", options);
    assert_eq!(outcome["error"], "the stream ends inside a step; the program exited with 124");
    let options = OutcomeOptions { exit_code: Some(-2), ..OutcomeOptions::default() };
    let outcome = outcome_of("opencode-sigint.stdout", options);
    assert_eq!(outcome["success"], false);
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_standard_error_says_why_a_run_failed_that_does_not_say_it() {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read(capture("opencode-permission-reject.stdout"), "").unwrap();
    let before = collector.outcome();
    collector.read_stderr(capture("opencode-permission-reject.stderr")).unwrap();
    let after = collector.outcome();
    assert_eq!(after, before, "an event says why it failed");
    let collector = Collector::new(OutcomeOptions { exit_code: Some(1), ..OutcomeOptions::default() });
    collector.read_stderr(capture("opencode-badflag.stderr")).unwrap();
    let error = collector.outcome().error.unwrap();
    assert!(
        error.starts_with("opencode run [message..]\nrun opencode with a message\n")
            && error.ends_with("; the program exited with 1"),
        "{error}"
    );
}
