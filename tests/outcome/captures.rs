//! Outcomes of real captures of opencode, compared with expectations written by hand. The captures are in
//! `../shared/captures`, which is not in the repository, so these tests are ignored by default.

use super::as_json;
use agentnative_outcome::{Collector, Dialect, OutcomeOptions};
use serde_json::{Value, json};
use std::fs::File;
use std::path::Path;

/// A capture with the expected members of its outcome. The message is always [`ANSWER`].
struct Capture {
    file: &'static str,
    success: bool,
    /// Whether the agent answered.
    answered: bool,
    /// Name, status and duration in milliseconds of each tool call.
    calls: &'static [(&'static str, &'static str, u64)],
    /// Input and output of all steps.
    tokens: Option<u64>,
    cost: Option<f64>,
    /// The error, or its beginning.
    error: &'static str,
    error_type: Option<&'static str>,
}

const ANSWER: &str = "Mock answer: forty-two.";

const FAILED: Capture = Capture {
    file: "",
    success: false,
    answered: false,
    calls: &[],
    tokens: None,
    cost: None,
    error: "",
    error_type: None,
};

const WORKED: Capture =
    Capture { success: true, answered: true, tokens: Some(94), cost: Some(0.000_105_1), ..FAILED };

const TWO_STEPS: Capture = Capture { tokens: Some(188), cost: Some(0.000_210_2), ..WORKED };

