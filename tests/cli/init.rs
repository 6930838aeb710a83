//! `init`, as somebody who has never heard of it uses it: a program, `init`, `check`, and no edit between.

use super::support::{Folder, keys};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// argparse with a global option, which is taken in front of the command only; not executable.
const ARGPARSE: &str = r#"import argparse, json, sys

parser = argparse.ArgumentParser(prog="notes.py")
parser.add_argument("--output", choices=["text", "json"], default="text", help="how to print")
commands = parser.add_subparsers(dest="command", required=True)
commands.add_parser("list", help="list the notes")
show = commands.add_parser("show", help="show one note")
show.add_argument("id")
remote = commands.add_parser("remote", help="other machines").add_subparsers(dest="remote", required=True)
remote.add_parser("ls", help="list them")
arguments = parser.parse_args()
if arguments.command == "show" and arguments.id != "1":
    print("no such note", file=sys.stderr)
    sys.exit(1)
notes = [{"id": 1}]
print(json.dumps(notes) if arguments.output == "json" else notes[0]["id"])
"#;

/// Laid out as cobra does it; executable. It records each call that is not one for help.
const COBRA: &str = r#"case " $* " in
    *" list --help "*) printf 'List the notes\n\nUsage:\n  notes list [flags]\n\nGlobal Flags:\n  -o, --output string   one of: text|json|jsonl\n'; exit ;;
    # It needs a place for temporary files, as one that shows a manual page.
    *" wipe --help "*) page=$(mktemp) && rm "$page" || exit; printf 'Remove all\n\nUsage:\n  notes wipe [flags]\n'; exit ;;
    *" --help "*)
        printf 'Usage:\n  notes [command]\n\nAvailable Commands:\n  list        List the notes\n  wipe        Remove all\n\nFlags:\n  -h, --help            help for notes\n  -o, --output string   one of: text|json|jsonl\n\nUse "notes [command] --help" for more information about a command.\n'
        exit ;;
esac
echo "$*" >>"${0%/*}/calls"
case " $* " in
    *" list "*json*) echo '{"id":1}' ;;
    *" list "*) echo 1 ;;
    *) echo 'unknown command' >&2; exit 2 ;;
esac
"#;

#[test]
fn a_script_without_a_manifest_is_ready_after_init() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    let args = [
        "init",
        "./notes.py",
        "--safe",
        "list,remote ls",
        "--probe",
        "show 1",
        "--probe",
        "1:show 2",
        "--json",
    ];
    let data = folder.run(&args).data();
    assert_eq!(keys(&data), ["commands", "file", "next", "probes", "text"]);
    assert_eq!(data["commands"], Value::from(vec!["list", "show", "remote ls"]));
    assert_eq!(data["probes"], Value::from(vec!["show 1", "show 2", "list", "remote ls"]));
    let next = data["next"].to_string();
    assert!(next.contains("exit codes 77 and 78") && next.contains("agentnative check"), "{next}");
    let text = folder.read("agentnative.toml");
    assert_eq!(data["text"], text);
    for line in [
        "command = [\"python3\", \"./notes.py\"]",
        "formats.json = [\"--output\", \"json\"]    # how a format is asked for, from its help",
        "formats.jsonl = [\"--output\", \"jsonl\"]    # not in its help, but required by principle 2",
        "args = [\"{format}\", \"show\", \"1\"]",
        "args = [\"{format}\", \"remote\", \"ls\"]",
    ] {
        assert!(text.lines().any(|written| written == line), "{line}\n{text}");
    }
    // The configuration is used as it is, from the folder and from the script.
    for target in [".", "./notes.py"] {
        let said = folder.run(&[
            "check",
            target,
            "--json",
            "--check",
            "p2-output-json,p2-exit-error,p2-exit-success",
        ]);
        for id in ["p2-output-json", "p2-exit-error", "p2-exit-success"] {
            assert_eq!(said.status(id), "pass", "{target}: {}", said.out);
        }
        let command = said.data()["target"]["command"].to_string();
        assert!(command.contains("/python3\"") && command.contains("/notes.py\""), "{command}");
    }
}

