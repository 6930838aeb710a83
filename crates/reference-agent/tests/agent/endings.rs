//! The loop, and every way in which it ends.

use crate::programs::without_stdout;
use crate::support::{CONTRACTS, Place, alive, asks, ran, says, script};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read as _;
use std::process::Child;

/// A model that never stops asking for tools.
fn endless() -> Value {
    json!({"turns": [asks("calculate", json!({"expression": "1+1"}))], "repeat": true})
}

fn fails(kind: &str, more: Value) -> Value {
    let mut fail = json!({"kind": kind, "message": "it said no"});
    fail.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"fail": fail})
}

#[test]
fn several_calls_of_a_turn_run_in_order_and_their_results_go_back() {
    let place = Place::new();
    let turns = [
        json!({"text": "first", "calls": [
            {"tool": "write_file", "args": {"path": "a", "content": "1"}},
            {"tool": "edit_file", "args": {"path": "a", "old": "1", "new": "2"}},
            {"tool": "read_file", "args": {"path": "a"}},
        ]}),
        says("done"),
    ];
    let (ran, document) = place.json(&script(&turns), &[]);
    assert_eq!((ran.code, place.read("a").as_str()), (0, "2"));
    let steps = document["data"]["steps"].as_array().unwrap();
    let order: Vec<_> = steps.iter().map(|step| step["type"].as_str().unwrap()).collect();
    let call = ["tool-call", "tool-result"];
    let expected = [&["start", "turn", "text"][..], &call, &call, &call, &["turn", "text", "end"]].concat();
    assert_eq!(order, expected);
    assert_eq!(steps[8]["result"]["content"], "2");
    // jsonl holds the same records.
    let lines = place.run(["--jsonl", "a query"]).records();
    assert_eq!(lines.len(), steps.len());
    assert!(lines.iter().zip(steps).all(|(line, step)| line["type"] == step["type"]));
}

#[test]
fn the_turn_limit_without_a_final_answer() {
    let place = Place::new();
    let limit = ["--max-tool-turns", "3"];
    let ran = place.play("agent-js", &endless(), &limit);
    let document = ran.document();
    assert_eq!(ran.code, 1);
    assert_eq!(document["ok"], false);
    assert_eq!(document["code"], "MAX_TOOL_TURNS_NO_FINAL");
    assert_eq!(document["status"], "failed");
    let termination = json!({"reason": "max_tool_turns_no_final", "maxToolTurns": 3, "turnsUsed": 3});
    assert_eq!(document["termination"], termination);
    assert_eq!(document["toolCalls"].as_array().unwrap().len(), 3);

    let flat = place.play("dexter-flat", &endless(), &limit);
    assert_eq!((flat.code, &flat.document()["success"]), (1, &false.into()));
    let nested = place.play("dexter-nested", &endless(), &limit);
    assert_eq!((nested.code, &nested.document()["error"]["code"]), (1, &"AGENT_ERROR".into()));
    assert_eq!(nested.document()["metadata"]["iterations"], 3);
    let events = place.play("opencode-events", &endless(), &limit);
    assert_eq!((events.code, events.of_type("session.error").len()), (1, 1));

    let (own, document) = place.json(&endless(), &limit);
    assert_eq!((own.code, &document["ok"]), (1, &false.into()));
    assert_eq!(document["data"]["code"], "MAX_TOOL_TURNS_NO_FINAL");
    assert_eq!(document["data"]["turns"], json!({"used": 3, "max": 3}));
    assert_eq!(own.error()["kind"], "general");
    // The default is ten.
    let (_, document) = place.json(&endless(), &[]);
    assert_eq!(document["data"]["turns"]["used"], 10);
}

#[test]
fn an_empty_answer() {
    let place = Place::new();
    let empty = script(&[json!({"text": " \n"})]);
    // The contract requires a non-empty answer.
    let flat = place.play("dexter-flat", &empty, &[]);
    assert_eq!((flat.code, &flat.document()["success"]), (1, &false.into()));
    let nested = place.play("dexter-nested", &empty, &[]);
    assert_eq!((nested.code, &nested.document()["answer"]), (0, &"".into()));
    let agent_js = place.play("agent-js", &empty, &[]);
    assert_eq!((agent_js.code, &agent_js.document()["code"]), (1, &"RUNTIME_ERROR".into()));
    for contract in ["opencode-events", "opencode-run", "codex-exec", "claude-stream"] {
        assert_eq!(place.play(contract, &empty, &[]).code, 0, "{contract}");
    }
    let (own, document) = place.json(&empty, &[]);
    assert_eq!((own.code, &document["data"]["code"]), (1, &"EMPTY_ANSWER".into()));
}

