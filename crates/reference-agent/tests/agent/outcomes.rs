//! The agent loop and every outcome of a run.

use crate::programs::without_stdout;
use crate::support::{CONTRACTS, TestEnv, is_alive, script, text_turn, tool_turn, wait_for_output};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::process::Child;

/// Returns a script of a model that calls a tool in each turn.
fn endless() -> Value {
    json!({"turns": [tool_turn("calculate", json!({"expression": "1+1"}))], "repeat": true})
}

fn fails(kind: &str, more: Value) -> Value {
    let mut fail = json!({"kind": kind, "message": "it said no"});
    fail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"fail": fail})
}

#[test]
fn the_calls_of_a_turn_run_in_order_and_return_their_results() {
    let env = TestEnv::new();
    let turns = [
        json!({"text": "first", "calls": [
            {"tool": "write_file", "args": {"path": "a", "content": "1"}},
            {"tool": "edit_file", "args": {"path": "a", "old": "1", "new": "2"}},
            {"tool": "read_file", "args": {"path": "a"}},
        ]}),
        text_turn("done"),
    ];
    let (output, document) = env.json(&script(&turns), &[]);
    assert_eq!((output.code, env.read("a").as_str()), (0, "2"));
    let steps = document["data"]["steps"].as_array().unwrap();
    let order: Vec<_> = steps.iter().map(|step| step["type"].as_str().unwrap()).collect();
    let call = ["tool-call", "tool-result"];
    let expected = [&["start", "turn", "text"][..], &call, &call, &call, &["turn", "text", "end"]].concat();
    assert_eq!(order, expected);
    assert_eq!(steps[8]["result"]["content"], "2");
    // jsonl holds the same records.
    let lines = env.run(["--jsonl", "a query"]).records();
    assert_eq!(lines.len(), steps.len());
    assert!(lines.iter().zip(steps).all(|(line, step)| line["type"] == step["type"]));
}

#[test]
fn the_turn_limit_without_a_final_answer() {
    let env = TestEnv::new();
    let limit = ["--max-tool-turns", "3"];
    let output = env.play("agent-js", &endless(), &limit);
    let document = output.document();
    assert_eq!(output.code, 1);
    assert_eq!(document["ok"], false);
    assert_eq!(document["code"], "MAX_TOOL_TURNS_NO_FINAL");
    assert_eq!(document["status"], "failed");
    let termination = json!({"reason": "max_tool_turns_no_final", "maxToolTurns": 3, "turnsUsed": 3});
    assert_eq!(document["termination"], termination);
    assert_eq!(document["toolCalls"].as_array().unwrap().len(), 3);

    let flat = env.play("dexter-flat", &endless(), &limit);
    assert_eq!((flat.code, &flat.document()["success"]), (1, &false.into()));
    let nested = env.play("dexter-nested", &endless(), &limit);
    assert_eq!((nested.code, &nested.document()["error"]["code"]), (1, &"AGENT_ERROR".into()));
    assert_eq!(nested.document()["metadata"]["iterations"], 3);
    let events = env.play("opencode-events", &endless(), &limit);
    assert_eq!((events.code, events.of_type("session.error").len()), (1, 1));

    let (native, document) = env.json(&endless(), &limit);
    assert_eq!((native.code, &document["ok"]), (1, &false.into()));
    assert_eq!(document["data"]["code"], "MAX_TOOL_TURNS_NO_FINAL");
    assert_eq!(document["data"]["turns"], json!({"used": 3, "max": 3}));
    assert_eq!(native.error()["kind"], "general");
    // The default is ten.
    let (_, document) = env.json(&endless(), &[]);
    assert_eq!(document["data"]["turns"]["used"], 10);
}

#[test]
fn an_empty_answer() {
    let env = TestEnv::new();
    let empty = script(&[json!({"text": " \n"})]);
    // The contract requires a non-empty answer.
    let flat = env.play("dexter-flat", &empty, &[]);
    assert_eq!((flat.code, &flat.document()["success"]), (1, &false.into()));
    let nested = env.play("dexter-nested", &empty, &[]);
    assert_eq!((nested.code, &nested.document()["answer"]), (0, &"".into()));
    let agent_js = env.play("agent-js", &empty, &[]);
    assert_eq!((agent_js.code, &agent_js.document()["code"]), (1, &"RUNTIME_ERROR".into()));
    for contract in ["opencode-events", "opencode-run", "codex-exec", "claude-stream"] {
        assert_eq!(env.play(contract, &empty, &[]).code, 0, "{contract}");
    }
    let (native, document) = env.json(&empty, &[]);
    assert_eq!((native.code, &document["data"]["code"]), (1, &"EMPTY_ANSWER".into()));
}

