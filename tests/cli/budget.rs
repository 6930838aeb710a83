//! Budgets: work on schemas and targets of any size ends, and an exceeded budget is reported as such.

use super::support::{Folder, within};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

/// A schema with `levels` definitions, each of which refers to the previous one twice.
fn doubling_schema(levels: usize) -> Value {
    let reference = |nth: usize| json!({ "$ref": format!("#/$defs/{}", nth - 1) });
    let definition = |nth: usize| match nth {
        0 => json!({ "type": "object" }),
        nth => json!({ "allOf": [reference(nth), reference(nth)] }),
    };
    let definitions = (0..levels).map(|nth| (nth.to_string(), definition(nth)));
    let definitions: serde_json::Map<String, Value> = definitions.collect();
    json!({ "$defs": definitions, "$ref": format!("#/$defs/{}", levels - 1) })
}

/// A folder with a target that prints a [`doubling_schema`] as its schema.
fn folder_with_doubling_schema() -> Folder {
    let folder = Folder::with("case $1 in schema) cat \"${0%/*}/doubling.json\" ;; *) echo '{}' ;; esac\n");
    folder.write("doubling.json", doubling_schema(40).to_string());
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\nschema = ['schema']\n[[probe]]\nname = 'go'\nargs = ['go']\n",
    );
    folder
}

#[test]
fn validate_reports_an_exceeded_budget_as_its_own_kind_of_error() {
    // A valid document takes time; the errors of an invalid one take memory.
    for (levels, document) in [(40, "{}"), (30, "0")] {
        let folder = Folder::new();
        folder.write("doubling.json", doubling_schema(levels).to_string());
        folder.write("data.json", document);
        let spent = folder.run(&["validate", "--contract", "./doubling.json", "--json", "data.json"]);
        assert_eq!((spent.code, spent.out.as_str()), (Some(1), ""), "{}", spent.err);
        assert_eq!(spent.error()["kind"], "budget", "{document}");
    }
}

#[test]
fn a_comparison_over_its_budget_is_undecided() {
    let folder = Folder::new();
    folder.write("doubling.json", doubling_schema(40).to_string());
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
fn the_size_of_a_contract_is_limited() {
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
fn a_check_over_its_budget_is_unverified_and_the_report_is_written() {
    let folder = folder_with_doubling_schema();
    let args = ["check", "--json", "--check", "p2-schema-print", "--check", "p2-exit-success"];
    let report = folder.run(&args);
    assert_eq!(report.code, Some(0), "{}", report.err);
    assert_eq!(report.status("p2-schema-print"), "unverified");
    assert_eq!(report.status("p2-exit-success"), "pass");
    assert!(report.out.contains("judging was stopped: it needs more than"), "{}", report.out);
}

#[test]
fn a_signal_ends_the_program_while_it_judges() {
    let folder = folder_with_doubling_schema();
    for signal in [Signal::INT, Signal::TERM] {
        let mut command = folder.command();
        let command = command.args(["check", "--jsonl", "--check", "p2-schema-print"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        // After the last run only judging is left.
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
        // The signal arrives at the end of the last run or while judging.
        let number = signal.as_raw();
        assert!(status.signal() == Some(number) || status.code() == Some(128 + number), "{status:?}");
        drop(lines);
    }
}

#[test]
fn too_few_file_descriptors_are_an_error_of_the_checker() {
    let folder = Folder::with("echo '{}'\n");
    let program = env!("CARGO_BIN_EXE_agentnative");
    for limit in [8, 12, 20] {
        let temporary = tempfile::tempdir().unwrap();
        let script =
            format!("ulimit -n {limit}; exec '{program}' check ./cli --json --probe go --check p2-completes");
        let mut shell = std::process::Command::new("sh");
        let shell = shell.args(["-c", &script]).current_dir(folder.path()).env("TMPDIR", temporary.path());
        let refused = super::support::output_of(shell);
        assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""), "{}", refused.err);
        assert_eq!(refused.error()["kind"], "general");
        let says = |text: &str| refused.err.contains(text);
        assert!(
            says("Too many open files") && says("ulimit -n") && !says("panicked"),
            "{limit}: {}",
            refused.err
        );
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0, "{limit}");
    }
}

/// The beginning of a command line that runs a program as an unprivileged user, for whom process limits apply.
fn unprivileged() -> std::process::Command {
    let mut command = std::process::Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "prlimit"]);
    command
}

#[test]
fn nothing_panics_if_threads_cannot_be_created() {
    use std::os::unix::fs::PermissionsExt as _;
    if !unprivileged().args(["--nproc=1", "true"]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no ordinary user here");
        return;
    }
    let folder = Folder::with("echo '{}'\n");
    let make_public = |path: &std::path::Path| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
    };
    make_public(folder.path());
    std::fs::copy(env!("CARGO_BIN_EXE_agentnative"), folder.path().join("agentnative")).unwrap();
    folder.write("main.py", "import sys\nprint('{}')\n");
    let checks = ["check ./cli --json --probe go --check p2-completes", "check --layer source --json ."];
    for limit in 1..10 {
        for words in checks {
            let mut command = unprivileged();
            command.arg(format!("--nproc={limit}")).arg("./agentnative").args(words.split(' '));
            command.current_dir(folder.path()).env("TMPDIR", folder.path());
            let output = super::support::output_of(&mut command);
            assert!(!output.err.contains("panicked"), "{limit} {words}: {}", output.err);
            assert!(matches!(output.code, Some(0 | 1)), "{limit} {words}: {:?} {}", output.code, output.err);
        }
    }
}
