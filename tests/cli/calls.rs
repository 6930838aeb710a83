//! Which calls are made of a target that could be harmed: each target here records its calls. Confined, it could not.

use super::support::Folder;
use serde_json::Value;
use std::collections::BTreeSet;

/// A target that records its calls, one a line, and then does `rest`.
fn recorder(rest: &str) -> Folder {
    let folder = Folder::new();
    let calls = folder.write("calls", "");
    folder.script("cli", &format!("printf '%s\\n' \"$*\" >>'{}'\n{rest}", calls.display()));
    folder
}

/// All calls so far, each once.
fn calls(folder: &Folder) -> BTreeSet<String> {
    folder.read("calls").lines().map(str::to_owned).collect()
}

fn set(words: &[&str]) -> BTreeSet<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// Takes any word that is no command as a prompt: each would cost money. `$HELP` is its usage.
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
    let folder = recorder("echo '{}'");
    let probe = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let config = format!("[target]\ncommand = ['./cli']\nformats.json = ['--format', 'json']\n{probe}");
    folder.write("agentnative.toml", config);
    let run = folder.run(&["check", ".", "--isolation", "none", "--check", "p8-bundle"]);
    assert_eq!((run.code, calls(&folder)), (Some(0), set(&[])), "{}", run.err);
}

