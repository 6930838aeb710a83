//! Mutations of valid recordings of agents, each of which their contract rejects. The exceptions have a reason.

use crate::recordings::{Recording, recordings};
use crate::recordings_of_agents::{contract_name, contracts, exit_of, validate};
use agentnative_contract::{Contract, Framing, RunExit};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Name of a mutation, and the mutated records; `None` if it does not apply.
type Mutation = (&'static str, fn(&[String]) -> Option<Vec<String>>);

const MUTATIONS: &[Mutation] = &[
    ("drop-last", |records| {
        records.split_last().filter(|(_, rest)| !rest.is_empty()).map(|(_, rest)| rest.to_vec())
    }),
    ("cut-last", |records| {
        let (last, rest) = records.split_last()?;
        let half = last.floor_char_boundary(last.len() / 2);
        Some([rest, &[last[..half].to_owned()]].concat())
    }),
    ("double-last", |records| Some([records, &[records.last()?.clone()]].concat())),
    ("drop-first", |records| {
        records.split_first().filter(|(_, rest)| !rest.is_empty()).map(|(_, rest)| rest.to_vec())
    }),
    ("foreign-text", |records| {
        let (last, rest) = records.split_last()?;
        Some([rest, &["A new version is available!".to_owned(), last.clone()]].concat())
    }),
    ("other-session", |records| {
        let (last, rest) = records.split_last().filter(|(_, rest)| !rest.is_empty())?;
        let mut event: Value = serde_json::from_str(last).unwrap();
        let pointers = ["/session_id", "/sessionID", "/sessionId"];
        *pointers
            .iter()
            .find_map(|pointer| event.pointer_mut(pointer).map(|_| *pointer))
            .and_then(|pointer| event.pointer_mut(pointer))? = json!("another");
        Some([rest, &[event.to_string()]].concat())
    }),
    ("wrong-tool-id", |records| {
        let pointers = [
            "/message/content/0/tool_use_id",
            "/tool_id",
            "/toolCallId",
            "/event/toolCallId",
            "/data/toolCallId",
            "/tool_call_id",
            "/id",
        ];
        let is_end = |event: &Value| {
            let kind = event.get("type").or(event.get("role"));
            let types = [event.pointer("/event/type"), kind].into_iter().flatten();
            let ends = [
                "user",
                "tool",
                "tool_result",
                "tool_execution_end",
                "tool.execution_complete",
                "content_end",
            ];
            types.filter_map(Value::as_str).any(|kind| ends.contains(&kind))
        };
        let mut records = records.to_vec();
        for record in &mut records {
            let mut event: Value = serde_json::from_str(record).unwrap();
            if let Some(pointer) =
                pointers.iter().find(|pointer| is_end(&event) && event.pointer(pointer).is_some())
            {
                *event.pointer_mut(pointer).unwrap() = json!("call_of_nobody");
                *record = event.to_string();
                return Some(records);
            }
        }
        None
    }),
];

/// The beginning of the name of recordings, the mutation that their contract accepts, and the reason.
const ACCEPTED: &[(&str, &str, &str)] = &[
    ("claude-2.1.332-sigint-", "exit-code", "a run that broke off with an error exits with 1"),
    ("claude-2.1.332-gsigint-", "exit-code", "a run that broke off with an error exits with 1"),
    (
        "pi-1.6.0-noprompt-",
        "exit-code",
        "a prompt that is not accepted leaves the same output, and exits with 1",
    ),
    ("cline-3.0.65-sigint-", "drop-last", CUT_OFF),
    ("cline-3.0.65-sigint-", "double-last", REPEATABLE),
    ("codex-0.171.0-gsigint-", "drop-last", CUT_OFF),
    ("codex-0.171.0-sigterm-", "drop-last", CUT_OFF),
    ("copilot-1.0.102-", "other-session", "only the last event names the session"),
    (
        "copilot-1.0.102-",
        "drop-first",
        "the events that precede the prompt depend on the configuration, and come in any order",
    ),
    ("copilot-1.0.102-sigterm-", "drop-last", CUT_OFF),
    ("copilot-1.0.102-sigterm-", "double-last", REPEATABLE),
    ("droid-0.225.2-sigterm-", "drop-last", CUT_OFF),
    ("droid-0.225.2-sigterm-", "double-last", REPEATABLE),
    ("gemini-0.61.0-gsigterm-", "drop-last", CUT_OFF),
    ("gemini-0.61.0-gsigterm-", "double-last", REPEATABLE),
    ("kimi-2.1.0-", "other-session", "only the last event names the session"),
    ("kimi-2.1.0-sig", "drop-last", CUT_OFF),
    ("kimi-2.1.0-sig", "double-last", REPEATABLE),
    ("pi-1.6.0-gsigint-", "drop-last", CUT_OFF),
    ("pi-1.6.0-gsigint-", "double-last", REPEATABLE),
    ("pi-1.6.0-sigterm-", "drop-last", CUT_OFF),
    ("pi-1.6.0-sigterm-", "double-last", REPEATABLE),
    ("qwen-0.24.4-gsigint-", "drop-last", CUT_OFF),
    ("qwen-0.24.4-gsigint-", "double-last", REPEATABLE),
    ("qwen-0.24.4-sigint-stream", "drop-last", CUT_OFF),
    ("qwen-0.24.4-sigint-stream", "double-last", REPEATABLE),
    ("qwen-0.24.4-sigterm-", "drop-last", CUT_OFF),
    ("qwen-0.24.4-sigterm-", "double-last", REPEATABLE),
    ("vibe-3.0.3-loop-", "drop-last", CUT_OFF),
];

const CUT_OFF: &str = "the output of a run that was stopped can end after any event";
const REPEATABLE: &str =
    "it is the output of a run that was stopped, and can end with several events of this type";

/// Returns the records of a recording as text.
fn records(contract: &Contract, stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8(stdout.to_vec()).unwrap();
    match contract.framing() {
        Framing::Lines => text.lines().map(str::to_owned).collect(),
        Framing::Array if !text.is_empty() => {
            let events: Vec<Value> = serde_json::from_str(&text).unwrap();
            events.iter().map(Value::to_string).collect()
        }
        Framing::Array => Vec::new(),
        Framing::Document => Some(text).filter(|text| !text.is_empty()).into_iter().collect(),
    }
}

/// Returns the output with these records.
fn output(contract: &Contract, records: &[String]) -> String {
    match contract.framing() {
        Framing::Array => format!("[{}]\n", records.join(",\n")),
        Framing::Lines | Framing::Document => records.iter().map(|record| format!("{record}\n")).collect(),
    }
}

/// Returns the mutations of a recording that its contract accepts.
fn accepted(contract: &Contract, recording: &Recording) -> Vec<&'static str> {
    let exit = exit_of(recording);
    let records = records(contract, &recording.stdout);
    let is_valid = |stdout: &str, exit: &RunExit<'_>| validate(contract, stdout.as_bytes(), exit).is_valid();
    let mutants =
        MUTATIONS.iter().filter_map(|(name, mutate)| Some((*name, output(contract, &mutate(&records)?))));
    let mut accepted: Vec<&str> =
        mutants.filter(|(_, stdout)| is_valid(stdout, &exit)).map(|(name, _)| name).collect();
    let swapped = RunExit { code: Some(i32::from(recording.exit == 0)), ..exit };
    if is_valid(&output(contract, &records), &swapped) {
        accepted.push("exit-code");
    }
    accepted
}

#[test]
#[ignore = "reads ../shared, which is beside the repository and not in it"]
fn shared_mutations_of_recordings_are_rejected() {
    let recordings = recordings();
    let contracts = contracts(&recordings);
    let (mut unexpected, mut used) = (Vec::new(), BTreeMap::new());
    let judged = |recording: &&Recording| {
        recording.get("contract") != "-" && !recording.get("verdict").starts_with("invalid")
    };
    for recording in recordings.iter().filter(judged) {
        for mutation in accepted(&contracts[&contract_name(recording)], recording) {
            let is_known = |(name, known, _): &&(&str, &str, &str)| {
                *known == mutation && recording.name().starts_with(name)
            };
            match ACCEPTED.iter().position(|exception| is_known(&exception)) {
                Some(exception) => *used.entry(exception).or_insert(0) += 1,
                None => unexpected.push(format!("{}: {mutation}", recording.name())),
            }
        }
    }
    assert!(unexpected.is_empty(), "accepted:\n{}", unexpected.join("\n"));
    let unused = (0..ACCEPTED.len()).filter(|exception| !used.contains_key(exception));
    assert_eq!(unused.map(|unused| ACCEPTED[unused]).collect::<Vec<_>>(), [], "exceptions without a case");
}
