//! Options and configuration of a check: probes, targets, waivers, timeouts, jobs.

use super::support::{CliOutput, Folder, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const CONFIGURATION: &str = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
const PROGRESS_IN_JSON: &str = "before() { if [ \"$format\" = json ]; then echo 'Fetching data...'; fi; }";

fn folder_with_waiver(waiver: &str) -> Folder {
    let folder = Folder::demo(PROGRESS_IN_JSON);
    folder.write("agentnative.toml", format!("{CONFIGURATION}[[waiver]]\n{waiver}\n"));
    folder
}

#[test]
fn a_waived_problem_does_not_fail_the_check() {
    let folder =
        folder_with_waiver("check = 'p2-output-json'\nreason = 'known, to be mended'\nexpires = 9999-12-31");
    let output = folder.run(&["check", "--json", "--check", "p2-output-json"]);
    assert_eq!(
        (output.code, output.err.as_str(), output.status("p2-output-json").as_str()),
        (Some(0), "", "waived")
    );
    let data = output.data();
    assert_eq!((&data["conformant"], &data["summary"]["waived"]), (&json!(true), &json!(1)));
    let message = data["results"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("waived: known, to be mended (stdout is not one JSON document"), "{message}");
    assert!(data.get("notes").is_none());
    let text = folder.run(&["check", "--check", "p2-output-json"]);
    assert!(text.out.contains("\nconformant: 1 waived"), "{}", text.out);
    let text = folder.run(&["check", "--check", "p2-output-json", "--verbose"]);
    assert!(text.out.contains("~ waived  p2-output-json"), "{}", text.out);
}

#[test]
fn an_unused_waiver_is_noted() {
    let folder = folder_with_waiver("check = 'p2-output-jsonl'\nreason = 'no longer'");
    let args = ["check", "--check", "p2-output-jsonl", "--json"];
    let output = folder.run(&args);
    assert_eq!((output.code, output.status("p2-output-jsonl").as_str()), (Some(0), "pass"));
    let note = output.data()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("the waiver of p2-output-jsonl is unused: "), "{note}");
    assert_eq!(
        folder.run(&["check", "--check", "p2-output-jsonl", "--jsonl"]).lines().pop().unwrap()["notes"][0],
        note
    );
    // The waiver of a check that did not run is not reported as unused.
    assert!(folder.run(&["check", "--json", "--check", "p2-exit-success"]).data().get("notes").is_none());
}

#[test]
fn an_expired_waiver_waives_nothing_and_is_noted() {
    let folder = folder_with_waiver("check = 'p2-output-json'\nreason = 'later'\nexpires = 2020-01-31");
    let output = folder.run(&["check", "--check", "p2-output-json", "--json"]);
    assert_eq!((output.code, output.status("p2-output-json").as_str()), (Some(1), "fail"));
    assert_eq!(
        output.data()["notes"][0],
        "the waiver of p2-output-json expired on 2020-01-31 and no longer applies"
    );
    let message = output.data()["results"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("; the waiver expired on 2020-01-31"), "{message}");
}

/// Probe, format and exit code of each run of a check.
fn run_keys(output: &CliOutput) -> BTreeSet<(String, String, Option<i64>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let runs = output.lines().into_iter().filter(|line| line["type"] == "run");
    runs.map(|run| (text(&run["probe"]), text(&run["format"]), run["exit"].as_i64())).collect()
}

#[test]
fn the_command_line_can_add_probes() {
    let folder = Folder::with(
        "case $1 in --help | --version | --agentnative*) exit 0 ;; esac\nprintf '%s\\n' \"$#\" \"$@\"\nexit 3\n",
    );
    for (flag, name, words) in [
        ("list", "list", &["list"][..]),
        ("0:list", "list", &["list"]),
        ("3:show 99", "show 99", &["show", "99"]),
        ("show 'a b' \"c\"", "show 'a b' \"c\"", &["show", "a b", "c"]),
        ("  show  ", "show", &["show"]),
        ("get #1", "get #1", &["get", "#1"]),
        ("url https://x", "url https://x", &["url", "https://x"]),
        ("$HOME *", "$HOME *", &["$HOME", "*"]),
        ("3:", "(no arguments)", &[]),
    ] {
        let args = ["check", "./cli", "--jsonl", "--check", "p2-exit-success", "--check", "p2-exit-error"];
        folder.run(&[&args[..], &["--probe", flag, "--record", "seen"]].concat());
        let recording = folder.read("seen");
        let runs = recording.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut own = runs.filter(|observation| {
            observation["run"]["probe"] == name && observation["run"]["format"] == "json"
        });
        let observation = own.next().unwrap_or_else(|| panic!("{flag}: {recording}"));
        let words = [words, &["--output", "json"]].concat();
        let expected = format!("{}\n{}\n", words.len(), words.join("\n"));
        assert_eq!(observation["stdout"]["bytes"]["text"], expected.as_str(), "{flag}");
    }
    // The expected exit code is compared with that of the run.
    let folder = Folder::demo("");
    let args = ["check", "./cli", "--json", "--check", "p2-exit-auth", "--probe", "77:whoami"];
    assert_eq!(folder.run(&args).status("p2-exit-auth"), "pass");
    let args = ["check", "./cli", "--json", "--check", "p2-exit-auth", "--probe", "77:list"];
    assert_eq!(folder.run(&args).status("p2-exit-auth"), "fail");
    // Probes of the command line are added to those of the configuration; a duplicate name is an error.
    folder.write("agentnative.toml", CONFIGURATION);
    let args = ["check", "--jsonl", "--check", "p2-exit-success", "--probe", "show 1"];
    let names: BTreeSet<String> = run_keys(&folder.run(&args)).into_iter().map(|run| run.0).collect();
    assert!(names.contains("list") && names.contains("show 1"), "{names:?}");
    let duplicate = folder.run(&["check", "--probe", "list"]);
    assert_eq!((duplicate.code, duplicate.out.as_str()), (Some(2), ""));
}

