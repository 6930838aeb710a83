//! Tool round trips against a server that nobody here wrote: `@copilotkit/aimock` from npm.
//!
//! They install it into a temporary folder, so they are run only when asked for (`--ignored`).

use crate::support::{CONTRACTS, Place, ran};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
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

/// The program, installed once for all tests of this file, unless an earlier run did so.
fn installed() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let folder = std::env::temp_dir().join("agentnative-test-aimock");
        let program = folder.join("node_modules/.bin/llmock");
        if !program.exists() {
            let mut npm = Command::new("npm");
            npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--silent", "--prefix"]);
            npm.arg(&folder).arg(PACKAGE).stdout(Stdio::null());
            assert!(npm.status().unwrap().success(), "{PACKAGE} could not be installed with npm");
        }
        program
    })
}

fn start(place: &Place, fixtures: &Value, more: &[&str]) -> (Mock, String) {
    let folder = place.outside("fixtures");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("all.json"), json!({"fixtures": fixtures}).to_string()).unwrap();
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut child = Command::new(installed())
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
    (mock, format!("http://127.0.0.1:{port}/v1"))
}

#[test]
#[ignore = "installs a server from npm"]
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
    let (_mock, url) = start(&place, &fixtures, &[]);
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
#[ignore = "installs a server from npm"]
fn its_chaos_is_told_as_the_contract_tells_it() {
    let place = Place::new();
    place.file("agent.toml", "retry_base_ms = 1\n");
    let fixtures = json!([{"match": {"userMessage": "hello"}, "response": {"content": "hi"}}]);
    for chaos in ["--chaos-drop", "--chaos-malformed", "--chaos-disconnect"] {
        let (_mock, url) = start(&place, &fixtures, &[chaos, "1"]);
        for contract in CONTRACTS {
            let args = ["--base-url", &url, "--contract", contract, "--config", "agent.toml", "hello"];
            let ran = ran(place.agent(args).env("OPENAI_API_KEY", "any").spawn().unwrap());
            ran.keeps(contract);
            assert_ne!(ran.code, 0, "{contract} {chaos}");
            if contract == "agent-js" {
                assert_eq!((ran.code, &ran.document()["health"]["retriesUsed"]), (1, &2.into()), "{chaos}");
            }
        }
    }
}
