//! The command line: formats, contracts, what makes no sense together, help.

use crate::support::{CONTRACTS, Place, says, script};
use agentnative_contract::Schema;
use serde_json::Value;

#[test]
fn the_three_formats_and_their_aliases() {
    let place = Place::new();
    place.script(&script(&[says("yes")]));
    assert_eq!(place.run(["q"]).stdout, "yes\n");
    assert_eq!(place.run(["--output", "text", "q"]).stdout, "yes\n");
    for args in [vec!["--json"], vec!["--output", "json"], vec!["--output=json"]] {
        let document = place.run(args.into_iter().chain(["q"])).document();
        assert_eq!((&document["ok"], &document["command"]), (&true.into(), &"run".into()));
        assert_eq!(document["data"]["answer"], "yes");
    }
    for args in [vec!["--jsonl"], vec!["--output", "jsonl"]] {
        let records = place.run(args.into_iter().chain(["q"])).records();
        assert_eq!((&records[0]["type"], &records[3]["type"]), (&"start".into(), &"end".into()));
    }
    let ran = place.run(["--json", "q"]);
    assert_eq!(ran.stderr, "", "nothing but data in a JSON mode");
}

#[test]
fn a_table_has_a_row_for_each_event() {
    let place = Place::new();
    let calls = serde_json::json!([{"tool": "calculate", "args": {"expression": "6 * 7"}}, {"tool": "nope"}]);
    place.script(&script(&[serde_json::json!({"calls": calls}), says("it is \"42\",\nI think")]));
    let ran = place.run(["--output", "csv", "--quiet", "a, b"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    // What a run took changes.
    let rows: Vec<Vec<String>> = csv(&ran.stdout);
    assert!(rows.iter().all(|row| row.len() == 7), "{rows:?}");
    let column = |at: usize| rows.iter().map(|row| row[at].as_str()).collect::<Vec<_>>();
    let types = [
        "type",
        "start",
        "turn",
        "tool-call",
        "tool-result",
        "tool-call",
        "tool-result",
        "turn",
        "text",
        "end",
    ];
    assert_eq!(column(0), types);
    assert_eq!(column(4), ["ok", "", "", "", "true", "", "false", "", "", "true"]);
    assert_eq!((rows[1][6].as_str(), rows[9][6].as_str()), ("a, b", "it is \"42\",\nI think"));
    assert_eq!(rows[3][6], "{\"expression\":\"6 * 7\"}");
    // An error is told as in text; before the run began there is no table.
    place.script(&script(&[serde_json::json!({"fail": {"kind": "request", "message": "no"}})]));
    let ran = place.run(["--output", "csv", "q"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, "error: no\n"));
    assert!(ran.stdout.ends_with("PROVIDER_ERROR\n"), "{ran:?}");
    assert_eq!(place.run(["--output", "csv"]).stdout, "");
}

/// The fields of a table, read as RFC 4180 says.
fn csv(text: &str) -> Vec<Vec<String>> {
    let (mut rows, mut field, mut quoted) = (vec![vec![]], String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.next_if_eq(&'"').is_some() => field.push('"'),
            '"' => quoted = !quoted,
            ',' | '\n' if !quoted => {
                rows.last_mut().unwrap().push(std::mem::take(&mut field));
                if c == '\n' {
                    rows.push(vec![]);
                }
            }
            c => field.push(c),
        }
    }
    assert_eq!(rows.pop(), Some(vec![]));
    rows
}

#[test]
fn text_has_its_diagnostics_on_standard_error() {
    let place = Place::new();
    let ran = place.run(["calculate 6*7"]);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("6*7 = 42\n", "[tool] calculate\n"));
    let quiet = place.run(["--quiet", "calculate 6*7"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("6*7 = 42\n", ""));
    place.script(&script(&[says("a \u{1b}[1mbold\u{1b}[0m word")]));
    assert_eq!(place.run(["--raw", "q"]).stdout, "a \u{1b}[1mbold\u{1b}[0m word\n");
    assert_eq!(place.run(["q"]).stdout, "a \\x1b[1mbold\\x1b[0m word\n");
}

#[test]
fn what_makes_no_sense_together_is_a_usage_error_that_says_so() {
    let place = Place::new();
    for (args, said) in [
        (["--contract", "opencode-events", "--output", "json"], "jsonl only"),
        (["--contract", "opencode-events", "--output", "text"], "jsonl only"),
        (["--raw", "--output", "json", "q"], "--raw"),
        (["--raw", "--output", "jsonl", "q"], "--raw"),
        (["--raw", "--output", "csv", "q"], "--raw"),
        (["--contract", "opencode-events", "--output", "csv"], "jsonl only"),
    ] {
        let ran = place.run(args);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(said), "{ran:?}");
    }
    let flat = place.run(["--contract", "dexter-flat", "--output", "jsonl", "q"]);
    flat.keeps("dexter-flat");
    assert_eq!((flat.code, &flat.document()["success"]), (2, &false.into()));
    assert!(flat.document()["error"].as_str().unwrap().contains("json only"));
    let js = place.run(["--contract", "agent-js", "--jsonl", "q"]);
    assert_eq!((js.code, &js.document()["code"]), (1, &"INVALID_OPTION".into()));
}

