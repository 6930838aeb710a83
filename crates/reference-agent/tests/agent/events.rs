//! The events of a run, live and in order.

use crate::support::{TestEnv, script, text_turn, tool_turn};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};

fn turns() -> Value {
    script(&[
        json!({"text": ["let me ", "see"], "usage": {"input": 10, "output": 2}, "calls": [
            {"tool": "write_file", "args": {"path": "a", "content": "1\n2\n"}},
            {"tool": "edit_file", "args": {"path": "a", "old": "2", "new": "3\n4"}},
            {"tool": "run_command", "args": {"command": "echo hi; exit 2"}},
            {"tool": "read_file", "args": {"path": "absent"}},
        ]}),
        json!({"text": "done", "usage": {"input": 20, "output": 3}}),
    ])
}

#[test]
fn opencode_events_of_a_run() {
    let env = TestEnv::new();
    let output = env.play("opencode-events", &turns(), &["--profile", "dev"]);
    assert_eq!(output.code, 0);
    let records = output.records();
    let first: Vec<&str> = records.iter().take(5).map(|r| r["type"].as_str().unwrap()).collect();
    let expected =
        ["session.created", "message.updated", "message.part.updated", "session.status", "message.updated"];
    assert_eq!(first, expected);
    assert_eq!(records.last().unwrap()["type"], "session.idle");

    let tools: Vec<&Value> =
        records.iter().map(|r| &r["properties"]["part"]).filter(|part| part["type"] == "tool").collect();
    let states: Vec<&str> = tools.iter().map(|part| part["state"]["status"].as_str().unwrap()).collect();
    let good = ["pending", "running", "completed"];
    assert_eq!(states, [&good[..], &good, &good, &["pending", "running", "error"]].concat());
    for calls in tools.chunks(3) {
        assert!(
            calls.iter().all(|part| part["callID"] == calls[0]["callID"] && part["id"] == calls[0]["id"])
        );
    }
    assert_eq!(tools[0]["state"]["raw"], "{\"content\":\"1\\n2\\n\",\"path\":\"a\"}");

    let edited = output.of_type("file.edited");
    assert_eq!(edited.len(), 2);
    assert_eq!(edited[0]["properties"]["diff"]["before"], "");
    let path = env.work().canonicalize().unwrap().join("a").display().to_string();
    let diff = json!({"file": "a", "before": "1\n2\n", "after": "1\n3\n4\n", "additions": 2, "deletions": 1});
    assert_eq!(edited[1]["properties"], json!({"path": path, "diff": diff}));
    let command = &output.of_type("command.executed")[0]["properties"];
    assert_eq!((&command["exitCode"], &command["stdout"]), (&2.into(), &"hi\n".into()));

    let last = output.of_type("message.updated").pop().unwrap()["properties"]["info"].clone();
    assert_eq!((&last["role"], &last["finish"]), (&"assistant".into(), &"stop".into()));
    let tokens = json!({"input": 30, "output": 5, "reasoning": 0, "cache": {"read": 0, "write": 0}});
    assert_eq!(last["tokens"], tokens);
    assert!(last["time"]["completed"].as_u64() >= last["time"]["created"].as_u64());
    assert_eq!((&last["providerID"], &last["modelID"]), (&"scripted".into(), &"offline".into()));
}

#[test]
fn text_grows_in_one_part_and_is_complete_at_its_end() {
    let env = TestEnv::new();
    let pieces: Vec<String> = (0..2000).map(|n| format!("{n} ")).collect();
    let output = env.play("opencode-events", &script(&[json!({"text": pieces})]), &[]);
    let parts: Vec<Value> = output
        .of_type("message.part.updated")
        .into_iter()
        .map(|event| event["properties"]["part"].clone())
        .filter(|part| part["type"] == "text")
        .skip(1) // the user's
        .collect();
    let text = |part: &Value| part["text"].as_str().unwrap().to_owned();
    assert!(
        parts
            .windows(2)
            .all(|pair| text(&pair[1]).starts_with(&text(&pair[0])) && pair[0]["id"] == pair[1]["id"])
    );
    assert_eq!(text(parts.last().unwrap()), pieces.concat());
    assert!(parts.last().unwrap()["time"]["end"].is_u64());
    assert!(parts.len() < 60, "{} events for one text", parts.len());
}

