//! Third-party programs from npm: tool round trips against the server `@copilotkit/aimock`, and the codex SDK, which
//! parses the output of a run.
//!
//! These tests install packages into temporary folders, so they are ignored by default (`--ignored`).

use crate::support::{CONTRACTS, TestEnv, wait_for_output};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

const AIMOCK: &str = "@copilotkit/aimock@1.43.0";
const CODEX_SDK: &str = "@openai/codex-sdk@0.163.0";

/// Prints the result of a run in the SDK, or its error.
const CODEX_RUN: &str = r#"
    const [sdk, program, query] = process.argv.slice(2);
    const { Codex } = await import(sdk);
    const codex = new Codex({ codexPathOverride: program, env: { PATH: process.env.PATH } });
    const turn = await codex.startThread({ skipGitRepoCheck: true }).run(query).catch(({ message }) => ({ message }));
    console.log(JSON.stringify(turn));
"#;

/// The mock server, which is killed with the test.
struct Mock(Child);

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Installs a package once, unless an earlier run did, and returns its `node_modules`.
fn install(package: &str, folder: &str) -> PathBuf {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _guard = INSTALLING.lock();
    let folder = std::env::temp_dir().join(folder);
    if !folder.join("package-lock.json").exists() {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--omit=optional", "--silent"]);
        npm.arg("--prefix").arg(&folder).arg(package).stdout(Stdio::null());
        assert!(npm.status().unwrap().success(), "{package} could not be installed with npm");
    }
    folder.join("node_modules")
}

fn start(env: &TestEnv, fixtures: &Value, more: &[&str]) -> (Mock, String) {
    let folder = env.outside("fixtures");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("all.json"), json!({"fixtures": fixtures}).to_string()).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new(install(AIMOCK, "agentnative-test-aimock").join(".bin/llmock"))
        .args(["-p", &port.to_string(), "-h", "127.0.0.1", "-f"])
        .arg(&folder)
        .arg("--strict")
        .args(more)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let stdout = child.stdout.take().unwrap();
    let mock = Mock(child);
    let mut lines = BufReader::new(stdout).lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("listening")), "the mock did not start");
    // The server keeps logging, so its pipe has to be drained.
    std::thread::spawn(move || lines.count());
    (mock, format!("http://127.0.0.1:{port}/v1"))
}

#[test]
#[ignore = "installs a server from npm"]
fn a_tool_round_trip_in_each_contract() {
    let env = TestEnv::new();
    env.file("hello.txt", "hello from a file\n");
    let fixtures = json!([
        {"match": {"toolCallId": "call_list"}, "response": {"content": "There is hello.txt."}},
        {"match": {"userMessage": "what is here"}, "response": {"toolCalls": [
            {"id": "call_list", "name": "list_files", "arguments": "{\"path\":\".\"}"},
        ]}},
        {"match": {"userMessage": "fail"}, "response": {"error": {"message": "mock refused", "type": "invalid_request_error"}, "status": 400}},
    ]);
    let (_mock, url) = start(&env, &fixtures, &[]);
    for stream in [&[][..], &["--no-stream"]] {
        for contract in CONTRACTS {
            let args = ["--base-url", &url, "--model", "gpt-4", "--contract", contract, "what is here"];
            let output = wait_for_output(
                env.agent(args.iter().chain(stream)).env("OPENAI_API_KEY", "any").spawn().unwrap(),
            );
            output.assert_conforms(contract);
            assert_eq!(output.code, 0, "{contract} {stream:?}: {output:?}");
            assert!(
                output.stdout.contains("There is hello.txt.") && output.stdout.contains("list_files"),
                "{contract}"
            );
        }
        let args = ["--base-url", &url, "--model", "gpt-4", "--json", "what is here"];
        let output = wait_for_output(
            env.agent(args.iter().chain(stream)).env("OPENAI_API_KEY", "any").spawn().unwrap(),
        );
        let data = output.document()["data"].clone();
        assert_eq!(
            (output.code, &data["answer"], &data["health"]["tool_calls"]),
            (0, &"There is hello.txt.".into(), &1.into())
        );
    }
    for contract in CONTRACTS {
        let args = ["--base-url", &url, "--model", "gpt-4", "--contract", contract, "fail"];
        let output = wait_for_output(env.agent(args).env("OPENAI_API_KEY", "any").spawn().unwrap());
        output.assert_conforms(contract);
        assert_eq!(output.code, 1, "{contract}");
        assert!(output.stdout.contains("mock refused"), "{contract}: {output:?}");
    }
}

#[test]
#[ignore = "installs a server from npm"]
fn connection_failures_are_reported_as_the_contract_requires() {
    let env = TestEnv::new();
    env.file("agent.toml", "retry_base_ms = 1\n");
    let fixtures = json!([{"match": {"userMessage": "hello"}, "response": {"content": "hi"}}]);
    for chaos in ["--chaos-drop", "--chaos-malformed", "--chaos-disconnect"] {
        let (_mock, url) = start(&env, &fixtures, &[chaos, "1"]);
        for contract in CONTRACTS {
            let args = ["--base-url", &url, "--contract", contract, "--config", "agent.toml", "hello"];
            let output = wait_for_output(env.agent(args).env("OPENAI_API_KEY", "any").spawn().unwrap());
            output.assert_conforms(contract);
            assert_ne!(output.code, 0, "{contract} {chaos}");
            if contract == "agent-js" {
                assert_eq!(
                    (output.code, &output.document()["health"]["retriesUsed"]),
                    (1, &2.into()),
                    "{chaos}"
                );
            }
        }
    }
}

#[test]
#[ignore = "installs an SDK from npm"]
fn the_codex_sdk_parses_a_run() {
    let sdk = install(CODEX_SDK, "agentnative-test-codex-sdk").join("@openai/codex-sdk/dist/index.js");
    let env = TestEnv::new();
    env.file("hello.txt", "hello");
    let agent = env!("CARGO_BIN_EXE_reference-agent");
    let fails = env.outside("fails.json");
    std::fs::write(
        &fails,
        json!({"turns": [{"fail": {"kind": "request", "message": "it said no"}}]}).to_string(),
    )
    .unwrap();
    let run = |arguments: &str| {
        let (program, script) = (env.outside("codex"), env.outside("run.mjs"));
        // The SDK writes the query to stdin.
        std::fs::write(&program, format!("#!/bin/sh\nexec '{agent}' --contract codex-exec {arguments}\n"))
            .unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::write(&script, CODEX_RUN).unwrap();
        let mut node = Command::new("node");
        node.arg(&script).arg(&sdk).arg(&program).arg("list the files here").current_dir(env.work());
        wait_for_output(node.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    };
    let turn = run("").document();
    assert_eq!(turn["finalResponse"], "hello.txt");
    assert_eq!(
        (&turn["items"][0]["tool"], &turn["items"][0]["status"]),
        (&"list_files".into(), &"completed".into())
    );
    assert_eq!(run(&format!("--script '{}'", fails.display())).document(), json!({"message": "it said no"}));
    let usage = run("--nope").document();
    assert!(usage["message"].as_str().unwrap().contains("exited with code 2"), "{usage}");
}