#[test]
fn a_target_can_be_named_in_several_ways() {
    let folder = Folder::demo("");
    folder.write("agentnative.toml", CONFIGURATION);
    let flags = ["--json", "--check", "p2-exit-success"];
    let path = folder.path().join("cli");
    let absolute = path.to_str().unwrap();
    for way in [&["."][..], &[], &["./cli"], &[absolute], &["--", "./cli"], &["--", absolute, "--raw"]] {
        let (options, words): (Vec<&str>, Vec<&str>) = match way.split_first() {
            Some((&"--", _)) => (vec![], way.to_vec()),
            _ => (way.to_vec(), vec![]),
        };
        let output = folder.run(&[&["check"][..], &options, &flags, &words].concat());
        assert_eq!((output.code, output.status("p2-exit-success").as_str()), (Some(0), "pass"), "{way:?}");
        let command = output.data()["target"]["command"].clone();
        assert_eq!(command[0].as_str(), Some(absolute), "{way:?}");
        assert_eq!(command.get(1), (way.len() == 3).then_some(&json!("--raw")));
    }
    // The configuration of the current folder does not apply to a command on PATH.
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let mut command = folder.command();
    command.args(["check", "--command", "cli", "--probe", "show 1"]).args(flags).env("PATH", path);
    assert_eq!(super::support::output_of(&mut command).data()["target"]["name"], "cli");
    // From another folder, the configuration next to a program is found.
    assert_eq!(
        run(&["check", absolute, "--json", "--check", "p2-output-json"]).status("p2-output-json"),
        "pass"
    );
}

#[test]
fn bin_selects_one_of_several_targets() {
    let folder = Folder::demo("");
    let probe =
        |target: &str| format!("[[probe]]\nname = '{target}'\ntarget = '{target}'\nargs = ['list']\n");
    let target = |name: &str| format!("[target.{name}]\ncommand = ['./cli']\n");
    let toml = [target("one"), target("two"), probe("one"), probe("two")].concat();
    folder.write("agentnative.toml", toml);
    let output = folder.run(&["check", "--bin", "two", "--jsonl", "--check", "p2-exit-success"]);
    assert_eq!((output.code, &output.lines()[0]["target"]["name"]), (Some(0), &json!("two")));
    let names: BTreeSet<String> = run_keys(&output).into_iter().map(|run| run.0).collect();
    assert!(names.contains("two") && !names.contains("one"), "{names:?}");
    let ambiguous = folder.run(&["check"]);
    assert_eq!(ambiguous.code, Some(78));
    assert!(
        ambiguous.err.contains("several targets: one, two") && ambiguous.err.contains("--bin NAME"),
        "{}",
        ambiguous.err
    );
    let none = folder.run(&["check", "--bin", "three"]);
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("no target `three`; its targets: one, two"), "{}", none.err);
}

#[test]
fn the_timeout_of_a_probe_precedes_the_option_and_the_configuration() {
    let folder = Folder::with("case $1 in hang) exec sleep 1000 ;; esac\n");
    let args = ["check", "./cli", "--json", "--check", "p2-completes", "--probe", "hang"];
    let output = folder.run(&[&args[..], &["--timeout", "0.5"]].concat());
    assert_eq!((output.code, output.status("p2-completes").as_str()), (Some(1), "fail"));
    assert!(output.data()["results"][0]["message"].to_string().contains("0.5"), "{}", output.out);
    let toml = "[target]\ncommand = ['./cli']\ntimeout = 60\n[[probe]]\nname = 'hang'\nargs = ['hang']\ntimeout = 0.5\n";
    folder.write("agentnative.toml", toml);
    // The timeout of a probe precedes the option, and the option precedes that of the target.
    let output = folder.run(&["check", "--json", "--check", "p2-completes", "--timeout", "100"]);
    assert_eq!(output.status("p2-completes"), "fail");
    folder.write("agentnative.toml", toml.replace("args = ['hang']\ntimeout = 0.5\n", "args = ['hang']\n"));
    let output = folder.run(&["check", "--json", "--check", "p2-completes", "--timeout", "0.5"]);
    assert!(output.data()["results"][0]["message"].to_string().contains("0.5"), "{}", output.out);
}

#[test]
fn with_one_job_runs_are_sequential() {
    let lock = "here=${0%/*}; mkdir \"$here/lock\" || : >\"$here/overlap\"\n";
    let folder = Folder::demo(&format!("{lock}\ntrap 'rmdir \"$here/lock\"' EXIT"));
    let args = [
        "check",
        "./cli",
        "--json",
        "--check",
        "p2-exit-success",
        "--check",
        "p2-exit-usage",
        "--probe",
        "list",
    ];
    let alone = folder.run(&[&args[..], &["--jobs", "1"]].concat());
    assert_eq!(alone.code, Some(0), "{}", alone.err);
    assert!(!folder.path().join("overlap").exists());
    let folder = Folder::demo("");
    let many = folder.run(&[&args[..], &["--jobs", "8"]].concat());
    assert_eq!(many.data()["results"], alone.data()["results"]);
}
