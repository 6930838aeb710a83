//! Which calls are made of a target. Each target here records its calls, which it could not do under confinement.

use super::support::Folder;
use serde_json::Value;
use std::collections::BTreeSet;

/// A target that writes each of its calls to the file `calls`, one per line, and then executes `rest`.
fn recording_target(rest: &str) -> Folder {
    let folder = Folder::new();
    let calls = folder.write("calls", "");
    folder.script("cli", &format!("printf '%s\\n' \"$*\" >>'{}'\n{rest}", calls.display()));
    folder
}

/// Distinct calls so far.
fn calls(folder: &Folder) -> BTreeSet<String> {
    folder.read("calls").lines().map(str::to_owned).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Treats each word that is no command as a prompt, which could cost money. `$USAGE` is its usage line.
const PROMPTS: &str = r#"
for arg; do case $arg in
    --help) printf 'Usage: cli %s\n\nCommands:\n  list  List\n  add   Add\n' "$USAGE"; exit 0 ;;
    --version) echo 1; exit 0 ;;
    -*) echo "unknown flag $arg" >&2; exit 2 ;;
    list) echo one; exit 0 ;;
    fail) echo "cannot" >&2; exit 1 ;;
esac; done
echo "an answer to $*"
"#;

#[test]
fn a_check_of_files_alone_calls_nothing() {
    let folder = recording_target("echo '{}'");
    let probe = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let config = format!("[target]\ncommand = ['./cli']\nformats.json = ['--format', 'json']\n{probe}");
    folder.write("agentnative.toml", config);
    let run = folder.run(&["check", ".", "--isolation", "none", "--check", "p8-bundle"]);
    assert_eq!((run.code, calls(&folder)), (Some(0), set(&[])), "{}", run.err);
}

#[test]
fn a_target_that_takes_a_prompt_is_called_without_unknown_positional_arguments() {
    let harmless = set(&["--help", "--version", "--agentnative-unknown-flag"]);
    let target = |usage: &str, settings: &str, probes: &str| {
        let folder = recording_target(&format!("USAGE='{usage}'\n{PROMPTS}"));
        let config = format!("[target]\ncommand = ['./cli']\nformats.json = ['-j']\n{settings}\n{probes}");
        folder.write("agentnative.toml", config);
        let output = folder.run(&[
            "check",
            ".",
            "--json",
            "--isolation",
            "none",
            "--principle",
            "2",
            "--layer",
            "behavioral",
        ]);
        (calls(&folder), output)
    };
    for usage in ["[options] [command] [prompt]", "[OPTIONS] [PROMPT]\n       cli <COMMAND> [ARGS]", "<file>"]
    {
        let (calls, _) = target(usage, "", "");
        let has_word = |call: &&String| call.split(' ').any(|word| !word.starts_with('-'));
        assert_eq!(calls.iter().find(has_word), None, "{usage}");
        assert!(calls.is_superset(&harmless), "{calls:?}");
    }
    let unknown = "agentnative-unknown-command".to_owned();
    let is_called = |calls: &BTreeSet<String>| calls.iter().any(|call| call.ends_with(&unknown));
    // The usage alone allows the call; the probes and the configuration decide.
    let plain = "[options] [command]";
    let words = "[[probe]]\nname = 'ask'\nargs = ['{format}', 'how are you']\nformats = ['text']\n";
    let fails = "[[probe]]\nname = 'fail'\nargs = ['-x']\nexit = 2\nformats = ['text']\n";
    for (usage, settings, probes, expected) in [
        (plain, "", "", true),
        (plain, "", words, false),
        (plain, "unknown_command = false", "", false),
        ("[prompt]", "unknown_command = true", fails, true),
    ] {
        let (calls, output) = target(usage, settings, probes);
        assert_eq!(is_called(&calls), expected, "{usage} {settings} {probes}: {calls:?}");
        // Only one check reports that the call was answered.
        assert_eq!(
            output.status("p2-exit-usage"),
            if expected { "fail" } else { "pass" },
            "{usage} {settings}"
        );
        let results = output.data();
        let blocked = results["results"].as_array().unwrap().iter().filter(|result| {
            let causes = result["blocked_by"].as_array().cloned().unwrap_or_default();
            causes.iter().any(|cause| cause["probe"] == "agentnative-unknown-command")
        });
        assert_eq!(blocked.count(), 0, "{results:#}");
    }
}

