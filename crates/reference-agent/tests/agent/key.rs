//! The key of the model: where it can be read once the agent runs, and what else the agent keeps of its start.

use crate::server::{Server, calls, text_reply};
use crate::support::{Place, ran, says, script};
use serde_json::{Value, json};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

const KEY: &str = "sk-0123456789-of-the-test";

/// What a command says that the agent runs with the key in its environment; the number of its process.
fn command(place: &Place, line: &str, change: impl FnOnce(&mut Command)) -> (Value, u32) {
    let server =
        Server::new(vec![calls(&[("run_command", json!({"command": line}))]), text_reply("done", None)]);
    let args =
        ["--contract", "agent-js", "--base-url", &server.url, "--profile", "dev", "--no-stream", "a query"];
    let mut agent = place.agent(args);
    change(agent.env("OPENAI_API_KEY", KEY));
    let child = agent.spawn().unwrap();
    let number = child.id();
    let ran = ran(child);
    assert_eq!(ran.code, 0, "{ran:?}");
    let request = &server.requests()[0];
    assert!(request.head.contains(KEY), "it is sent to the server all the same");
    let call = ran.document()["toolCalls"][0].clone();
    (call, number)
}

/// Backwards, so that what hides the key does not hide that it was found.
const LOOK: &str = "cat /proc/$PPID/environ | tr '\\0' '\\n' | rev; \
    for fd in /proc/$PPID/fd/*; do [ -p $fd ] && [ ${fd##*/} -gt 2 ] && timeout 0.1 cat $fd; done | rev; true";

#[test]
fn root_finds_no_key_in_the_environment_of_the_agent() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can read the environment of the agent");
        return;
    }
    let (call, _) = command(&Place::new(), LOOK, |_| ());
    let said = call["result"]["stdout"].as_str().unwrap_or_else(|| panic!("{call}"));
    assert!(said.contains("=EMOH"), "the environment was read: {said}");
    assert!(!said.contains("9876543210"), "{said}");
    // It is found where it stays in the environment.
    let (call, _) = command(&Place::new(), LOOK, |agent| {
        agent.env("AGENTNATIVE_HANDED_OVER", "none");
    });
    assert!(call["result"]["stdout"].as_str().unwrap().contains("9876543210"), "{call}");
}

#[test]
fn the_agent_is_the_process_that_was_started() {
    let place = Place::new();
    let line = "echo $PPID; cat /proc/$PPID/comm; tr '\\0' '|' </proc/$PPID/cmdline; echo; \
                grep SigIgn /proc/$PPID/status; ls /proc/self/fd | tr '\\n' ' '";
    let looks = |key: bool| {
        let change = |agent: &mut Command| {
            agent.arg0("name of mine").arg("m\u{e9}r \n");
            agent.env("PATH", "/usr/local/bin:/usr/bin:/bin");
            if !key {
                // In its place, where it was left: as if this could not be done.
                agent.env("AGENTNATIVE_HANDED_OVER", "none");
            }
        };
        let (call, number) = command(&place, line, change);
        let said = call["result"]["stdout"].as_str().unwrap_or_else(|| panic!("{call}")).to_owned();
        let (first, rest) = said.split_once('\n').unwrap();
        assert_eq!(first, number.to_string());
        // The ports of the servers differ.
        rest.split("http://")
            .enumerate()
            .map(|(n, part)| if n == 0 { part } else { &part[15..] })
            .collect::<String>()
    };
    let (with, without) = (looks(true), looks(false));
    assert_eq!(with, without);
    assert!(with.starts_with("reference-agent\nname of mine|--contract|"), "{with}");
}

#[test]
fn what_is_no_handed_over_key_is_none() {
    let place = Place::new();
    place.script(&script(&[says("done")]));
    for number in ["", "0", "1", "7", "-1", "99999999999", "x"] {
        // Without a key there is none, and nothing is read from a stream that is somebody's.
        let args = ["--json", "--base-url", "http://127.0.0.1:9/v1", "--max-retries", "0", "a query"];
        let mut agent = place.agent(args);
        let without = ran(agent.env("AGENTNATIVE_HANDED_OVER", number).spawn().unwrap());
        assert_eq!(without.code, 77, "{number}: {without:?}");
        let with = ran(agent.env("OPENAI_API_KEY", KEY).spawn().unwrap());
        assert_eq!(with.code, 1, "{number}: {with:?}");
    }
}

#[test]
fn a_key_that_no_pipe_holds_is_left_where_it_is() {
    let place = Place::new();
    let server = Server::new(vec![text_reply("done", None)]);
    let key = "k".repeat(6000);
    let mut agent = place.agent(["--json", "--base-url", &server.url, "--no-stream", "a query"]);
    assert_eq!(ran(agent.env("OPENAI_API_KEY", &key).spawn().unwrap()).code, 0);
    assert!(server.requests()[0].head.contains(&key));
}