#[test]
fn an_unknown_tool_and_wrong_arguments_are_told_to_the_model_which_goes_on() {
    let place = Place::new();
    let turns = script(&[
        asks("no_such_tool", json!({})),
        asks("read_file", json!({"path": 7})),
        json!({"calls": [{"tool": "read_file", "raw": "{\"path\": "}, {"tool": "read_file", "raw": "[1]"}]}),
        says("sorry"),
    ]);
    for contract in CONTRACTS {
        assert_eq!(place.play(contract, &turns, &[]).code, 0, "{contract}");
    }
    let document = place.play("agent-js", &turns, &[]).document();
    let codes: Vec<_> =
        document["toolCalls"].as_array().unwrap().iter().map(|call| &call["error"]["code"]).collect();
    assert_eq!(codes, ["TOOL_UNKNOWN", "TOOL_INVALID_ARGS", "TOOL_INVALID_ARGS", "TOOL_INVALID_ARGS"]);
    assert_eq!(document["health"]["toolCallFailureRate"], 1.0);
    let flat = place.play("dexter-flat", &turns, &[]).document();
    assert_eq!(flat["toolCalls"][0]["result"], "Error: Unknown tool: no_such_tool");
}

#[test]
fn a_provider_failure_at_once_and_after_a_tool() {
    let place = Place::new();
    for turns in [
        vec![fails("request", json!({}))],
        vec![asks("calculate", json!({"expression": "1"})), fails("request", json!({}))],
    ] {
        let calls = turns.len() - 1;
        let turns = script(&turns);
        let agent_js = place.play("agent-js", &turns, &[]);
        let document = agent_js.document();
        assert_eq!((agent_js.code, &document["code"]), (1, &"RUNTIME_ERROR".into()));
        assert_eq!(
            (&document["status"], &document["termination"]["reason"]),
            (&"failed".into(), &"provider_error".into())
        );
        assert_eq!(document["toolCalls"].as_array().unwrap().len(), calls);
        let nested = place.play("dexter-nested", &turns, &[]);
        assert_eq!((nested.code, &nested.document()["error"]["code"]), (1, &"PROVIDER_ERROR".into()));
        let flat = place.play("dexter-flat", &turns, &[]);
        assert_eq!(flat.document(), json!({"success": false, "query": "a query", "error": "it said no"}));
        assert_eq!(flat.code, 1);
        let events = place.play("opencode-events", &turns, &[]);
        assert_eq!(events.code, 1);
        assert_eq!(events.of_type("session.error")[0]["properties"]["error"]["message"], "it said no");
        let (own, document) = place.json(&turns, &[]);
        assert_eq!((own.code, &document["data"]["code"]), (1, &"PROVIDER_ERROR".into()));
        assert_eq!(own.error()["message"], "it said no");
    }
}

#[test]
fn a_refused_key() {
    let place = Place::new();
    let turns = script(&[fails("auth", json!({}))]);
    let (own, _) = place.json(&turns, &[]);
    assert_eq!((own.code, &own.error()["kind"]), (77, &"auth".into()));
    assert_eq!(place.play("agent-js", &turns, &[]).document()["code"], "RUNTIME_ERROR");
    assert_eq!(place.play("dexter-nested", &turns, &[]).document()["error"]["code"], "PROVIDER_ERROR");
    assert_eq!(place.play("dexter-flat", &turns, &[]).code, 1);
}