/// The names in the folder of a target.
fn names(folder: &Folder) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_output_option_that_names_a_file_writes_none() {
    // Its help does not mention `--output`, which names a file; outside of its folder it fails, as git does.
    let writes = r#"
        case "$1" in --help | --version) echo 'usage: cli log'; exit 0 ;; -*) echo "unknown $1" >&2; exit 2 ;; esac
        [ "$ANYWHERE" = yes ] || [ -f here ] || { echo 'not in a project' >&2; exit 128; }
        while [ $# -gt 0 ]; do
            case $1 in --output) echo one >"$2"; exit 0 ;; -*) echo "unknown $1" >&2; exit 2 ;; esac
            shift
        done
        echo one
    "#;
    // Each word that is no flag becomes a file.
    let any = r#"
        for arg; do case $arg in --help | --version) echo 'a tool'; exit 0 ;; -*) ;; *) echo one >"$arg" ;; esac; done
    "#;
    for (anywhere, script, expected) in
        [("no", writes, "unverified"), ("yes", writes, "fail"), ("yes", any, "fail")]
    {
        let folder = recording_target(&format!("ANYWHERE={anywhere}\n{script}"));
        folder.write("here", "");
        folder.write("log", "one\n");
        let before = names(&folder);
        // Under confinement the calls could not be recorded.
        let output = folder.run(&[
            "check",
            "./cli",
            "--json",
            "--isolation",
            "none",
            "--probe",
            "log",
            "--layer",
            "behavioral",
        ]);
        assert_eq!(names(&folder), before, "{script}");
        let called: BTreeSet<String> =
            calls(&folder).into_iter().filter(|call| call.contains("--output")).collect();
        assert_eq!(called, set(&["log --output agentnative-unknown-format"]), "{script}");
        assert_eq!(output.status("p2-output-format"), expected, "{output:?}");
        assert_eq!(output.status("p2-output-json"), "unverified");
    }
}

#[test]
fn a_format_option_that_is_rejected_by_name_is_called() {
    let folder = recording_target(
        r#"
        case "$*" in
            --help | --version) echo 'a tool' ;;
            log) echo one ;;
            *) echo "unknown option --output" >&2; exit 2 ;;
        esac
        "#,
    );
    let output = folder.run(&[
        "check",
        "./cli",
        "--json",
        "--isolation",
        "none",
        "--probe",
        "log",
        "--layer",
        "behavioral",
    ]);
    assert!(calls(&folder).contains("log --output json"));
    assert_eq!(output.status("p2-output-format"), "fail");
}

#[test]
fn only_declared_lists_are_called_with_limits() {
    let limits = |settings: &str, args: &str, list: &str| {
        let folder = recording_target("echo '{\"items\":[1,2]}'");
        let config = format!(
            "[target]\ncommand = ['./cli']\nformats.json = ['-j']\n{settings}\n\
             [[probe]]\nname = 'log'\nargs = [{args}]\nformats = ['json']\n{list}\n"
        );
        folder.write("agentnative.toml", config);
        folder.run(&["check", ".", "--json", "--isolation", "none", "--check", "p7-limit,p7-clamped"]);
        let limited = |call: &String| call.contains("--limit") || call.contains("-n=");
        calls(&folder).into_iter().filter(limited).collect::<BTreeSet<String>>()
    };
    let list = "list = { items = '/items', max = 5 }";
    assert_eq!(limits("", "'log'", ""), set(&[]));
    assert_eq!(limits("", "'log'", list), set(&["log --limit 1 -j", "log --limit 2 -j", "log --limit 6 -j"]));
    assert_eq!(
        limits("flags.limit = ['-n={n}']", "'{format}', 'log', '--', 'x'", "list.items = '/items'"),
        set(&["-j -n=1 log -- x", "-j -n=2 log -- x"])
    );
    assert_eq!(limits("flags.limit = false", "'log'", list), set(&[]));
}

