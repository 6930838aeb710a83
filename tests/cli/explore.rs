//! `--explore`: which calls are made, within which limits, and what the report and the recording contain.

use super::support::{CliOutput, Folder};
use agentnative::check::Recording;
use std::collections::BTreeSet;
use std::process::Command;

/// A target with three commands. `grow` writes a file to its folder, `pause` sleeps, and all print JSON on request.
const TARGET: &str = r#"
json= option=
for arg; do
    shift
    case $option$arg in
        --output) option=$arg ;;
        --outputjson) json=yes option= ;;
        --outputtext) option= ;;
        --output*) echo "cli: --output must be text or json: $arg" >&2; exit 2 ;;
        *) set -- "$@" "$arg" ;;
    esac
done
page() { printf 'Usage: cli %s\n\n%s\n\nOptions:\n  --output FORMAT  text or json\n' "$1" "$2"; exit 0; }
usage() { echo "cli: $1" >&2; exit 2; }
case "$1 $2" in
    'list --help') page 'list [--output FORMAT]' 'List the items' ;;
    'show --help') page 'show ID [--output FORMAT]' 'Show an item' ;;
    'grow --help') page 'grow [--output FORMAT]' 'Add an item' ;;
    --help*) printf 'Usage: cli COMMAND\n\nCommands:\n  list  List the items\n  show  Show an item\n  grow  Add an item\n\nRun cli COMMAND --help for more.\n'; exit 0 ;;
    '--version ') echo 'cli 1.0.0'; exit 0 ;;
    list\ | grow\ ) ;;
    show\ ?*) [ "$2" = 1 ] || { echo "cli: no item $2" >&2; exit 1; } ;;
    *) usage "unknown: $*" ;;
esac
[ "$1" != grow ] || echo item >>items
if [ "$json" ]; then echo '{"items":[{"id":1},{"id":2}]}'; else printf '1\n2\n'; fi
"#;

fn target() -> Folder {
    let folder = Folder::new();
    folder.script("cli", TARGET);
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    folder
}

/// Explores the target, in JSON and with plain runs only.
fn explore(folder: &Folder, args: &[&str]) -> CliOutput {
    folder.run(&[&["check", "--explore", "--fast", "--json", "--layer", "behavioral"], args].concat())
}

/// Returns the arguments of the explored calls in a recording, in their order.
fn explored_calls(folder: &Folder) -> Vec<String> {
    let recording = Recording::read(&folder.path().join("recording.jsonl")).unwrap();
    let explored = recording.probes.into_iter().filter(|probe| probe.is_source() && probe.explored.is_some());
    explored.map(|probe| probe.name).collect()
}

#[test]
fn the_calls_depend_on_the_target_and_the_budget_alone() {
    let folder = target();
    let explored = |args: &[&str]| {
        let output = explore(&folder, &[&["--record", "recording.jsonl"], args].concat());
        let coverage = output.data()["coverage"].clone();
        (explored_calls(&folder), coverage, output.data()["results"].clone())
    };
    let (calls, coverage, results) = explored(&["--jobs", "1"]);
    assert_eq!(explored(&["--jobs", "8"]), (calls.clone(), coverage.clone(), results));
    assert_eq!(coverage["commands"]["called"], 3, "{coverage:#}");
    assert_eq!(coverage["calls"]["budget"], 600);
    assert_eq!(&calls[..3], ["list", "grow", "show agentnative-example"]);
    for call in ["list agentnative-unexpected-argument", "show ''", "show"] {
        assert!(calls.iter().any(|other| other == call), "{call}: {calls:?}");
    }
    let (few, coverage, _) = explored(&["--explore-calls", "3"]);
    assert_eq!((few, coverage["calls"]["made"].as_u64()), (calls[..3].to_vec(), Some(3)));
    assert!(coverage["notes"].to_string().contains("the limit is 3"), "{coverage:#}");
}

#[test]
fn the_list_of_targets_shows_the_explored_commands() {
    let folder = target();
    for name in ["one.toml", "two.toml"] {
        folder.write(name, "[target]\ncommand = ['./cli']\n");
    }
    let few = ["check", "--all", "one.toml", "two.toml", "--explore", "--explore-calls", "2", "--fast"];
    let reports =
        ["--check", "p2-exit-success", "--report", "markdown=page.md", "--report", "html=page.html"];
    let output = folder.run(&[&few[..], &reports].concat());
    let line = |text: &str, start: &str| {
        text.lines().any(|line| line.starts_with(start) && line.contains("2 of 3 commands"))
    };
    assert!(line(&output.out, "one"), "{}", output.out);
    let markdown = folder.read("page.md");
    assert!(line(&markdown, "- one"), "{markdown}");
    assert!(line(&folder.read("page.html"), "<tr><th scope=\"row\"><a href=\"#t1\">two"), "no row of two");
}