#[test]
fn retries_are_made_counted_and_bounded() {
    let place = Place::new();
    let now = json!({"retry_after": 0});
    let twice = [fails("rate-limit", now.clone()), fails("server", now.clone()), says("at last")];
    let document = place.play("agent-js", &script(&twice), &[]).document();
    assert_eq!((&document["ok"], &document["health"]["retriesUsed"]), (&true.into(), &2.into()));
    assert_eq!(document["termination"]["turnsUsed"], 1);
    let events = place.play("opencode-events", &script(&twice), &[]);
    let retries: Vec<_> = events
        .of_type("session.status")
        .into_iter()
        .filter(|event| event["properties"]["status"]["type"] == "retry")
        .map(|event| event["properties"]["status"]["attempt"].clone())
        .collect();
    assert_eq!(retries, [1, 2]);
    let (_, own) = place.json(&script(&twice), &[]);
    assert_eq!(own["data"]["health"]["retries"], 2);

    let always = json!({"turns": [fails("server", now)], "repeat": true});
    let exhausted = place.play("agent-js", &always, &["--max-retries", "3"]);
    assert_eq!((exhausted.code, &exhausted.document()["code"]), (1, &"RUNTIME_ERROR".into()));
    assert_eq!(exhausted.document()["health"]["retriesUsed"], 3);
    assert_eq!(exhausted.document()["termination"]["reason"], "provider_error");
    let none = place.play("agent-js", &always, &["--max-retries", "0"]);
    assert_eq!((none.code, &none.document()["code"]), (1, &"RUNTIME_ERROR".into()));
    // Nobody waits for an hour.
    let long = json!({"turns": [fails("rate-limit", json!({"retry_after": 3600}))], "repeat": true});
    let exhausted = place.play("agent-js", &long, &[]);
    assert_eq!((exhausted.code, &exhausted.document()["health"]["retriesUsed"]), (1, &0.into()));
}

#[test]
fn the_figures_are_true() {
    let place = Place::new();
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
    let document = place.play("agent-js", &turns, &[]).document();
    let health =
        json!({"retriesUsed": 0, "toolCallsTotal": 5, "toolCallsFailed": 2, "toolCallFailureRate": 0.4});
    assert_eq!(document["health"], health);
    let usage = json!({
        "turns": 3, "turns_with_usage": 2, "has_usage": true,
        "input_tokens": 111, "output_tokens": 8, "total_tokens": 119,
    });
    assert_eq!(document["usage"], usage);
    let tokens = json!({"inputTokens": 111, "outputTokens": 8, "totalTokens": 119});
    assert_eq!(place.play("dexter-flat", &turns, &[]).document()["tokenUsage"], tokens);
    assert_eq!(place.play("dexter-nested", &turns, &[]).document()["metadata"]["tokenUsage"], tokens);
    let (_, own) = place.json(&turns, &[]);
    assert_eq!(own["data"]["usage"], json!({"input": 111, "output": 8, "total": 119}));

    let silent = script(&[says("no figures")]);
    assert_eq!(place.play("dexter-flat", &silent, &[]).document().get("tokenUsage"), None);
    assert_eq!(place.play("dexter-nested", &silent, &[]).document()["metadata"].get("tokenUsage"), None);
    let usage = place.play("agent-js", &silent, &[]).document()["usage"].clone();
    assert_eq!((&usage["has_usage"], &usage["turns_with_usage"]), (&false.into(), &0.into()));
    let (_, own) = place.json(&silent, &[]);
    assert_eq!(own["data"].get("usage"), None);
}

#[test]
fn the_time_runs_out_while_the_model_thinks() {
    let place = Place::new();
    let slow = script(&[json!({"delay_ms": 600_000, "text": "too late"})]);
    let more = ["--timeout", "0.2"];
    let agent_js = place.play("agent-js", &slow, &more);
    assert_eq!((agent_js.code, &agent_js.document()["code"]), (7, &"FETCH_TIMEOUT".into()));
    assert_eq!(agent_js.document()["status"], "failed");
    for (contract, code) in [("dexter-flat", 1), ("dexter-nested", 1), ("opencode-events", 1)] {
        assert_eq!(place.play(contract, &slow, &more).code, code, "{contract}");
    }
    let (own, document) = place.json(&slow, &more);
    assert_eq!((own.code, &document["data"]["code"]), (1, &"FETCH_TIMEOUT".into()));
}

#[test]
fn the_time_runs_out_while_a_command_runs_which_is_ended_with_all_that_it_started() {
    let place = Place::new();
    let command = "sleep 600 & echo $! > child; echo $$ > leader; setsid sleep 601 & wait";
    let turns = script(&[asks("run_command", json!({"command": command}))]);
    for contract in CONTRACTS {
        let ran = place.play(contract, &turns, &["--profile", "dev", "--timeout", "2"]);
        assert_eq!(ran.code, 1, "{contract}: {ran:?}");
        assert!(!alive(&place.read("child")) && !alive(&place.read("leader")), "{contract}: left behind");
    }
    let agent_js = place.play("agent-js", &turns, &["--profile", "dev", "--timeout", "2"]).document();
    assert_eq!((&agent_js["ok"], &agent_js["code"]), (&false.into(), &"RUNTIME_ERROR".into()));
}

