//! The openai provider against a server of our own.

use crate::server::{Reply, STOP, Server, calls, delta, http, stream, text_reply};
use crate::support::{Place, Ran, ran};
use serde_json::{Value, json};
use std::time::Duration;

const KEY: &str = "sk-very-secret-key";

/// Runs a query against the server under a contract, with the first wait of a retry at a millisecond.
fn run(place: &Place, server: &Server, contract: &str, more: &[&str]) -> Ran {
    place.file("agent.toml", "retry_base_ms = 1\n");
    let base = ["--base-url", &server.url, "--model", "m", "--config", "agent.toml", "a query"];
    let mut command = place.agent(base);
    if contract == "own" {
        command.arg("--json");
    } else {
        command.args(["--contract", contract]);
    }
    let ran = ran(command.args(more).env("OPENAI_API_KEY", KEY).spawn().unwrap());
    assert!(!ran.stdout.contains(KEY) && !ran.stderr.contains(KEY), "the key was printed: {ran:?}");
    if contract != "own" {
        ran.keeps(contract);
    }
    ran
}

fn agent_js(replies: Vec<Reply>, more: &[&str]) -> (i32, Value, Server) {
    let (place, server) = (Place::new(), Server::new(replies));
    let ran = run(&place, &server, "agent-js", more);
    (ran.code, ran.document(), server)
}

