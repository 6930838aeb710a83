//! The layers `source` and `project` execute nothing, whatever a project has.

use super::support::{CliOutput, Folder, output_of};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A project of Cargo in which each program leaves a trace in `trace` when it is executed: its build, its program, its
/// service, the toolchain that it names, and programs in front of PATH. It documents no exit code.
struct Traced {
    folder: Folder,
    trace: tempfile::TempDir,
}

const NAMES: [&str; 10] = ["tool", "cargo", "rustc", "rustup", "man", "gzip", "git", "python3", "node", "go"];

impl Traced {
    fn new() -> Self {
        let traced = Self { folder: Folder::new(), trace: tempfile::tempdir().unwrap() };
        let write = |file: &str, text: &str| {
            let path = traced.folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("Cargo.toml", "[package]\nname = \"tool\"\nedition = \"2024\"\n");
        write("package.json", r#"{"name": "other", "bin": "./other.js", "scripts": {"build": "./build"}}"#);
        write("src/main.rs", "fn main() {}\n");
        write("rust-toolchain.toml", "[toolchain]\npath = \"tc\"\n");
        write("schemas/tool.schema.json", r#"{"type": "object"}"#);
        write("AGENTS.md", "---\nname: tool\ndescription: works\n---\n\n    tool list --all\n");
        write(
            "agentnative.toml",
            "[target]\ncommand = ['./target/debug/tool']\nbuild = ['./build']\nschema = ['schema']\n\
             [[service]]\ncommand = ['./service', '{port}']\nready = { port = '{port}' }\n\
             [[probe]]\nname = 'list'\nargs = ['list']\n",
        );
        for program in ["build", "service", "other.js", "target/debug/tool", "tc/bin/cargo", "tc/bin/rustc"] {
            traced.program(program);
        }
        for name in NAMES {
            traced.program(&format!("path/{name}"));
        }
        traced
    }

    fn program(&self, name: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\necho '{name}' \"$*\" >>'{}'\n", self.trace_file().display()))
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn trace_file(&self) -> std::path::PathBuf {
        self.trace.path().join("ran")
    }

    /// What was executed so far.
    fn ran(&self) -> String {
        fs::read_to_string(self.trace_file()).unwrap_or_default()
    }

    fn run(&self, args: &[&str]) -> CliOutput {
        let mut command = self.folder.command();
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("path").display());
        output_of(command.env("PATH", path).args(args))
    }
}

fn result(said: &CliOutput, id: &str) -> Value {
    let results = said.data()["results"].as_array().unwrap().clone();
    results.into_iter().find(|result| result["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn the_layers_of_files_execute_nothing() {
    let traced = Traced::new();
    for configured in [true, false] {
        for layers in ["source", "project", "source,project"] {
            for subject in
                [&["."][..], &["./target/debug/tool"], &["--command", "tool"], &["--", "tool", "x"], &["src"]]
            {
                let bin = if configured || !subject[0].starts_with(['.', 's']) || subject[0].contains("debug")
                {
                    &[][..]
                } else {
                    &["--bin", "tool"]
                };
                let said =
                    traced.run(&[&["check", "--layer", layers, "--strict", "--json"], bin, subject].concat());
                assert_eq!(
                    (said.code, said.err.as_str()),
                    (Some(0), ""),
                    "{layers} {subject:?}: {}",
                    said.out
                );
                assert_eq!(traced.ran(), "", "{layers} {subject:?}");
                assert_eq!(said.data()["runs"], 0);
            }
        }
        if configured {
            let all = traced.run(&["check", "--layer", "source,project", "--strict", "--json", "--all", "."]);
            assert_eq!((all.code, traced.ran().as_str()), (Some(0), ""), "{all:?}");
        }
        fs::remove_file(traced.folder.path().join("agentnative.toml")).unwrap_or_default();
    }
    // The traces are left where something is executed: the test can fail.
    traced.run(&["check", "--isolation", "none", "--check", "p2-exit-documented", "./target/debug/tool"]);
    assert_eq!(traced.ran(), "target/debug/tool --help\n");
}

#[test]
fn no_command_executes_cargo_or_a_toolchain_of_the_project() {
    let traced = Traced::new();
    fs::remove_file(traced.folder.path().join("agentnative.toml")).unwrap();
    for args in [
        &["init", "--print", "--bin", "tool", "."][..],
        &["check", "--fast", "--isolation", "none", "--bin", "tool", "."],
        &["list"],
        &["contract", "list"],
    ] {
        let said = traced.run(args);
        assert!(matches!(said.code, Some(0 | 1)), "{said:?}");
    }
    let ran = traced.ran();
    assert!(ran.contains("target/debug/tool --help"), "{ran}");
    assert!(ran.lines().all(|line| line.starts_with("target/debug/tool ")), "{ran}");
}

#[test]
fn what_only_a_run_decides_is_marked_and_strict_accepts_it() {
    let traced = Traced::new();
    let said = traced.run(&["check", "--layer", "source,project", "--strict", "--json", "."]);
    let documented = result(&said, "p2-exit-documented");
    assert_eq!((&documented["status"], &documented["needs_runs"]), (&json!("unverified"), &json!(true)));
    let message = documented["message"].as_str().unwrap();
    assert!(message.contains("do not document exit code 0, and the help"), "{message}");
    for id in ["p2-schema-file", "p8-bundle-current"] {
        let open = result(&said, id);
        assert_eq!((&open["status"], &open["needs_runs"]), (&json!("unverified"), &json!(true)), "{open:#}");
        assert!(
            open["message"].as_str().unwrap().contains("nothing is run without the behavioral layer"),
            "{open:#}"
        );
    }
    // What files decide is decided, and `verified` stays honest.
    assert_eq!(result(&said, "p8-bundle")["status"], "pass");
    assert_eq!(result(&said, "p8-bundle").get("needs_runs"), None);
    assert_eq!((&said.data()["conformant"], &said.data()["verified"]), (&json!(true), &json!(false)));
    // A README that documents all of them decides it.
    let readme = "Exit codes: 0 success, 1 error, 2 usage, 77 permission, 78 configuration\n";
    traced.folder.write("README.md", readme);
    let said = traced.run(&["check", "--layer", "project", "--strict", "--json", "."]);
    assert_eq!(said.status("p2-exit-documented"), "pass");
    // The recording says that nothing was to be run.
    fs::remove_file(traced.folder.path().join("README.md")).unwrap();
    let live =
        traced.run(&["check", "--layer", "source,project", "--strict", "--json", "--record", "seen", "."]);
    let again = traced.run(&["check", "--layer", "source,project", "--strict", "--json", "--replay", "seen"]);
    assert_eq!(again, live);
    // It is no evidence for checks of behaviour, and `--strict` says so.
    let behavioral =
        traced.run(&["check", "--check", "p2-exit-usage", "--strict", "--json", "--replay", "seen"]);
    assert_eq!((behavioral.code, behavioral.status("p2-exit-usage")), (Some(1), "unverified".into()));
    assert_eq!(result(&behavioral, "p2-exit-usage").get("needs_runs"), None);
    // A contract that is named says which codes there are.
    traced.folder.write("README.md", "Exit codes: 0 success, 1 error, 143 stopped\n");
    let check = ["check", "--layer", "project", "--json", "--contract", "claude-stream", "."];
    assert_eq!(traced.run(&check).status("p2-exit-documented"), "pass");
    assert_eq!(traced.ran(), "");
}

#[test]
fn a_merged_report_prefers_what_runs_decided() {
    let folder = Folder::with("echo 'exit codes: 0 success, 2 usage'\n");
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\nexit_codes = [0, 2]\n");
    let check = |args: &[&str], file: &str| {
        let report = format!("json={file}");
        folder.run(&[&["check", "--quiet", "--report", &report], args, &["."]].concat());
        serde_json::from_str::<Value>(&folder.read(file)).unwrap()["data"].take()
    };
    let live = check(&["--check", "p2-exit-documented"], "live.json");
    let files = check(&["--layer", "source,project"], "files.json");
    let only = check(&["--layer", "project", "--check", "p2-exit-documented"], "only.json");
    assert_eq!(
        (&live["results"][0]["status"], &only["results"][0]["status"]),
        (&json!("pass"), &json!("unverified"))
    );
    for order in [["live.json", "files.json", "only.json"], ["only.json", "files.json", "live.json"]] {
        let merged = folder.run(&[&["report", "merge", "--strict", "--json"][..], &order].concat());
        assert_eq!(merged.code, Some(0), "{merged:?}");
        let mut targets = merged.data()["targets"].as_array().unwrap().clone();
        targets.sort_by_key(|report| report["results"].as_array().unwrap().len());
        let [first, second] = &targets[..] else { panic!("{merged:?}") };
        assert_eq!(*first, live);
        let all = files["results"].as_array().unwrap().iter();
        let left: Vec<&Value> = all.filter(|result| result["id"] != "p2-exit-documented").collect();
        assert_eq!(second["results"].as_array().unwrap().iter().collect::<Vec<_>>(), left);
        assert_eq!(second["verified"], true);
        let open = |report: &Value| report["summary"]["unverified"].as_u64().unwrap();
        assert_eq!(open(second) + 1, open(&files));
    }
    // One alone stays as it is, and so does that of another target.
    assert_eq!(folder.run(&["report", "merge", "only.json", "--json"]).data(), only);
    let other = folder.read("only.json").replace("\"name\":\"cli\"", "\"name\":\"other\"");
    folder.write("other.json", other);
    let both = folder.run(&["report", "merge", "live.json", "other.json", "--json"]);
    assert_eq!(both.data()["targets"].as_array().unwrap().len(), 2);
}

#[test]
fn init_calls_for_help_as_check_does() {
    let outside = tempfile::tempdir().unwrap();
    let trace = |name: &str| outside.path().join(name);
    let folder = Folder::new();
    // What it sees is in its page: each line is an exit code that `init` declares.
    folder.script(
        "cli",
        &format!(
            "echo called >>'{}/called'\n{}",
            outside.path().display(),
            r#"case "$*" in
    "sub --help") echo called >>"$OUTSIDE/of-sub"; echo 'Usage: cli sub'; exit;;
esac
printf 'Usage: cli [command]\n\nCommands:\n  sub  works\n\nUse "cli [command] --help" for more.\n\nExit codes:\n  0  success\n'
if [ -n "$SECRET_TOKEN" ]; then echo '  91  it sees the token'; fi
if [ "$HOME" = "$CALLERS_HOME" ]; then echo '  92  it sees the home'; fi
if [ -n "$(ls -A "$HOME")" ]; then echo '  93  its home is not empty'; fi
case $PATH in */tripwires:*|*trip*) ;; *) echo '  94  it has no tripwires';; esac
"#
            .replace("$OUTSIDE", &outside.path().display().to_string())
            .replace("$CALLERS_HOME", &folder.path().display().to_string())
        ),
    );
    let init = |args: &[&str]| {
        let mut command = folder.command();
        command
            .env("SECRET_TOKEN", "t")
            .env("HOME", folder.path())
            .args(["init", "--print", "./cli"])
            .args(args);
        output_of(&mut command)
    };
    let said = init(&[]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.out.contains("sub"), "{}", said.out);
    for code in ["91", "92", "93", "94"] {
        assert!(!said.out.contains(code), "{}", said.out);
    }
    let check = folder.run(&["check", "--json", "--check", "p3-help", "./cli"]);
    let is_confined = check.data()["isolation"] != "none";
    assert_eq!(trace("called").exists(), !is_confined);
    // A configuration that lifts the confinement holds for the page of the target, and not for those of commands.
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\nisolation = 'none'\n");
    assert_eq!(init(&[]).code, Some(0));
    assert!(trace("called").exists());
    assert_eq!(trace("of-sub").exists(), !is_confined);
    assert_eq!(fs::read_to_string(trace("called")).unwrap().lines().count(), if is_confined { 1 } else { 2 });
    assert!(Path::new(folder.path()).join("agentnative.toml").exists());
}
