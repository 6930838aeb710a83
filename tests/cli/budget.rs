//! Schemas and targets whose author wants us to work for ever: the work ends, and is told as what it is.

use super::support::{Folder, within};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

/// A schema of so many definitions, each of which refers to the one before it twice.
fn doubling(levels: usize) -> Value {
    let twice = |nth: usize| json!({ "$ref": format!("#/$defs/{}", nth - 1) });
    let definition = |nth: usize| match nth {
        0 => json!({ "type": "object" }),
        nth => json!({ "allOf": [twice(nth), twice(nth)] }),
    };
    let definitions = (0..levels).map(|nth| (nth.to_string(), definition(nth)));
    let definitions: serde_json::Map<String, Value> = definitions.collect();
    json!({ "$defs": definitions, "$ref": format!("#/$defs/{}", levels - 1) })
}

/// A folder with a target that prints such a schema as its own.
fn hostile() -> Folder {
    let folder = Folder::with("case $1 in schema) cat \"${0%/*}/doubling.json\" ;; *) echo '{}' ;; esac\n");
    folder.write("doubling.json", doubling(40).to_string());
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\nschema = ['schema']\n[[probe]]\nname = 'go'\nargs = ['go']\n",
    );
    folder
}

#[test]
fn validate_ends_with_an_error_of_its_own() {
    // A valid document takes time, the errors of another one memory.
    for (levels, document) in [(40, "{}"), (30, "0")] {
        let folder = Folder::new();
        folder.write("doubling.json", doubling(levels).to_string());
        folder.write("data.json", document);
        let spent = folder.run(&["validate", "--contract", "./doubling.json", "--json", "data.json"]);
        assert_eq!((spent.code, spent.out.as_str()), (Some(1), ""), "{}", spent.err);
        assert_eq!(spent.error()["kind"], "budget", "{document}");
    }
}

#[test]
fn a_comparison_that_takes_too_much_is_undecided() {
    let folder = Folder::new();
    folder.write("doubling.json", doubling(40).to_string());
    folder.write("string.json", json!({ "type": "string" }).to_string());
    let link =
        |nth: usize| json!({ "allOf": [{ "$ref": format!("#/$defs/{}", nth + 1) }], "minProperties": 1 });
    let chain = (0..2_000).map(|nth| (nth.to_string(), link(nth)));
    let chain = chain.chain([("2000".to_owned(), json!({ "type": "object" }))]);
    let chain: serde_json::Map<String, Value> = chain.collect();
    folder.write("chain.json", json!({ "$defs": chain, "$ref": "#/$defs/0" }).to_string());
    let circle = json!({ "anyOf": [{ "$ref": "#/$defs/a" }, { "required": ["b"] }] });
    let circular =
        json!({ "type": "object", "if": { "$ref": "#/$defs/a" }, "then": {}, "$defs": { "a": circle } });
    folder.write("circular.json", circular.to_string());
    for (old, new) in
        [("doubling", "string"), ("string", "doubling"), ("chain", "string"), ("string", "circular")]
    {
        let found =
            folder.run(&["contract", "diff", "--json", &format!("{old}.json"), &format!("{new}.json")]);
        let changes = found.data()["changes"].take();
        let classes: Vec<&Value> =
            changes.as_array().unwrap().iter().map(|change| &change["class"]).collect();
        let (code, class) = if new == "circular" { (1, "breaking") } else { (0, "undecided") };
        assert!(found.code == Some(code) && classes.contains(&&json!(class)), "{old} {new}: {found:?}");
    }
}

#[test]
fn a_contract_has_a_largest_size() {
    let folder = Folder::new();
    let many: Vec<Value> = (0..100_000).map(|nth| json!({ "const": nth })).collect();
    folder.write("many.json", json!({ "anyOf": many }).to_string());
    folder.write("data.json", "0");
    let refused = folder.run(&["validate", "--contract", "./many.json", "--json", "data.json"]);
    assert_eq!(
        (refused.code, refused.error()["kind"].as_str()),
        (Some(78), Some("config")),
        "{}",
        refused.err
    );
    assert!(refused.err.contains("200000 JSON values"), "{}", refused.err);
}