#[test]
fn unknown_tools_and_invalid_arguments_are_reported_to_the_model() {
    let env = TestEnv::new();
    let turns = script(&[
        tool_turn("no_such_tool", json!({})),
        tool_turn("read_file", json!({"path": 7})),
        json!({"calls": [{"tool": "read_file", "raw": "{\"path\": "}, {"tool": "read_file", "raw": "[1]"}]}),
        text_turn("sorry"),
    ]);
    for contract in CONTRACTS {
        assert_eq!(env.play(contract, &turns, &[]).code, 0, "{contract}");
    }
    let document = env.play("agent-js", &turns, &[]).document();
    let codes: Vec<_> =
        document["toolCalls"].as_array().unwrap().iter().map(|call| &call["error"]["code"]).collect();
    assert_eq!(codes, ["TOOL_UNKNOWN", "TOOL_INVALID_ARGS", "TOOL_INVALID_ARGS", "TOOL_INVALID_ARGS"]);
    assert_eq!(document["health"]["toolCallFailureRate"], 1.0);
    let flat = env.play("dexter-flat", &turns, &[]).document();
    assert_eq!(flat["toolCalls"][0]["result"], "Error: Unknown tool: no_such_tool");
}

#[test]
fn a_provider_failure_in_the_first_turn_and_after_a_tool() {
    let env = TestEnv::new();
    for turns in [
        vec![fails("request", json!({}))],
        vec![tool_turn("calculate", json!({"expression": "1"})), fails("request", json!({}))],
    ] {
        let calls = turns.len() - 1;
        let turns = script(&turns);
        let agent_js = env.play("agent-js", &turns, &[]);
        let document = agent_js.document();
        assert_eq!((agent_js.code, &document["code"]), (1, &"RUNTIME_ERROR".into()));
        assert_eq!(
            (&document["status"], &document["termination"]["reason"]),
            (&"failed".into(), &"provider_error".into())
        );
        assert_eq!(document["toolCalls"].as_array().unwrap().len(), calls);
        let nested = env.play("dexter-nested", &turns, &[]);
        assert_eq!((nested.code, &nested.document()["error"]["code"]), (1, &"PROVIDER_ERROR".into()));
        let flat = env.play("dexter-flat", &turns, &[]);
        assert_eq!(flat.document(), json!({"success": false, "query": "a query", "error": "it said no"}));
        assert_eq!(flat.code, 1);
        let events = env.play("opencode-events", &turns, &[]);
        assert_eq!(events.code, 1);
        assert_eq!(events.of_type("session.error")[0]["properties"]["error"]["message"], "it said no");
        let (native, document) = env.json(&turns, &[]);
        assert_eq!((native.code, &document["data"]["code"]), (1, &"PROVIDER_ERROR".into()));
        assert_eq!(native.error()["message"], "it said no");
    }
}

#[test]
fn a_rejected_key() {
    let env = TestEnv::new();
    let turns = script(&[fails("auth", json!({}))]);
    let (native, _) = env.json(&turns, &[]);
    assert_eq!((native.code, &native.error()["kind"]), (77, &"auth".into()));
    assert_eq!(env.play("agent-js", &turns, &[]).document()["code"], "RUNTIME_ERROR");
    assert_eq!(env.play("dexter-nested", &turns, &[]).document()["error"]["code"], "PROVIDER_ERROR");
    assert_eq!(env.play("dexter-flat", &turns, &[]).code, 1);
}

#[test]
fn retries_are_counted_and_limited() {
    let env = TestEnv::new();
    let now = json!({"retry_after": 0});
    let twice = [fails("rate-limit", now.clone()), fails("server", now.clone()), text_turn("at last")];
    let document = env.play("agent-js", &script(&twice), &[]).document();
    assert_eq!((&document["ok"], &document["health"]["retriesUsed"]), (&true.into(), &2.into()));
    assert_eq!(document["termination"]["turnsUsed"], 1);
    let events = env.play("opencode-events", &script(&twice), &[]);
    let retries: Vec<_> = events
        .of_type("session.status")
        .into_iter()
        .filter(|event| event["properties"]["status"]["type"] == "retry")
        .map(|event| event["properties"]["status"]["attempt"].clone())
        .collect();
    assert_eq!(retries, [1, 2]);
    let (_, native) = env.json(&script(&twice), &[]);
    assert_eq!(native["data"]["health"]["retries"], 2);

    let always = json!({"turns": [fails("server", now)], "repeat": true});
    let exhausted = env.play("agent-js", &always, &["--max-retries", "3"]);
    assert_eq!((exhausted.code, &exhausted.document()["code"]), (1, &"RUNTIME_ERROR".into()));
    assert_eq!(exhausted.document()["health"]["retriesUsed"], 3);
    assert_eq!(exhausted.document()["termination"]["reason"], "provider_error");
    let none = env.play("agent-js", &always, &["--max-retries", "0"]);
    assert_eq!((none.code, &none.document()["code"]), (1, &"RUNTIME_ERROR".into()));
    // A requested wait of an hour is too long.
    let long = json!({"turns": [fails("rate-limit", json!({"retry_after": 3600}))], "repeat": true});
    let exhausted = env.play("agent-js", &long, &[]);
    assert_eq!((exhausted.code, &exhausted.document()["health"]["retriesUsed"]), (1, &0.into()));
}

