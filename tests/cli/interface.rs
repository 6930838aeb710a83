//! The interface of a target: locked, and compared between two versions.

use super::support::{CliOutput, Folder};
use agentnative_contract::Schema;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The text of a version of the tool whose interfaces are compared.
fn tool(version: u8) -> String {
    let path = format!("{}/fixtures/interface/tasks-{version}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

/// A folder with version 1 of the tool as `cli`, and its lock.
fn locked_folder() -> Folder {
    let folder = Folder::with(&tool(1));
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    let output = folder.run(&["contract", "lock", "--json"]);
    assert_eq!((output.code, output.data()["commands"].as_u64()), (Some(0), Some(4)), "{output:?}");
    folder
}

fn interface(folder: &Folder) -> Value {
    serde_json::from_str(&folder.read("agentnative.lock/cli/interface.json")).unwrap()
}

/// The changes in the output of `contract diff` or `contract lock`: rule, command, class.
fn changes(output: &CliOutput) -> BTreeSet<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let data = output.data();
    let changes = data["changes"].as_array().unwrap_or_else(|| panic!("{output:?}")).iter();
    changes.map(|change| (text(&change["rule"]), text(&change["command"]), text(&change["class"]))).collect()
}

fn expected_changes() -> BTreeSet<(String, String, String)> {
    let row =
        |(rule, command, class): (&str, &str, &str)| (format!("diff-{rule}"), command.into(), class.into());
    let changes = [
        ("command-removed", "rm", "breaking"),
        ("command-added", "remove", "compatible"),
        ("option-removed", "", "breaking"),
        ("option-added", "", "compatible"),
        ("exit-code-removed", "", "breaking"),
        ("value-removed", "list", "breaking"),
        ("takes-value-changed", "list", "breaking"),
        ("short-option-reassigned", "list", "breaking"),
        ("argument-required", "add", "breaking"),
        ("default-changed", "list", "risky"),
        ("variable-removed", "list", "risky"),
        ("hidden", "list", "compatible"),
        ("option-added", "list", "compatible"),
        ("description-changed", "list", "compatible"),
    ];
    changes.into_iter().map(row).collect()
}

#[test]
fn the_locked_interface_contains_what_the_help_pages_state_and_meets_its_schema() {
    let folder = locked_folder();
    let interface = interface(&folder);
    let schema: Value = serde_json::from_str(&folder.run(&["schema", "interface"]).out).unwrap();
    let schema = Schema::compile(&schema).unwrap();
    assert!(schema.violations(&interface).is_empty(), "{:?}", schema.violations(&interface));
    let commands = &interface["commands"];
    assert_eq!(commands[""]["exit_codes"], json!({"0": "success", "3": "no such task"}));
    assert_eq!(commands[""]["options"]["--quiet"]["short"], json!(["-q"]));
    assert_eq!(commands["list"]["aliases"], json!(["ls"]));
    let options = &commands["list"]["options"];
    assert_eq!((&options["--limit"]["value"], &options["--limit"]["default"]), (&json!("N"), &json!("20")));
    assert_eq!(options["--format"]["values"], json!(["json", "text", "yaml"]));
    assert_eq!(options["--token"]["variable"], "TASKS_TOKEN");
    assert_eq!(
        options["--all"],
        json!({"short": ["-a"], "description": "Show finished tasks as well", "required": false})
    );
    assert_eq!(commands["add"]["arguments"], json!([{"name": "TEXT", "required": true}, {"name": "NOTE"}]));
    // Nothing depends on the run.
    let before = folder.read("agentnative.lock/cli/interface.json");
    let again = folder.run(&["contract", "lock", "--update"]);
    assert_eq!((again.code, folder.read("agentnative.lock/cli/interface.json")), (Some(0), before));
}

#[test]
fn changes_are_found_between_programs_locks_and_files() {
    let folder = locked_folder();
    folder.script("new", &tool(2));
    std::fs::rename(folder.path().join("agentnative.lock"), folder.path().join("old.lock")).unwrap();
    let interface = "old.lock/cli/interface.json";
    for old in [&["--old-command", "./cli"][..], &["old.lock"], &[interface]] {
        let output = folder.run(&[&["contract", "diff", "--json", "--new-command", "./new"], old].concat());
        assert_eq!((output.code, changes(&output)), (Some(1), expected_changes()), "{old:?}: {}", output.err);
    }
    let same = folder.run(&["contract", "diff", "--json", "old.lock", "--new-command", "./cli"]);
    assert_eq!((same.code, changes(&same)), (Some(0), BTreeSet::new()));
}

#[test]
fn a_breaking_change_of_the_interface_fails_the_check_until_it_is_accepted() {
    let folder = locked_folder();
    let check = || folder.run(&["check", "--json", "--check", "p2-interface-locked,p2-contract-locked"]);
    let locked = || folder.run(&["contract", "lock", "--check", "--json"]);
    assert_eq!((check().status("p2-interface-locked"), locked().code), ("pass".to_owned(), Some(0)));
    folder.script("cli", &tool(2));
    let (checked, compared) = (check(), locked());
    assert_eq!(checked.status("p2-interface-locked"), "fail");
    assert!(checked.out.contains("`--quiet` was removed"), "{}", checked.out);
    assert_eq!((compared.code, changes(&compared)), (Some(1), expected_changes()), "{compared:?}");
    assert!(compared.out.contains("probably renamed to `remove`"), "{}", compared.out);
    assert_eq!(folder.run(&["contract", "lock", "--update"]).code, Some(0));
    assert_eq!(check().status("p2-interface-locked"), "pass");
    // The option that still works is part of the interface.
    assert_eq!(interface(&folder)["commands"]["list"]["options"]["--old-sort"], json!({"hidden": true}));
    folder.script("cli", &tool(2).replace("--old-sort ", ""));
    assert_eq!(check().status("p2-interface-locked"), "fail");
}

#[test]
fn an_option_that_the_target_ignores_is_removed_not_hidden() {
    let folder = Folder::with(&tool(1));
    // Names each unknown option and continues.
    let ignores = tool(2).replace("exit 2; }", "}").replace("echo '[]'", "exit 1").replace("--old-sort ", "");
    folder.script("new", &ignores);
    let output =
        folder.run(&["contract", "diff", "--json", "--old-command", "./cli", "--new-command", "./new"]);
    assert!(!changes(&output).iter().any(|(rule, ..)| rule == "diff-hidden"), "{output:?}");
}

#[test]
fn an_option_whose_value_is_missing_or_invalid_is_undecided_not_removed() {
    // The help of version 1 shows no value.
    for message in ["option requires argument: --old-sort", "invalid value '1' for --old-sort"] {
        let folder = Folder::with(&tool(1));
        let needs = format!("--old-sort) echo \"tasks: {message}\" >&2; exit 2 ;;\n        --*) case");
        folder.script("new", &tool(2).replace("--*) case", &needs));
        let output =
            folder.run(&["contract", "diff", "--json", "--old-command", "./cli", "--new-command", "./new"]);
        let found = changes(&output);
        assert!(
            !found.contains(&("diff-option-removed".into(), "list".into(), "breaking".into())),
            "{found:?}"
        );
        assert!(found.contains(&("diff-undecided".into(), "list".into(), "undecided".into())), "{found:?}");
    }
}

#[test]
fn what_the_help_shows_no_longer_is_tried_as_well() {
    let changes_of_list = |new: &str| {
        let folder = Folder::with(&tool(1));
        folder.script("new", new);
        let output =
            folder.run(&["contract", "diff", "--json", "--old-command", "./cli", "--new-command", "./new"]);
        let of_list = changes(&output).into_iter().filter(|(_, command, _)| command == "list");
        of_list.map(|(rule, _, class)| (rule, class)).collect::<BTreeSet<_>>()
    };
    let hidden = ("diff-hidden".to_owned(), "compatible".to_owned());
    // Parsers with options such as `-json` name the unknown flag with one dash.
    let one_dash = tool(2).replace("unknown option $1", "flag provided but not defined: ${1#-}");
    assert!(changes_of_list(&one_dash).contains(&hidden));
    // The page shows `--limit` without a value, and the option still accepts one.
    let takes_no_value = ("diff-takes-value-changed".to_owned(), "breaking".to_owned());
    let new =
        tool(2).replace("--all WHICH", "--all").replace("--limit N", "--limit").replace("--old-sort ", "");
    let found = changes_of_list(&new);
    assert!(found.contains(&hidden) && !found.contains(&takes_no_value), "{found:?}");
    let rejects = new.replace("--*) case", "--limit=*) reject --limit ;;\n        --*) case");
    assert!(changes_of_list(&rejects).contains(&takes_no_value), "{found:?}");
    // It rejects each unknown option without its name.
    let silent = tool(2).replace("unknown option $1", "invalid usage").replace("--old-sort ", "");
    let undecided = ("diff-undecided".to_owned(), "undecided".to_owned());
    assert!(changes_of_list(&silent).contains(&undecided));
}

#[test]
fn a_command_that_vanished_from_the_help_is_called() {
    let changes_with = |commands: &str, rm: &str| {
        let folder = Folder::with(&tool(1));
        let known = format!(
            "case $1 in {commands} | -*) ;; *) echo \"tasks: unknown command $1\" >&2; exit 2 ;; esac\n{rm}\npage=usage\n"
        );
        folder.script("new", &tool(2).replace("page=usage\n", &known));
        let output =
            folder.run(&["contract", "diff", "--json", "--old-command", "./cli", "--new-command", "./new"]);
        let of_rm = changes(&output).into_iter().filter(|(_, command, _)| command == "rm");
        of_rm.map(|(rule, ..)| rule).collect::<Vec<_>>()
    };
    assert_eq!(changes_with("list | ls | add | remove", ""), ["diff-command-removed"]);
    assert_eq!(changes_with("list | ls | add | remove | rm", ""), ["diff-hidden"]);
    // It logs its arguments, and rejects neither by name.
    let logs = "echo \"$$ called with $*\" >&2; case $1 in rm) exit 3 ;; esac";
    assert_eq!(changes_with("*", logs), ["diff-undecided"]);
    // It ignores the unknown flag.
    let ignores = "case $1 in rm) echo 'use remove'; exit 0 ;; esac";
    assert_eq!(changes_with("list | ls | add | remove | rm", ignores), ["diff-undecided"]);
}

#[test]
fn a_lock_without_an_interface_stays_valid() {
    let folder = locked_folder();
    std::fs::remove_file(folder.path().join("agentnative.lock/cli/interface.json")).unwrap();
    folder.script("cli", &tool(2));
    let checked = folder.run(&["contract", "lock", "--check"]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.out.contains("the interface is not locked; run `contract lock --update`"), "{checked:?}");
    let report = folder.run(&["check", "--json", "--check", "p2-interface-locked"]);
    assert_eq!(report.status("p2-interface-locked"), "not-applicable");
    assert_eq!(folder.run(&["contract", "lock", "--update"]).code, Some(0));
    assert!(interface(&folder)["commands"]["remove"].is_object());
}

#[test]
fn a_target_without_help_pages_has_no_interface() {
    let folder = Folder::with("echo '{\"a\": 1}'\n");
    let config =
        "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['json']\n";
    folder.write("agentnative.toml", config);
    let output = folder.run(&["contract", "lock"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    assert!(output.out.contains("the target has no help pages, so the lock has no interface"), "{output:?}");
    assert!(!folder.path().join("agentnative.lock/cli/interface.json").exists());
}

#[test]
fn a_page_that_cannot_be_compared_is_undecided() {
    let folder = locked_folder();
    let other = |text: &str| {
        folder.script("cli", text);
        folder.run(&["contract", "lock", "--check", "--json"])
    };
    let undecided = |command: &str| {
        BTreeSet::from([("diff-undecided".to_owned(), command.to_owned(), "undecided".to_owned())])
    };
    // The page of a command fails, has another style, or lists nothing.
    let fails = other(&tool(1).replace("rm) page=rm_ ;;", "rm) exit 9 ;;"));
    assert_eq!((fails.code, changes(&fails)), (Some(0), undecided("rm")), "{fails:?}");
    let style = other(&tool(1).replace(
        "  --token TOKEN    Use",
        "  --help  show this help message and exit\n  --token TOKEN    Use",
    ));
    assert_eq!(changes(&style), undecided("list"), "{style:?}");
    let empty = other("echo 'Usage: tasks [...]'\n");
    assert_eq!(changes(&empty), undecided(""), "{empty:?}");
    let report = folder.run(&["check", "--json", "--check", "p2-interface-locked"]);
    assert_eq!(report.status("p2-interface-locked"), "unverified");
}

#[test]
fn options_and_exit_codes_of_probes_are_part_of_the_interface() {
    let folder = Folder::with(&tool(1).replace("--force -f'", "--force -f --trace'"));
    let probe = "[[probe]]\nname = 'list'\nargs = ['list', '--trace']\nformats = ['json']\n";
    folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\nformats.json = []\n{probe}"));
    assert_eq!(folder.run(&["contract", "lock"]).code, Some(0));
    let list = &interface(&folder)["commands"]["list"];
    assert_eq!(
        (&list["options"]["--trace"], &list["exit_codes"]),
        (&json!({"hidden": true}), &json!({"0": ""}))
    );
}

#[test]
fn a_completion_script_describes_commands_without_a_help_page() {
    let lines = r#"
case "$1 $2" in
    "--help ") printf 'Usage: cli <command>\n\nCommands:\n  add         Add an item\n  completion  Print a script\n\nOptions:\n  --help  Show this help\n' ;;
    "completion fish") echo "complete -c cli -n '__fish_cli_using_subcommand add' -s t -l tag -r -d 'Add a tag'" ;;
    "completion "*) echo '# none' ;;
    *) exit 2 ;;