#[test]
fn a_whole_answer_and_what_was_sent_for_it() {
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
fn without_usage_there_is_none() {
    let (_, document, _server) = agent_js(vec![text_reply("hello", None)], &["--no-stream"]);
    assert_eq!(document["usage"]["has_usage"], false);
}

#[test]
fn a_tool_round_trip() {
    let (place, server) = (
        Place::new(),
        Server::new(vec![
            calls(&[("read_file", json!({"path": "a"})), ("calculate", json!({"expression": "2*3"}))]),
            text_reply("done", Some((7, 8))),
        ]),
    );
    place.file("a", "content of a");
    let document = run(&place, &server, "agent-js", &["--no-stream"]).document();
    assert_eq!((&document["message"], &document["usage"]["total_tokens"]), (&"done".into(), &26.into()));
    let sent = server.requests()[1].body["messages"].clone();
    assert_eq!(sent[2]["tool_calls"][0]["function"]["name"], "read_file");
    assert_eq!((&sent[3]["role"], &sent[3]["tool_call_id"]), (&"tool".into(), &"c0".into()));
    assert!(sent[3]["content"].as_str().unwrap().contains("content of a"));
    assert_eq!(sent[4]["tool_call_id"], "c1");
}

#[test]
fn a_stream_of_words_and_of_a_tool_call_in_pieces() {
    let piece = |function: Value, id: Value| {
        let call = json!({"index": 0, "id": id, "function": function});
        json!({"choices": [{"delta": {"tool_calls": [call]}}]}).to_string()
    };
    let place = Place::new();
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
    let ran = run(&place, &server, "own", &[]);
    let data = ran.document()["data"].clone();
    assert_eq!((&data["answer"], &data["usage"]["total"]), (&"the answer".into(), &3.into()));
    let steps = data["steps"].as_array().unwrap();
    let texts: Vec<_> =
        steps.iter().filter(|step| step["type"] == "text").map(|step| &step["text"]).collect();
    assert_eq!(texts, ["the ", "answer"]);
    assert!(steps.iter().any(|step| step["result"]["value"] == 42));
    assert_eq!(server.requests()[0].body["stream_options"], json!({"include_usage": true}));
}

#[test]
fn a_stream_in_odd_clothes() {
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
fn a_slow_server_is_waited_for_while_it_says_something() {
    // Longer in all than the idle timeout, but never silent for that long.
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
        || Reply::Then(b"HTTP/1.1 200 OK\r\n".to_vec()),
        || Reply::Then(b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{".to_vec()),
        || Reply::Then(stream(&[])),
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
fn a_wait_that_is_asked_for_is_kept_and_bounded() {
    let asks =
        |wait: &str| Reply::Bytes(http("429 Too Many Requests", &format!("retry-after: {wait}\r\n"), ""));
    let began = std::time::Instant::now();
    let (code, _, _server) = agent_js(vec![asks("1"), text_reply("ok", None)], &[]);
    assert!(code == 0 && began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    let (code, document, _server) = agent_js(vec![asks("3600")], &[]);
    assert_eq!((code, &document["health"]["retriesUsed"]), (1, &0.into()));
    assert!(document["error"].as_str().unwrap().contains("3600"));
}

#[test]
fn what_is_no_chat_completion() {
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
fn a_stream_that_breaks_after_words_were_told_is_not_asked_for_again() {
    for reply in [Reply::Bytes(stream(&[&delta("half a")])), Reply::Reset(stream(&[&delta("half a")]))] {
        let place = Place::new();
        let server = Server::new(vec![reply, text_reply("never", None)]);
        let ran = run(&place, &server, "own", &[]);
        assert_eq!((ran.code, server.requests().len()), (1, 1), "{ran:?}");
        assert_eq!(ran.document()["data"]["code"], "PROVIDER_ERROR");
    }
}

#[test]
fn the_size_of_an_answer_is_bounded() {
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
fn a_refused_key_is_not_repeated_even_when_the_server_does() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let said = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}."}}}}"#);
        let refuse = || Reply::Bytes(http(status, "", &said));
        let place = Place::new();
        let own = run(&place, &Server::new(vec![refuse()]), "own", &[]);
        assert_eq!((own.code, &own.error()["kind"]), (77, &"auth".into()));
        assert!(own.error()["message"].as_str().unwrap().contains("[key]"));
        for (contract, code) in
            [("agent-js", 1), ("dexter-flat", 1), ("dexter-nested", 1), ("opencode-events", 77)]
        {
            let server = Server::new(vec![refuse()]);
            assert_eq!(run(&place, &server, contract, &[]).code, code, "{contract}");
            assert_eq!(server.requests().len(), 1);
        }
    }
    // A model that says it, too.
    let place = Place::new();
    let server = Server::new(vec![Reply::Bytes(stream(&[&delta(&format!("your key is {KEY}")), STOP]))]);
    run(&place, &server, "own", &[]);
}

#[test]
fn a_command_cannot_find_the_key() {
    let place = Place::new();
    let command = "env; cat /proc/$PPID/environ | tr '\\0' '\\n'; true";
    let server =
        Server::new(vec![calls(&[("run_command", json!({"command": command}))]), text_reply("done", None)]);
    let ran = run(&place, &server, "agent-js", &["--profile", "dev", "--no-stream"]);
    assert_eq!(ran.document()["toolCalls"][0]["ok"], true);
    let scratchpads = place.outside("home").join(".local/state/reference-agent/scratchpad");
    for file in std::fs::read_dir(scratchpads).unwrap() {
        assert!(!std::fs::read_to_string(file.unwrap().path()).unwrap().contains(KEY));
    }
}

#[test]
fn a_model_without_tools_and_one_without_eyes() {
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

    let place = Place::new();
    place.file("image", b"\x89PNG\r\n\x1a\n");
    let blind =
        Reply::Bytes(http("400 Bad Request", "", r#"{"error":{"message":"image input is not supported"}}"#));
    let server = Server::new(vec![blind]);
    let ran = run(&place, &server, "agent-js", &["--attach", "image"]);
    assert_eq!((ran.code, &ran.document()["code"]), (6, &"VISION_NOT_SUPPORTED".into()));
    let part = &server.requests()[0].body["messages"][1]["content"][1];
    assert!(part["image_url"]["url"].as_str().unwrap().starts_with("data:image/png;base64,iVBOR"));
}

#[test]
fn nobody_there() {
    let server = Server::new(Vec::new());
    let url = server.url.clone();
    drop(server);
    let place = Place::new();
    place.file("agent.toml", "retry_base_ms = 1\n");
    let mut command =
        place.agent(["--contract", "agent-js", "--base-url", &url, "--config", "agent.toml", "q"]);
    let ran = ran(command.env("OPENAI_API_KEY", KEY).spawn().unwrap());
    ran.keeps("agent-js");
    assert_eq!((ran.code, &ran.document()["health"]["retriesUsed"]), (1, &2.into()));
}

#[test]
fn an_answer_asks_for_a_bounded_number_of_calls() {
    let call = |n: usize| json!({"index": n, "id": format!("c{n}"), "type": "function", "function": {"name": "calculate", "arguments": "{}"}});
    let whole = |calls: Vec<Value>| {
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
        (whole((0..50_000).map(call).collect()), "--no-stream", "expected at most 1000 elements in a list"),
        (
            whole(vec![long.clone(), long.clone(), long]),
            "--no-stream",
            "expected at most 1048576 bytes in the arguments",
        ),
        (Reply::Bytes(stream(&pieces)), "--retry", "expected at most 1000 tool calls"),
        (Reply::Bytes(stream(&large)), "--retry", "expected at most 1048576 bytes in the arguments"),
    ];
    for (reply, flag, words) in cases {
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
            document.to_string().contains(words),
            "{words}: {message} {}",
            &document.to_string()[..500.min(document.to_string().len())]
        );
    }
}

#[test]
fn an_error_without_end_is_told_without_its_words() {
    let body = format!(r#"{{"choices":[],"error":[{}]}}"#, vec!["[]"; 100_000].join(","));
    let reply = Reply::Bytes(http("200 OK", "content-type: application/json\r\n", &body));
    let (code, document, _server) = agent_js(vec![reply], &["--no-stream", "--max-retries", "0"]);
    assert_ne!(code, 0);
    assert!(document.to_string().contains("the server failed\""), "{document}");
}