#[test]
fn variables_are_set_only_for_declared_options_and_for_options_that_change_the_output() {
    let values_tried = |settings: &str| {
        let folder = Folder::new();
        let log = folder.write("calls", "");
        let help = "Options:\n  -q, --quiet  Less [env: A_QUIET=]\n  --delete  Delete all [env: A_DELETE=]\n  \
                    --limit N  So many [env: A_LIMIT=]\n  --output FORMAT  text, json [env: A_OUTPUT=]\n";
        let script = format!(
            "env | grep ^A_ >>'{}'\ncase $* in *--help*) printf '%b' '{}' ;; *) echo one ;; esac",
            log.display(),
            help.replace('\n', "\\n")
        );
        folder.script("cli", &script);
        let config =
            format!("[target]\ncommand = ['./cli']\n{settings}\n[[probe]]\nname = 'log'\nargs = ['log']\n");
        folder.write("agentnative.toml", config);
        folder.run(&["check", ".", "--json", "--isolation", "none", "--check", "p1-env-flag"]);
        calls(&folder)
    };
    let assignments = |name: &str| ["1", "0", "false", ""].map(|value| format!("{name}={value}"));
    let of_output_options =
        BTreeSet::from_iter(assignments("A_QUIET").into_iter().chain(["A_OUTPUT=json".to_owned()]));
    assert_eq!(values_tried(""), of_output_options);
    let declared = values_tried("env_flags = { '--delete' = 'A_DELETE', '-q' = 'A_QUIET' }");
    assert_eq!(declared, BTreeSet::from_iter(of_output_options.into_iter().chain(assignments("A_DELETE"))));
}

#[test]
fn a_variable_is_tried_in_the_format_of_the_contract_of_the_target() {
    let judged = |reads: &str| {
        let folder = Folder::with(&format!(
            "short=no\n{reads}\nfor word; do [ \"$word\" = --short ] && short=yes; done\n\
             case $short in yes) echo '{{\"ok\":true,\"data\":[\"a\"]}}' ;; *) echo '{{\"ok\":true,\"data\":[\"a\",\"b\"]}}' ;; esac\n"
        ));
        folder.write(
            "agentnative.toml",
            "[target]\ncommand = ['./cli']\ncontract = 'p2-envelope'\nenv_flags = { '--short' = 'X_SHORT' }\n\
             [[probe]]\nname = 'list'\nargs = ['list']\n",
        );
        folder.run(&["check", ".", "--json", "--check", "p1-env-flag"]).status("p1-env-flag")
    };
    assert_eq!(judged("case ${X_SHORT:-0} in 0 | false) ;; *) short=yes ;; esac"), "pass");
    assert_eq!(judged(""), "fail");
}

#[test]
fn a_tried_variable_does_not_apply_to_setup_calls() {
    let folder = Folder::with(
        "case $1 in --help) echo 'Usage: cli COMMAND' ;;\n\
         add) [ -z \"$X_BRIEF\" ] || exit 1; echo \"$2\" >items ;;\n\
         list) [ \"${X_BRIEF:-0}\" = 1 ] || [ \"$2\" = --brief ] || echo items:; cat items ;; esac\n",
    );
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\nformats = { text = [], json = false, jsonl = false }\n\
         env_flags = { '--brief' = 'X_BRIEF' }\n\
         [[probe]]\nname = 'list'\nargs = ['list']\nworkspace = true\nsetup = [['add', 'milk']]\n",
    );
    let output = folder.run(&["check", ".", "--json", "--check", "p1-env-flag"]);
    assert_eq!(output.status("p1-env-flag"), "pass", "{}", output.out);
}

#[test]
fn completions_are_called_if_they_are_declared_or_a_subcommand_has_that_name() {
    let checked = |commands: &str, settings: &str| {
        let folder = recording_target(&format!("case $* in --help) printf 'Commands:\n{commands}' ;; esac"));
        folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{settings}\n"));
        let output =
            folder.run(&["check", ".", "--json", "--isolation", "none", "--check", "p6-completions"]);
        let mut calls = calls(&folder);
        calls.remove("--help");
        (calls, output.status("p6-completions"))
    };
    let none = (set(&[]), "unverified".to_owned());
    assert_eq!(checked("  list  List\n", ""), none);
    assert_eq!(checked("  complete  Complete a task\n", ""), none);
    let guessed = set(&["completion bash", "completion zsh", "completion fish"]);
    assert_eq!(checked("  completion  Complete\n", ""), (guessed, "unverified".to_owned()));
    let declared = set(&["--script=bash", "--script=zsh", "--script=fish"]);
    let config = "completions = ['--script={shell}']";
    assert_eq!(checked("  completion  Complete\n", config), (declared, "fail".to_owned()));
    assert_eq!(checked("  completion  Complete\n", "completions = false"), (set(&[]), "fail".to_owned()));
}