const CAPTURES: &[Capture] = &[
    // One step: a text, then stop. 90 input tokens, 4 output tokens.
    Capture { file: "opencode-text.stdout", ..WORKED },
    Capture { file: "opencode-attach-text.stdout", ..WORKED },
    // Two steps with the same usage: bash from ...511 to ...793, then tool-calls; a text, then stop.
    Capture { file: "opencode-tool.stdout", calls: &[("bash", "completed", 282)], ..TWO_STEPS },
    Capture { file: "opencode-attach-tool.stdout", calls: &[("bash", "completed", 356)], ..TWO_STEPS },
    // The tool writes a file that did not exist.
    Capture { file: "opencode-attach-write.stdout", calls: &[("write", "completed", 23)], ..TWO_STEPS },
    // Three steps, two calls of bash.
    Capture {
        file: "opencode-two.stdout",
        calls: &[("bash", "completed", 316), ("bash", "completed", 201)],
        tokens: Some(282),
        cost: Some(0.000_315_3),
        ..WORKED
    },
    // The model called an unknown tool; opencode answered with its tool "invalid".
    Capture { file: "opencode-unknown-tool.stdout", calls: &[("invalid", "completed", 5)], ..TWO_STEPS },
    // Version 1.1.11 counts 7 output tokens.
    Capture {
        file: "opencode-1.1.11-tool.stdout",
        calls: &[("bash", "completed", 20)],
        tokens: Some(194),
        cost: Some(0.000_222_2),
        ..WORKED
    },
    // One step that stopped, without any text.
    Capture { file: "opencode-empty.stdout", answered: false, ..WORKED },
    // The call of bash was rejected, which ended the run.
    Capture {
        file: "opencode-permission-reject.stdout",
        calls: &[("bash", "error", 742)],
        tokens: Some(94),
        cost: Some(0.000_105_1),
        error: "the agent stopped without an answer: a permission was rejected",
        ..FAILED
    },
    // The connection broke in each of 97 steps, which have no usage; the 98th had begun.
    Capture {
        file: "opencode-midstream.stdout",
        tokens: Some(0),
        cost: Some(0.0),
        error: "the stream ends inside a step",
        ..FAILED
    },
    // One error event each.
    Capture {
        file: "opencode-err400.stdout",
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
    Capture {
        file: "opencode-attach-err400.stdout",
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
    Capture {
        file: "opencode-1.1.11-err400.stdout",
        error: "mock bad request",
        error_type: Some("APIError"),
        ..FAILED
    },
    Capture {
        file: "opencode-err500.stdout",
        error: "mock internal error",
        error_type: Some("APIError"),
        ..FAILED
    },
    Capture {
        file: "opencode-badmodel.stdout",
        error: "Unexpected server error.",
        error_type: Some("UnknownError"),
        ..FAILED
    },
    Capture {
        file: "opencode-badprovider.stdout",
        error: "Unexpected server error.",
        error_type: Some("UnknownError"),
        ..FAILED
    },
    // Empty stdout.
    Capture { file: "opencode-sigint.stdout", error: "no known event: the stream is empty", ..FAILED },
    Capture { file: "opencode-badflag.stdout", error: "no known event: the stream is empty", ..FAILED },
    Capture { file: "opencode-1.0.0-tool.stdout", error: "no known event: the stream is empty", ..FAILED },
    Capture { file: "opencode-1.0.0-err400.stdout", error: "no known event: the stream is empty", ..FAILED },
    // A usage text of 18 lines, three of them blank.
    Capture {
        file: "opencode-0.5.29-tool.stdout",
        error: "no known event in 15 lines; line 1 is skipped",
        ..FAILED
    },
    Capture {
        file: "opencode-0.5.29-err400.stdout",
        error: "no known event in 15 lines; line 1 is skipped",
        ..FAILED
    },
    // The server bus: only the last assistant message has the usage of the last step.
    Capture { file: "opencode-bus-text.jsonl", ..WORKED },
    Capture { file: "opencode-bus-tool.jsonl", calls: &[("bash", "completed", 356)], ..TWO_STEPS },
    Capture {
        file: "opencode-bus-err400.jsonl",
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
    as_json(&collector.outcome().unwrap())
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_captures_have_the_outcomes_written_by_hand() {
    for capture in CAPTURES {
        let name = capture.file;
        let collector = Collector::new(OutcomeOptions::default());
        collector.read(self::capture(name), "").unwrap();
        let outcome = match collector.outcome() {
            Ok(outcome) => as_json(&outcome),
            Err(error) => {
                let error = error.to_string();
                assert!(!capture.error.is_empty() && error.starts_with(capture.error), "{name}: {error}");
                continue;
            }
        };
        assert_eq!(outcome["success"], capture.success, "{name}: {outcome:#}");
        assert_eq!(outcome["message"], json!(capture.answered.then_some(ANSWER)), "{name}");
        let calls: Vec<Value> = outcome["tool_calls"].as_array().cloned().unwrap_or_default();
        let expected: Vec<Value> = capture
            .calls
            .iter()
            .map(|(name, status, ms)| json!({ "name": name, "inputs": null, "status": status, "duration_ms": ms }))
            .collect();
        assert_eq!(calls, expected, "{name}");
        let metrics = &outcome["metrics"];
        assert_eq!(metrics["tokens_used"], json!(capture.tokens), "{name}");
        assert_eq!(metrics["cost"].as_f64(), capture.cost, "{name}");
        let error = outcome["error"].as_str().unwrap_or_default();
        assert!(
            error.starts_with(capture.error) && error.is_empty() == capture.error.is_empty(),
            "{name}: {error}"
        );
        assert_eq!(outcome["error_details"]["type"], json!(capture.error_type), "{name}");
    }
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_a_file_that_did_not_exist_is_created() {
    let outcome = outcome_of("opencode-attach-write.stdout", OutcomeOptions::default());
    let file = json!({ "path": "/srv/project/out.txt", "operation": "created", "size": 6, "type": "file" });
    assert_eq!(outcome["artifacts"], json!([file]));
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_a_rejected_permission_is_reported() {
    let outcome = outcome_of("opencode-permission-reject.stdout", OutcomeOptions::default());
    assert_eq!(outcome["requires_approval"], true);
    assert_eq!(outcome["warnings"], json!(["Permission required: bash"]));
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_captures_have_times_models_and_sessions() {
    let bus = outcome_of("opencode-bus-tool.jsonl", OutcomeOptions::default());
    assert_eq!(bus["session_id"], "ses_e000d352fffeBhh3TBNPuvtgpZ");
    let metrics = json!({
        "start_time_ms": 1_795_295_466_790_u64, "end_time_ms": 1_795_295_471_883_u64, "duration_ms": 5093,
        "tokens_used": 188, "total_tokens": 216, "cost": 0.000_210_2, "api_calls_count": 1, "tool_calls_count": 1,
        "input_tokens": 180, "output_tokens": 8, "reasoning_tokens": 6, "cache_read_tokens": 22,
        "cache_write_tokens": 0, "steps": 2,
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
fn shared_both_streams_of_a_run_have_the_same_costs() {
    let metrics_of = |name: &str| outcome_of(name, OutcomeOptions::default())["metrics"].clone();
    let (bus, run) = (metrics_of("opencode-bus-tool.jsonl"), metrics_of("opencode-attach-tool.stdout"));
    let kinds = [
        ("tokens_used", 188.0),
        ("total_tokens", 216.0),
        ("cost", 0.000_210_2),
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
fn shared_a_killed_run_is_a_failure() {
    let options = OutcomeOptions { exit_code: Some(124), ..OutcomeOptions::default() };
    let outcome = outcome_of("opencode-midstream.stdout", options);
    assert_eq!(outcome["error"], "the stream ends inside a step; the program exited with 124");
    let options =
        OutcomeOptions { dialect: Dialect::OpencodeRun, exit_code: Some(-2), ..OutcomeOptions::default() };
    let outcome = outcome_of("opencode-sigint.stdout", options);
    assert_eq!(outcome["success"], false);
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_stderr_is_the_error_of_a_failure_without_an_error_event() {
    let collector = Collector::new(OutcomeOptions::default());
    collector.read(capture("opencode-permission-reject.stdout"), "").unwrap();
    let before = collector.outcome().unwrap();
    collector.read_stderr(capture("opencode-permission-reject.stderr")).unwrap();
    let after = collector.outcome().unwrap();
    assert_eq!(after, before, "an event says why it failed");
    let options =
        OutcomeOptions { dialect: Dialect::OpencodeRun, exit_code: Some(1), ..OutcomeOptions::default() };
    let collector = Collector::new(options);
    collector.read_stderr(capture("opencode-badflag.stderr")).unwrap();
    let error = collector.outcome().unwrap().error.unwrap();
    assert!(
        error.starts_with("opencode run [message..]\nrun opencode with a message\n")
            && error.ends_with("; the program exited with 1"),
        "{error}"
    );
}
