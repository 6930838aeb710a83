//! The layers `source` and `project` execute nothing, whatever a project contains.

use super::support::{CliOutput, Folder, output_of};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// A Cargo project whose programs write to `trace` when they are executed: its build, program and service, its
/// toolchain, and programs at the start of PATH. It documents no exit code.
struct TracedProject {
    folder: Folder,
    trace: tempfile::TempDir,
}

/// Programs at the start of PATH.
const PATH_PROGRAMS: [&str; 10] =
    ["tool", "cargo", "rustc", "rustup", "man", "gzip", "git", "python3", "node", "go"];

impl TracedProject {
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
            traced.write_program(program);
        }
        for name in PATH_PROGRAMS {
            traced.write_program(&format!("path/{name}"));
        }
        traced
    }

    fn write_program(&self, name: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, format!("#!/bin/sh\necho '{name}' \"$*\" >>'{}'\n", self.trace_file().display()))
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn trace_file(&self) -> std::path::PathBuf {
        self.trace.path().join("ran")
    }

    /// Programs that were executed so far, with their arguments, one per line.
    fn executed(&self) -> String {
        fs::read_to_string(self.trace_file()).unwrap_or_default()
    }

    fn run(&self, args: &[&str]) -> CliOutput {
        let mut command = self.folder.command();
        let path = format!("{}:/usr/bin:/bin", self.folder.path().join("path").display());
        output_of(command.env("PATH", path).args(args))
    }
}

fn result(output: &CliOutput, id: &str) -> Value {
    let results = output.data()["results"].as_array().unwrap().clone();
    results.into_iter().find(|result| result["id"] == id).unwrap_or_else(|| panic!("no {id}"))
}

#[test]
fn the_static_layers_execute_nothing() {
    let traced = TracedProject::new();
    for configured in [true, false] {
        for layers in ["source", "project", "source,project"] {
            for subject in
                [&["."][..], &["./target/debug/tool"], &["--command", "tool"], &["--", "tool", "x"], &["src"]]
            {
                let selected_target =
                    if configured || !subject[0].starts_with(['.', 's']) || subject[0].contains("debug") {
                        &[][..]
                    } else {
                        &["--bin", "tool"]
                    };
                let output = traced.run(
                    &[&["check", "--layer", layers, "--strict", "--json"], selected_target, subject].concat(),
                );
                assert_eq!(
                    (output.code, output.err.as_str()),
                    (Some(0), ""),
                    "{layers} {subject:?}: {}",
                    output.out
                );
                assert_eq!(traced.executed(), "", "{layers} {subject:?}");
                assert_eq!(output.data()["runs"], 0);
            }
        }
        if configured {
            let all = traced.run(&["check", "--layer", "source,project", "--strict", "--json", "--all", "."]);
            assert_eq!((all.code, traced.executed().as_str()), (Some(0), ""), "{all:?}");
        }
        fs::remove_file(traced.folder.path().join("agentnative.toml")).unwrap_or_default();
    }
    // A run leaves a trace, so the assertions above can fail.
    traced.run(&["check", "--isolation", "none", "--check", "p2-exit-documented", "./target/debug/tool"]);
    assert_eq!(traced.executed(), "target/debug/tool --help\n");
}

#[test]
fn no_command_executes_cargo_or_a_toolchain_of_the_project() {
    let traced = TracedProject::new();
    fs::remove_file(traced.folder.path().join("agentnative.toml")).unwrap();
    for args in [
        &["init", "--print", "--bin", "tool", "."][..],
        &["check", "--fast", "--isolation", "none", "--bin", "tool", "."],
        &["list"],
        &["contract", "list"],
    ] {
        let output = traced.run(args);
        assert!(matches!(output.code, Some(0 | 1)), "{output:?}");
    }
    let ran = traced.executed();
    assert!(ran.contains("target/debug/tool --help"), "{ran}");
    assert!(ran.lines().all(|line| line.starts_with("target/debug/tool ")), "{ran}");
}

