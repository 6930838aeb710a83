//! The openai provider against a mock server.

use crate::mock_server::{Reply, STOP, Server, call_reply, delta, http, stream, text_reply};
use crate::support::{RunOutput, TestEnv, wait_for_output};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-very-secret-key";

/// Runs a query against the server under a contract, or `native`. The first retry waits one millisecond.
fn run(env: &TestEnv, server: &Server, contract: &str, more: &[&str]) -> RunOutput {
    env.file("agent.toml", "retry_base_ms = 1\n");
    let base = ["--base-url", &server.url, "--model", "m", "--config", "agent.toml", "a query"];
    let mut command = env.agent(base);
    if contract == "native" {
        command.arg("--json");
    } else {
        command.args(["--contract", contract]);
    }
    let output = wait_for_output(command.args(more).env("OPENAI_API_KEY", KEY).spawn().unwrap());
    assert!(!output.stdout.contains(KEY) && !output.stderr.contains(KEY), "the key was printed: {output:?}");
    if contract != "native" {
        output.assert_conforms(contract);
    }
    output
}

fn agent_js(replies: Vec<Reply>, more: &[&str]) -> (i32, Value, Server) {
    let (env, server) = (TestEnv::new(), Server::new(replies));
    let output = run(&env, &server, "agent-js", more);
    (output.code, output.document(), server)
}

