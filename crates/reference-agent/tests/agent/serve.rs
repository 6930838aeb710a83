//! `serve`: each behaviour in each API, streaming or not; invalid requests and signals.

use crate::support::TestEnv;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::process::Child;

/// A running server, which is killed with the test.
struct MockServer {
    child: Child,
    port: u16,
    env: TestEnv,
}

impl MockServer {
    fn new() -> Self {
        Self::with("--json", |line| {
            let document: Value = serde_json::from_str(line).unwrap();
            document["data"]["url"].as_str().unwrap().to_owned()
        })
    }

    /// Starts a server with a flag. `url` finds the URL in the line that it prints.
    fn with(flag: &str, url: impl Fn(&str) -> String) -> Self {
        let env = TestEnv::new();
        let mut child = env.agent(["serve", flag]).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let port = url(line.trim()).strip_prefix("http://127.0.0.1:").unwrap().parse().unwrap();
        Self { child, port, env }
    }

    /// Sends a request and returns the status and the body of the response.
    fn send(&self, request: &[u8]) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    fn post(&self, path: &str, body: &Value) -> (u16, String) {
        let body = body.to_string();
        self.send(format!("POST {path} HTTP/1.1\r\ncontent-length: {}\r\n\r\n{body}", body.len()).as_bytes())
    }
}

impl Drop for MockServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An API, streaming or not.
#[derive(Debug, Clone, Copy)]
struct Api {
    path: &'static str,
    streams: bool,
    /// Builds a request with a prompt, followed by a tool result if the flag is true.
    request: fn(&str, bool) -> Value,
}

const WRITE_PARAMETERS: &str = r#"{"type":"object","required":["file_path","content"],"properties":{"file_path":{"type":"string"},"content":{"type":"string"}}}"#;
const PARAMETERS: &str = r#"{"type":"object","required":["command","limit"],"properties":{"command":{"type":"string"},"limit":{"type":["integer","null"]}}}"#;

fn parameters() -> Value {
    serde_json::from_str(PARAMETERS).unwrap()
}

fn write_parameters() -> Value {
    serde_json::from_str(WRITE_PARAMETERS).unwrap()
}

fn chat(prompt: &str, result: bool) -> Value {
    let mut messages = vec![
        json!({"role": "system", "content": "[[error-400]]"}),
        json!({"role": "user", "content": prompt}),
    ];
    if result {
        messages.push(json!({"role": "assistant", "content": null, "tool_calls": []}));
        messages.push(json!({"role": "tool", "tool_call_id": "call_0", "content": "[[empty]]"}));
    }
    let tool = json!({"type": "function", "function": {"name": "run_shell", "parameters": parameters()}});
    let write =
        json!({"type": "function", "function": {"name": "write_file", "parameters": write_parameters()}});
    json!({"model": "m", "messages": messages, "tools": [write, tool]})
}

fn responses(prompt: &str, result: bool) -> Value {
    let content = json!([{"type": "input_text", "text": prompt}]);
    let mut input = vec![json!({"type": "message", "role": "user", "content": content})];
    if result {
        input.push(json!({"type": "function_call_output", "call_id": "call_0", "output": "x"}));
    }
    let tool = json!({"type": "function", "name": "shell", "parameters": parameters()});
    let write = json!({"type": "function", "name": "write_file", "parameters": write_parameters()});
    json!({"model": "m", "input": input, "tools": [{"type": "web_search"}, write, tool]})
}

fn messages(prompt: &str, result: bool) -> Value {
    let mut messages = vec![json!({"role": "user", "content": [{"type": "text", "text": prompt}]})];
    if result {
        let content = json!([{"type": "tool_result", "tool_use_id": "call_0", "content": "x"}]);
        messages.push(json!({"role": "user", "content": content}));
    }
    let write = json!({"name": "Write", "input_schema": write_parameters()});
    json!({"model": "m", "messages": messages, "tools": [write, {"name": "Bash", "input_schema": parameters()}]})
}

fn gemini(prompt: &str, result: bool) -> Value {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": prompt}]})];
    if result {
        contents
            .push(json!({"role": "user", "parts": [{"functionResponse": {"name": "x", "response": {}}}]}));
    }
    let write = json!({"name": "write_file", "parametersJsonSchema": write_parameters()});
    let declared = json!([write, {"name": "run_shell_command", "parametersJsonSchema": parameters()}]);
    json!({"contents": contents, "tools": [{"functionDeclarations": declared}]})
}

