//! Exit codes and kinds of errors of all commands: what is missing, may not be read, cannot be written, or is
//! not as it has to be.

use super::support::{CliOutput, Folder, output_of};
use crate::programs::without_stdout;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

/// Arguments, and the exit code and kind that they end with.
type Row<'a> = (&'a [&'a str], i32, &'a str);

fn with_json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&args[..1], &["--json"], &args[1..]].concat()
}

fn ended(said: &CliOutput, (args, code, kind): Row<'_>) {
    assert_eq!(said.code, Some(code), "{args:?}: {}", said.err);
    assert_eq!(said.error()["kind"], kind, "{args:?}: {}", said.err);
}

fn hold(folder: &Folder, rows: &[Row<'_>]) {
    for row in rows {
        ended(&folder.run(&with_json(row.0)), *row);
    }
}

/// A folder with data, schemas, an empty folder and a CLI.
fn place() -> Folder {
    let folder = Folder::demo("");
    folder.write("data.json", "{\"id\": 1}\n");
    folder.write("text.json", "no JSON\n");
    folder.write("none.jsonl", "");
    folder.write("old.schema.json", "{\"type\": \"string\"}");
    folder.write("new.schema.json", "{\"type\": [\"string\", \"null\"]}");
    fs::create_dir(folder.path().join("empty")).unwrap();
    folder
}

#[test]
fn a_missing_data_file_is_usage_and_what_else_is_missing_is_configuration() {
    hold(
        &place(),
        &[
            (&["check", "--replay", "gone.jsonl"], 2, "usage"),
            (&["check", "gone"], 78, "config"),
            (&["check", "--", "./gone"], 78, "config"),
            (&["check", "--command", "agentnative-gone"], 78, "config"),
            (&["check", "--config", "gone.toml", "./cli"], 78, "config"),
            (&["check", "--contract", "gone", "./cli"], 78, "config"),
            (&["check", "--contract", "./gone.json", "./cli"], 78, "config"),
            (&["init", "gone"], 78, "config"),
            (&["validate", "--contract", "gone", "data.json"], 78, "config"),
            (&["validate", "--contract", "gone.json", "data.json"], 78, "config"),
            (&["validate", "--contract", "p2-error", "gone.json"], 2, "usage"),
            (&["outcome", "gone"], 2, "usage"),
            (&["outcome", "--stderr", "gone"], 2, "usage"),
            (&["contract", "show", "gone"], 78, "config"),
            (&["contract", "show", "./gone.json"], 78, "config"),
            (&["contract", "infer", "gone.json"], 2, "usage"),
            (&["contract", "lock", "gone"], 78, "config"),
            // A side is a file where it looks like one, else a contract.
            (&["contract", "diff", "gone.jsonl", "p2-error"], 2, "usage"),
            (&["contract", "diff", "p2-error", "./gone"], 2, "usage"),
            (&["contract", "diff", "gone", "p2-error"], 78, "config"),
            (&["contract", "diff", "gone.schema.json", "p2-error"], 78, "config"),
            (&["contract", "diff", "--old-command", "./gone", "p2-error"], 78, "config"),
        ],
    );
}

#[test]
fn a_folder_in_the_place_of_a_file() {
    hold(
        &place(),
        &[
            (&["check", "--replay", "empty"], 2, "usage"),
            (&["check", "--config", "empty", "./cli"], 78, "config"),
            (&["validate", "--contract", "./empty", "data.json"], 78, "config"),
            (&["validate", "--contract", "p2-error", "empty"], 2, "usage"),
            (&["outcome", "empty"], 2, "usage"),
            (&["contract", "infer", "empty"], 2, "usage"),
            (&["contract", "diff", "empty", "p2-error"], 78, "config"),
            (&["check", "./cli", "--check", "p2-exit-success", "--report", "json=empty"], 1, "write"),
            (&["check", "./cli", "--check", "p2-exit-success", "--record", "empty"], 1, "write"),
        ],
    );
}

#[test]
fn what_may_not_be_read_is_permission() {
    let folder = place();
    let closed = folder.path().join("closed");
    fs::create_dir(&closed).unwrap();
    for (path, mode) in [(folder.path(), 0o755), (&closed, 0o000), (&folder.path().join("data.json"), 0o000)]
    {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let root = rustix::process::geteuid().is_root();
    let rows: &[Row<'_>] = &[
        (&["check", "--replay", "data.json"], 77, "auth"),
        (&["check", "--config", "data.json", "--", "true"], 77, "auth"),
        (&["check", "./data.json"], 77, "auth"),
        (&["check", "closed/cli"], 77, "auth"),
        (&["validate", "--contract", "data.json", "old.schema.json"], 77, "auth"),
        (&["validate", "--contract", "closed/contract.json", "old.schema.json"], 77, "auth"),
        (&["validate", "--contract", "p2-error", "data.json"], 77, "auth"),
        (&["validate", "--contract", "p2-error", "closed"], 77, "auth"),
        (&["validate", "--contract", "p2-error", "old.schema.json", "closed"], 77, "auth"),
        (&["outcome", "data.json"], 77, "auth"),
        (&["outcome", "--stderr", "data.json"], 77, "auth"),
        (&["contract", "show", "./data.json"], 77, "auth"),
        (&["contract", "infer", "data.json"], 77, "auth"),
        (&["contract", "diff", "data.json", "p2-error"], 77, "auth"),
        (&["contract", "diff", "p2-error", "closed/new.json"], 77, "auth"),
        (&["contract", "diff", "closed", "p2-error"], 77, "auth"),
    ];
    for row in rows {
        let mut command = folder.command();
        command.args(with_json(row.0));
        if root {
            // Who may read everything is refused nothing.
            command.uid(65534).gid(65534);
        }
        if root && command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            eprintln!("skipped: nobody but root may start the program where it is");
            break;
        }
        ended(&output_of(command.stdout(Stdio::piped()).stderr(Stdio::piped())), *row);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn what_cannot_be_written() {
    let folder = place();
    // A folder in the place of the file, a file in the place of the folder.
    fs::create_dir(folder.path().join("agentnative.toml")).unwrap();
    hold(&folder, &[(&["init", "--force", "./cli"], 1, "write")]);
    let folder = place();
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['json']\n",
    );
    folder.write("agentnative.lock", "");
    hold(&folder, &[(&["contract", "lock"], 1, "write")]);
    for args in [
        &["list"][..],
        &["--help"],
        &["explain", "p2-raw"],
        &["schema"],
        &["completions", "bash"],
        &["contract", "list"],
        &["contract", "show", "p2-error"],
        &["contract", "infer", "data.json"],
        &["contract", "diff", "p2-error", "p2-error"],
        &["outcome"],
        &["check", "./cli", "--check", "p2-exit-success"],
        &["validate", "--contract", "p2-error", "data.json"],
    ] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let command = || {
            let mut command = folder.command();
            command.args(with_json(args));
            command
        };
        for (command, reason) in [
            (command().stdout(full), "No space left on device"),
            (&mut without_stdout(&command()), "Bad file descriptor"),
        ] {
            let said = output_of(command);
            ended(&said, (args, 1, "write"));
            assert!(said.err.contains(reason), "{args:?}: {}", said.err);
        }
        // Who wants no output gives a device that swallows it, open in either direction.
        let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        let (wanted, swallowed) = (output_of(&mut command()), output_of(command().stdout(null)));
        assert_eq!((swallowed.code, swallowed.err), (wanted.code, wanted.err), "{args:?}");
    }
}

#[test]
fn findings_are_told_apart_from_nothing_run() {
    let folder = place();
    hold(
        &folder,
        &[
            (&["validate", "--contract", "p2-error", "data.json"], 1, "findings"),
            (&["contract", "infer", "text.json"], 1, "findings"),
            (&["contract", "infer", "none.jsonl"], 1, "nothing-run"),
            (&["contract", "diff", "old.schema.json", "new.schema.json"], 1, "findings"),
            (&["check", "./cli", "--check", "p2-exit-auth"], 1, "nothing-run"),
        ],
    );
    let text = folder.run(&["validate", "--contract", "p2-error", "data.json", "text.json"]);
    assert_eq!((text.code, text.err.as_str()), (Some(1), "error: 2 of 2 files are invalid\n"));
    folder.write("agentnative.toml", "[target]\ncommand = ['./cli']\n");
    hold(&folder, &[(&["contract", "lock"], 1, "nothing-run")]);
}
