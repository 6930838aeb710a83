//! A tool round trip against a server that nobody here wrote: `@copilotkit/aimock` from npm.
//!
//! The test installs it into a temporary folder, and says so and ends when it cannot.

use crate::support::{CONTRACTS, Place, ran};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

const PACKAGE: &str = "@copilotkit/aimock@1.43.0";

/// The server; ended with the test.
struct Mock(Child);

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, installed once for all tests of this file; none when that is not possible here.
fn installed() -> Option<PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(install).clone()
}

/// Installs the package, unless an earlier run of the tests did.
fn install() -> Option<PathBuf> {
    let folder = std::env::temp_dir().join("agentnative-test-aimock");
    let program = folder.join("node_modules/.bin/llmock");
    if !program.exists() {
        let installed = Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix"])
            .arg(&folder)
            .arg(PACKAGE)
            .stdout(Stdio::null())
            .status();
        if !installed.is_ok_and(|status| status.success()) {
            return None;
        }
    }
    program.exists().then_some(program)
}

fn start(place: &Place, fixtures: &Value, more: &[&str]) -> Option<(Mock, String)> {
    let Some(program) = installed() else {
        eprintln!("skipped: {PACKAGE} could not be installed with npm");
        return None;
    };
    let folder = place.outside("fixtures");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("all.json"), json!({"fixtures": fixtures}).to_string()).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new(program)
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
    // Its log goes on, and its pipe has to be read.
    std::thread::spawn(move || lines.count());
    Some((mock, format!("http://127.0.0.1:{port}/v1")))
}

#[test]
fn a_tool_round_trip_in_each_contract() {
    let place = Place::new();
    place.file("hello.txt", "hello from a file\n");
    let fixtures = json!([
        {"match": {"toolCallId": "call_list"}, "response": {"content": "There is hello.txt."}},
        {"match": {"userMessage": "what is here"}, "response": {"toolCalls": [
            {"id": "call_list", "name": "list_files", "arguments": "{\"path\":\".\"}"},
        ]}},
        {"match": {"userMessage": "fail"}, "response": {"error": {"message": "mock refused", "type": "invalid_request_error"}, "status": 400}},
    ]);
    let Some((_mock, url)) = start(&place, &fixtures, &[]) else { return };
    for stream in [&[][..], &["--no-stream"]] {
        for contract in CONTRACTS {
            let args = ["--base-url", &url, "--model", "gpt-4", "--contract", contract, "what is here"];
            let ran =
                ran(place.agent(args.iter().chain(stream)).env("OPENAI_API_KEY", "any").spawn().unwrap());
            ran.keeps(contract);
            assert_eq!(ran.code, 0, "{contract} {stream:?}: {ran:?}");
            assert!(
                ran.stdout.contains("There is hello.txt.") && ran.stdout.contains("list_files"),
                "{contract}"
            );
        }
        let args = ["--base-url", &url, "--model", "gpt-4", "--json", "what is here"];
        let ran = ran(place.agent(args.iter().chain(stream)).env("OPENAI_API_KEY", "any").spawn().unwrap());
        let data = ran.document()["data"].clone();
        assert_eq!(
            (ran.code, &data["answer"], &data["health"]["tool_calls"]),
            (0, &"There is hello.txt.".into(), &1.into())
        );
    }
    for contract in CONTRACTS {
        let args = ["--base-url", &url, "--model", "gpt-4", "--contract", contract, "fail"];
        let ran = ran(place.agent(args).env("OPENAI_API_KEY", "any").spawn().unwrap());
        ran.keeps(contract);
        assert_eq!(ran.code, 1, "{contract}");
        assert!(ran.stdout.contains("mock refused"), "{contract}: {ran:?}");
    }
}

#[test]
fn its_chaos_is_told_as_the_contract_tells_it() {
    let place = Place::new();
    place.file("agent.toml", "retry_base_ms = 1\n");
    let fixtures = json!([{"match": {"userMessage": "hello"}, "response": {"content": "hi"}}]);
    for (chaos, code) in [("--chaos-drop", 8), ("--chaos-malformed", 8), ("--chaos-disconnect", 8)] {
        let Some((_mock, url)) = start(&place, &fixtures, &[chaos, "1"]) else { return };
        for contract in CONTRACTS {
            let args = ["--base-url", &url, "--contract", contract, "--config", "agent.toml", "hello"];
            let ran = ran(place.agent(args).env("OPENAI_API_KEY", "any").spawn().unwrap());
            ran.keeps(contract);
            assert_ne!(ran.code, 0, "{contract} {chaos}");
            if contract == "agent-js" {
                assert_eq!(
                    (ran.code, &ran.document()["health"]["retriesUsed"]),
                    (code, &2.into()),
                    "{chaos}"
                );
            }
        }
    }
}