fn streamed(request: fn(&str, bool) -> Value, prompt: &str, result: bool) -> Value {
    let mut body = request(prompt, result);
    body["stream"] = json!(true);
    body
}

const APIS: [Api; 8] = [
    Api { path: "/v1/chat/completions", streams: false, request: chat },
    Api { path: "/v1/chat/completions", streams: true, request: |p, r| streamed(chat, p, r) },
    Api { path: "/v1/responses", streams: false, request: responses },
    Api { path: "/v1/responses", streams: true, request: |p, r| streamed(responses, p, r) },
    Api { path: "/v1/messages?beta=true", streams: false, request: messages },
    Api { path: "/v1/messages", streams: true, request: |p, r| streamed(messages, p, r) },
    Api { path: "/v1beta/models/g:generateContent", streams: false, request: gemini },
    Api { path: "/v1beta/models/g:streamGenerateContent?alt=sse", streams: true, request: gemini },
];

/// Appends all texts and collects the arguments of all calls.
fn collect_answer(value: &Value, texts: &mut String, calls: &mut Vec<Value>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_answer(item, texts, calls)),
        Value::Object(members) => {
            let arguments =
                ["arguments", "input", "args", "partial_json"].into_iter().find_map(|key| members.get(key));
            if let Some(arguments) = arguments.filter(|arguments| **arguments != json!({})) {
                let parsed = arguments.as_str().map(|text| serde_json::from_str(text).unwrap());
                calls.push(parsed.unwrap_or_else(|| arguments.clone()));
            }
            for (key, member) in members {
                match member {
                    Value::String(text) if ["text", "content", "delta"].contains(&key.as_str()) => {
                        *texts += text
                    }
                    _ => collect_answer(member, texts, calls),
                }
            }
        }
        _ => {}
    }
}

/// Returns the text of the answer and the arguments of its calls.
fn answer(api: Api, body: &str) -> (String, Vec<Value>) {
    let (mut texts, mut calls) = (String::new(), Vec::new());
    if !api.streams {
        collect_answer(&serde_json::from_str(body).unwrap(), &mut texts, &mut calls);
        return (texts, calls);
    }
    let events = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    for event in events.map(|data| serde_json::from_str::<Value>(data).unwrap()) {
        // These events repeat the parts that were sent before.
        let repeating = ["response.output_item.done", "response.completed"];
        if event["type"].as_str().is_none_or(|kind| !repeating.contains(&kind)) {
            collect_answer(&event, &mut texts, &mut calls);
        }
    }
    (texts, calls)
}

#[test]
fn each_api_has_each_behavior() {
    let server = MockServer::new();
    for api in APIS {
        let play = |prompt: &str, result| {
            let (status, body) = server.post(api.path, &(api.request)(prompt, result));
            assert_eq!(status, 200, "{api:?} {body}");
            answer(api, &body)
        };
        let call = json!({"command": "echo hello-from-tool", "limit": 1000});
        let text = || ("Mock answer: forty-two.".to_owned(), Vec::new());
        assert_eq!(play("hello", false), text(), "{api:?}");
        assert_eq!(play("a [[tool]] b", true), text(), "{api:?}");
        assert_eq!(play("[[empty]]", false), (String::new(), Vec::new()), "{api:?}");
        let calls = |prompt, result| play(prompt, result).1;
        assert_eq!(calls("[[tool]]", false), std::slice::from_ref(&call), "{api:?}");
        assert_eq!(calls("[[text]] [[two]]", false), [call.clone(), call.clone()], "{api:?}");
        assert_eq!(calls("[[loop]]", true), [call], "{api:?}");
        let write = json!({"file_path": "hello.txt", "content": "say hello"});
        assert_eq!(calls("[[write]]", false), [write], "{api:?}");
        let posted = |prompt: &str| server.post(api.path, &(api.request)(prompt, false)).1;
        let reasoned = posted("[[reasoning]]");
        assert!(
            reasoned.contains("Mock reasoning.") && reasoned.contains("forty-two."),
            "{api:?} {reasoned}"
        );
        assert!(reasoned.contains(":4") || api.path.contains("messages"), "{api:?} {reasoned}");
        let uncounted = posted("[[no-usage]]");
        assert!(uncounted.contains("forty-two.") && !uncounted.contains("100"), "{api:?} {uncounted}");
        let (_, unknown) = server.post(api.path, &(api.request)("[[unknown-tool]]", false));
        assert!(unknown.contains("no_such_tool"), "{api:?} {unknown}");
        for status in [400, 401, 429, 529] {
            let (got, body) = server.post(api.path, &(api.request)(&format!("[[error-{status}]]"), false));
            let error: Value = serde_json::from_str(&body).unwrap();
            assert_eq!(
                (got, &error["error"]["message"]),
                (status, &json!(format!("mock error {status}"))),
                "{api:?}"
            );
        }
        let (_, half) = server.post(api.path, &(api.request)("[[cut]]", false));
        assert!(!half.is_empty() && !half.contains("forty-two."), "{api:?} {half}");
    }
}

