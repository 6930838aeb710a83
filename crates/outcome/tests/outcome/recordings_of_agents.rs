//! Computes the outcomes of the recordings of agents, and compares them with the table.

use crate::recordings::{Recording, recordings};
use agentnative_outcome::{Collector, Dialect, OutcomeOptions, RunOutcome, Unrecognised};
use serde_json::{Value, json};

fn dialect(agent: &str) -> Dialect {
    match agent {
        "claude" => Dialect::Claude,
        "cline" => Dialect::Cline,
        "codex" => Dialect::Codex,
        "copilot" => Dialect::Copilot,
        "droid" => Dialect::Droid,
        "gemini" => Dialect::Gemini,
        "kilo" | "opencode" => Dialect::OpencodeRun,
        "kimi" => Dialect::Kimi,
        "pi" => Dialect::Pi,
        "qwen" => Dialect::Qwen,
        "vibe" => Dialect::Vibe,
        other => panic!("{other}"),
    }
}

fn outcome(recording: &Recording, dialect: Dialect) -> Result<RunOutcome, Unrecognised> {
    let options = OutcomeOptions { dialect, exit_code: Some(recording.exit), ..OutcomeOptions::default() };
    let collector = Collector::new(options);
    collector.read(&recording.stdout[..], "").unwrap();
    collector.read_stderr(&recording.stderr[..]).unwrap();
    collector.outcome()
}

/// Returns what differs between an outcome and the row of its recording.
fn differences(recording: &Recording, outcome: &RunOutcome) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |column: &str, found: String| {
        let expected = recording.get(column);
        // The error of a failure is its beginning; the exit code and the text on stderr follow.
        let fits = if column == "error" { found.starts_with(expected) } else { found == expected };
        if !fits || expected.is_empty() != found.is_empty() {
            wrong.push(format!("{column}: expected {expected:?}, found {found:?}"));
        }
    };
    compare("error", outcome.error.clone().unwrap_or_default());
    compare("message", outcome.message.clone().unwrap_or_default());
    let calls = outcome.tool_calls.iter();
    let calls = calls.map(|call| format!("{}:{}", call.name, json!(call.status).as_str().unwrap()));
    compare("calls", calls.collect::<Vec<_>>().join(","));
    let metrics = json!(outcome.metrics.clone().unwrap_or_default());
    for (column, key) in [
        ("input", "input_tokens"),
        ("output", "output_tokens"),
        ("reasoning", "reasoning_tokens"),
        ("cache_read", "cache_read_tokens"),
        ("cache_write", "cache_write_tokens"),
        ("used", "tokens_used"),
        ("total", "total_tokens"),
        ("cost", "cost"),
    ] {
        compare(column, metrics.get(key).map(Value::to_string).unwrap_or_default());
    }
    for (column, key) in [("start", "start_time_ms"), ("end", "end_time_ms"), ("duration", "duration_ms")] {
        // The times of some agents are not in the table.
        if !recording.get(column).is_empty() {
            compare(column, metrics.get(key).map(Value::to_string).unwrap_or_default());
        }
    }
    let agent = if recording.get("agent") == "kilo" { "opencode" } else { recording.get("agent") };
    let metadata = outcome.metadata.clone().unwrap_or_default();
    if metadata.agent.as_deref() != Some(agent) || outcome.incomplete {
        wrong.push(format!("{metadata:?}, incomplete: {}", outcome.incomplete));
    }
    wrong
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_recordings_have_the_outcomes_of_the_table() {
    let (recordings, mut wrong) = (recordings(), Vec::new());
    for recording in &recordings {
        let (name, expected) = (recording.name(), recording.get("outcome"));
        let recognised = outcome(recording, Dialect::Auto);
        let declared = outcome(recording, dialect(recording.get("agent")));
        let found = match &recognised {
            Err(_) => "unrecognised",
            Ok(outcome) if outcome.success => "success",
            Ok(_) if expected == "interrupted" => "interrupted",
            Ok(_) => "failure",
        };
        println!("{name:36} {found}");
        if found != expected {
            wrong.push(format!("{name}: expected {expected}, found {found}: {recognised:?}"));
        }
        match &recognised {
            Ok(recognised) => {
                wrong.extend(
                    differences(recording, recognised).into_iter().map(|why| format!("{name}: {why}")),
                );
                assert_eq!(recognised, declared.as_ref().unwrap(), "{name}");
            }
            // A declared agent that printed nothing failed.
            Err(_) => assert!(!declared.unwrap().success && recording.stdout.is_empty(), "{name}"),
        }
    }
    assert!(wrong.is_empty(), "{} differences:\n{}", wrong.len(), wrong.join("\n"));
}
