//! Shortened recordings of each agent, with outcomes that were written by hand.

use super::as_json;
use agentnative_outcome::{Collector, Dialect, OutcomeOptions, RunOutcome, outcome};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

/// Name, exit code and dialect of each recording.
const RECORDINGS: &[(&str, i32, Dialect)] = &[
    ("claude-aborted", 0, Dialect::Claude),
    ("claude-array", 0, Dialect::Claude),
    ("claude-document", 0, Dialect::Claude),
    ("claude-error", 1, Dialect::Claude),
    ("claude-turn-limit", 1, Dialect::Claude),
    ("claude-two-prompts", 0, Dialect::Claude),
    ("claude-write", 0, Dialect::Claude),
    ("cline-error", 1, Dialect::Cline),
    ("cline-tool", 0, Dialect::Cline),
    ("codex-0.42", 0, Dialect::Codex),
    ("codex-error", 1, Dialect::Codex),
    ("codex-experimental", 0, Dialect::Codex),
    ("codex-terminated", 124, Dialect::Codex),
    ("codex-two", 0, Dialect::Codex),
    ("copilot-error", 1, Dialect::Copilot),
    ("copilot-sub", 0, Dialect::Copilot),
    ("droid-document", 1, Dialect::Droid),
    ("droid-two", 0, Dialect::Droid),
    ("gemini-denied", 0, Dialect::Gemini),
    ("gemini-document", 0, Dialect::Gemini),
    ("gemini-tool", 0, Dialect::Gemini),
    ("gemini-turn-limit", 53, Dialect::Gemini),
    ("gemini-write", 0, Dialect::Gemini),
    ("kimi-write", 0, Dialect::Kimi),
    ("opencode-bus", 0, Dialect::Opencode),
    ("opencode-rejected", 0, Dialect::OpencodeRun),
    ("opencode-two", 0, Dialect::OpencodeRun),
    ("pi-error", 0, Dialect::Pi),
    ("pi-tool", 0, Dialect::Pi),
    ("pi-write", 0, Dialect::Pi),
    ("qwen-array", 0, Dialect::Qwen),
    ("qwen-error", 0, Dialect::Qwen),
    ("qwen-tool", 0, Dialect::Qwen),
    ("qwen-turn-limit", 53, Dialect::Qwen),
    ("vibe-interrupted", 3, Dialect::Vibe),
    ("vibe-write", 0, Dialect::Vibe),
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("fixtures/outcome").join(name)
}

/// Reads a recording, and its stderr if it exists.
fn collect(name: &str, options: OutcomeOptions) -> Collector {
    let collector = Collector::new(options);
    collector.read(File::open(path(&format!("{name}.stdout"))).unwrap(), "").unwrap();
    match File::open(path(&format!("{name}.stderr"))) {
        Ok(stderr) => collector.read_stderr(stderr).unwrap(),
        Err(error) => assert_eq!(error.kind(), io::ErrorKind::NotFound),
    }
    collector
}

fn document(name: &str) -> Value {
    serde_json::from_slice(&fs::read(path(name)).unwrap()).unwrap()
}