/// Posts a chat request with a system prompt and these tools, each with its required properties, and returns the name and
/// the arguments of the call in the answer.
fn called(server: &MockServer, system: &str, prompt: &str, tools: &[(&str, Value)]) -> (String, Value) {
    let tools = tools.iter().map(|(name, properties)| {
        let required: Vec<&String> = properties.as_object().unwrap().keys().collect();
        let parameters = json!({"type": "object", "required": required, "properties": properties});
        json!({"type": "function", "function": {"name": name, "parameters": parameters}})
    });
    let messages = json!([{"role": "system", "content": system}, {"role": "user", "content": prompt}]);
    let body = json!({"model": "m", "messages": messages, "tools": tools.collect::<Vec<_>>()});
    let (_, body) = server.post("/v1/chat/completions", &body);
    let answer: Value = serde_json::from_str(&body).unwrap();
    let function = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    let arguments = serde_json::from_str(function["arguments"].as_str().unwrap()).unwrap();
    (function["name"].as_str().unwrap().to_owned(), arguments)
}

#[test]
fn the_schema_of_a_tool_tells_whether_it_writes_a_file() {
    let server = MockServer::new();
    let text = json!({"type": "string"});
    let path = json!({"type": "string", "description": "Full absolute path to the file."});
    let tools = [
        ("todowrite", json!({"todos": {"type": "array"}})),
        ("write_stdin", json!({"session_id": {"type": "integer"}, "text": text})),
        ("edit", json!({"path": path, "old_text": text, "new_text": text})),
        ("create", json!({"path": path, "file_text": text})),
    ];
    for (system, written) in [
        ("Be brief.", "hello.txt"),
        ("Current working directory: /work/p\nBe brief.", "/work/p/hello.txt"),
        ("The working directory is `/work/p`. Be brief.", "/work/p/hello.txt"),
        ("<env><cwd>/work/p</cwd></env>", "/work/p/hello.txt"),
        ("% pwd\n/work/p\n", "/work/p/hello.txt"),
    ] {
        let expected = json!({"path": written, "file_text": "say hello"});
        assert_eq!(called(&server, system, "[[write]]", &tools), ("create".to_owned(), expected), "{system}");
    }
    // Without such a tool, a command is run.
    let tools = [tools[0].clone(), ("bash", json!({"command": text}))];
    assert_eq!(called(&server, "", "[[write]]", &tools).0, "bash");
}

#[test]
fn the_schema_of_a_tool_tells_whether_it_starts_a_subagent() {
    let server = MockServer::new();
    let text = json!({"type": "string"});
    let tools = [
        ("schedule", json!({"cron": text, "prompt": text})),
        ("task", json!({"description": text, "prompt": text, "subagent_type": text})),
        ("bash", json!({"command": text})),
    ];
    let expected =
        json!({"description": "say hello", "prompt": "call a [[tool]]", "subagent_type": "general-purpose"});
    assert_eq!(called(&server, "", "[[subagent]]", &tools), ("task".to_owned(), expected));
}

#[test]
fn each_of_several_prompts_has_its_own_answer() {
    let server = MockServer::new();
    let Value::Object(mut body) = chat("call a [[tool]]", true) else { unreachable!() };
    let mut finish = |messages: Value| {
        body["messages"].as_array_mut().unwrap().extend(messages.as_array().unwrap().clone());
        let (_, body) = server.post("/v1/chat/completions", &json!(body));
        serde_json::from_str::<Value>(&body).unwrap()["choices"][0]["finish_reason"].clone()
    };
    let answer = json!({"role": "assistant", "content": "Mock answer: forty-two."});
    assert_eq!(finish(json!([])), "stop");
    assert_eq!(finish(json!([answer, {"role": "user", "content": "again a [[tool]]"}])), "tool_calls");
    assert_eq!(finish(json!([answer, {"role": "user", "content": "only [[text]]"}])), "stop");
}