#[test]
fn a_complete_answer_and_its_request() {
    let (code, document, server) = agent_js(vec![text_reply("hello", Some((12, 3)))], &["--no-stream"]);
    assert_eq!((code, &document["message"], &document["model"]), (0, &"hello".into(), &"openai/m".into()));
    assert_eq!(
        (&document["usage"]["input_tokens"], &document["usage"]["has_usage"]),
        (&12.into(), &true.into())
    );
    let request = &server.requests()[0];
    assert!(request.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", request.head);
    assert!(request.head.to_lowercase().contains(&format!("authorization: bearer {KEY}")));
    assert_eq!((&request.body["model"], &request.body["stream"]), (&"m".into(), &false.into()));
    let roles: Vec<_> = request.body["messages"].as_array().unwrap().iter().map(|m| &m["role"]).collect();
    assert_eq!(roles, ["system", "user"]);
    let tools: Vec<_> =
        request.body["tools"].as_array().unwrap().iter().map(|t| &t["function"]["name"]).collect();
    assert_eq!(tools, ["list_files", "read_file", "search", "calculate", "write_file", "edit_file"]);
}

#[test]
fn usage_is_absent_if_the_server_sends_none() {
    let (_, document, _server) = agent_js(vec![text_reply("hello", None)], &["--no-stream"]);
    assert_eq!(document["usage"]["has_usage"], false);
}

#[test]
fn a_tool_round_trip() {
    let (env, server) = (
        TestEnv::new(),
        Server::new(vec![
            call_reply(&[("read_file", json!({"path": "a"})), ("calculate", json!({"expression": "2*3"}))]),
            text_reply("done", Some((7, 8))),
        ]),
    );
    env.file("a", "content of a");
    let document = run(&env, &server, "agent-js", &["--no-stream"]).document();
    assert_eq!((&document["message"], &document["usage"]["total_tokens"]), (&"done".into(), &26.into()));
    let sent = server.requests()[1].body["messages"].clone();
    assert_eq!(sent[2]["tool_calls"][0]["function"]["name"], "read_file");
    assert_eq!((&sent[3]["role"], &sent[3]["tool_call_id"]), (&"tool".into(), &"c0".into()));
    assert!(sent[3]["content"].as_str().unwrap().contains("content of a"));
    assert_eq!(sent[4]["tool_call_id"], "c1");
}

#[test]
fn a_stream_of_text_and_of_a_split_tool_call() {
    let piece = |function: Value, id: Value| {
        let call = json!({"index": 0, "id": id, "function": function});
        json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()
    };
    let env = TestEnv::new();
    let server = Server::new(vec![
        Reply::Bytes(stream(&[
            &piece(json!({"name": "calculate", "arguments": ""}), "c7".into()),
            &piece(json!({"arguments": "{\"expres"}), Value::Null),
            &piece(json!({"arguments": "sion\":\"6*7\"}"}), Value::Null),
            r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":2,"completion_tokens":1}}"#,
            "[DONE]",
        ])),
        Reply::Bytes(stream(&[&delta("the "), &delta("answer"), STOP, "[DONE]"])),
    ]);
    let output = run(&env, &server, "native", &[]);
    let data = output.document()["data"].clone();
    assert_eq!((&data["answer"], &data["usage"]["total"]), (&"the answer".into(), &3.into()));
    let steps = data["steps"].as_array().unwrap();
    let texts: Vec<_> =
        steps.iter().filter(|step| step["type"] == "text").map(|step| &step["text"]).collect();
    assert_eq!(texts, ["the ", "answer"]);
    assert!(steps.iter().any(|step| step["result"]["value"] == 42));
    assert_eq!(server.requests()[0].body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn an_unusual_but_valid_stream() {
    // Comments, CRLF, an event over two data lines, no [DONE], bytes one by one.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let body = format!(
        ": hello\r\n\r\nevent: x\r\ndata: {{\"choices\":\r\ndata:[{{\"delta\":{{\"content\":\"é!\"}}}}]}}\r\n\r\ndata: {STOP}\n\n"
    );
    let bytes = format!("{head}{body}").into_bytes();
    let (code, document, _server) = agent_js(vec![Reply::Trickle(bytes, Duration::ZERO)], &[]);
    assert_eq!((code, &document["message"]), (0, &"é!".into()));
}

#[test]
fn a_slow_server_does_not_time_out_while_it_sends() {
    // The response takes longer than the idle timeout, but no pause does.
    let bytes = stream(&[&delta("slow"), STOP]);
    let pause = Duration::from_millis(1200) / u32::try_from(bytes.len()).unwrap();
    let (code, document, _server) =
        agent_js(vec![Reply::Trickle(bytes, pause)], &["--idle-timeout", "0.8", "--max-retries", "0"]);
    assert_eq!((code, &document["message"]), (0, &"slow".into()));
}

#[test]
fn silence_is_a_timeout() {
    for reply in [
        || Reply::Stall,
        || Reply::ThenStall(b"HTTP/1.1 200 OK\r\n".to_vec()),
        || Reply::ThenStall(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{".to_vec()),
        || Reply::ThenStall(stream(&[])),
    ] {
        let (code, document, server) =
            agent_js(vec![reply(), reply()], &["--idle-timeout", "0.3", "--max-retries", "1"]);
        assert_eq!((code, &document["code"]), (7, &"FETCH_TIMEOUT".into()), "{document}");
        assert_eq!((server.requests().len(), &document["health"]["retriesUsed"]), (2, &1.into()));
        assert_eq!(document["termination"]["reason"], "provider_error");
    }
}

#[test]
fn rate_limits_server_errors_and_resets_are_retried() {
    let busy = || {
        Reply::Bytes(http(
            "429 Too Many Requests",
            "retry-after: 0\r\n",
            r#"{"error":{"message":"slow down"}}"#,
        ))
    };
    let broken = || Reply::Bytes(http("503 Service Unavailable", "", "<html>down</html>"));
    let (code, document, server) =
        agent_js(vec![busy(), broken(), text_reply("at last", None)], &["--no-stream"]);
    assert_eq!(
        (code, &document["message"], &document["health"]["retriesUsed"]),
        (0, &"at last".into(), &2.into())
    );
    assert_eq!(server.requests().len(), 3);

    let reset = || Reply::Reset(Vec::new());
    let cut = || Reply::Bytes(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"choices\"".to_vec());
    let (code, document, _server) = agent_js(vec![reset(), cut(), text_reply("ok", None)], &[]);
    assert_eq!((code, &document["health"]["retriesUsed"]), (0, &2.into()), "{document}");

    let (code, document, server) = agent_js(vec![busy(), busy(), busy()], &[]);
    assert_eq!((code, &document["code"]), (1, &"RUNTIME_ERROR".into()));
    assert!(document["error"].as_str().unwrap().contains("slow down"), "{document}");
    assert_eq!((server.requests().len(), &document["health"]["retriesUsed"]), (3, &2.into()));
}

#[test]
fn retry_after_is_followed_up_to_a_limit() {
    let busy =
        |wait: &str| Reply::Bytes(http("429 Too Many Requests", &format!("retry-after: {wait}\r\n"), ""));
    let start = std::time::Instant::now();
    let (code, _, _server) = agent_js(vec![busy("1"), text_reply("ok", None)], &[]);
    assert!(code == 0 && start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    let (code, document, _server) = agent_js(vec![busy("3600")], &[]);
    assert_eq!((code, &document["health"]["retriesUsed"]), (1, &0.into()));
    assert!(document["error"].as_str().unwrap().contains("3600"));
}

#[test]
fn an_invalid_chat_completion_is_a_provider_failure() {
    let ok = |body: &str| Reply::Bytes(http("200 OK", "content-type: application/json\r\n", body));
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "{\"choices\": []}",
        "{\"choices\": [{}]}",
        "<html></html>",
        "{\"choices\": 1}",
        "{\"choices\": [{\"message\": {\"tool_calls\": [{\"id\": \"x\"}]}}]}",
        "{\"choices\": [{\"message\": {\"tool_calls\": [{\"function\": {\"name\": \"\"}}]}}]}",
    ];
    for body in bodies {
        let (code, document, _server) = agent_js(vec![ok(body)], &["--max-retries", "0"]);
        assert_eq!((code, &document["code"]), (1, &"RUNTIME_ERROR".into()), "{body}");
    }
    for bytes in [&b"\0\x01\x02 garbage\r\n\r\n"[..], b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 999999 ?\r\n\r\n"] {
        let (code, document, _server) = agent_js(vec![Reply::Bytes(bytes.to_vec())], &["--max-retries", "0"]);
        assert_eq!((code, &document["code"]), (1, &"RUNTIME_ERROR".into()), "{document}");
    }
    for events in [&["{\"choices\""][..], &["not json", STOP], &[r#"{"error":{"message":"overloaded"}}"#]] {
        let (code, document, _server) = agent_js(vec![Reply::Bytes(stream(events))], &["--max-retries", "0"]);
        assert_eq!((code, &document["code"]), (1, &"RUNTIME_ERROR".into()), "{document}");
    }
    let (_, document, _server) = agent_js(
        vec![Reply::Bytes(stream(&[r#"{"error":{"message":"overloaded"}}"#]))],
        &["--max-retries", "0"],
    );
    assert!(document["error"].as_str().unwrap().contains("overloaded"));
}

#[test]
fn a_stream_that_breaks_after_text_is_not_retried() {
    for reply in [Reply::Bytes(stream(&[&delta("half a")])), Reply::Reset(stream(&[&delta("half a")]))] {
        let env = TestEnv::new();
        let server = Server::new(vec![reply, text_reply("never", None)]);
        let output = run(&env, &server, "native", &[]);
        assert_eq!((output.code, server.requests().len()), (1, 1), "{output:?}");
        assert_eq!(output.document()["data"]["code"], "PROVIDER_ERROR");
    }
}

#[test]
fn the_size_of_an_answer_is_limited() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n".to_vec();
    let (code, document, server) = agent_js(vec![Reply::Endless(head)], &[]);
    assert_eq!((code, server.requests().len()), (1, 1));
    assert!(document["error"].as_str().unwrap().contains("larger"), "{document}");
    let line =
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ".to_vec();
    let (code, _, _server) = agent_js(vec![Reply::Endless(line)], &["--max-retries", "0"]);
    assert_eq!(code, 1);
    let (code, _, _server) =
        agent_js(vec![Reply::Endless(b"HTTP/1.1 200 OK\r\nx: ".to_vec())], &["--max-retries", "0"]);
    assert_eq!(code, 1);
}

#[test]
fn a_redirect_is_not_followed() {
    let elsewhere = Server::new(vec![text_reply("stolen", None)]);
    let location = format!("location: {}/chat/completions\r\n", elsewhere.url);
    for status in ["301 Moved", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let (code, document, _server) = agent_js(vec![Reply::Bytes(http(status, &location, ""))], &[]);
        assert_eq!((code, &document["code"]), (1, &"RUNTIME_ERROR".into()), "{status}: {document}");
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[test]
fn a_rejected_key_is_not_printed_even_if_the_server_repeats_it() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let body = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
        let refuse = || Reply::Bytes(http(status, "", &body));
        let env = TestEnv::new();
        let native = run(&env, &Server::new(vec![refuse()]), "native", &[]);
        assert_eq!((native.code, &native.error()["kind"]), (77, &"auth".into()));
        assert!(native.error()["message"].as_str().unwrap().contains("[key]"));
        for (contract, code) in
            [("agent-js", 1), ("dexter-flat", 1), ("dexter-nested", 1), ("opencode-events", 77)]
        {
            let server = Server::new(vec![refuse()]);
            assert_eq!(run(&env, &server, contract, &[]).code, code, "{contract}");
            assert_eq!(server.requests().len(), 1);
        }
    }
    // A model can repeat it, too.
    let env = TestEnv::new();
    let server = Server::new(vec![Reply::Bytes(stream(&[&delta(&format!("your key is {KEY}")), STOP]))]);
    run(&env, &server, "native", &[]);
}

#[test]
fn a_command_cannot_find_the_key() {
    let env = TestEnv::new();
    let command = "env; cat /proc/$PPID/environ | tr '\\0' '\\n'; true";
    let server = Server::new(vec![
        call_reply(&[("run_command", json!({"command": command}))]),
        text_reply("done", None),
    ]);
    let output = run(&env, &server, "agent-js", &["--profile", "dev", "--no-stream"]);
    assert_eq!(output.document()["toolCalls"][0]["ok"], true);
    let scratchpads = env.outside("home").join(".local/state/reference-agent/scratchpad");
    for file in std::fs::read_dir(scratchpads).unwrap() {
        assert!(!std::fs::read_to_string(file.unwrap().path()).unwrap().contains(KEY));
    }
}

#[test]
fn models_without_support_for_tools_or_images() {
    let no_tools = || {
        Reply::Bytes(http(
            "400 Bad Request",
            "",
            r#"{"error":{"message":"this model does not support tools"}}"#,
        ))
    };
    let (code, document, server) = agent_js(vec![no_tools(), text_reply("words", None)], &[]);
    assert_eq!(
        (code, &document["toolsFallbackUsed"], &document["toolsEnabled"]),
        (0, &true.into(), &false.into())
    );
    assert_eq!(server.requests()[1].body.get("tools"), None);
    let (code, document, _server) = agent_js(vec![no_tools()], &["--tools-mode", "on"]);
    assert_eq!((code, &document["code"]), (6, &"TOOLS_NOT_SUPPORTED".into()));

    let env = TestEnv::new();
    env.file("image", b"\x89PNG\r\n\x1a\n");
    let no_vision =
        Reply::Bytes(http("400 Bad Request", "", r#"{"error":{"message":"image input is not supported"}}"#));
    let server = Server::new(vec![no_vision]);
    let output = run(&env, &server, "agent-js", &["--attach", "image"]);
    assert_eq!((output.code, &output.document()["code"]), (6, &"VISION_NOT_SUPPORTED".into()));
    let part = &server.requests()[0].body["messages"][1]["content"][1];
    assert!(part["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,iVBOR"));
}

#[test]
fn a_refused_connection_is_retried() {
    let server = Server::new(Vec::new());
    let url = server.url.clone();
    drop(server);
    let env = TestEnv::new();
    env.file("agent.toml", "retry_base_ms = 1\n");
    let mut command =
        env.agent(["--contract", "agent-js", "--base-url", &url, "--config", "agent.toml", "q"]);
    let output = wait_for_output(command.env("OPENAI_API_KEY", KEY).spawn().unwrap());
    output.assert_conforms("agent-js");
    assert_eq!((output.code, &output.document()["health"]["retriesUsed"]), (1, &2.into()));
}

#[test]
fn the_tool_calls_of_an_answer_are_limited() {
    let call = |n: usize| json!({"index": n, "id": format!("c{n}"), "type": "function", "function": {"name": "calculate", "arguments": "{}"}});
    let complete = |calls: Vec<Value>| {
        let answer = json!({"choices": [{"message": {"content": null, "tool_calls": calls}, "finish_reason": "tool_calls"}]});
        Reply::Bytes(http("200 OK", "content-type: application/json\r\n", &answer.to_string()))
    };
    let piece = |call: Value| json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string();
    let long =
        json!({"index": 0, "id": "c", "function": {"name": "calculate", "arguments": "x".repeat(1 << 19)}});
    let more = json!({"index": 0, "function": {"arguments": "x".repeat(1 << 19)}});
    let pieces: Vec<String> = (0..1001).map(|n| piece(call(n))).chain([STOP.to_owned()]).collect();
    let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
    let (first, last) = (piece(long.clone()), piece(more.clone()));
    let large = [&first, &last, &last, STOP];
    let cases = [
        (
            complete((0..50_000).map(call).collect()),
            "--no-stream",
            "expected at most 1000 elements in a list",
        ),
        (
            complete(vec![long.clone(), long.clone(), long]),
            "--no-stream",
            "expected at most 1048576 bytes in the arguments",
        ),
        (Reply::Bytes(stream(&pieces)), "--retry", "expected at most 1000 tool calls"),
        (Reply::Bytes(stream(&large)), "--retry", "expected at most 1048576 bytes in the arguments"),
    ];
    for (reply, flag, expected) in cases {
        let flags: &[&str] = if flag == "--no-stream" {
            &["--no-stream", "--max-retries", "0"]
        } else {
            &["--max-retries", "0"]
        };
        let (code, document, _server) = agent_js(vec![reply], flags);
        let message =
            document["message"].as_str().or(document["error"].as_str()).unwrap_or_default().to_owned();
        assert_ne!(code, 0);
        assert!(
            document.to_string().contains(expected),
            "{expected}: {message} {}",
            &document.to_string()[..500.min(document.to_string().len())]
        );
    }
}

#[test]
fn the_message_of_a_huge_error_is_omitted() {
    let body = format!(r#"{{"choices":[],"error":[{}]}}"#, vec!["[]"; 100_000].join(","));
    let reply = Reply::Bytes(http("200 OK", "content-type: application/json\r\n", &body));
    let (code, document, _server) = agent_js(vec![reply], &["--no-stream", "--max-retries", "0"]);
    assert_ne!(code, 0);
    assert!(document.to_string().contains("the server failed\""), "{document}");
}
