//! What flags and the configuration change: probes, targets, waivers, time, how many at once.

use super::support::{CliOutput, Folder, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const TARGET: &str = "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\n";
const LOUD: &str = "before() { if [ \"$format\" = json ]; then echo 'Fetching data...'; fi; }";

fn waived(waiver: &str) -> Folder {
    let folder = Folder::demo(LOUD);
    folder.write("agentnative.toml", format!("{TARGET}[[waiver]]\n{waiver}\n"));
    folder
}

#[test]
fn a_waiver_takes_a_fault_out_of_the_verdict() {
    let folder = waived("check = 'p2-output-json'\nreason = 'known, to be mended'\nexpires = 9999-12-31");
    let said = folder.run(&["check", "--json", "--check", "p2-output-json"]);
    assert_eq!(
        (said.code, said.err.as_str(), said.status("p2-output-json").as_str()),
        (Some(0), "", "waived")
    );
    let data = said.data();
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
fn a_waiver_that_is_not_used_is_told() {
    let folder = waived("check = 'p2-output-jsonl'\nreason = 'no longer'");
    let args = ["check", "--check", "p2-output-jsonl", "--json"];
    let said = folder.run(&args);
    assert_eq!((said.code, said.status("p2-output-jsonl").as_str()), (Some(0), "pass"));
    let note = said.data()["notes"][0].as_str().unwrap().to_owned();
    assert!(note.starts_with("the waiver of p2-output-jsonl is unused: "), "{note}");
    assert_eq!(
        folder.run(&["check", "--check", "p2-output-jsonl", "--jsonl"]).lines().pop().unwrap()["notes"][0],
        note
    );
    // A check that was not made says nothing about its waiver.
    assert!(folder.run(&["check", "--json", "--check", "p2-exit-success"]).data().get("notes").is_none());
}

#[test]
fn a_waiver_that_has_expired_waives_nothing_and_is_told() {
    let folder = waived("check = 'p2-output-json'\nreason = 'later'\nexpires = 2020-01-31");
    let said = folder.run(&["check", "--check", "p2-output-json", "--json"]);
    assert_eq!((said.code, said.status("p2-output-json").as_str()), (Some(1), "fail"));
    assert_eq!(
        said.data()["notes"][0],
        "the waiver of p2-output-json expired on 2020-01-31 and no longer applies"
    );
    let message = said.data()["results"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.ends_with("; the waiver expired on 2020-01-31"), "{message}");
}

/// The runs of a check: probe, format, exit code.
fn probes(said: &CliOutput) -> BTreeSet<(String, String, Option<i64>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let runs = said.lines().into_iter().filter(|line| line["type"] == "run");
    runs.map(|run| (text(&run["probe"]), text(&run["format"]), run["exit"].as_i64())).collect()
}

#[test]
fn probes_of_the_command_line() {
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
        let seen = folder.read("seen");
        let runs = seen.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
        let mut own = runs.filter(|seen| seen["run"]["probe"] == name && seen["run"]["format"] == "json");
        let seen = own.next().unwrap_or_else(|| panic!("{flag}: {seen}"));
        let words = [words, &["--output", "json"]].concat();
        let expected = format!("{}\n{}\n", words.len(), words.join("\n"));
        assert_eq!(seen["stdout"]["bytes"]["text"], expected.as_str(), "{flag}");
    }
    // The code that is expected is held against the run.
    let folder = Folder::demo("");
    let args = ["check", "./cli", "--json", "--check", "p2-exit-auth", "--probe", "77:whoami"];
    assert_eq!(folder.run(&args).status("p2-exit-auth"), "pass");
    let args = ["check", "./cli", "--json", "--check", "p2-exit-auth", "--probe", "77:list"];
    assert_eq!(folder.run(&args).status("p2-exit-auth"), "fail");
    // Beside those of the configuration; a name that is there already is a mistake.
    folder.write("agentnative.toml", TARGET);
    let args = ["check", "--jsonl", "--check", "p2-exit-success", "--probe", "show 1"];
    let names: BTreeSet<String> = probes(&folder.run(&args)).into_iter().map(|run| run.0).collect();
    assert!(names.contains("list") && names.contains("show 1"), "{names:?}");
    let twice = folder.run(&["check", "--probe", "list"]);
    assert_eq!((twice.code, twice.out.as_str()), (Some(2), ""));
}

#[test]
fn ways_to_name_the_target() {
    let folder = Folder::demo("");
    folder.write("agentnative.toml", TARGET);
    let flags = ["--json", "--check", "p2-exit-success"];
    let path = folder.path().join("cli");
    let absolute = path.to_str().unwrap();
    for way in [&["."][..], &[], &["./cli"], &[absolute], &["--", "./cli"], &["--", absolute, "--raw"]] {
        let (options, words): (Vec<&str>, Vec<&str>) = match way.split_first() {
            Some((&"--", _)) => (vec![], way.to_vec()),
            _ => (way.to_vec(), vec![]),
        };
        let said = folder.run(&[&["check"][..], &options, &flags, &words].concat());
        assert_eq!((said.code, said.status("p2-exit-success").as_str()), (Some(0), "pass"), "{way:?}");
        let command = said.data()["target"]["command"].clone();
        assert_eq!(command[0].as_str(), Some(absolute), "{way:?}");
        assert_eq!(command.get(1), (way.len() == 3).then_some(&json!("--raw")));
    }
    // A command on PATH: a configuration around us is none of its business.
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let mut command = folder.command();
    command.args(["check", "--command", "cli", "--probe", "show 1"]).args(flags).env("PATH", path);
    assert_eq!(super::support::output_of(&mut command).data()["target"]["name"], "cli");
    // From elsewhere, the configuration beside a program is found.
    assert_eq!(
        run(&["check", absolute, "--json", "--check", "p2-output-json"]).status("p2-output-json"),
        "pass"
    );
}

#[test]
fn one_of_several_targets() {
    let folder = Folder::demo("");
    let probe =
        |target: &str| format!("[[probe]]\nname = '{target}'\ntarget = '{target}'\nargs = ['list']\n");
    let target = |name: &str| format!("[target.{name}]\ncommand = ['./cli']\n");
    let toml = [target("one"), target("two"), probe("one"), probe("two")].concat();
    folder.write("agentnative.toml", toml);
    let said = folder.run(&["check", "--bin", "two", "--jsonl", "--check", "p2-exit-success"]);
    assert_eq!((said.code, &said.lines()[0]["target"]["name"]), (Some(0), &json!("two")));
    let names: BTreeSet<String> = probes(&said).into_iter().map(|run| run.0).collect();
    assert!(names.contains("two") && !names.contains("one"), "{names:?}");
    let open = folder.run(&["check"]);
    assert_eq!(open.code, Some(78));
    assert!(
        open.err.contains("several targets: one, two") && open.err.contains("--bin NAME"),
        "{}",
        open.err
    );
    let none = folder.run(&["check", "--bin", "three"]);
    assert_eq!(none.code, Some(2));
    assert!(none.err.contains("no target `three`; its targets: one, two"), "{}", none.err);
}

#[test]
fn the_time_limit() {
    let folder = Folder::with("case $1 in hang) exec sleep 1000 ;; esac\n");
    let args = ["check", "./cli", "--json", "--check", "p2-completes", "--probe", "hang"];
    let said = folder.run(&[&args[..], &["--timeout", "0.5"]].concat());
    assert_eq!((said.code, said.status("p2-completes").as_str()), (Some(1), "fail"));
    assert!(said.data()["results"][0]["message"].to_string().contains("0.5"), "{}", said.out);
    let toml = "[target]\ncommand = ['./cli']\ntimeout = 60\n[[probe]]\nname = 'hang'\nargs = ['hang']\ntimeout = 0.5\n";
    folder.write("agentnative.toml", toml);
    // What a probe says of itself counts more than the flag, and the flag more than the table.
    let said = folder.run(&["check", "--json", "--check", "p2-completes", "--timeout", "100"]);
    assert_eq!(said.status("p2-completes"), "fail");
    folder.write("agentnative.toml", toml.replace("args = ['hang']\ntimeout = 0.5\n", "args = ['hang']\n"));
    let said = folder.run(&["check", "--json", "--check", "p2-completes", "--timeout", "0.5"]);
    assert!(said.data()["results"][0]["message"].to_string().contains("0.5"), "{}", said.out);
}

#[test]
fn one_job_is_one_at_a_time() {
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
