//! Evidence: completeness, order, and command lines that can be executed again.

use super::support::{CliOutput, Folder, output_of};
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Prints `Loading` in json, and its arguments.
const ECHO_ARGUMENTS: &str = "case $* in *json*) echo Loading ;; esac; printf '<%s>' \"$@\"\n";

fn evidence(output: &CliOutput) -> Vec<Value> {
    output.data()["results"][0]["evidence"].as_array().unwrap().clone()
}

#[test]
fn each_failing_probe_is_named_before_further_runs_of_one() {
    let folder =
        Folder::with("case $* in *--help*) echo '--output text, json or jsonl' ;; *) kill -9 $$ ;; esac");
    let probes = ["one", "two", "three", "four"].map(|name| ["--probe", name]).concat();
    let args = [&["check", "./cli", "--check", "p2-exit-consistent"], &probes[..]].concat();
    let output = folder.run(&[&args[..], &["--json"]].concat());
    let evidence = evidence(&output);
    let run = |entry: &Value| ["probe", "format", "variant", "nth"].map(|key| entry[key].to_string());
    let runs = evidence.iter().map(run).collect::<BTreeSet<_>>().len();
    assert!(runs == evidence.len() && runs > 40, "{evidence:#?}");
    let named: Vec<&str> = evidence.iter().map(|entry| entry["probe"].as_str().unwrap()).collect();
    let first = named[..4].iter().copied().collect::<BTreeSet<_>>();
    assert_eq!(first, BTreeSet::from(["one", "two", "three", "four"]), "{named:?}");
    assert!(evidence[..4].iter().all(|entry| entry["format"] == "text"));
    let message = output.data()["results"][0]["message"].to_string();
    assert!(message.contains(&format!("(and {} more)", runs - 1)), "{message}");
    let text = folder.run(&args).out;
    assert!(text.contains("$ ./cli one --output text   also: two, three, four"), "{text}");
}

#[test]
fn command_lines_are_quoted_for_a_shell() {
    let folder = Folder::with(ECHO_ARGUMENTS);
    let probe = "say \"it's\" '$HOME * ~' '' 'a\nb'";
    let args = ["check", "./cli", "--json", "--check", "p2-output-json", "--probe", probe];
    let recorded = folder.run(&[&args[..], &["--record", "seen"]].concat());
    let entry = &evidence(&recorded)[0];
    let argv = entry["argv"].as_str().unwrap();
    let pasted = output_of(Command::new("sh").args(["-c", argv]));
    assert_eq!(pasted.out, "Loading\n<say><it's><$HOME * ~><><a\nb><--output><json>", "{argv}");
    // A replay prints the same command line, and so does each run of the stream.
    assert_eq!(folder.run(&["check", "--replay", "seen", "--check", "p2-output-json", "--json"]), recorded);
    let stream = folder.run(&["check", "--replay", "seen", "--check", "p2-output-json", "--jsonl"]);
    let lines = stream.lines();
    let mut runs = lines.iter().filter(|line| line["type"] == "run");
    assert!(runs.all(|run| run["argv"].as_str().is_some_and(|argv| argv.contains("/cli "))), "{lines:#?}");
}

#[test]
fn a_hostile_environment_is_shown_with_its_variables() {
    let folder = Folder::with("if [ -n \"$FORCE_COLOR\" ]; then printf '\\033[1m'; fi; echo '{}'\n");
    let args = ["check", "./cli", "--check", "p2-output-pure", "--probe", "list"];
    let output = folder.run(&args);
    let shown = output.out.lines().find(|line| line.contains(" $ ")).unwrap();
    let named = "$ ./cli list --output json   (with FORCE_COLOR=1 CLICOLOR_FORCE=1 …)   also: in jsonl";
    assert_eq!(shown.trim(), named, "{}", output.out);
    let all = folder.run(&[&args[..], &["--verbose"]].concat());
    assert!(all.out.contains("$ FORCE_COLOR=1 CLICOLOR_FORCE=1 TERM=xterm-256color "), "{}", all.out);
}

#[test]
fn an_event_in_an_array_has_its_position() {
    let folder = Folder::with("printf '[{\"type\":\"result\"},\\n {\"type\":\"user\"}]\\n'\n");
    let args = ["check", "./cli", "--contract", "claude-json-verbose", "--check", "p2-contract-schema"];
    let output = folder.run(&[&args[..], &["--probe", "run", "--json"]].concat());
    let entry = &evidence(&output)[0];
    let message = output.data()["results"][0]["message"].to_string();
    assert!(message.contains("event 1, the document: missing key `duration_api_ms`"), "{message}");
    assert_eq!([&entry["line"], &entry["column"]].map(Value::as_u64), [Some(1), Some(2)], "{entry:#}");
    let argv = entry["argv"].as_str().unwrap();
    assert!(argv.ends_with("/cli run -p --output-format json --verbose"), "{argv}");
}