#[test]
fn a_replay_gives_the_same_report_without_a_call() {
    let folder = target();
    let live = explore(&folder, &["--record", "recording.jsonl"]);
    folder.script("cli", "exit 99");
    let replayed = folder.run(&["check", "--json", "--layer", "behavioral", "--replay", "recording.jsonl"]);
    for key in ["results", "coverage", "runs"] {
        assert_eq!(live.data()[key], replayed.data()[key], "{key}");
    }
}

#[test]
fn explored_calls_change_only_copies_of_the_workspace() {
    let folder = target();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    folder.write("data/notes.txt", "mine");
    let output =
        explore(&folder, &["--workspace", "data", "--isolation", "none", "--record", "recording.jsonl"]);
    let recording = Recording::read(&folder.path().join("recording.jsonl")).unwrap();
    let grow = recording.probes.iter().find(|probe| probe.name == "grow").unwrap();
    assert!(grow.effect.is_some(), "{}", output.out);
    for folder in [folder.path().join("data"), folder.path().to_owned()] {
        assert!(!folder.join("items").exists(), "{}", folder.display());
    }
    assert_eq!(folder.read("data/notes.txt"), "mine");
    let missing = explore(&folder, &["--workspace", "nowhere"]);
    assert_eq!((missing.code, missing.err.contains("nowhere")), (Some(2), true), "{}", missing.err);
}

#[test]
fn excluded_commands_are_not_called() {
    let folder = target();
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\nexplore.skip = ['gr*']\n");
    let output = explore(&folder, &["--record", "recording.jsonl"]);
    let recording = Recording::read(&folder.path().join("recording.jsonl")).unwrap();
    let calls_it = recording.observations.iter().any(|seen| seen.argv.iter().any(|word| word == "grow"));
    assert!(!calls_it);
    let missed = output.data()["coverage"]["not_reached"].clone();
    assert_eq!(missed[0]["command"], "grow", "{missed:#}");
    assert_eq!(missed[0]["reason"], "excluded by the configuration");
}

#[test]
fn a_declared_probe_replaces_the_explored_call() {
    let folder = target();
    explore(&folder, &["--probe", "list", "--record", "recording.jsonl"]);
    assert!(!explored_calls(&folder).contains(&"list".to_owned()));
}

#[test]
fn a_target_that_hangs_in_each_call_is_given_up() {
    let folder = Folder::new();
    let help = "case $1 in --help) printf 'Usage: cli COMMAND\\n\\nCommands:\\n'; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do echo \"  command$n  Do $n\"; done; exit 0 ;; esac";
    folder.script("cli", &format!("{help}\nexec sleep 60"));
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    let output = explore(&folder, &["--timeout", "0.5", "--check", "p2-completes"]);
    let coverage = output.data()["coverage"].clone();
    assert_eq!(coverage["calls"]["timed_out"], 10, "{coverage:#}");
    assert!(coverage["notes"].to_string().contains("was not called again"), "{coverage:#}");
}

/// A linter whose usage has brackets: it exits with 1 if a file has a problem, and then prints its progress before the
/// JSON.
const LINTER: &str = r#"
json= files=
while [ $# -gt 0 ]; do
    case $1 in
        --help) printf 'Usage: cli [--format FORMAT] [FILE ...]\n\nOptions:\n  --format FORMAT  json or text\n\nExamples:\n  cli src/\n  cli notes.pack\n'; exit 0 ;;
        --version) echo 'cli 1.0.0'; exit 0 ;;
        --format) [ "$2" = json ] && json=yes; shift ;;
        -*) echo "cli: unknown option $1" >&2; exit 2 ;;
        *) files="$files $1" ;;
    esac
    shift
done
[ "$files" ] || { printf 'usage: cli\n[--format FORMAT]\n'; exit 2; }
for file in $files; do
    [ -e "$file" ] || { echo "cli: $file: No such file or directory" >&2; exit 2; }
done
case $files in
    *pack) echo 'Working...'; [ "$json" ] && echo '{"problems":[{"line":1}]}' || echo 'line 1'; exit 1 ;;
    *) [ "$json" ] && echo '{"problems":[]}' || echo 'no problems' ;;