#[test]
fn examples_are_called_if_their_command_is_declared_and_unknown_flags_are_rejected() {
    const HELP: &str = "Commands:\\n  list  List\\n  show  Show\\n  wipe  Wipe all\\n  exec  Run\\n\\nExamples:\\n  \
        cli list -n 2\\n  cli show 1 | less\\n  cli wipe --now\\n  cli list <name>\\n  cli -v list --help\\n  \
        cli exec ls -- -l\\n";
    let values_tried = |on_unknown: &str| {
        let folder = recording_target(&format!(
            "case $* in *--help*) printf '{HELP}' ;; *unknown*) {on_unknown} ;; *) echo one ;; esac"
        ));
        let probes = [("list", "'list'"), ("show", "'show', '1'")];
        let probes = probes.map(|(name, args)| format!("[[probe]]\nname = '{name}'\nargs = [{args}]\n"));
        folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{}", probes.concat()));
        let output = folder.run(&[
            "check",
            ".",
            "--json",
            "--isolation",
            "none",
            "--check",
            "p3-examples-parse",
            "--record",
            "runs",
        ]);
        // The target cannot record confined calls, so they are read from the recording.
        let made = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let probe = line["run"]["probe"].as_str()?;
            probe.starts_with("example").then(|| probe.to_owned())
        };
        let calls: BTreeSet<String> = folder.read("runs").lines().filter_map(made).collect();
        (calls, output.status("p3-examples-parse"))
    };
    let both = set(&["example `list -n 2`", "example `show 1`"]);
    let rejects = "echo \"unknown flag --agentnative-unknown-flag\" >&2; exit 2";
    assert_eq!(values_tried(rejects), (both.clone(), "pass".to_owned()));
    assert_eq!(values_tried("echo \"unknown flag $2\" >&2; exit 2"), (both, "warn".to_owned()),);
    // A call that is not rejected would be executed.
    assert_eq!(values_tried("echo one"), (set(&[]), "unverified".to_owned()));
}

#[test]
fn an_example_that_is_executed_changes_only_a_copy() {
    let folder = Folder::new();
    let help = "Examples:\\n  cli 1 2\\n";
    // It rejects the unknown flag except in the example.
    folder.script(
        "cli",
        &format!(
            "here=$(dirname \"$0\")\ncase $* in *--help*) printf '{help}' ;; \"1 2 \"*) echo out >\"$here/out\"; echo in >in ;; \
             *unknown*) exit 2 ;; *) echo one ;; esac"
        ),
    );
    folder
        .write("agentnative.toml", "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'one'\nargs = ['1']\n");
    let output = folder.run(&[
        "check",
        ".",
        "--json",
        "--isolation",
        "none",
        "--check",
        "p3-examples-parse",
        "--record",
        "runs",
    ]);
    assert_eq!(output.status("p3-examples-parse"), "unverified");
    assert!(
        folder.read("runs").contains("1 2 --agentnative-unknown-flag")
            || folder.read("runs").contains("example `1 2`")
    );
    assert!(!folder.path().join("out").exists() && !folder.path().join("in").exists());
}

#[test]
fn help_is_called_only_for_the_commands_of_declared_probes() {
    // A word of a probe counts as a subcommand only if the help of its parent lists it.
    let remotes = r#"
        case "$*" in
            "remote --help") printf 'Commands:\n  add  Add\n  drop  Drop\n' ;;
            *--help) printf 'Options:\n  -h, --host HOST  The host\n\nCommands:\n  remote  Remotes\n  wipe  Wipe all\n' ;;
            *) echo one ;;
        esac
    "#;
    let folder = recording_target(remotes);
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'add'\nargs = ['--quiet', 'remote', 'add', 'wipe']\nformats = ['text']\n",
    );
    let output = folder.run(&[
        "check",
        ".",
        "--json",
        "--isolation",
        "none",
        "--principle",
        "3",
        "--layer",
        "behavioral",
    ]);
    let called: BTreeSet<String> = calls(&folder).into_iter().filter(|call| call.contains("-h")).collect();
    assert_eq!(called, set(&["--help", "remote --help", "remote add --help"]));
    assert_eq!(output.status("p3-command-help"), "fail", "{output:?}");
}
