//! `init`: its output can be used by `check` without an edit.

use super::support::{Folder, keys};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

/// A script with argparse and a global option, which must precede the command. The file is not executable.
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

/// A script with help in the layout of cobra, which records each call that is not for help. The file is executable.
const COBRA: &str = r#"case " $* " in
    *" list --help "*) printf 'List the notes\n\nUsage:\n  notes list [flags]\n\nGlobal Flags:\n  -o, --output string   one of: text|json|jsonl\n'; exit ;;
    # It needs a folder for temporary files, as a program that shows a manual page does.
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
        "formats.json = [\"--output\", \"json\"]    # arguments that select the format, from its help",
        "formats.jsonl = [\"--output\", \"jsonl\"]    # not in its help, but required by principle 2",
        "args = [\"{format}\", \"show\", \"1\"]",
        "args = [\"{format}\", \"remote\", \"ls\"]",
    ] {
        assert!(text.lines().any(|written| written == line), "{line}\n{text}");
    }
    // The configuration can be used unchanged, for the folder and for the script.
    for target in [".", "./notes.py"] {
        let output = folder.run(&[
            "check",
            target,
            "--json",
            "--check",
            "p2-output-json,p2-exit-error,p2-exit-success",
        ]);
        for id in ["p2-output-json", "p2-exit-error", "p2-exit-success"] {
            assert_eq!(output.status(id), "pass", "{target}: {}", output.out);
        }
        let command = output.data()["target"]["command"].to_string();
        assert!(command.contains("/python3\"") && command.contains("/notes.py\""), "{command}");
    }
}

#[test]
fn init_calls_only_help_and_declares_only_confirmed_commands() {
    let folder = Folder::with(COBRA);
    let output = folder.run(&["init", "./cli"]);
    assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "without a terminal there are no prompts");
    let expected = "wrote agentnative.toml: 2 commands found in the help, 0 probes declared\nnext:\n  - declare the calls that are safe to run up to 40 times:\n      agentnative init --force --safe list ./cli\n";
    assert!(output.out.starts_with(expected), "{}", output.out);
    assert!(
        output.out.contains("omit commands that may change something, or declare them"),
        "{}",
        output.out
    );
    assert!(!folder.path().join("calls").exists(), "{}", folder.read("calls"));
    let text = folder.read("agentnative.toml");
    assert!(
        text.contains("#args = [\"list\"]\n") && text.contains("#args = [\"{format}\", \"wipe\"]\n"),
        "{text}"
    );
    assert!(!text.lines().any(|line| line == "[[probe]]"), "{text}");
    // By its name, `list` only reads.
    let output = folder.run(&["init", "./cli", "--force", "--yes", "--jsonl"]);
    assert_eq!(output.lines()[0]["probes"], Value::from(vec!["list"]));
    assert!(!folder.path().join("calls").exists());
    assert_eq!(
        folder.run(&["check", "--json", "--check", "p2-output-jsonl"]).status("p2-output-jsonl"),
        "pass"
    );
}

#[test]
fn help_pages_are_requested_without_a_format_flag() {
    let page = "Usage: cli COMMAND\\n\\nCommands:\\n  list   List the notes\\n";
    let folder = Folder::with(&format!("case \"$*\" in --help) printf '{page}' ;; *) exit 2 ;; esac\n"));
    let output = folder.run(&["init", "./cli", "--print"]);
    assert!(output.out.contains("name = \"list\""), "{}", output.out);
}

#[test]
fn a_call_that_init_cannot_declare_is_a_usage_error() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    for (args, message, hint) in [
        (["--safe", "lst"], "unknown command; the help does not list it", "list, show, remote ls"),
        (["--safe", "show"], "the command needs arguments, as in `show <id>`", "--probe \"show <id>\""),
        (["--probe", "show <id>"], "`<id>` is a placeholder", "replace `<id>` with a value"),
        (["--probe", "300:list"], "greater than 255", "[EXIT:]ARGS"),
    ] {
        let output = folder.run(&[&["init", "./notes.py"][..], &args].concat());
        assert_eq!((output.code, output.out.as_str()), (Some(2), ""), "{args:?}: {}", output.err);
        assert!(output.err.contains(message) && output.err.contains(hint), "{}", output.err);
        assert!(!folder.path().join("agentnative.toml").exists());
    }
}

/// Runs a program on a terminal, answers its prompts, and prints the transcript.
const RUN_ON_TERMINAL: &str = r#"import os, pty, sys
answers = sys.argv[1].split("|")
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
transcript = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:
        break
    if not more:
        break
    transcript += more
    if transcript.endswith(b": ") and answers:
        os.write(terminal, (answers.pop(0) + "\n").encode())
        transcript += b"\n"
sys.stdout.buffer.write(transcript)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"#;

#[test]
fn the_written_file_names_its_schema_and_no_second_configuration_is_written() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    let output = folder.run(&["init", "./notes.py", "--print"]);
    let command = "`agentnative schema config > agentnative-config.schema.json`";
    assert!(output.out.starts_with("# ") && output.out.contains(command), "{}", output.out);
    folder.write("pyproject.toml", "[tool.agentnative]\n");
    let output = folder.run(&["init", "./notes.py", "--yes", "--force"]);
    assert_eq!(output.code, Some(78), "{}", output.err);
    assert!(output.err.contains("pyproject.toml already contains a configuration"), "{}", output.err);
    assert!(!folder.path().join("agentnative.toml").exists());
}

#[test]
fn init_asks_at_a_terminal_which_commands_are_safe() {
    let folder = Folder::new();
    folder.write("notes.py", ARGPARSE);
    let driver = folder.write("driver", RUN_ON_TERMINAL);
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
    // After an invalid answer the prompt is repeated; calls that need a value have a prompt for it.
    let transcript = ask("7|1-2|1", &[]);
    assert!(transcript.contains("5 help pages read"), "{transcript}");
    assert!(transcript.contains("   2 * show <id>") && transcript.contains("show one note"), "{transcript}");
    assert!(transcript.contains("`7` is neither a number nor a command of this list"), "{transcript}");
    assert!(transcript.contains("show <id>: value for <id>"), "{transcript}");
    assert_eq!(probes(), ["[\"{format}\", \"list\"]", "[\"{format}\", \"show\", \"1\"]"]);
    ask("remote ls, list", &[]);
    assert_eq!(probes().len(), 2);
    ask("", &[]);
    assert_eq!(probes().len(), 0);
    // Flags that contain the answer, and output for programs, suppress the prompts.
    for arguments in [&["--yes"][..], &["--probe", "list"], &["--json"], &["--print"]] {
        assert!(!ask("", arguments).contains("Which are safe?"), "{arguments:?}");
    }
}