#[test]
fn numbers_stay_within_the_bounds_of_a_schema() {
    let server = MockServer::new();
    let schema = json!({
        "any": {"type": "integer"},
        "at_most": {"type": "integer", "maximum": 10},
        "at_least": {"type": "integer", "minimum": 5000},
        "below": {"type": "integer", "exclusiveMaximum": 10},
        "above": {"type": "number", "exclusiveMinimum": 5000},
        "share": {"type": "number", "minimum": 0, "exclusiveMaximum": 1},
        "multiple": {"type": "integer", "multipleOf": 7},
        "multiple_at_least": {"type": "integer", "multipleOf": 7, "minimum": 5000},
    });
    let expected = json!({
        "any": 1000, "at_most": 10, "at_least": 5000, "below": 9, "above": 5000.001, "share": 0.999,
        "multiple": 994, "multiple_at_least": 5005,
    });
    assert_eq!(called(&server, "", "[[tool]]", &[("bash", schema)]).1, expected);
}

#[test]
fn other_requests_are_answered_or_rejected() {
    let server = MockServer::new();
    let models = server.send(b"GET /v1/models HTTP/1.1\r\n\r\n");
    assert!(models.0 == 200 && models.1.contains("mock-1"), "{models:?}");
    assert_eq!(
        server.post("/v1/messages/count_tokens", &json!({})),
        (200, "{\"input_tokens\":100}".to_owned())
    );
    assert_eq!(server.post("/v1beta/models/g:countTokens", &json!({})).1, "{\"totalTokens\":100}");
    let chunks = b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n{\"inpu\r\nA\r\nt\":\"[[empt\r\n5\r\ny]]\"}\r\n0\r\n\r\n";
    assert_eq!(server.send(chunks).0, 200);
    let long = format!("GET / HTTP/1.1\r\nx: {}\r\n\r\n", "y".repeat(100_000));
    let invalid: [(&[u8], u16, &str); 9] = [
        (b"GET /v1/responses HTTP/1.1\r\n\r\n", 405, "expected POST"),
        (b"GET /elsewhere HTTP/1.1\r\n\r\n", 404, "no such path"),
        (b"POST /v1/responses HTTP/1.1\r\ncontent-length: 2\r\n\r\n[]", 400, "not a JSON object"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 1\r\n\r\n{", 400, "not JSON"),
        (b"POST /v1/messages HTTP/1.1\r\ncontent-length: 9\r\n\r\n{", 408, "ended early"),
        (b"POST /x HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n", 413, "too long"),
        (b"POST /x HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfffffffffff\r\n", 413, "too long"),
        (b"\x16\x03\x01 not http\r\n\r\n", 400, "not HTTP"),
        (long.as_bytes(), 431, "too long"),
    ];
    for (request, status, message) in invalid {
        let (got, body) = server.send(request);
        assert!(got == status && body.contains(message), "{got} {body}");
        assert!(serde_json::from_str::<Value>(&body).is_ok_and(|body| body["error"].is_object()), "{body}");
    }
}

#[test]
fn the_agent_is_a_client_and_a_signal_stops_the_server() {
    let listening = |line: &str| line.strip_prefix("listening on ").unwrap().to_owned();
    let mut server = MockServer::with("--output=text", listening);
    let url = format!("http://127.0.0.1:{}/v1", server.port);
    let ask = |prompt: &str, more: &[&str]| {
        let args = ["--base-url", &url, "--profile", "dev", "--jsonl", "--max-retries", "0", prompt];
        let mut agent = server.env.agent(args.iter().chain(more));
        crate::support::wait_for_output(agent.env("OPENAI_API_KEY", "key-of-the-test").spawn().unwrap())
    };
    for more in [&[][..], &["--no-stream"]] {
        let output = ask("say [[tool]]", more);
        assert!(output.code == 0 && output.stdout.contains("hello-from-tool"), "{output:?}");
        assert!(output.stdout.contains("Mock answer: forty-two."), "{output:?}");
    }
    assert_eq!(ask("say [[error-401]]", &[]).code, 77);
    assert_eq!(ask("say [[loop]]", &["--max-tool-turns", "2"]).code, 1);
    kill_process(Pid::from_child(&server.child), Signal::TERM).unwrap();
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert_eq!(server.child.wait().unwrap().code(), Some(143));
    assert!(log.starts_with("POST /v1/chat/completions 200 tool\n"), "{log}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = server.env.run(["serve", "--port", &port]);
    assert!(
        output.code == 1 && output.stderr.contains(&format!("cannot listen at 127.0.0.1:{port}")),
        "{output:?}"
    );
}
