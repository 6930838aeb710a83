//! The command line: formats, contracts, conflicting options and help.

use crate::support::{CONTRACTS, TestEnv, script, text_turn};
use agentnative_contract::Schema;
use serde_json::Value;

#[test]
fn the_three_formats_and_their_aliases() {
    let env = TestEnv::new();
    env.script(&script(&[text_turn("yes")]));
    assert_eq!(env.run(["q"]).stdout, "yes\n");
    assert_eq!(env.run(["--output", "text", "q"]).stdout, "yes\n");
    for args in [vec!["--json"], vec!["--output", "json"], vec!["--output=json"]] {
        let document = env.run(args.into_iter().chain(["q"])).document();
        assert_eq!((&document["ok"], &document["command"]), (&true.into(), &"run".into()));
        assert_eq!(document["data"]["answer"], "yes");
    }
    for args in [vec!["--jsonl"], vec!["--output", "jsonl"]] {
        let records = env.run(args.into_iter().chain(["q"])).records();
        assert_eq!((&records[0]["type"], &records[3]["type"]), (&"start".into(), &"end".into()));
    }
    let output = env.run(["--json", "q"]);
    assert_eq!(output.stderr, "", "nothing but data in a JSON mode");
}

#[test]
fn csv_has_a_row_for_each_event() {
    let env = TestEnv::new();
    let calls = serde_json::json!([{"tool": "calculate", "args": {"expression": "6 * 7"}}, {"tool": "nope"}]);
    env.script(&script(&[serde_json::json!({"calls": calls}), text_turn("it is \"42\",\nI think")]));
    let output = env.run(["--output", "csv", "--quiet", "a, b"]);
    assert_eq!((output.code, output.stderr.as_str()), (0, ""));
    let rows: Vec<Vec<String>> = parse_csv(&output.stdout);
    assert!(rows.iter().all(|row| row.len() == 7), "{rows:?}");
    let column = |index: usize| rows.iter().map(|row| row[index].as_str()).collect::<Vec<_>>();
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
    // An error is reported as in text. A run that failed before it started has no table.
    env.script(&script(&[serde_json::json!({"fail": {"kind": "request", "message": "no"}})]));
    let output = env.run(["--output", "csv", "q"]);
    assert_eq!((output.code, output.stderr.as_str()), (1, "error: no\n"));
    assert!(output.stdout.ends_with("PROVIDER_ERROR\n"), "{output:?}");
    assert_eq!(env.run(["--output", "csv"]).stdout, "");
}

/// Parses the fields of a table as RFC 4180 requires.
fn parse_csv(text: &str) -> Vec<Vec<String>> {
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
fn text_diagnostics_go_to_stderr() {
    let env = TestEnv::new();
    let output = env.run(["calculate 6*7"]);
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("6*7 = 42\n", "[tool] calculate\n"));
    let quiet = env.run(["--quiet", "calculate 6*7"]);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("6*7 = 42\n", ""));
    env.script(&script(&[text_turn("a \u{1b}[1mbold\u{1b}[0m word")]));
    assert_eq!(env.run(["--raw", "q"]).stdout, "a \u{1b}[1mbold\u{1b}[0m word\n");
    assert_eq!(env.run(["q"]).stdout, "a \\x1b[1mbold\\x1b[0m word\n");
}

#[test]
fn conflicting_options_are_a_usage_error_that_names_them() {
    let env = TestEnv::new();
    for (args, message) in [
        (["--contract", "opencode-events", "--output", "json"], "jsonl only"),
        (["--contract", "opencode-events", "--output", "text"], "jsonl only"),
        (["--raw", "--output", "json", "q"], "--raw"),
        (["--raw", "--output", "jsonl", "q"], "--raw"),
        (["--raw", "--output", "csv", "q"], "--raw"),
        (["--contract", "opencode-events", "--output", "csv"], "jsonl only"),
    ] {
        let output = env.run(args);
        assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{args:?}");
        assert!(output.stderr.contains(message), "{output:?}");
    }
    let flat = env.run(["--contract", "dexter-flat", "--output", "jsonl", "q"]);
    flat.assert_conforms("dexter-flat");
    assert_eq!((flat.code, &flat.document()["success"]), (2, &false.into()));
    assert!(flat.document()["error"].as_str().unwrap().contains("json only"));
    let js = env.run(["--contract", "agent-js", "--jsonl", "q"]);
    assert_eq!((js.code, &js.document()["code"]), (1, &"INVALID_OPTION".into()));
}