#[test]
fn counts_and_tokens_are_correct() {
    let env = TestEnv::new();
    let turns = script(&[
        json!({"usage": {"input": 100, "output": 7}, "calls": [
            {"tool": "calculate", "args": {"expression": "1"}},
            {"tool": "calculate", "args": {"expression": "1/0"}},
            {"tool": "nope", "args": {}},
            {"tool": "calculate", "args": {"expression": "2"}},
        ]}),
        json!({"text": "no usage here", "calls": [{"tool": "calculate", "args": {"expression": "3"}}]}),
        json!({"text": "done", "usage": {"input": 11, "output": 1}}),
    ]);
    let document = env.play("agent-js", &turns, &[]).document();
    let health =
        json!({"retriesUsed": 0, "toolCallsTotal": 5, "toolCallsFailed": 2, "toolCallFailureRate": 0.4});
    assert_eq!(document["health"], health);
    let usage = json!({
        "turns": 3, "turns_with_usage": 2, "has_usage": true,
        "input_tokens": 111, "output_tokens": 8, "total_tokens": 119,
    });
    assert_eq!(document["usage"], usage);
    let tokens = json!({"inputTokens": 111, "outputTokens": 8, "totalTokens": 119});
    assert_eq!(env.play("dexter-flat", &turns, &[]).document()["tokenUsage"], tokens);
    assert_eq!(env.play("dexter-nested", &turns, &[]).document()["metadata"]["tokenUsage"], tokens);
    let (_, native) = env.json(&turns, &[]);
    assert_eq!(native["data"]["usage"], json!({"input": 111, "output": 8, "total": 119}));

    let without_usage = script(&[text_turn("no figures")]);
    assert_eq!(env.play("dexter-flat", &without_usage, &[]).document().get("tokenUsage"), None);
    assert_eq!(env.play("dexter-nested", &without_usage, &[]).document()["metadata"].get("tokenUsage"), None);
    let usage = env.play("agent-js", &without_usage, &[]).document()["usage"].clone();
    assert_eq!((&usage["has_usage"], &usage["turns_with_usage"]), (&false.into(), &0.into()));
    let (_, native) = env.json(&without_usage, &[]);
    assert_eq!(native["data"].get("usage"), None);
}

#[test]
fn a_timeout_while_waiting_for_the_model() {
    let env = TestEnv::new();
    let slow = script(&[json!({"delay_ms": 600_000, "text": "too late"})]);
    let more = ["--timeout", "0.2"];
    let agent_js = env.play("agent-js", &slow, &more);
    assert_eq!((agent_js.code, &agent_js.document()["code"]), (7, &"FETCH_TIMEOUT".into()));
    assert_eq!(agent_js.document()["status"], "failed");
    for (contract, code) in [("dexter-flat", 1), ("dexter-nested", 1), ("opencode-events", 1)] {
        assert_eq!(env.play(contract, &slow, &more).code, code, "{contract}");
    }
    let (native, document) = env.json(&slow, &more);
    assert_eq!((native.code, &document["data"]["code"]), (1, &"FETCH_TIMEOUT".into()));
}

#[test]
fn a_timeout_kills_the_running_command_with_its_descendants() {
    let env = TestEnv::new();
    let command = "sleep 600 & echo $! > child; echo $$ > leader; setsid sleep 601 & wait";
    let turns = script(&[tool_turn("run_command", json!({"command": command}))]);
    for contract in CONTRACTS {
        let output = env.play(contract, &turns, &["--profile", "dev", "--timeout", "2"]);
        assert_eq!(output.code, 1, "{contract}: {output:?}");
        assert!(!is_alive(&env.read("child")) && !is_alive(&env.read("leader")), "{contract}: left behind");
    }
    let agent_js = env.play("agent-js", &turns, &["--profile", "dev", "--timeout", "2"]).document();
    assert_eq!((&agent_js["ok"], &agent_js["code"]), (&false.into(), &"RUNTIME_ERROR".into()));
}