#[test]
fn outcomes_match_those_written_by_hand_with_and_without_the_dialect() {
    let mut wrong = Vec::new();
    for (name, exit_code, dialect) in RECORDINGS {
        let expected = document(&format!("{name}.outcome.json"));
        for dialect in [Dialect::Auto, *dialect] {
            let options =
                OutcomeOptions { dialect, exit_code: Some(*exit_code), ..OutcomeOptions::default() };
            let outcome = as_json(&collect(name, options).outcome().unwrap());
            if outcome != expected {
                wrong.push(format!("{name} ({dialect:?}): {outcome:#}\nexpected {expected:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn trajectories_contain_each_step() {
    let mut count = 0;
    for (name, exit_code, _) in RECORDINGS {
        let file = format!("{name}.atif.json");
        if !path(&file).exists() {
            continue;
        }
        let options = OutcomeOptions {
            full: true,
            steps: true,
            exit_code: Some(*exit_code),
            ..OutcomeOptions::default()
        };
        let trajectory = serde_json::to_value(collect(name, options).atif().unwrap()).unwrap();
        assert_eq!(trajectory, document(&file), "{name}");
        count += 1;
    }
    assert_eq!(count, 11, "one of each agent");
}

#[test]
fn a_recording_without_its_last_event_is_a_failure() {
    for (name, exit_code, _) in RECORDINGS {
        let stream = fs::read_to_string(path(&format!("{name}.stdout"))).unwrap();
        // Documents have one event; these two streams have no final event.
        if *exit_code != 0
            || stream.lines().count() < 2
            || stream.starts_with("{\n")
            || ["codex-0.42", "opencode-bus"].contains(name)
        {
            continue;
        }
        let (cut, _) = stream.trim_end().rsplit_once('\n').unwrap();
        let outcome = outcome(cut.lines()).unwrap();
        assert!(!outcome.success && outcome.error.is_some(), "{name}: {outcome:?}");
    }
}

#[test]
fn a_recording_without_its_first_event_is_incomplete() {
    let mut count = 0;
    for (name, ..) in RECORDINGS {
        let stream = fs::read_to_string(path(&format!("{name}.stdout"))).unwrap();
        let is_stream = stream.lines().count() > 2 && stream.lines().all(|line| line.starts_with("{\""));
        // The second event of these streams can also be the first.
        if !is_stream
            || ["cline-error", "cline-tool", "codex-0.42", "copilot-error", "copilot-sub", "opencode-bus"]
                .contains(name)
        {
            continue;
        }
        let (_, rest) = stream.split_once('\n').unwrap();
        let outcome = outcome(rest.lines()).unwrap();
        assert!(outcome.incomplete, "{name}: {outcome:?}");
        count += 1;
    }
    assert!(count >= 14, "{count}");
}

#[test]
fn a_truncated_array_keeps_its_elements_and_is_a_failure() {
    for name in ["claude-array", "qwen-array"] {
        let whole = fs::read_to_string(path(&format!("{name}.stdout"))).unwrap();
        let cut = &whole[..whole.rfind("\"result\"").unwrap()];
        let outcome = outcome([cut]).unwrap();
        assert!(!outcome.success && outcome.session_id.is_some(), "{name}: {outcome:?}");
        assert_eq!(outcome.error.as_deref(), Some("the stream ends before the run does"), "{name}");
        assert_eq!(outcome.warnings.len(), 1, "{name}: {outcome:?}");
        assert!(outcome.warnings[0].contains("is skipped"), "{name}: {outcome:?}");
    }
}

#[test]
fn text_before_the_events_is_skipped_even_if_it_begins_with_a_bracket() {
    let stream = fs::read_to_string(path("pi-tool.stdout")).unwrap();
    let outcome = outcome(["[info] loading", &stream]).unwrap();
    assert!(outcome.success, "{outcome:?}");
    assert_eq!(outcome.warnings.len(), 1, "{outcome:?}");
}

#[test]
fn a_stream_read_as_another_dialect_is_a_failure() {
    for (name, exit_code, own) in RECORDINGS {
        for dialect in Dialect::ALL.into_iter().filter(|dialect| *dialect != Dialect::Auto) {
            // Qwen Code prints the same events as Claude Code.
            let same =
                matches!((own, dialect), (Dialect::Qwen, Dialect::Claude) | (Dialect::Claude, Dialect::Qwen));
            if dialect == *own || same {
                continue;
            }
            let options =
                OutcomeOptions { dialect, exit_code: Some(*exit_code), ..OutcomeOptions::default() };
            let outcome = collect(name, options).outcome();
            assert!(
                !outcome.as_ref().is_ok_and(|outcome| outcome.success),
                "{name} as {dialect:?}: {outcome:?}"
            );
        }
    }
}

#[test]
fn events_with_values_of_any_type_give_a_valid_outcome() {
    let schema = serde_json::to_value(schemars::schema_for!(RunOutcome)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (name, _, dialect) in RECORDINGS {
        let stream = fs::read_to_string(path(&format!("{name}.stdout"))).unwrap();
        let events: Vec<Value> = match serde_json::from_str(&stream) {
            Ok(Value::Array(events)) => events,
            Ok(event) => vec![event],
            Err(_) => stream.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        };
        let mut count = 0;
        for (at, event) in events.iter().enumerate() {
            for pointer in pointers(event) {
                let mut changed = event.clone();
                let other = [json!(null), json!(""), json!(-1.5), json!([{}]), json!({ "type": "text" })];
                *changed.pointer_mut(&pointer).unwrap() = other[count % other.len()].clone();
                count += 1;
                let collector = Collector::new(OutcomeOptions {
                    dialect: *dialect,
                    full: true,
                    steps: true,
                    ..OutcomeOptions::default()
                });
                let lines = events.iter().enumerate();
                collector.read_lines(
                    lines.map(|(line, event)| if line == at { &changed } else { event }.to_string()),
                );
                // The only event of a document may be unknown now.
                let Ok(outcome) = collector.outcome() else { continue };
                let outcome = as_json(&outcome);
                assert!(validator.is_valid(&outcome), "{name} {at} {pointer}: {outcome:#}");
                assert!(
                    serde_json::to_value(collector.atif().unwrap()).unwrap()["steps"][0]["message"]
                        .is_string()
                );
            }
        }
    }
}

/// JSON Pointers of all values inside a value.
fn pointers(value: &Value) -> Vec<String> {
    let members: Vec<(String, &Value)> = match value {
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.replace('/', "~1"), value)).collect()
        }
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(at, value)| (at.to_string(), value)).collect()
        }
        _ => Vec::new(),
    };
    let inside = |(key, value): (String, &Value)| {
        let below: Vec<String> = pointers(value).iter().map(|below| format!("/{key}{below}")).collect();
        std::iter::once(format!("/{key}")).chain(below)
    };
    members.into_iter().flat_map(inside).collect()
}

#[test]
fn the_last_lines_of_stderr_are_the_error_of_a_failed_run() {
    let options =
        OutcomeOptions { dialect: Dialect::Claude, exit_code: Some(3), ..OutcomeOptions::default() };
    let collector = Collector::new(options);
    let stderr = (0..100_000).map(|line| format!("\u{1b}[31mline {line}\u{1b}[0m\n")).collect::<String>();
    collector.read_stderr(format!("{stderr}{{\"no\": \"event\"}}\n").as_bytes()).unwrap();
    let outcome = collector.outcome().unwrap();
    let error = outcome.error.unwrap();
    let (lines, exited) = error.rsplit_once("; ").unwrap();
    assert_eq!(exited, "the program exited with 3");
    assert!(lines.len() <= 4096 && lines.len() > 4000, "{}", lines.len());
    assert!(lines.ends_with("line 99998\nline 99999\n{\"no\": \"event\"}"), "{lines}");
    assert!(lines.starts_with("line "), "only complete lines: {lines}");
    assert_eq!(outcome.warnings, Vec::<String>::new());
}