esac
"#;
    let folder = Folder::with(lines);
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    let output = folder.run(&["contract", "lock"]);
    assert_eq!(output.code, Some(0), "{output:?}");
    let add = &interface(&folder)["commands"]["add"];
    let tag = json!({"short": ["-t"], "value": "VALUE", "description": "Add a tag"});
    assert_eq!((&add["reader"], &add["options"]["--tag"]), (&json!("completion"), &tag), "{add}");
}

const KDL: &str = r#"
flag "-q --quiet" global=#true help="Print only data"
cmd "list" help="List the tasks" {
    alias "ls"
    flag "--limit <N>" default="20"
    flag "--format <FORMAT>" { choices "text" "json" }
    arg "[query]…"
}
"#;

#[test]
fn a_specification_of_usage_is_a_side_in_kdl_and_json() {
    let folder = Folder::new();
    folder.write("old.kdl", KDL);
    folder.write(
        "new.kdl",
        KDL.replace("--limit", "--max").replace("\"text\" ", "").replace("[query]…", "<query>"),
    );
    let flag = |long: &str, arg: Value| json!({"long": [long], "short": [], "required": false, "arg": arg, "global": false});
    let arg = |name: &str, choices: Value| json!({"name": name, "required": true, "choices": choices});
    let mut limit = flag("limit", arg("N", Value::Null));
    limit["default"] = json!(["20"]);
    let list = json!({
        "help": "List the tasks", "aliases": ["ls"], "hide": false, "subcommands": {},
        "flags": [limit, flag("format", arg("FORMAT", json!({"choices": ["text", "json"]})))],
        "args": [{"name": "query", "required": false, "var": true}],
    });
    let quiet = json!({"long": ["quiet"], "short": ["q"], "help": "Print only data", "global": true});
    folder.write(
        "old.json",
        json!({"name": "tasks", "cmd": {"subcommands": {"list": list}, "flags": [quiet]}}).to_string(),
    );
    let same = folder.run(&["contract", "diff", "--json", "--strict", "old.kdl", "old.json"]);
    assert_eq!((same.code, changes(&same)), (Some(0), BTreeSet::new()), "{same:?}");
    for old in ["old.kdl", "old.json"] {
        let output = folder.run(&["contract", "diff", "--json", old, "new.kdl"]);
        let rules: BTreeSet<String> = changes(&output).into_iter().map(|(rule, ..)| rule).collect();
        let expected =
            ["argument-required", "option-added", "option-removed", "repeatable-dropped", "value-removed"];
        assert_eq!(rules, expected.map(|rule| format!("diff-{rule}")).into(), "{old}: {output:?}");
    }
    folder.write("bad.kdl", "flag \"--x\" {\n  choices \"a\n");
    let bad = folder.run(&["contract", "diff", "--json", "bad.kdl", "old.kdl"]);
    assert_eq!(
        (bad.code, bad.error()["kind"].as_str().map(str::to_owned)),
        (Some(78), Some("config".to_owned()))
    );
    assert!(bad.err.contains("bad.kdl"), "{}", bad.err);
    let contract = folder.run(&["contract", "diff", "--json", "old.kdl", "dexter-flat"]);
    assert_eq!(contract.code, Some(2), "{contract:?}");
}

#[test]
fn help_pages_are_called_only_if_the_help_documents_how() {
    let called = |text: &str| {
        let folder = Folder::with(text);
        folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\nisolation = 'none'\n");
        let calls = folder.write("calls", "");
        let lines = format!("#!/bin/sh\necho \"$*\" >>'{}' 2>/dev/null\n{text}", calls.display());
        folder.script("cli", &lines);
        assert_eq!(folder.run(&["contract", "lock"]).code, Some(0));
        // Calls of subcommands are confined even without `isolation`, so they cannot write here.
        let recording = folder.path().join("r").display().to_string();
        folder.run(&["check", "--check", "p2-interface-locked", "--record", &recording]);
        let calls = folder.read("calls").lines().map(str::to_owned).collect::<BTreeSet<String>>();
        let lines = folder.read("r");
        let runs = lines.lines().filter(|line| line.contains("\"probe\":\"interface: ")).count();
        (calls.iter().any(|call| call.starts_with("list")), runs)
    };
    assert_eq!(called(&tool(1)), (false, 3));
    assert_eq!(
        called(&tool(1).replace("run \"tasks <command> --help\" for that of a command", "x")),
        (false, 0)
    );
}