#[test]
fn wrong_arguments_are_told_as_the_contract_tells_them() {
    let place = Place::new();
    for args in [
        vec!["--nope", "q"],
        vec!["q", "--model"],
        vec!["--model", "", "q"],
        vec!["--model", "openai/", "q"],
        vec!["--max-tool-turns", "0", "q"],
        vec!["--max-tool-turns", "201", "q"],
        vec!["--timeout", "0", "q"],
        vec!["--timeout", "soon", "q"],
        vec!["--approval-mode", "maybe", "q"],
        vec!["--profile", "root", "q"],
        vec!["--tools-mode", "x", "q"],
    ] {
        for contract in CONTRACTS {
            let ran = place.run(["--contract", contract].iter().chain(&args));
            ran.keeps(contract);
            let one = ["dexter-nested", "agent-js", "opencode-run", "claude-stream"].contains(&contract);
            let code = if one { 1 } else { 2 };
            assert_eq!(ran.code, code, "{contract} {args:?}");
            match contract {
                "agent-js" => assert_eq!(ran.document()["code"], "INVALID_OPTION"),
                "dexter-nested" => assert_eq!(ran.document()["error"]["code"], "CONFIG_ERROR"),
                "dexter-flat" => assert_eq!(ran.document()["query"], ""),
                "opencode-events" => assert_eq!(ran.error()["kind"], "usage"),
                _ => assert!(ran.stdout.is_empty() && ran.stderr.starts_with("error: "), "{ran:?}"),
            }
        }
        for format in ["text", "json", "jsonl"] {
            let ran = place.run(["--output", format].iter().chain(&args));
            assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{format} {args:?}");
            assert!(!ran.stderr.is_empty());
            if format != "text" {
                assert_eq!(ran.error()["kind"], "usage");
            }
        }
    }
    for bad in [["--output", "xml"], ["--contract", "none"]] {
        assert_eq!(place.run(bad.iter().chain(&["q"])).code, 2);
    }
    // The hint is the tip, else the usage, and not all of clap's words on one line.
    let hint = |args: &[&str]| place.run(["--json"].iter().chain(args)).error()["hint"].clone();
    assert_eq!(hint(&["--outptu", "json"]), "a similar argument exists: '--output'");
    assert_eq!(hint(&["--profile"]), "--help shows what is expected");
    let beyond = place.run(["--json", "--max-tool-turns", "201", "q"]).error()["message"].clone();
    assert!(beyond.as_str().unwrap().ends_with("expected a whole number from 1 to 200"), "{beyond}");
    // The bounds themselves are fine.
    place.script(&script(&[says("yes")]));
    for turns in ["1", "200"] {
        assert_eq!(place.run(["--max-tool-turns", turns, "q"]).code, 0);
    }
}

#[test]
fn help_and_version_are_answers_in_every_mode() {
    let place = Place::new();
    for flag in ["--help", "--version"] {
        for mode in [vec![], vec!["--json"], vec!["--contract", "agent-js"]] {
            let ran = place.run(mode.into_iter().chain([flag]));
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
            assert!(ran.stdout.contains("reference-agent"));
        }
    }
    let help = place.run(["--help"]).stdout;
    for code in ["0 ", "1 ", "2 ", "77 ", "78 "] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(code)), "{code}: {help}");
    }
}

#[test]
fn the_printed_schema_is_valid_and_holds_for_what_is_printed() {
    let place = Place::new();
    let tool = serde_json::json!({"calls": [{"tool": "list_files"}, {"tool": "nope"}]});
    place.script(&script(&[tool, says("yes")]));
    let schema = |args: &[&str]| {
        let ran = place.run(args.iter().chain(&["--json-schema"]));
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        Schema::compile(&ran.document()).unwrap()
    };
    let holds = |schema: &Schema, value: &Value| {
        let violations = schema.violations(value);
        assert!(violations.is_empty(), "{violations:?}\n{value}");
    };
    holds(&schema(&["--json"]), &place.run(["--json", "q"]).document());
    assert!(!schema(&["--json"]).violations(&serde_json::json!({"ok": true})).is_empty());
    for line in place.run(["--jsonl", "q"]).records() {
        holds(&schema(&["--jsonl"]), &line);
    }
    for contract in ["dexter-flat", "dexter-nested", "agent-js"] {
        let schema = schema(&["--contract", contract]);
        holds(&schema, &place.run(["--contract", contract, "q"]).document());
        holds(&schema, &place.run(["--contract", contract]).document());
        assert!(!schema.violations(&serde_json::json!({"ok": true})).is_empty());
    }
    let events = schema(&["--contract", "opencode-events"]);
    for line in place.run(["--contract", "opencode-events", "q"]).records() {
        holds(&events, &line);
    }
}
