//! The API key: other processes cannot read it, and removing it does not change the process otherwise.

use crate::mock_server::{Server, call_reply, text_reply};
use crate::support::{TestEnv, script, text_turn, wait_for_output};
use serde_json::{Value, json};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

const KEY: &str = "sk-0123456789-of-the-test";

/// Runs an agent with the key in its environment, which runs a command; returns the tool call and the process ID of the
/// agent.
fn run_command(env: &TestEnv, line: &str, change: impl FnOnce(&mut Command)) -> (Value, u32) {
    let server =
        Server::new(vec![call_reply(&[("run_command", json!({"command": line}))]), text_reply("done", None)]);
    let args =
        ["--contract", "agent-js", "--base-url", &server.url, "--profile", "dev", "--no-stream", "a query"];
    let mut agent = env.agent(args);
    change(agent.env("OPENAI_API_KEY", KEY));
    let child = agent.spawn().unwrap();
    let pid = child.id();
    let output = wait_for_output(child);
    assert_eq!(output.code, 0, "{output:?}");
    let request = &server.requests()[0];
    assert!(request.head.contains(KEY), "the key is still sent to the server");
    let call = output.document()["toolCalls"][0].clone();
    (call, pid)
}

/// Prints the environment and the pipes of the agent. Reversed, because the agent redacts the key in tool results.
const PRINT_ENVIRONMENT: &str = "cat /proc/$PPID/environ | tr '\\0' '\\n' | rev; \
    for fd in /proc/$PPID/fd/*; do [ -p $fd ] && [ ${fd##*/} -gt 2 ] && timeout 0.1 cat $fd; done | rev; true";

#[test]
fn root_finds_no_key_in_the_environment_of_the_agent() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can read the environment of the agent");
        return;
    }
    let (call, _) = run_command(&TestEnv::new(), PRINT_ENVIRONMENT, |_| ());
    let stdout = call["result"]["stdout"].as_str().unwrap_or_else(|| panic!("{call}"));
    assert!(stdout.contains("=EMOH"), "the environment was read: {stdout}");
    assert!(!stdout.contains("9876543210"), "{stdout}");
    // The command finds a key that stays in the environment.
    let (call, _) = run_command(&TestEnv::new(), PRINT_ENVIRONMENT, |agent| {
        agent.env("AGENTNATIVE_HANDED_OVER", "none");
    });
    assert!(call["result"]["stdout"].as_str().unwrap().contains("9876543210"), "{call}");
}

#[test]
fn the_agent_is_the_process_that_was_started() {
    let env = TestEnv::new();
    let line = "echo $PPID; cat /proc/$PPID/comm; tr '\\0' '|' </proc/$PPID/cmdline; echo; \
                grep SigIgn /proc/$PPID/status; ls /proc/self/fd | tr '\\n' ' '";
    let observe = |key_removed: bool| {
        let change = |agent: &mut Command| {
            agent.arg0("name of mine").arg("m\u{e9}r \n");
            agent.env("PATH", "/usr/local/bin:/usr/bin:/bin");
            if !key_removed {
                // The key stays in the environment, as if it could not be removed.
                agent.env("AGENTNATIVE_HANDED_OVER", "none");
            }
        };
        let (call, pid) = run_command(&env, line, change);
        let stdout = call["result"]["stdout"].as_str().unwrap_or_else(|| panic!("{call}")).to_owned();
        let (first, rest) = stdout.split_once('\n').unwrap();
        assert_eq!(first, pid.to_string());
        // The ports of the servers differ.
        rest.split("http://")
            .enumerate()
            .map(|(n, part)| if n == 0 { part } else { &part[15..] })
            .collect::<String>()
    };
    let (with, without) = (observe(true), observe(false));
    assert_eq!(with, without);
    assert!(with.starts_with("reference-agent\nname of mine|--contract|"), "{with}");
}

#[test]
fn an_invalid_handover_descriptor_is_ignored() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("done")]));
    for descriptor in ["", "0", "1", "7", "-1", "99999999999", "x"] {
        // No key is read from a descriptor that has another purpose.
        let args = ["--json", "--base-url", "http://127.0.0.1:9/v1", "--max-retries", "0", "a query"];
        let mut agent = env.agent(args);
        let without = wait_for_output(agent.env("AGENTNATIVE_HANDED_OVER", descriptor).spawn().unwrap());
        assert_eq!(without.code, 77, "{descriptor}: {without:?}");
        let with = wait_for_output(agent.env("OPENAI_API_KEY", KEY).spawn().unwrap());
        assert_eq!(with.code, 1, "{descriptor}: {with:?}");
    }
}

#[test]
fn a_key_larger_than_a_pipe_stays_in_the_environment() {
    let env = TestEnv::new();
    let server = Server::new(vec![text_reply("done", None)]);
    let key = "k".repeat(6000);
    let mut agent = env.agent(["--json", "--base-url", &server.url, "--no-stream", "a query"]);
    assert_eq!(wait_for_output(agent.env("OPENAI_API_KEY", &key).spawn().unwrap()).code, 0);
    assert!(server.requests()[0].head.contains(&key));
}
