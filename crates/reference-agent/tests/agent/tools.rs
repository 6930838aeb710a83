//! The tools: results, the seven error codes, limits, profiles and approval.

use crate::support::{TestEnv, is_alive, script, text_turn, tool_result, tool_results, tool_turn};
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
    let env = TestEnv::new();
    env.file("text", "one one");
    env.file("binary", b"\x7fELF\0\0");
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
    let all = tool_results(&env, &calls, &[]);
    assert_eq!(all.len(), cases.len());
    for (result, (tool, args, expected)) in all.iter().zip(&cases) {
        assert_eq!(code(result), *expected, "{tool} {args}");
    }
    assert_eq!(env.read("text"), "one one");

    // The contract of these codes has the same ones.
    let turn = json!({"calls": calls});
    let document = env.play("agent-js", &script(&[turn, text_turn("done")]), &[]).document();
    let codes: Vec<&str> = document["toolCalls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["error"]["code"].as_str().unwrap())
        .collect();
    assert_eq!(codes, cases.each_ref().map(|case| case.2));
}

#[test]
fn list_files() {
    let env = TestEnv::new();
    env.file("b.txt", "");
    env.file("sub/c", "");
    env.file(".hidden", "");
    std::os::unix::fs::symlink("b.txt", env.work().join("link")).unwrap();
    let listed = tool_result(&env, "list_files", json!({}), &[])["result"].clone();
    let entries = json!([
        {"name": "b.txt", "type": "file"}, {"name": "link", "type": "symlink"}, {"name": "sub", "type": "directory"},
    ]);
    assert_eq!((&listed["entries"], &listed["truncated"]), (&entries, &false.into()));
    let hidden = tool_result(&env, "list_files", json!({"hidden": true}), &[]);
    assert_eq!(hidden["result"]["entries"][0]["name"], ".hidden");
    for n in 0..1005 {
        env.file(&format!("sub/{n}"), "");
    }
    let many = tool_result(&env, "list_files", json!({"path": "sub"}), &[])["result"].clone();
    assert_eq!((many["entries"].as_array().unwrap().len(), &many["truncated"]), (1000, &true.into()));
}

#[test]
fn reading_is_limited_and_never_splits_a_character() {
    let env = TestEnv::new();
    env.file("a", "text\n");
    assert_eq!(tool_result(&env, "read_file", json!({"path": "a"}), &[])["result"]["content"], "text\n");
    // The limit is in the middle of a character.
    env.file("long", format!("x{}", "é".repeat(256 * 1024)));
    let long = tool_result(&env, "read_file", json!({"path": "long"}), &[])["result"].clone();
    assert_eq!(long["truncated"], true);
    assert_eq!(long["content"].as_str().unwrap().len(), 256 * 1024 - 1);
    env.file("torn", b"\xc3");
    assert_eq!(
        code(&tool_result(&env, "read_file", json!({"path": "torn"}), &[])),
        "TOOL_UNSUPPORTED_FILE_TYPE"
    );
}

#[test]
fn search_is_linear_and_limited() {
    let env = TestEnv::new();
    env.file("a.txt", "one\ntwo one\n");
    env.file("sub/b.txt", "one\n");
    env.file(".git/c.txt", "one\n");
    env.file("binary", b"one\0");
    let found = tool_result(&env, "search", json!({"pattern": "^(two )?one$"}), &[])["result"].clone();
    let expected = json!([
        {"path": "a.txt", "line": 1, "text": "one"}, {"path": "a.txt", "line": 2, "text": "two one"},
        {"path": "sub/b.txt", "line": 1, "text": "one"},
    ]);
    assert_eq!(found["matches"], expected);
    assert_eq!((&found["files_searched"], &found["truncated"]), (&2.into(), &false.into()));
    let one = tool_result(&env, "search", json!({"pattern": "one", "path": "sub/b.txt"}), &[]);
    assert_eq!(one["result"]["matches"].as_array().unwrap().len(), 1);
    // A backtracking engine would not finish this pattern.
    env.file("trap", format!("{}!", "a".repeat(50_000)));
    let trap =
        tool_result(&env, "search", json!({"pattern": "^(a|a)*$", "path": "trap"}), &["--timeout", "20"]);
    assert_eq!(trap["result"]["matches"], json!([]));
    env.file("many", "x\n".repeat(500));
    let many = tool_result(&env, "search", json!({"pattern": "x", "path": "many"}), &[])["result"].clone();
    assert_eq!((many["matches"].as_array().unwrap().len(), &many["truncated"]), (200, &true.into()));
}

