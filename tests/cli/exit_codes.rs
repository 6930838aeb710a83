//! Exit codes and error kinds of all commands for missing, unreadable, unwritable and invalid files.

use super::support::{CliOutput, Folder, output_of};
use crate::programs::without_stdout;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Stdio;

/// Arguments with the expected exit code and error kind.
type Row<'a> = (&'a [&'a str], i32, &'a str);

fn with_json<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&args[..1], &["--json"], &args[1..]].concat()
}

fn assert_ended(output: &CliOutput, (args, code, kind): Row<'_>) {
    assert_eq!(output.code, Some(code), "{args:?}: {}", output.err);
    assert_eq!(output.error()["kind"], kind, "{args:?}: {}", output.err);
}

fn assert_all(folder: &Folder, rows: &[Row<'_>]) {
    for row in rows {
        assert_ended(&folder.run(&with_json(row.0)), *row);
    }
}

/// A folder with data, schemas, an empty folder and a CLI.
fn folder_with_data() -> Folder {
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
fn a_missing_data_file_is_a_usage_error_and_other_missing_files_are_configuration_errors() {
    assert_all(
        &folder_with_data(),
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
            // A side that looks like a file name is a file, otherwise a contract.
            (&["contract", "diff", "gone.jsonl", "p2-error"], 2, "usage"),
            (&["contract", "diff", "p2-error", "./gone"], 2, "usage"),
            (&["contract", "diff", "gone", "p2-error"], 78, "config"),
            (&["contract", "diff", "gone.schema.json", "p2-error"], 78, "config"),
            (&["contract", "diff", "--old-command", "./gone", "p2-error"], 78, "config"),
        ],
    );
}

#[test]
fn a_folder_instead_of_a_file_is_an_error() {
    assert_all(
        &folder_with_data(),
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
fn an_unreadable_file_is_a_permission_error() {
    let folder = folder_with_data();
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
            // Root may read everything, so the call runs as another user.
            command.uid(65534).gid(65534);
        }
        if root && command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_err() {
            eprintln!("skipped: nobody but root may start the program where it is");
            break;
        }
        assert_ended(&output_of(command.stdout(Stdio::piped()).stderr(Stdio::piped())), *row);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_failed_write_exits_with_1() {
    let folder = folder_with_data();
    // A folder instead of the file, a file instead of the folder.
    fs::create_dir(folder.path().join("agentnative.toml")).unwrap();
    assert_all(&folder, &[(&["init", "--force", "./cli"], 1, "write")]);
    let folder = folder_with_data();
    folder.write(
        "agentnative.toml",
        "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['json']\n",
    );
    folder.write("agentnative.lock", "");
    assert_all(&folder, &[(&["contract", "lock"], 1, "write")]);
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
        &["outcome", "--from", "claude"],
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
            let output = output_of(command);
            assert_ended(&output, (args, 1, "write"));
            assert!(output.err.contains(reason), "{args:?}: {}", output.err);
        }
        // /dev/null discards the output, also if it is opened for reading and writing.
        let null = fs::OpenOptions::new().read(true).write(true).open("/dev/null").unwrap();
        let (printed, discarded) = (output_of(&mut command()), output_of(command().stdout(null)));
        assert_eq!((discarded.code, discarded.err), (printed.code, printed.err), "{args:?}");
    }
}

#[test]
fn findings_and_nothing_run_are_different_kinds() {
    let folder = folder_with_data();
    assert_all(
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
    // Neither a probe nor a help page can be locked.
    folder.script("silent", "#!/bin/sh\nexit 1\n");
    folder.write("agentnative.toml", "[target]\ncommand = ['./silent']\n");
    assert_all(&folder, &[(&["contract", "lock"], 1, "nothing-run")]);
}