#[test]
fn events_are_written_as_they_happen() {
    let env = TestEnv::new();
    let wait = json!({"command": "while ! test -e go; do sleep 0.01; done"});
    env.script(&script(&[tool_turn("run_command", wait), text_turn("done")]));
    for args in [vec!["--contract", "opencode-events"], vec!["--jsonl"]] {
        let _ = std::fs::remove_file(env.work().join("go"));
        let mut child = env.agent(["--profile", "dev", "q"].iter().chain(&args)).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // The start of the tool is printed before the tool can end.
        let started = lines
            .by_ref()
            .map(Result::unwrap)
            .find(|line| line.contains("\"running\"") || line.contains("\"tool-call\""));
        assert!(started.is_some(), "{args:?}");
        env.file("go", "");
        assert!(lines.map(Result::unwrap).count() > 2);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn a_failure_is_reported_in_the_stream_and_on_stderr() {
    let env = TestEnv::new();
    let fail = json!({"fail": {"kind": "request", "message": "it said no"}});
    let output = env.play("opencode-events", &script(&[fail]), &[]);
    let message = output.of_type("message.updated").pop().unwrap()["properties"]["info"].clone();
    assert_eq!(message["error"]["name"], "PROVIDER_ERROR");
    assert_eq!(
        message["error"]["data"],
        json!({"message": "it said no", "isRetryable": false, "statusCode": 400})
    );
    assert_eq!(output.error()["message"], "it said no");
}

/// Returns the type of each line, with that of its part, item or block.
fn event_sequence(output: &crate::support::RunOutput) -> String {
    let name = |record: &Value| {
        let part = [
            "/item/type",
            "/item/status",
            "/part/state/status",
            "/part/reason",
            "/message/content/0/type",
            "/subtype",
        ];
        let part = part.iter().filter_map(|at| record.pointer(at)?.as_str());
        std::iter::once(record["type"].as_str().unwrap()).chain(part).collect::<Vec<_>>().join(":")
    };
    output.records().iter().map(name).collect::<Vec<_>>().join(" ")
}

#[test]
fn sequence_of_events_in_the_other_contracts() {
    let env = TestEnv::new();
    let failing = script(&[
        json!({"text": "words", "calls": [{"tool": "calculate", "args": {"expression": "1"}}]}),
        json!({"fail": {"kind": "request", "message": "it said no"}}),
    ]);
    let claude_tool = "assistant:tool_use user:tool_result";
    for (contract, succeeded, failed) in [
        (
            "opencode-run",
            "step_start text tool_use:completed tool_use:completed tool_use:completed tool_use:error \
             step_finish:tool-calls step_start text step_finish:stop"
                .to_owned(),
            "step_start text tool_use:completed step_finish:tool-calls error".to_owned(),
        ),
        (
            "codex-exec",
            "thread.started turn.started item.completed:agent_message \
             item.started:file_change:in_progress item.completed:file_change:completed \
             item.started:file_change:in_progress item.completed:file_change:completed \
             item.started:command_execution:in_progress item.completed:command_execution:failed \
             item.started:mcp_tool_call:in_progress item.completed:mcp_tool_call:failed \
             item.completed:agent_message turn.completed"
                .to_owned(),
            "thread.started turn.started item.completed:agent_message \
             item.started:mcp_tool_call:in_progress item.completed:mcp_tool_call:completed \
             error turn.failed"
                .to_owned(),
        ),
        (
            "claude-stream",
            format!(
                "system:init assistant:text {} assistant:text result:success",
                [claude_tool; 4].join(" ")
            ),
            format!("system:init assistant:text {claude_tool} result:error_during_execution"),
        ),
    ] {
        assert_eq!(
            event_sequence(&env.play(contract, &turns(), &["--profile", "dev"])),
            succeeded,
            "{contract}"
        );
        let _ = std::fs::remove_file(env.work().join("a"));
        let output = env.play(contract, &failing, &[]);
        assert_eq!(
            (output.code, output.stderr.as_str(), event_sequence(&output)),
            (1, "", failed),
            "{contract}"
        );
        assert!(output.stdout.contains("it said no"), "{contract}");
        let limit = env.play(contract, &failing, &["--max-tool-turns", "1"]);
        assert_eq!(limit.code, 1, "{contract}");
        assert!(limit.stdout.contains("no final answer"), "{contract}");
    }
}