#[test]
fn write_file_and_edit_file() {
    let env = TestEnv::new();
    let written = tool_result(&env, "write_file", json!({"path": "new/deep/a", "content": "one\n"}), &[]);
    assert_eq!(written["result"], json!({"path": "new/deep/a", "bytes": 4, "created": true}));
    let again = tool_result(&env, "write_file", json!({"path": "new/deep/a", "content": "two\n"}), &[]);
    assert_eq!(again["result"]["created"], false);
    assert_eq!(env.read("new/deep/a"), "two\n");
    let edited =
        tool_result(&env, "edit_file", json!({"path": "new/deep/a", "old": "wo", "new": "wo and more"}), &[]);
    assert_eq!(edited["ok"], true);
    assert_eq!(env.read("new/deep/a"), "two and more\n");
    let entries: Vec<_> = std::fs::read_dir(env.work().join("new/deep")).unwrap().collect();
    assert_eq!(entries.len(), 1, "nothing else is left in the folder: {entries:?}");
    use std::os::unix::fs::PermissionsExt as _;
    let script = env.file("run.sh", "old");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o750)).unwrap();
    tool_result(&env, "edit_file", json!({"path": "run.sh", "old": "old", "new": "new"}), &[]);
    assert_eq!(script.metadata().unwrap().permissions().mode() & 0o777, 0o750);
}

#[test]
fn calculate() {
    let env = TestEnv::new();
    let value = |expression: &str| {
        tool_result(&env, "calculate", json!({"expression": expression}), &[])["result"]["value"].clone()
    };
    assert_eq!(value("(2 + 3) * 4"), 20);
    assert_eq!(value("1 / 4"), 0.25);
    assert_eq!(value("2 ^ 60"), 1.152_921_504_606_847e18);
}

#[test]
fn run_command() {
    let env = TestEnv::new();
    let dev = ["--profile", "dev"];
    let args = json!({"command": "echo out; echo err >&2; pwd; exit 3"});
    let output = tool_result(&env, "run_command", args, &dev)["result"].clone();
    assert_eq!((&output["exit_code"], &output["stderr"]), (&3.into(), &"err\n".into()));
    let work = env.work().canonicalize().unwrap();
    assert_eq!(output["stdout"], format!("out\n{}\n", work.display()));
    let killed = tool_result(&env, "run_command", json!({"command": "kill -9 $$"}), &dev);
    assert_eq!(killed["result"]["exit_code"], 137);
    let much =
        tool_result(&env, "run_command", json!({"command": "yes | head -c 1000000"}), &dev)["result"].clone();
    assert_eq!((much["stdout"].as_str().unwrap().len(), &much["truncated"]), (64 * 1024, &true.into()));
}

#[test]
fn a_command_is_killed_at_its_deadline_with_its_descendants() {
    let env = TestEnv::new();
    let command = "(sleep 600 & echo $! > a); (setsid sh -c 'echo $$ > b; sleep 601' &); sleep 602";
    let timed_out =
        tool_result(&env, "run_command", json!({"command": command, "timeout": 1}), &["--profile", "dev"]);
    assert_eq!(code(&timed_out), "TOOL_EXECUTION_ERROR");
    assert!(timed_out["duration_ms"].as_u64().unwrap() < 10_000);
    assert!(!is_alive(&env.read("a")) && !is_alive(&env.read("b")), "left behind");
}

#[test]
fn processes_that_outlive_a_command_are_killed_without_waiting() {
    let env = TestEnv::new();
    let command = "sleep 600 & echo $! > a; echo started";
    let output = tool_result(&env, "run_command", json!({"command": command}), &["--profile", "dev"]);
    assert_eq!(output["result"]["stdout"], "started\n");
    assert!(output["duration_ms"].as_u64().unwrap() < 10_000);
    assert!(!is_alive(&env.read("a")), "left behind");
}

#[test]
fn a_command_can_read_neither_memory_nor_environment_of_the_agent() {
    let env = TestEnv::new();
    for folder in ["", "home", "work"] {
        fs::set_permissions(env.outside(folder), fs::Permissions::from_mode(0o777)).unwrap();
    }
    let program = env.outside("agent");
    fs::copy(env!("CARGO_BIN_EXE_reference-agent"), &program).unwrap();
    let look = "for file in environ mem; do head -c 0 /proc/$$/$file && echo own; head -c 0 /proc/$PPID/$file; done; true";
    env.script(&script(&[tool_turn("run_command", json!({"command": look})), text_turn("done")]));
    let mut command = Command::new(program);
    command.env("HOME", env.outside("home")).current_dir(env.work());
    command.args(["--jsonl", "--profile", "dev", "--script"]).arg(env.outside("script.json")).arg("a query");
    if rustix::process::geteuid().is_root() {
        // Root can read every process.
        command.uid(65534).gid(65534);
    }
    let output = command.output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!((text.matches("own\\n").count(), text.matches("Permission denied").count()), (2, 2), "{text}");
}