#[test]
fn a_check_that_takes_too_much_is_unverified_and_the_report_is_written() {
    let folder = hostile();
    let args = ["check", "--json", "--check", "p2-schema-print", "--check", "p2-exit-success"];
    let report = folder.run(&args);
    assert_eq!(report.code, Some(0), "{}", report.err);
    assert_eq!(report.status("p2-schema-print"), "unverified");
    assert_eq!(report.status("p2-exit-success"), "pass");
    assert!(report.out.contains("judging this was stopped: it needs more than"), "{}", report.out);
}

#[test]
fn a_signal_ends_the_program_while_it_judges() {
    let folder = hostile();
    for signal in [Signal::INT, Signal::TERM] {
        let mut command = folder.command();
        let command = command.args(["check", "--jsonl", "--check", "p2-schema-print"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // After the last run nothing is left but to judge.
        let lines = within("the last run", move || {
            let mut lines = lines.map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
            let runs = lines.next().unwrap()["runs"].as_u64().unwrap();
            for nth in 1..=runs {
                assert_eq!(lines.next().unwrap()["type"], "run", "{nth} of {runs}");
            }
            lines
        });
        kill_process(Pid::from_child(&child), signal).unwrap();
        let status = within("the end", move || child.wait().unwrap());
        // Whether it was the last moment of the runs, or the judging.
        let number = signal.as_raw();
        assert!(status.signal() == Some(number) || status.code() == Some(128 + number), "{status:?}");
        drop(lines);
    }
}

#[test]
fn want_of_resources_is_no_fault_of_the_target() {
    let folder = Folder::with("echo '{}'\n");
    let program = env!("CARGO_BIN_EXE_agentnative");
    for most in [8, 12, 20] {
        let temporary = tempfile::tempdir().unwrap();
        let script =
            format!("ulimit -n {most}; exec '{program}' check ./cli --json --probe go --check p2-completes");
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &script]).current_dir(folder.path()).env("TMPDIR", temporary.path());
        let refused = super::support::output_of(shell);
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{}", refused.err);
        assert_eq!(refused.error()["kind"], "general");
        let says = |text: &str| refused.err.contains(text);
        assert!(
            says("Too many open files") && says("ulimit -n") && !says("panicked"),
            "{most}: {}",
            refused.err
        );
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{most}");
    }
}

/// A command, to be completed, as a user with no rights: limits on processes count for him.
fn as_nobody() -> std::process::Command {
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit"]);
    command
}

#[test]
fn nothing_panics_where_no_more_threads_can_be_had() {
    use std::os::unix::fs::PermissionsExt as _;
    if !as_nobody().args(["--nproc=1", "true"]).output().is_ok_and(|done| done.status.success()) {
        eprintln!("skipped: there is no ordinary user here");
        return;
    }
    let folder = Folder::with("echo '{}'\n");
    let open = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    };
    open(folder.path());
    std::fs::copy(env!("CARGO_BIN_EXE_agentnative"), folder.path().join("agentnative")).unwrap();
    folder.write("main.py", "import sys\nprint('{}')\n");
    let checks = ["check ./cli --json --probe go --check p2-completes", "check --layer source --json ."];
    for most in 1..10 {
        for words in checks {
            let mut command = as_nobody();
            command.arg(format!("--nproc={most}")).arg("./agentnative").args(words.split(' '));
            command.current_dir(folder.path()).env("TMPDIR", folder.path());
            let ended = super::support::output_of(&mut command);
            assert!(!ended.err.contains("panicked"), "{most} {words}: {}", ended.err);
            assert!(matches!(ended.code, Some(0 | 1)), "{most} {words}: {:?} {}", ended.code, ended.err);
        }
    }
}