#[test]
fn only_help_is_called_and_only_confirmed_commands_are_declared() {
    let folder = Folder::with(COBRA);
    let said = folder.run(&["init", "./cli"]);
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""), "nothing is asked without a terminal");
    let expected = "wrote agentnative.toml: 2 commands found in the help, 0 probes declared\nnext:\n  - declare the calls that are safe to run up to 40 times:\n      agentnative init --force --safe list ./cli\n";
    assert!(said.out.starts_with(expected), "{}", said.out);
    assert!(said.out.contains("leave out what may change something, or declare it"), "{}", said.out);
    assert!(!folder.path().join("calls").exists(), "{}", folder.read("calls"));
    let text = folder.read("agentnative.toml");
    assert!(
        text.contains("#args = [\"list\"]\n") && text.contains("#args = [\"{format}\", \"wipe\"]\n"),
        "{text}"
    );
    assert!(!text.lines().any(|line| line == "[[probe]]"), "{text}");
    // By name, `list` only reads.
    let said = folder.run(&["init", "./cli", "--force", "--yes", "--jsonl"]);
    assert_eq!(said.lines()[0]["probes"], Value::from(vec!["list"]));
    assert!(!folder.path().join("calls").exists());
    assert_eq!(
        folder.run(&["check", "--json", "--check", "p2-output-jsonl"]).status("p2-output-jsonl"),
        "pass"
    );
}

#[test]
fn what_init_cannot_declare_is_a_usage_error() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    for (args, message, hint) in [
        (["--safe", "lst"], "the help names no such command", "list, show, remote ls"),
        (["--safe", "show"], "a call needs arguments, as in `show <id>`", "--probe \"show <id>\""),
        (["--probe", "show <id>"], "`<id>` stands for a value", "in the place of `<id>`"),
        (["--probe", "300:list"], "greater than 255", "[EXIT:]ARGS"),
    ] {
        let said = folder.run(&[&["init", "./notes.py"][..], &args].concat());
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{args:?}: {}", said.err);
        assert!(said.err.contains(message) && said.err.contains(hint), "{}", said.err);
        assert!(!folder.path().join("agentnative.toml").exists());
    }
}

/// Answers `init` on a terminal; what it says goes to `said`.
const TERMINAL: &str = r#"import os, pty, sys
answers = sys.argv[1].split("|")
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
said = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    said += more
    if said.endswith(b": ") and answers:
        os.write(terminal, (answers.pop(0) + "\n").encode())
        said += b"\n"
sys.stdout.buffer.write(said)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn what_is_written_says_how_to_get_its_schema_and_stands_beside_no_other_configuration() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    let told = folder.run(&["init", "./notes.py", "--print"]);
    let command = "`agentnative schema config > agentnative-config.schema.json`";
    assert!(told.out.starts_with("# ") && told.out.contains(command), "{}", told.out);
    folder.write("pyproject.toml", "[tool.agentnative]\n");
    let told = folder.run(&["init", "./notes.py", "--yes", "--force"]);
    assert_eq!(told.code, Some(78), "{}", told.err);
    assert!(told.err.contains("pyproject.toml holds a configuration"), "{}", told.err);
    assert!(!folder.path().join("agentnative.toml").exists());
}

#[test]
fn a_person_at_a_terminal_is_asked_which_commands_are_safe() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    let driver = folder.write("driver", TERMINAL);
    fs::set_permissions(&driver, fs::Permissions::from_mode(0o644)).unwrap();
    let program = env!("CARGO_BIN_EXE_agentnative");
    let ask = |answers: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new("python3");
        command.current_dir(folder.path()).arg(&driver).args([
            answers,
            program,
            "init",
            "./notes.py",
            "--force",
        ]);
        let output = command.args(arguments).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap().replace('\r', "")
    };
    let probes = || -> Vec<String> {
        let text = folder.read("agentnative.toml");
        text.lines().filter_map(|line| line.strip_prefix("args = ")).map(str::to_owned).collect()
    };
    // An answer that is not understood is asked for again; a value is asked for where a call needs one.
    let said = ask("7|1-2|1", &[]);
    assert!(said.contains("5 help pages read"), "{said}");
    assert!(said.contains("   2 * show <id>") && said.contains("show one note"), "{said}");
    assert!(said.contains("`7` is neither a number nor a command of this list"), "{said}");
    assert!(said.contains("show <id>: value for <id>"), "{said}");
    assert_eq!(probes(), ["[\"{format}\", \"list\"]", "[\"{format}\", \"show\", \"1\"]"]);
    ask("remote ls, list", &[]);
    assert_eq!(probes().len(), 2);
    ask("", &[]);
    assert_eq!(probes().len(), 0);
    // With a flag for the answer nothing is asked, nor for programs.
    for arguments in [&["--yes"][..], &["--probe", "list"], &["--json"], &["--print"]] {
        assert!(!ask("", arguments).contains("Which are safe?"), "{arguments:?}");
    }
}