esac
"#;

#[test]
fn json_of_calls_that_fail_with_output_is_judged() {
    let folder = Folder::new();
    folder.script("cli", LINTER);
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    std::fs::create_dir(folder.path().join("files")).unwrap();
    folder.write("files/notes.pack", "a problem\n");
    let args = ["--workspace", "files", "--check", "p2-output-json", "--record", "recording.jsonl"];
    let output = explore(&folder, &args);
    let result = &output.data()["results"][0];
    assert_eq!(result["status"], "fail", "{result:#}");
    let failing: Vec<&str> =
        result["evidence"].as_array().unwrap().iter().map(|seen| seen["argv"].as_str().unwrap()).collect();
    assert!(failing.iter().all(|call| call.ends_with("notes.pack --format json")), "{failing:?}");
    // A folder of an example that does not exist is replaced.
    assert!(explored_calls(&folder).contains(&".".to_owned()), "{:?}", explored_calls(&folder));
}

#[test]
fn the_time_limit_makes_an_exploration_incomplete() {
    let folder = target();
    let output = explore(&folder, &["--explore-budget", "0.001"]);
    let coverage = output.data()["coverage"].clone();
    assert_eq!(coverage["incomplete"], "its time limit of 0.001 s was reached", "{coverage:#}");
    assert_eq!(coverage["calls"]["succeeded"], 0);
    let data = output.data();
    let results = data["results"].as_array().unwrap();
    assert!(results.iter().all(|result| !result["message"].to_string().contains("held in")), "{results:#?}");
}

#[test]
fn options_of_exploration_require_it_and_exclude_others() {
    let folder = target();
    for (args, word) in [
        (vec!["check", "--explore-calls", "5"], "--explore"),
        (vec!["check", "--workspace", "."], "--explore"),
        (vec!["check", "--explore", "--contract", "codex-exec"], "--contract"),
        (vec!["check", "--explore", "--replay", "x"], "--replay"),
        (vec!["check", "--explore", "--explore-calls", "0"], "expected a whole number"),
    ] {
        let output = folder.run(&args);
        assert_eq!(output.code, Some(2), "{args:?}: {}", output.err);
        assert!(output.err.contains(word), "{args:?}: {}", output.err);
    }
}

#[test]
fn without_namespaces_nothing_is_explored() {
    let folder = target();
    let script = "echo 0 >/proc/sys/user/max_user_namespaces && exec \"$@\"";
    let program = env!("CARGO_BIN_EXE_agentnative");
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "sh", "-c", script, "sh", program])
        .args(["check", "--explore", "--json", "--allow-unconfined"])
        .current_dir(folder.path())
        .output();
    let Some(output) = output.ok().filter(|output| output.status.code() != Some(127)) else {
        eprintln!("skipped: there is no `unshare`");
        return;
    };
    let error = String::from_utf8_lossy(&output.stderr);
    if error.contains("unshare failed") || error.contains("max_user_namespaces") {
        eprintln!("skipped: this system has no user namespaces: {error}");
        return;
    }
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("\"kind\":\"isolation\""), "{error}");
}

#[test]
fn init_declares_the_calls_that_were_found() {
    let folder = target();
    std::fs::remove_file(folder.path().join("agentnative.toml")).unwrap();
    let output = folder.run(&["init", "--explore", "--json", "./cli"]);
    assert_eq!(output.code, Some(0), "{}", output.err);
    let probes: BTreeSet<String> = output.data()["probes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|name| name.as_str().unwrap().into())
        .collect();
    for name in ["list", "grow", "show agentnative-example"] {
        assert!(probes.contains(name), "{probes:?}");
    }
    let text = folder.read("agentnative.toml");
    for line in [
        "changes = true",
        "list = { items = \"/items\" }",
        "exit = 1",
        "# exited with 1: cli: no item agentnative-example",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let checked = folder.run(&["check", "--fast", "--json", "--layer", "behavioral"]);
    let data = checked.data();
    let failed: Vec<&str> = data["results"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|result| result["status"] == "fail")
        .map(|result| result["id"].as_str().unwrap())
        .collect();
    // Real faults of this target: exploration finds them as well, or they concern what the configuration promises.
    let known = [
        "p2-output-format",
        "p2-error-json",
        "p2-exit-documented",
        "p3-examples",
        "p3-command-examples",
        "p5-dry-run",
        "p7-quiet",
    ];
    assert!(failed.iter().all(|id| known.contains(id)), "{failed:?}: {text}");
}