#[test]
fn results_that_need_runs_are_marked_and_accepted_by_strict() {
    let traced = TracedProject::new();
    let output = traced.run(&["check", "--layer", "source,project", "--strict", "--json", "."]);
    let documented = result(&output, "p2-exit-documented");
    assert_eq!((&documented["status"], &documented["needs_runs"]), (&json!("unverified"), &json!(true)));
    let message = documented["message"].as_str().unwrap();
    assert!(message.contains("do not document exit code 0, and the help"), "{message}");
    for id in ["p2-schema-file", "p8-bundle-current"] {
        let needs_runs = result(&output, id);
        assert_eq!(
            (&needs_runs["status"], &needs_runs["needs_runs"]),
            (&json!("unverified"), &json!(true)),
            "{needs_runs:#}"
        );
        assert!(
            needs_runs["message"].as_str().unwrap().contains("without the behavioral layer, nothing is run"),
            "{needs_runs:#}"
        );
    }
    // Checks that need only files are decided, and the report is not `verified`.
    assert_eq!(result(&output, "p8-bundle")["status"], "pass");
    assert_eq!(result(&output, "p8-bundle").get("needs_runs"), None);
    assert_eq!((&output.data()["conformant"], &output.data()["verified"]), (&json!(true), &json!(false)));
    // A README that documents all exit codes decides the check.
    let readme = "Exit codes: 0 success, 1 error, 2 usage, 77 permission, 78 configuration\n";
    traced.folder.write("README.md", readme);
    let output = traced.run(&["check", "--layer", "project", "--strict", "--json", "."]);
    assert_eq!(output.status("p2-exit-documented"), "pass");
    // The recording contains that no runs were selected.
    fs::remove_file(traced.folder.path().join("README.md")).unwrap();
    let live =
        traced.run(&["check", "--layer", "source,project", "--strict", "--json", "--record", "seen", "."]);
    let again = traced.run(&["check", "--layer", "source,project", "--strict", "--json", "--replay", "seen"]);
    assert_eq!(again, live);
    // It contains no evidence for behavioral checks, so `--strict` fails.
    let behavioral =
        traced.run(&["check", "--check", "p2-exit-usage", "--strict", "--json", "--replay", "seen"]);
    assert_eq!((behavioral.code, behavioral.status("p2-exit-usage")), (Some(1), "unverified".into()));
    assert_eq!(result(&behavioral, "p2-exit-usage").get("needs_runs"), None);
    // A named contract determines the exit codes.
    traced.folder.write("README.md", "Exit codes: 0 success, 1 error, 143 stopped\n");
    let check = ["check", "--layer", "project", "--json", "--contract", "claude-stream", "."];
    assert_eq!(traced.run(&check).status("p2-exit-documented"), "pass");
    assert_eq!(traced.executed(), "");
}

#[test]
fn a_merged_report_prefers_results_of_runs() {
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
        let unverified_count = |report: &Value| report["summary"]["unverified"].as_u64().unwrap();
        assert_eq!(unverified_count(second) + 1, unverified_count(&files));
    }
    // A single report is unchanged, and reports of different targets stay separate.
    assert_eq!(folder.run(&["report", "merge", "only.json", "--json"]).data(), only);
    let other = folder.read("only.json").replace("\"name\":\"cli\"", "\"name\":\"other\"");
    folder.write("other.json", other);
    let both = folder.run(&["report", "merge", "live.json", "other.json", "--json"]);
    assert_eq!(both.data()["targets"].as_array().unwrap().len(), 2);
}

#[test]
fn init_calls_help_under_the_same_confinement_as_check() {
    let outside = tempfile::tempdir().unwrap();
    let trace = |name: &str| outside.path().join(name);
    let folder = Folder::new();
    // The help page reports what the target can see as exit codes, which `init` declares.
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
    let output = init(&[]);
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "{output:?}");
    assert!(output.out.contains("sub"), "{}", output.out);
    for code in ["91", "92", "93", "94"] {
        assert!(!output.out.contains(code), "{}", output.out);
    }
    let check = folder.run(&["check", "--json", "--check", "p3-help", "./cli"]);
    let is_confined = check.data()["isolation"] != "none";
    assert_eq!(trace("called").exists(), !is_confined);
    // `isolation = 'none'` applies to the help of the target, but not to the help of its commands.
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\nisolation = 'none'\n");
    assert_eq!(init(&[]).code, Some(0));
    assert!(trace("called").exists());
    assert_eq!(trace("of-sub").exists(), !is_confined);
    assert_eq!(fs::read_to_string(trace("called")).unwrap().lines().count(), if is_confined { 1 } else { 2 });
    assert!(Path::new(folder.path()).join("agentnative.toml").exists());
}