#[test]
fn no_free_word_for_a_target_that_takes_a_prompt() {
    let harmless = set(&["--help", "--version", "--agentnative-unknown-flag"]);
    let target = |usage: &str, settings: &str, probes: &str| {
        let folder = recorder(&format!("USAGE='{usage}'\n{PROMPTS}"));
        let config = format!("[target]\ncommand = ['./cli']\nformats.json = ['-j']\n{settings}\n{probes}");
        folder.write("agentnative.toml", config);
        let said = folder.run(&[
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
        (calls(&folder), said)
    };
    for usage in ["[options] [command] [prompt]", "[OPTIONS] [PROMPT]\n       cli <COMMAND> [ARGS]", "<file>"]
    {
        let (calls, _) = target(usage, "", "");
        let free = |call: &&String| call.split(' ').any(|word| !word.starts_with('-'));
        assert_eq!(calls.iter().find(free), None, "{usage}");
        assert!(calls.is_superset(&harmless), "{calls:?}");
    }
    let unknown = "agentnative-unknown-command".to_owned();
    let asks = |calls: &BTreeSet<String>| calls.iter().any(|call| call.ends_with(&unknown));
    // The usage alone would allow it; what else decides.
    let plain = "[options] [command]";
    let words = "[[probe]]\nname = 'ask'\nargs = ['{format}', 'how are you']\nformats = ['text']\n";
    let fails = "[[probe]]\nname = 'fail'\nargs = ['-x']\nexit = 2\nformats = ['text']\n";
    for (usage, settings, probes, expected) in [
        (plain, "", "", true),
        (plain, "", words, false),
        (plain, "unknown_command = false", "", false),
        ("[prompt]", "unknown_command = true", fails, true),
    ] {
        let (calls, said) = target(usage, settings, probes);
        assert_eq!(asks(&calls), expected, "{usage} {settings} {probes}: {calls:?}");
        // That it was answered is the affair of one check alone.
        assert_eq!(
            said.status("p2-exit-usage"),
            if expected { "fail" } else { "pass" },
            "{usage} {settings}"
        );
        let results = said.data();
        let open = results["results"].as_array().unwrap().iter().filter(|result| {
            let causes = result["blocked_by"].as_array().cloned().unwrap_or_default();
            causes.iter().any(|cause| cause["probe"] == "agentnative-unknown-command")
        });
        assert_eq!(open.count(), 0, "{results:#}");
    }
}

/// The names in the folder of a target.
fn names(folder: &Folder) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn an_output_that_names_a_file_writes_none() {
    // Its help is silent on `--output`, which names a file; outside of its folder it fails, as git does.
    let writes = r#"
        case "$1" in --help | --version) echo 'usage: cli log'; exit 0 ;; -*) echo "unknown $1" >&2; exit 2 ;; esac
        [ "$ANYWHERE" = yes ] || [ -f here ] || { echo 'not in a project' >&2; exit 128; }
        while [ $# -gt 0 ]; do
            case $1 in --output) echo one >"$2"; exit 0 ;; -*) echo "unknown $1" >&2; exit 2 ;; esac
            shift
        done
        echo one
    "#;
    // Every word but a flag becomes a file.
    let any = r#"
        for arg; do case $arg in --help | --version) echo 'a tool'; exit 0 ;; -*) ;; *) echo one >"$arg" ;; esac; done
    "#;
    for (anywhere, script, expected) in
        [("no", writes, "unverified"), ("yes", writes, "fail"), ("yes", any, "fail")]
    {
        let folder = recorder(&format!("ANYWHERE={anywhere}\n{script}"));
        folder.write("here", "");
        folder.write("log", "one\n");
        let before = names(&folder);
        // A confined call that starts elsewhere could not record itself.
        let said = folder.run(&[
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
        let asked: BTreeSet<String> =
            calls(&folder).into_iter().filter(|call| call.contains("--output")).collect();
        assert_eq!(asked, set(&["log --output agentnative-unknown-format"]), "{script}");
        assert_eq!(said.status("p2-output-format"), expected, "{said:?}");
        assert_eq!(said.status("p2-output-json"), "unverified");
    }
}

#[test]
fn a_format_that_is_refused_by_name_is_asked_for() {
    let folder = recorder(
        r#"
        case "$*" in
            --help | --version) echo 'a tool' ;;
            log) echo one ;;
            *) echo "unknown option --output" >&2; exit 2 ;;
        esac
        "#,
    );
    let said = folder.run(&[
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
    assert_eq!(said.status("p2-output-format"), "fail");
}

#[test]
fn only_a_declared_list_is_asked_for_lengths() {
    let limits = |settings: &str, args: &str, list: &str| {
        let folder = recorder("echo '{\"items\":[1,2]}'");
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
fn variables_are_set_for_declared_options_and_for_those_that_change_the_output_only() {
    let tried = |settings: &str| {
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
    let of = |name: &str| ["1", "0", "false", ""].map(|value| format!("{name}={value}"));
    let shown = BTreeSet::from_iter(of("A_QUIET").into_iter().chain(["A_OUTPUT=json".to_owned()]));
    assert_eq!(tried(""), shown);
    let declared = tried("env_flags = { '--delete' = 'A_DELETE', '-q' = 'A_QUIET' }");
    assert_eq!(declared, BTreeSet::from_iter(shown.into_iter().chain(of("A_DELETE"))));
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
fn a_variable_that_is_tried_does_not_apply_to_the_calls_before() {
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
    let said = folder.run(&["check", ".", "--json", "--check", "p1-env-flag"]);
    assert_eq!(said.status("p1-env-flag"), "pass", "{}", said.out);
}

#[test]
fn completions_are_asked_for_where_they_are_declared_or_a_subcommand_is_called_so() {
    let asked = |commands: &str, settings: &str| {
        let folder = recorder(&format!("case $* in --help) printf 'Commands:\n{commands}' ;; esac"));
        folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{settings}\n"));
        let said = folder.run(&["check", ".", "--json", "--isolation", "none", "--check", "p6-completions"]);
        let mut calls = calls(&folder);
        calls.remove("--help");
        (calls, said.status("p6-completions"))
    };
    let none = (set(&[]), "unverified".to_owned());
    assert_eq!(asked("  list  List\n", ""), none);
    assert_eq!(asked("  complete  Complete a task\n", ""), none);
    let guessed = set(&["completion bash", "completion zsh", "completion fish"]);
    assert_eq!(asked("  completion  Complete\n", ""), (guessed, "unverified".to_owned()));
    let declared = set(&["--script=bash", "--script=zsh", "--script=fish"]);
    let config = "completions = ['--script={shell}']";
    assert_eq!(asked("  completion  Complete\n", config), (declared, "fail".to_owned()));
    assert_eq!(asked("  completion  Complete\n", "completions = false"), (set(&[]), "fail".to_owned()));
}

#[test]
fn examples_are_tried_where_their_command_is_declared_and_unknown_flags_are_rejected() {
    const HELP: &str = "Commands:\\n  list  List\\n  show  Show\\n  wipe  Wipe all\\n  exec  Run\\n\\nExamples:\\n  \
        cli list -n 2\\n  cli show 1 | less\\n  cli wipe --now\\n  cli list <name>\\n  cli -v list --help\\n  \
        cli exec ls -- -l\\n";
    let tried = |on_unknown: &str| {
        let folder = recorder(&format!(
            "case $* in *--help*) printf '{HELP}' ;; *unknown*) {on_unknown} ;; *) echo one ;; esac"
        ));
        let probes = [("list", "'list'"), ("show", "'show', '1'")];
        let probes = probes.map(|(name, args)| format!("[[probe]]\nname = '{name}'\nargs = [{args}]\n"));
        folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{}", probes.concat()));
        let said = folder.run(&[
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
        // Confined, it cannot record its calls itself.
        let made = |line: &str| {
            let line: Value = serde_json::from_str(line).unwrap();
            let probe = line["run"]["probe"].as_str()?;
            probe.starts_with("example").then(|| probe.to_owned())
        };
        let calls: BTreeSet<String> = folder.read("runs").lines().filter_map(made).collect();
        (calls, said.status("p3-examples-parse"))
    };
    let both = set(&["example `list -n 2`", "example `show 1`"]);
    let rejects = "echo \"unknown flag --agentnative-unknown-flag\" >&2; exit 2";
    assert_eq!(tried(rejects), (both.clone(), "pass".to_owned()));
    assert_eq!(tried("echo \"unknown flag $2\" >&2; exit 2"), (both, "warn".to_owned()),);
    // What would not be rejected would be carried out.
    assert_eq!(tried("echo one"), (set(&[]), "unverified".to_owned()));
}

#[test]
fn an_example_that_is_carried_out_changes_nothing_outside_a_copy() {
    let folder = Folder::new();
    let help = "Examples:\\n  cli 1 2\\n";
    // It rejects the unknown flag but for an example.
    folder.script(
        "cli",
        &format!(
            "here=$(dirname \"$0\")\ncase $* in *--help*) printf '{help}' ;; \"1 2 \"*) echo out >\"$here/out\"; echo in >in ;; \
             *unknown*) exit 2 ;; *) echo one ;; esac"
        ),
    );
    folder
        .write("agentnative.toml", "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'one'\nargs = ['1']\n");
    let said = folder.run(&[
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
    assert_eq!(said.status("p3-examples-parse"), "unverified");
    assert!(
        folder.read("runs").contains("1 2 --agentnative-unknown-flag")
            || folder.read("runs").contains("example `1 2`")
    );
    assert!(!folder.path().join("out").exists() && !folder.path().join("in").exists());
}

#[test]
fn help_is_asked_for_the_commands_of_declared_probes_only() {
    // What a command lists is read before the next word of a probe is taken for a command of it.
    let remotes = r#"
        case "$*" in
            "remote --help") printf 'Commands:\n  add  Add\n  drop  Drop\n' ;;
            *--help) printf 'Options:\n  -h, --host HOST  The host\n\nCommands:\n  remote  Remotes\n  wipe  Wipe all\n' ;;
            *) echo one ;;
        esac
    "#;
    let folder = recorder(remotes);
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'add'\nargs = ['--quiet', 'remote', 'add', 'wipe']\nformats = ['text']\n",
    );
    let said = folder.run(&[
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
    let asked: BTreeSet<String> = calls(&folder).into_iter().filter(|call| call.contains("-h")).collect();
    assert_eq!(asked, set(&["--help", "remote --help", "remote add --help"]));
    assert_eq!(said.status("p3-command-help"), "fail", "{said:?}");
}