#[test]
fn invalid_arguments_are_reported_as_the_contract_requires() {
    let env = TestEnv::new();
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
            let output = env.run(["--contract", contract].iter().chain(&args));
            output.assert_conforms(contract);
            let exits_with_1 =
                ["dexter-nested", "agent-js", "opencode-run", "claude-stream"].contains(&contract);
            let code = if exits_with_1 { 1 } else { 2 };
            assert_eq!(output.code, code, "{contract} {args:?}");
            match contract {
                "agent-js" => assert_eq!(output.document()["code"], "INVALID_OPTION"),
                "dexter-nested" => assert_eq!(output.document()["error"]["code"], "CONFIG_ERROR"),
                "dexter-flat" => assert_eq!(output.document()["query"], ""),
                "opencode-events" => assert_eq!(output.error()["kind"], "usage"),
                _ => assert!(output.stdout.is_empty() && output.stderr.starts_with("error: "), "{output:?}"),
            }
        }
        for format in ["text", "json", "jsonl"] {
            let output = env.run(["--output", format].iter().chain(&args));
            assert_eq!((output.code, output.stdout.as_str()), (2, ""), "{format} {args:?}");
            assert!(!output.stderr.is_empty());
            if format != "text" {
                assert_eq!(output.error()["kind"], "usage");
            }
        }
    }
    for args in [["--output", "xml"], ["--contract", "none"]] {
        assert_eq!(env.run(args.iter().chain(&["q"])).code, 2);
    }
    // The hint is the tip of clap or the usage, not the complete message on one line.
    let hint = |args: &[&str]| env.run(["--json"].iter().chain(args)).error()["hint"].clone();
    assert_eq!(hint(&["--outptu", "json"]), "a similar argument exists: '--output'");
    assert_eq!(hint(&["--profile"]), "--help shows what is expected");
    let beyond = env.run(["--json", "--max-tool-turns", "201", "q"]).error()["message"].clone();
    assert!(beyond.as_str().unwrap().ends_with("expected a whole number from 1 to 200"), "{beyond}");
    // The limits themselves are valid.
    env.script(&script(&[text_turn("yes")]));
    for turns in ["1", "200"] {
        assert_eq!(env.run(["--max-tool-turns", turns, "q"]).code, 0);
    }
}

#[test]
fn help_and_version_succeed_in_every_format() {
    let env = TestEnv::new();
    for flag in ["--help", "--version"] {
        for format in [vec![], vec!["--json"], vec!["--contract", "agent-js"]] {
            let output = env.run(format.into_iter().chain([flag]));
            assert_eq!((output.code, output.stderr.as_str()), (0, ""));
            assert!(output.stdout.contains("reference-agent"));
        }
    }
    let help = env.run(["--help"]).stdout;
    for code in ["0 ", "1 ", "2 ", "77 ", "78 "] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(code)), "{code}: {help}");
    }
}

#[test]
fn the_printed_schema_is_valid_and_matches_the_output() {
    let env = TestEnv::new();
    let tool = serde_json::json!({"calls": [{"tool": "list_files"}, {"tool": "nope"}]});
    env.script(&script(&[tool, text_turn("yes")]));
    let schema = |args: &[&str]| {
        let output = env.run(args.iter().chain(&["--json-schema"]));
        assert_eq!((output.code, output.stderr.as_str()), (0, ""));
        Schema::compile(&output.document()).unwrap()
    };
    let assert_valid = |schema: &Schema, value: &Value| {
        let violations = schema.violations(value);
        assert!(violations.is_empty(), "{violations:?}\n{value}");
    };
    assert_valid(&schema(&["--json"]), &env.run(["--json", "q"]).document());
    assert!(!schema(&["--json"]).violations(&serde_json::json!({"ok": true})).is_empty());
    for line in env.run(["--jsonl", "q"]).records() {
        assert_valid(&schema(&["--jsonl"]), &line);
    }
    for contract in ["dexter-flat", "dexter-nested", "agent-js"] {
        let schema = schema(&["--contract", contract]);
        assert_valid(&schema, &env.run(["--contract", contract, "q"]).document());
        assert_valid(&schema, &env.run(["--contract", contract]).document());
        assert!(!schema.violations(&serde_json::json!({"ok": true})).is_empty());
    }
    let events = schema(&["--contract", "opencode-events"]);
    for line in env.run(["--contract", "opencode-events", "q"]).records() {
        assert_valid(&events, &line);
    }
}