/// Starts a run whose command tells that it runs, and then waits for ever.
fn waiting(place: &Place, args: &[&str]) -> (Child, String) {
    let fifo = place.work().join("ready");
    let _ = std::fs::remove_file(&fifo);
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    place.script(&script(&[asks("run_command", json!({"command": "echo $$ > ready; sleep 600; true"}))]));
    let child = place.agent(["--profile", "dev", "a query"].iter().chain(args)).spawn().unwrap();
    let mut pid = String::new();
    File::open(&fifo).unwrap().read_to_string(&mut pid).unwrap();
    (child, pid)
}

#[test]
fn a_signal_ends_the_run_as_the_contract_says() {
    let place = Place::new();
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for contract in CONTRACTS {
            let (child, pid) = waiting(&place, &["--contract", contract]);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let ran = ran(child);
            assert!(!alive(&pid), "{contract}: the command was left behind");
            let end = match (contract, signal) {
                ("opencode-events", _) => Some("session.idle"),
                ("codex-exec", Signal::INT) => Some("turn.failed"),
                ("claude-stream", Signal::INT) => Some("result"),
                _ => None,
            };
            // The failed run that these two report has the exit code of any.
            let failed = matches!(end, Some("turn.failed" | "result"));
            assert_eq!(ran.code, if failed { 1 } else { code }, "{contract}");
            let Some(end) = end else {
                if matches!(contract, "opencode-run" | "codex-exec" | "claude-stream") {
                    ran.keeps(contract);
                } else {
                    assert_eq!(ran.stdout, "", "{contract}: nothing is promised after a signal");
                    if code == 130 {
                        ran.keeps(contract);
                    }
                }
                continue;
            };
            ran.keeps(contract);
            assert_eq!(ran.records().pop().unwrap()["type"], end);
        }
        for format in ["text", "json", "jsonl"] {
            let (child, pid) = waiting(&place, &["--output", format]);
            kill_process(Pid::from_child(&child), signal).unwrap();
            let ran = ran(child);
            assert_eq!(ran.code, code, "{format}");
            assert!(!alive(&pid), "{format}: the command was left behind");
            match format {
                "text" => assert!(ran.stdout.is_empty() && !ran.stderr.is_empty()),
                "json" => assert_eq!(ran.document()["data"]["code"], "INTERRUPTED"),
                _ => assert_eq!(ran.records().last().unwrap()["code"], "INTERRUPTED"),
            }
            if format != "text" {
                assert_eq!(ran.error()["kind"], "general");
            }
        }
    }
}

#[test]
fn a_signal_while_standard_input_is_waited_for() {
    let place = Place::new();
    for (contract, empty) in [("dexter-flat", true), ("opencode-events", true)] {
        let mut child =
            place.agent(["--contract", contract]).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let open = child.stdin.take();
        // It listens for signals before it reads.
        while !std::fs::read_to_string(format!("/proc/{}/status", child.id())).is_ok_and(|s| catches_int(&s))
        {
            std::thread::yield_now();
        }
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ran = ran(child);
        drop(open);
        assert_eq!((ran.code, ran.stdout.is_empty()), (130, empty), "{contract}");
    }
}

fn catches_int(status: &str) -> bool {
    let caught =
        status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0").trim().to_owned();
    u64::from_str_radix(&caught, 16).unwrap_or(0) & 0b10 != 0
}

#[test]
fn a_stdout_that_is_full_or_closed_is_an_error_and_no_success() {
    let place = Place::new();
    place.script(&script(&[says("yes")]));
    for args in
        [&["--json"][..], &["--jsonl"], &["--contract", "dexter-flat"], &["--contract", "opencode-events"]]
    {
        let agent = || place.agent(args.iter().chain(&["q"]));
        let full = File::options().write(true).open("/dev/full").unwrap();
        for command in [
            agent().stdout(full),
            &mut without_stdout(&agent()),
            // With a key, the program executes itself once more.
            &mut without_stdout(agent().env("OPENAI_API_KEY", "secret")),
        ] {
            let ran = ran(command.spawn().unwrap());
            assert_eq!(ran.code, 1, "{args:?}: {ran:?}");
            assert!(ran.stderr.contains("cannot write"), "{args:?}: {ran:?}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_gets_a_quiet_end() {
    let place = Place::new();
    // More than a pipe holds, so that it has to notice.
    place.script(&script(&[says(&"x".repeat(1 << 20))]));
    let mut child = place.agent(["--jsonl", "a query"]).spawn().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 10]).unwrap();
    drop(stdout);
    let ran = ran(child);
    assert_eq!(ran.code, 141, "{ran:?}");
    assert_eq!(ran.stderr, "");
}
