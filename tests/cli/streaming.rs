//! A check while it runs: its stream of events, signals, and a closed stdout.

use super::support::{Folder, program, within};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

#[test]
fn events_are_written_as_they_happen() {
    // Runs of `list` wait for a lock that the test holds until it has read the events before them. Confined runs could
    // not open it.
    let folder = Folder::demo("list() { flock -s \"${0%/*}/gate\" true; begin '['; row 1 a 1; finish ']'; }");
    let gate = File::create(folder.path().join("gate")).unwrap();
    gate.lock().unwrap();
    let args = [
        "check",
        "./cli",
        "--jsonl",
        "--check",
        "p2-exit-success",
        "--probe",
        "list",
        "--timeout",
        "300",
        "--isolation",
        "none",
    ];
    let mut child = folder.command().args(args).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let (start, run, mut lines) = within("the start", move || {
        let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
        (next(), next(), lines)
    });
    assert_eq!(start["type"], "start");
    assert_eq!((&run["type"], &run["probe"]), (&"run".into(), &"--help".into()));
    gate.unlock().unwrap();
    let last = within("the end", move || lines.by_ref().last().unwrap().unwrap());
    assert_eq!(serde_json::from_str::<Value>(&last).unwrap()["type"], "summary");
    assert!(child.wait().unwrap().success());
}

/// Starts a check of a target whose `when` call, or build, writes to a pipe and then sleeps. Returns the pipe, which
/// ends when no process of the target is left.
fn start_sleeping_check(when: &str, format: &str) -> (Folder, Child, BufReader<File>) {
    let folder = Folder::with(&format!(
        "case \" $* \" in *' {when} '*) exec 9>\"${{0%/*}}/begun\"; echo begun >&9; sleep 1000 & sleep 1000 ;; esac\n"
    ));
    if when == "build" {
        let build = "build = ['sh', '-c', 'exec 9>begun; echo begun >&9; sleep 1000 & sleep 1000']";
        folder.write("agentnative.toml", format!("[target]\ncommand = ['./cli']\n{build}\n"));
    }
    let pipe = folder.path().join("begun");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    // A confined run could not open the pipe.
    let args = [
        "check",
        "./cli",
        format,
        "--check",
        "p2-exit-success",
        "--probe",
        "run",
        "--timeout",
        "300",
        "--isolation",
        "none",
    ];
    let child = folder.command().args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = within("a run", move || {
        let mut pipe = BufReader::new(File::open(pipe).unwrap());
        let mut line = String::new();
        pipe.read_line(&mut line).unwrap();
        assert_eq!(line, "begun\n");
        pipe
    });
    (folder, child, begun)
}

#[test]
fn a_signal_ends_the_check_with_a_valid_report() {
    for (when, format, signal, code) in [
        ("run", "--json", Signal::INT, 130),
        ("run", "--jsonl", Signal::TERM, 143),
        ("--help", "--json", Signal::INT, 130),
        ("run", "--output=text", Signal::INT, 130),
        ("build", "--json", Signal::INT, 130),
    ] {
        let (_folder, child, mut begun) = start_sleeping_check(when, format);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let output = within("the end", move || child.wait_with_output().unwrap());
        assert_eq!(output.status.code(), Some(code), "{when} {format}: {output:?}");
        let (out, err) =
            (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        match format {
            "--json" => {
                let document: Value = serde_json::from_str(&out).unwrap();
                assert_eq!(
                    (&document["ok"], &document["data"]["interrupted"]),
                    (&false.into(), &true.into())
                );
                assert_eq!(document["data"]["verified"], false);
            }
            "--jsonl" => {
                let summary: Value = serde_json::from_str(out.lines().last().unwrap()).unwrap();
                assert_eq!((&summary["type"], &summary["interrupted"]), (&"summary".into(), &true.into()));
            }
            _ => {
                assert!(out.contains("\ninterrupted: after ") && !out.contains("declare"), "{out}");
            }
        }
        assert_eq!(err.matches('\n').count(), 1, "{err}");
        assert!(err.contains("interrupted; the report covers the runs up to then"), "{err}");
        // The pipe ends: no process of the target is left.
        within("the end of the target", move || begun.read_to_end(&mut Vec::new()).unwrap());
    }
}

#[test]
fn a_closed_stdout_is_no_error() {
    let folder = Folder::demo("");
    let check = ["check", "./cli", "--check", "p2-exit-success", "--probe", "list"];
    for args in
        [&["list"][..], &["explain", "p2-raw"], &["schema"], &["completions", "zsh"], &["--help"], &check]
    {
        for format in ["--output=text", "--json", "--jsonl"] {
            let (reader, writer) = std::io::pipe().unwrap();
            drop(reader);
            let mut command = folder.command();
            let output =
                command.args(args).arg(format).stdout(writer).stderr(Stdio::piped()).output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""), "{args:?} {format}");
        }
    }
    let mut program = program();
    let name = program.get_program().to_owned();
    let line = "\"$1\" explain p2-output-json | head -c 10; \"$1\" explain p2-output-json | head -c 10";
    let output = Command::new("sh").args(["-c", line, "sh"]).arg(name).output().unwrap();
    assert_eq!((&output.stdout[..], &output.stderr[..]), (&b"p2-output-p2-output-"[..], &b""[..]));
    // A closed stderr does not change the exit code.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(program.args(["explain", "x"]).stderr(writer).status().unwrap().code(), Some(2));
}
