//! Where the query comes from, and what happens without one.

use crate::support::{CONTRACTS, Place, ran, says, script};
use std::io::Write as _;
use std::process::Stdio;

#[test]
fn words_are_joined() {
    let place = Place::new();
    place.script(&script(&[says("yes")]));
    let ran = place.run(["--json", "what", "is  this", "--", "--raw"]);
    assert_eq!(ran.document()["data"]["query"], "what is  this --raw");
    let flat = place.run(["--contract", "dexter-flat", "what", "is", "this"]);
    assert_eq!(flat.document()["query"], "what is this");
}

#[test]
fn standard_input_is_read_to_its_end_when_there_are_no_words() {
    let place = Place::new();
    place.script(&script(&[says("yes")]));
    for contract in ["dexter-flat", "dexter-nested"] {
        let ran = place.run_with(["--contract", contract], b"  from\nstdin \n");
        assert_eq!((ran.code, &ran.document()["query"]), (0, &"from\nstdin".into()), "{contract}");
        ran.keeps(contract);
    }
    // In pieces: the end is the end of the stream, not that of the first read.
    let mut child = place.agent(["--json"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    for piece in ["one ", "two ", "three"] {
        stdin.write_all(piece.as_bytes()).unwrap();
        stdin.flush().unwrap();
        std::thread::yield_now();
    }
    drop(stdin);
    assert_eq!(ran(child).document()["data"]["query"], "one two three");
}

#[test]
fn words_win_over_standard_input_which_is_then_not_read() {
    let place = Place::new();
    place.script(&script(&[says("yes")]));
    let mut child = place.agent(["--json", "words"]).stdin(Stdio::piped()).spawn().unwrap();
    let open = child.stdin.take(); // never written to, never closed
    let ran = ran(child);
    drop(open);
    assert_eq!(ran.document()["data"]["query"], "words");
}

#[test]
fn without_a_query_it_is_a_usage_error_as_each_contract_tells_it() {
    let place = Place::new();
    for (args, stdin) in [(vec![], ""), (vec![], " \n\t"), (vec![" "], "unread")] {
        let run = |contract: &str| {
            let mut all = vec!["--contract", contract];
            all.extend(&args);
            let ran = place.run_with(all, stdin.as_bytes());
            ran.keeps(contract);
            ran
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
            let ran = place.run_with(all, stdin.as_bytes());
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{format}");
            assert!(ran.stderr.contains("query"), "{format}");
            if format != "text" {
                assert_eq!(ran.error()["kind"], "usage");
            }
        }
    }
    let events = place.run(["--contract", "opencode-events"]);
    assert_eq!((events.code, events.stdout.as_str(), &events.error()["kind"]), (2, "", &"usage".into()));
}

#[test]
fn a_query_that_is_no_text_is_refused() {
    let place = Place::new();
    assert_eq!(place.run_with(["--json"], b"\xff\xfe").error()["kind"], "usage");
    let long = place.run_with(["--json"], &b"x".repeat((1 << 20) + 1));
    assert_eq!((long.code, &long.error()["kind"]), (2, &"usage".into()));
}

#[test]
fn unusual_words_come_through_whole() {
    let place = Place::new();
    place.script(&script(&[says("\u{1b}[31mred\u{7}\u{202e} \"quoted\" \\ \u{1f600}")]));
    let query = "\u{1b}]0;title\u{7} \"a\" \\ \u{202e} \u{1f600}";
    for contract in CONTRACTS {
        let ran = place.run(["--contract", contract, query]);
        ran.keeps(contract);
        assert!(!ran.stdout.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{contract}: raw control characters");
    }
    let ran = place.run(["--json", query]);
    assert_eq!(ran.document()["data"]["query"], query);
    let text = place.run([query]);
    assert!(text.stdout.contains("\\x1b[31mred"), "{text:?}");
}