#[test]
fn profiles() {
    let env = TestEnv::new();
    env.file("a", "1");
    let write = json!({"path": "b", "content": "x"});
    let blocked = |tool: &str, args: &Value, profile: &str| {
        let result = tool_result(&env, tool, args.clone(), &["--profile", profile]);
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
    let env = TestEnv::new();
    let turns = script(&[
        tool_turn("write_file", json!({"path": "a", "content": "x"})),
        tool_turn("list_files", json!({})),
        text_turn("done"),
    ]);
    // JSON formats approve automatically.
    let auto = env.play("agent-js", &turns, &[]).document();
    assert_eq!((&auto["approvalMode"], &auto["toolCalls"][0]["ok"]), (&"auto".into(), &true.into()));
    std::fs::remove_file(env.work().join("a")).unwrap();

    let never = env.play("agent-js", &turns, &["--approval-mode", "never"]).document();
    assert_eq!(never["toolCalls"][0]["error"]["code"], "TOOL_EXECUTION_ERROR");
    assert_eq!((&never["toolCalls"][1]["ok"], &never["approvalMode"]), (&true.into(), &"never".into()));
    assert!(!env.work().join("a").exists());
    let events = env.play("opencode-events", &turns, &["--approval-mode", "never"]);
    assert_eq!(events.of_type("permission.updated").len(), 1);
    assert_eq!(events.of_type("permission.replied")[0]["properties"]["response"], "reject");

    // A JSON format cannot ask the user.
    for contract in crate::support::CONTRACTS {
        let output = env.run(["--contract", contract, "--approval-mode", "ask", "q"]);
        output.assert_conforms(contract);
        assert_ne!(output.code, 0);
        if contract == "agent-js" {
            assert_eq!((output.code, &output.document()["code"]), (5, &"INTERACTIVE_APPROVAL_JSON".into()));
        }
    }
    assert_eq!(env.run(["--json", "--approval-mode", "ask", "q"]).code, 2);
    // Text without a terminal.
    let output = env.run(["--approval-mode", "ask", "q"]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    assert!(output.stderr.contains("terminal"), "{output:?}");
}

#[test]
fn the_user_at_a_terminal_is_asked_for_approval() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::{Read as _, Write as _};
    let env = TestEnv::new();
    env.script(&script(&[tool_turn("write_file", json!({"path": "a", "content": "x"})), text_turn("done")]));
    for (answer, written) in [("n\n", false), ("y\n", true)] {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let slave = std::fs::File::options().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        let mut child = env.agent(["--approval-mode", "ask", "q"]).stdin(slave).spawn().unwrap();
        let (mut stderr, mut asked) = (child.stderr.take().unwrap(), Vec::new());
        while !asked.ends_with(b"[y/N] ") {
            let mut byte = [0];
            stderr.read_exact(&mut byte).unwrap();
            asked.push(byte[0]);
        }
        assert!(String::from_utf8(asked).unwrap().contains("write_file"));
        let mut master = std::fs::File::from(master);
        master.write_all(answer.as_bytes()).unwrap();
        let output = crate::support::wait_for_output(child);
        assert_eq!((output.code, output.stdout.as_str()), (0, "done\n"), "{output:?}");
        assert_eq!(env.work().join("a").exists(), written);
    }
}

#[test]
fn a_model_without_tools() {
    let env = TestEnv::new();
    let toolless = json!({"turns": [text_turn("just words")], "tools": false});
    let auto = env.play("agent-js", &toolless, &[]).document();
    assert_eq!((&auto["toolsEnabled"], &auto["toolsFallbackUsed"]), (&false.into(), &true.into()));
    let on = env.play("agent-js", &toolless, &["--tools-mode", "on"]);
    assert_eq!((on.code, &on.document()["code"]), (6, &"TOOLS_NOT_SUPPORTED".into()));
    let off = env.play("agent-js", &toolless, &["--tools-mode", "off"]).document();
    assert_eq!((&off["toolsEnabled"], &off["toolsFallbackUsed"]), (&false.into(), &false.into()));
    assert_eq!(off["toolsMode"], "off");
}
