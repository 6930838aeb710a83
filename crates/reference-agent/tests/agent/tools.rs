//! The tools: results, the seven error codes, bounds, profiles, approval.

use crate::support::{Place, alive, asks, result, results, says, script};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

fn code(result: &Value) -> &str {
    assert_eq!((&result["ok"], &result["result"]), (&false.into(), &Value::Null), "{result}");
    assert!(!result["error"]["message"].as_str().unwrap().is_empty());
    result["error"]["code"].as_str().unwrap()
}

#[test]
fn each_of_the_seven_error_codes_is_reached() {
    let place = Place::new();
    place.file("text", "one one");
    place.file("binary", b"\x7fELF\0\0");
    let cases = [
        ("read_file", json!({}), "TOOL_INVALID_ARGS"),
        ("read_file", json!({"path": "text", "more": 1}), "TOOL_INVALID_ARGS"),
        ("calculate", json!({"expression": "1 +"}), "TOOL_INVALID_ARGS"),
        ("read_file", json!({"path": "absent"}), "TOOL_NOT_FOUND"),
        ("list_files", json!({"path": "absent"}), "TOOL_NOT_FOUND"),
        ("search", json!({"pattern": "x", "path": "absent"}), "TOOL_NOT_FOUND"),
        ("edit_file", json!({"path": "absent", "old": "a", "new": "b"}), "TOOL_NOT_FOUND"),
        ("search", json!({"pattern": "("}), "TOOL_INVALID_PATTERN"),
        ("search", json!({"pattern": "(a{1000}){1000}"}), "TOOL_INVALID_PATTERN"),
        ("read_file", json!({"path": "binary"}), "TOOL_UNSUPPORTED_FILE_TYPE"),
        ("edit_file", json!({"path": "text", "old": "two", "new": "b"}), "TOOL_CONFLICT"),
        ("edit_file", json!({"path": "text", "old": "one", "new": "b"}), "TOOL_CONFLICT"),
        ("fly", json!({}), "TOOL_UNKNOWN"),
        ("calculate", json!({"expression": "1/0"}), "TOOL_EXECUTION_ERROR"),
        ("read_file", json!({"path": "."}), "TOOL_EXECUTION_ERROR"),
    ];
    let calls: Vec<Value> = cases.iter().map(|(tool, args, _)| json!({"tool": tool, "args": args})).collect();
    let all = results(&place, &calls, &[]);
    assert_eq!(all.len(), cases.len());
    for (result, (tool, args, expected)) in all.iter().zip(&cases) {
        assert_eq!(code(result), *expected, "{tool} {args}");
    }
    assert_eq!(place.read("text"), "one one");

    // The same codes in the contract that they come from.
    let turn = json!({"calls": calls});
    let document = place.play("agent-js", &script(&[turn, says("done")]), &[]).document();
    let told: Vec<&str> = document["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["error"]["code"].as_str().unwrap())
        .collect();
    assert_eq!(told, cases.each_ref().map(|case| case.2));
}

#[test]
fn listing() {
    let place = Place::new();
    place.file("b.txt", "");
    place.file("sub/c", "");
    place.file(".hidden", "");
    std::os::unix::fs::symlink("b.txt", place.work().join("link")).unwrap();
    let listed = result(&place, "list_files", json!({}), &[])["result"].clone();
    let entries = json!([
        {"name": "b.txt", "type": "file"}, {"name": "link", "type": "symlink"}, {"name": "sub", "type": "directory"},
    ]);
    assert_eq!((&listed["entries"], &listed["truncated"]), (&entries, &false.into()));
    let hidden = result(&place, "list_files", json!({"hidden": true}), &[]);
    assert_eq!(hidden["result"]["entries"][0]["name"], ".hidden");
    for n in 0..1005 {
        place.file(&format!("sub/{n}"), "");
    }
    let many = result(&place, "list_files", json!({"path": "sub"}), &[])["result"].clone();
    assert_eq!((many["entries"].as_array().unwrap().len(), &many["truncated"]), (1000, &true.into()));
}

#[test]
fn reading_is_bounded_and_never_tears_a_character() {
    let place = Place::new();
    place.file("a", "text\n");
    assert_eq!(result(&place, "read_file", json!({"path": "a"}), &[])["result"]["content"], "text\n");
    // The bound falls into the middle of a character.
    place.file("long", format!("x{}", "é".repeat(256 * 1024)));
    let long = result(&place, "read_file", json!({"path": "long"}), &[])["result"].clone();
    assert_eq!(long["truncated"], true);
    assert_eq!(long["content"].as_str().unwrap().len(), 256 * 1024 - 1);
    place.file("torn", b"\xc3");
    assert_eq!(
        code(&result(&place, "read_file", json!({"path": "torn"}), &[])),
        "TOOL_UNSUPPORTED_FILE_TYPE"
    );
}

#[test]
fn searching_is_linear_and_bounded() {
    let place = Place::new();
    place.file("a.txt", "one\ntwo one\n");
    place.file("sub/b.txt", "one\n");
    place.file(".git/c.txt", "one\n");
    place.file("binary", b"one\0");
    let found = result(&place, "search", json!({"pattern": "^(two )?one$"}), &[])["result"].clone();
    let expected = json!([
        {"path": "a.txt", "line": 1, "text": "one"}, {"path": "a.txt", "line": 2, "text": "two one"},
        {"path": "sub/b.txt", "line": 1, "text": "one"},
    ]);
    assert_eq!(found["matches"], expected);
    assert_eq!((&found["files_searched"], &found["truncated"]), (&2.into(), &false.into()));
    let one = result(&place, "search", json!({"pattern": "one", "path": "sub/b.txt"}), &[]);
    assert_eq!(one["result"]["matches"].as_array().unwrap().len(), 1);
    // A pattern that a backtracking engine would not end with.
    place.file("trap", format!("{}!", "a".repeat(50_000)));
    let trap = result(&place, "search", json!({"pattern": "^(a|a)*$", "path": "trap"}), &["--timeout", "20"]);
    assert_eq!(trap["result"]["matches"], json!([]));
    place.file("many", "x\n".repeat(500));
    let many = result(&place, "search", json!({"pattern": "x", "path": "many"}), &[])["result"].clone();
    assert_eq!((many["matches"].as_array().unwrap().len(), &many["truncated"]), (200, &true.into()));
}

#[test]
fn writing_and_editing() {
    let place = Place::new();
    let written = result(&place, "write_file", json!({"path": "new/deep/a", "content": "one\n"}), &[]);
    assert_eq!(written["result"], json!({"path": "new/deep/a", "bytes": 4, "created": true}));
    let again = result(&place, "write_file", json!({"path": "new/deep/a", "content": "two\n"}), &[]);
    assert_eq!(again["result"]["created"], false);
    assert_eq!(place.read("new/deep/a"), "two\n");
    let edited =
        result(&place, "edit_file", json!({"path": "new/deep/a", "old": "wo", "new": "wo and more"}), &[]);
    assert_eq!(edited["ok"], true);
    assert_eq!(place.read("new/deep/a"), "two and more\n");
    let beside: Vec<_> = std::fs::read_dir(place.work().join("new/deep")).unwrap().collect();
    assert_eq!(beside.len(), 1, "nothing else is left in the folder: {beside:?}");
    use std::os::unix::fs::PermissionsExt as _;
    let script = place.file("run.sh", "old");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    result(&place, "edit_file", json!({"path": "run.sh", "old": "old", "new": "new"}), &[]);
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn calculating() {
    let place = Place::new();
    let value = |expression: &str| {
        result(&place, "calculate", json!({"expression": expression}), &[])["result"]["value"].clone()
    };
    assert_eq!(value("(2 + 3) * 4"), 20);
    assert_eq!(value("1 / 4"), 0.25);
    assert_eq!(value("2 ^ 60"), 1.152_921_504_606_847e18);
}

#[test]
fn a_command() {
    let place = Place::new();
    let dev = ["--profile", "dev"];
    let args = json!({"command": "echo out; echo err >&2; pwd; exit 3"});
    let ran = result(&place, "run_command", args, &dev)["result"].clone();
    assert_eq!((&ran["exit_code"], &ran["stderr"]), (&3.into(), &"err\n".into()));
    let work = place.work().canonicalize().unwrap();
    assert_eq!(ran["stdout"], format!("out\n{}\n", work.display()));
    let killed = result(&place, "run_command", json!({"command": "kill -9 $$"}), &dev);
    assert_eq!(killed["result"]["exit_code"], 137);
    let much =
        result(&place, "run_command", json!({"command": "yes | head -c 1000000"}), &dev)["result"].clone();
    assert_eq!((much["stdout"].as_str().unwrap().len(), &much["truncated"]), (64 * 1024, &true.into()));
}

#[test]
fn a_command_is_ended_at_its_deadline_with_all_that_it_started() {
    let place = Place::new();
    let command = "(sleep 600 & echo $! > a); (setsid sh -c 'echo $$ > b; sleep 601' &); sleep 602";
    let ended =
        result(&place, "run_command", json!({"command": command, "timeout": 1}), &["--profile", "dev"]);
    assert_eq!(code(&ended), "TOOL_EXECUTION_ERROR");
    assert!(ended["duration_ms"].as_u64().unwrap() < 10_000);
    assert!(!alive(&place.read("a")) && !alive(&place.read("b")), "left behind");
}

#[test]
fn what_a_command_leaves_behind_is_ended_and_not_waited_for() {
    let place = Place::new();
    let command = "sleep 600 & echo $! > a; echo started";
    let ran = result(&place, "run_command", json!({"command": command}), &["--profile", "dev"]);
    assert_eq!(ran["result"]["stdout"], "started\n");
    assert!(ran["duration_ms"].as_u64().unwrap() < 10_000);
    assert!(!alive(&place.read("a")), "left behind");
}

#[test]
fn a_command_reads_neither_memory_nor_environment_of_the_agent() {
    let place = Place::new();
    for folder in ["", "home", "work"] {
        fs::set_permissions(place.outside(folder), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let program = place.outside("agent");
    fs::copy(env!("CARGO_BIN_EXE_reference-agent"), &program).unwrap();
    let look = "for file in environ mem; do head -c 0 /proc/$$/$file && echo own; head -c 0 /proc/$PPID/$file; done; true";
    place.script(&script(&[asks("run_command", json!({"command": look})), says("done")]));
    let mut command = Command::new(program);
    command.env("HOME", place.outside("home")).current_dir(place.work());
    command
        .args(["--jsonl", "--profile", "dev", "--script"])
        .arg(place.outside("script.json"))
        .arg("a query");
    if rustix::process::geteuid().is_root() {
        // Nothing is kept from root.
        command.uid(65534).gid(65534);
    }
    let ran = command.output().unwrap();
    let text = String::from_utf8(ran.stdout).unwrap();
    assert_eq!((text.matches("own\\n").count(), text.matches("Permission denied").count()), (2, 2), "{text}");
}

#[test]
fn profiles() {
    let place = Place::new();
    place.file("a", "1");
    let write = json!({"path": "b", "content": "x"});
    let blocked = |tool: &str, args: &Value, profile: &str| {
        let result = result(&place, tool, args.clone(), &["--profile", profile]);
        let blocked = result["ok"] == false;
        assert!(!blocked || result["error"]["message"].as_str().unwrap().starts_with("BLOCKED"), "{result}");
        blocked
    };
    assert!(!blocked("read_file", &json!({"path": "a"}), "safe"));
    assert!(blocked("write_file", &write, "safe"));
    assert!(blocked("run_command", &json!({"command": "true"}), "safe"));
    assert!(!blocked("write_file", &write, "framework"));
    assert!(blocked("run_command", &json!({"command": "true"}), "framework"));
    assert!(!blocked("run_command", &json!({"command": "true"}), "dev"));
}

#[test]
fn approval() {
    let place = Place::new();
    let turns = script(&[
        asks("write_file", json!({"path": "a", "content": "x"})),
        asks("list_files", json!({})),
        says("done"),
    ]);
    // JSON modes approve by themselves (R3).
    let auto = place.play("agent-js", &turns, &[]).document();
    assert_eq!((&auto["approvalMode"], &auto["toolCalls"][0]["ok"]), (&"auto".into(), &true.into()));
    std::fs::remove_file(place.work().join("a")).unwrap();

    let never = place.play("agent-js", &turns, &["--approval-mode", "never"]).document();
    assert_eq!(never["toolCalls"][0]["error"]["code"], "TOOL_EXECUTION_ERROR");
    assert_eq!((&never["toolCalls"][1]["ok"], &never["approvalMode"]), (&true.into(), &"never".into()));
    assert!(!place.work().join("a").exists());
    let events = place.play("opencode-events", &turns, &["--approval-mode", "never"]);
    assert_eq!(events.of_type("permission.updated").len(), 1);
    assert_eq!(events.of_type("permission.replied")[0]["properties"]["response"], "reject");

    // Nobody can be asked by a program.
    for contract in crate::support::CONTRACTS {
        let ran = place.run(["--contract", contract, "--approval-mode", "ask", "q"]);
        ran.keeps(contract);
        assert_ne!(ran.code, 0);
        if contract == "agent-js" {
            assert_eq!((ran.code, &ran.document()["code"]), (5, &"INTERACTIVE_APPROVAL_JSON".into()));
        }
    }
    assert_eq!(place.run(["--json", "--approval-mode", "ask", "q"]).code, 2);
    // Text without a terminal.
    let ran = place.run(["--approval-mode", "ask", "q"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
    assert!(ran.stderr.contains("terminal"), "{ran:?}");
}

#[test]
fn a_person_at_a_terminal_is_asked() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read as _, Write as _};
    let place = Place::new();
    place.script(&script(&[asks("write_file", json!({"path": "a", "content": "x"})), says("done")]));
    for (answer, written) in [("n\n", false), ("y\n", true)] {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut child = place.agent(["--approval-mode", "ask", "q"]).stdin(slave).spawn().unwrap();
        let (mut stderr, mut asked) = (child.stderr.take().unwrap(), Vec::new());
        while !asked.ends_with(b"[y/N] ") {
            let mut byte = [0];
            stderr.read_exact(&mut byte).unwrap();
            asked.push(byte[0]);
        }
        assert!(String::from_utf8(asked).unwrap().contains("write_file"));
        let mut master = std::fs::File::from(master);
        master.write_all(answer.as_bytes()).unwrap();
        let ran = crate::support::ran(child);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{ran:?}");
        assert_eq!(place.work().join("a").exists(), written);
    }
}

#[test]
fn a_model_without_tools() {
    let place = Place::new();
    let toolless = json!({"turns": [says("just words")], "tools": false});
    let auto = place.play("agent-js", &toolless, &[]).document();
    assert_eq!((&auto["toolsEnabled"], &auto["toolsFallbackUsed"]), (&false.into(), &true.into()));
    let on = place.play("agent-js", &toolless, &["--tools-mode", "on"]);
    assert_eq!((on.code, &on.document()["code"]), (6, &"TOOLS_NOT_SUPPORTED".into()));
    let off = place.play("agent-js", &toolless, &["--tools-mode", "off"]).document();
    assert_eq!((&off["toolsEnabled"], &off["toolsFallbackUsed"]), (&false.into(), &false.into()));
    assert_eq!(off["toolsMode"], "off");
}