/// Starts a run whose command does not end; returns the agent and the process ID of the command.
fn spawn_waiting(env: &TestEnv, args: &[&str]) -> (Child, String) {
    let fifo = env.work().join("ready");
    let _ = std::fs::remove_file(&fifo);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    env.script(&script(&[tool_turn("run_command", json!({"command": "echo $$ > ready; sleep 600; true"}))]));
    let child = env.agent(["--profile", "dev", "a query"].iter().chain(args)).spawn().unwrap();
    let mut pid = String::new();
    File::open(&fifo).unwrap().read_to_string(&mut pid).unwrap();
    (child, pid)
}

#[test]
fn a_signal_ends_the_run_as_the_contract_requires() {
    let env = TestEnv::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for contract in CONTRACTS {
            let (child, pid) = spawn_waiting(&env, &["--contract", contract]);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = wait_for_output(child);
            assert!(!is_alive(&pid), "{contract}: the command was left behind");
            let end = match (contract, signal) {
                ("opencode-events", _) => Some("session.idle"),
                ("codex-exec", Signal::INT) => Some("turn.failed"),
                ("claude-stream", Signal::INT) => Some("result"),
                _ => None,
            };
            // These two report a failed run, which exits with 1.
            let failed = matches!(end, Some("turn.failed" | "result"));
            assert_eq!(output.code, if failed { 1 } else { code }, "{contract}");
            let Some(end) = end else {
                if matches!(contract, "opencode-run" | "codex-exec" | "claude-stream") {
                    output.assert_conforms(contract);
                } else {
                    assert_eq!(output.stdout, "", "{contract}: nothing is promised after a signal");
                    if code == 130 {
                        output.assert_conforms(contract);
                    }
                }
                continue;
            };
            output.assert_conforms(contract);
            assert_eq!(output.records().pop().unwrap()["type"], end);
        }
        for format in ["text", "json", "jsonl"] {
            let (child, pid) = spawn_waiting(&env, &["--output", format]);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let output = wait_for_output(child);
            assert_eq!(output.code, code, "{format}");
            assert!(!is_alive(&pid), "{format}: the command was left behind");
            match format {
                "text" => assert!(output.stdout.is_empty() && !output.stderr.is_empty()),
                "json" => assert_eq!(output.document()["data"]["code"], "INTERRUPTED"),
                _ => assert_eq!(output.records().last().unwrap()["code"], "INTERRUPTED"),
            }
            if format != "text" {
                assert_eq!(output.error()["kind"], "general");
            }
        }
    }
}

#[test]
fn a_signal_while_reading_stdin() {
    let env = TestEnv::new();
    for (contract, empty) in [("dexter-flat", true), ("opencode-events", true)] {
        let mut child =
            env.agent(["--contract", contract]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let open = child.stdin.take();
        // The agent handles signals before it reads stdin.
        while !std::fs::read_to_string(format!("/proc/{}/status", child.id())).is_ok_and(|s| catches_int(&s))
        {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let output = wait_for_output(child);
        drop(open);
        assert_eq!((output.code, output.stdout.is_empty()), (130, empty), "{contract}");
    }
}

fn catches_int(status: &str) -> bool {
    let caught =
        status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
    u64::from_str_radix(&caught, 16).unwrap_or(0) & 0b10 != 0
}

#[test]
fn a_full_or_closed_stdout_is_an_error() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("yes")]));
    for args in
        [&["--json"][..], &["--jsonl"], &["--contract", "dexter-flat"], &["--contract", "opencode-events"]]
    {
        let agent = || env.agent(args.iter().chain(&["q"]));
        let full = File::options().write(true).open("/dev/full").unwrap();
        for command in [
            agent().stdout(full),
            &mut without_stdout(&agent()),
            // With a key, the agent executes itself again.
            &mut without_stdout(agent().env("OPENAI_API_KEY", "secret")),
        ] {
            let output = wait_for_output(command.spawn().unwrap());
            assert_eq!(output.code, 1, "{args:?}: {output:?}");
            assert!(output.stderr.contains("cannot write"), "{args:?}: {output:?}");
        }
    }
}

#[test]
fn a_closed_pipe_ends_the_run_without_an_error() {
    let env = TestEnv::new();
    // More than the capacity of a pipe, so that a write fails.
    env.script(&script(&[text_turn(&"x".repeat(1 << 20))]));
    let mut child = env.agent(["--jsonl", "a query"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let output = wait_for_output(child);
    assert_eq!(output.code, 141, "{output:?}");
    assert_eq!(output.stderr, "");
}
