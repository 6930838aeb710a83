//! The query from the arguments or stdin, and a missing query.

use crate::support::{CONTRACTS, TestEnv, script, text_turn, wait_for_output};
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn arguments_are_joined() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("yes")]));
    let output = env.run(["--json", "what", "is  this", "--", "--raw"]);
    assert_eq!(output.document()["data"]["query"], "what is  this --raw");
    let flat = env.run(["--contract", "dexter-flat", "what", "is", "this"]);
    assert_eq!(flat.document()["query"], "what is this");
}

#[test]
fn stdin_is_read_to_its_end_without_arguments() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("yes")]));
    for contract in ["dexter-flat", "dexter-nested"] {
        let output = env.run_with(["--contract", contract], b"  from\nstdin \n");
        assert_eq!((output.code, &output.document()["query"]), (0, &"from\nstdin".into()), "{contract}");
        output.assert_conforms(contract);
    }
    // stdin is read until it is closed, not only once.
    let mut child = env.agent(["--json"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for piece in ["one ", "two ", "three"] {
        stdin.write_all(piece.as_bytes()).unwrap();
        stdin.flush().unwrap();
        std::thread::yield_now();
    }
    drop(stdin);
    assert_eq!(wait_for_output(child).document()["data"]["query"], "one two three");
}

#[test]
fn arguments_take_precedence_and_stdin_is_not_read() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("yes")]));
    let mut child = env.agent(["--json", "words"]).stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take(); // never written to, never closed
    let output = wait_for_output(child);
    drop(open);
    assert_eq!(output.document()["data"]["query"], "words");
}

#[test]
fn a_missing_query_is_a_usage_error_in_each_contract() {
    let env = TestEnv::new();
    for (args, stdin) in [(vec![], ""), (vec![], " \n\t"), (vec![" "], "unread")] {
        let run = |contract: &str| {
            let mut all = vec!["--contract", contract];
            all.extend(&args);
            let output = env.run_with(all, stdin.as_bytes());
            output.assert_conforms(contract);
            output
        };
        let flat = run("dexter-flat");
        assert_eq!(flat.code, 2);
        assert_eq!((&flat.document()["success"], &flat.document()["query"]), (&false.into(), &"".into()));
        let nested = run("dexter-nested");
        assert_eq!((nested.code, &nested.document()["error"]["code"]), (1, &"NO_QUERY".into()));
        let agent_js = run("agent-js");
        assert_eq!((agent_js.code, &agent_js.document()["code"]), (1, &"INVALID_OPTION".into()));

        for format in ["text", "json", "jsonl"] {
            let mut all = vec!["--output", format];
            all.extend(&args);
            let output = env.run_with(all, stdin.as_bytes());
            assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{format}");
            assert!(output.stderr.contains("query"), "{format}");
            if format != "text" {
                assert_eq!(output.error()["kind"], "usage");
            }
        }
    }
    let events = env.run(["--contract", "opencode-events"]);
    assert_eq!((events.code, events.stdout.as_str(), &events.error()["kind"]), (2, "", &"usage".into()));
}

#[test]
fn a_query_that_is_not_text_is_rejected() {
    let env = TestEnv::new();
    assert_eq!(env.run_with(["--json"], b"\xff\xfe").error()["kind"], "usage");
    let long = env.run_with(["--json"], &b"x".repeat((1 << 20) + 1));
    assert_eq!((long.code, &long.error()["kind"]), (2, &"usage".into()));
}

#[test]
fn unusual_characters_are_preserved() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("\u{1b}[31mred\u{7}\u{202e} \"quoted\" \\ \u{1f600}")]));
    let query = "\u{1b}]0;title\u{7} \"a\" \\ \u{202e} \u{1f600}";
    for contract in CONTRACTS {
        let output = env.run(["--contract", contract, query]);
        output.assert_conforms(contract);
        assert!(
            !output.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']),
            "{contract}: raw control characters"
        );
    }
    let output = env.run(["--json", query]);
    assert_eq!(output.document()["data"]["query"], query);
    let text = env.run([query]);
    assert!(text.stdout.contains("\\x1b[31mred"), "{text:?}");
}
