//! Errors on stderr: text in text mode, one JSON object otherwise, each with its exit code.

use super::support::{Folder, keys, output_of, run};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

/// Asserts exit code, kind, message and hint of an error in each format.
fn assert_error(folder: &Folder, args: &[&str], code: i32, message: &str, hint: &str) {
    let kind = match code {
        2 => "usage",
        77 => "auth",
        _ => "config",
    };
    assert_error_of_kind(folder, args, (code, kind), message, hint);
}

fn assert_error_of_kind(
    folder: &Folder,
    args: &[&str],
    (code, kind): (i32, &str),
    message: &str,
    hint: &str,
) {
    let text = folder.run(args);
    assert_eq!((text.code, text.out.as_str()), (Some(code), ""), "{args:?}: {}", text.err);
    assert!(text.err.starts_with("error: ") && text.err.contains(message), "{args:?}: {}", text.err);
    assert!(text.err.contains(hint) && text.err.ends_with('\n'), "{args:?}: {}", text.err);
    for flag in ["--json", "--jsonl"] {
        // Before a `--`, which ends the options of the program.
        let (command, rest) = args.split_at(args.len().min(1));
        let output = folder.run(&[command, &[flag], rest].concat());
        assert_eq!((output.code, output.out.as_str()), (Some(code), ""), "{args:?} {flag}");
        let error = output.error();
        let words = |key: &str| error[key].as_str().unwrap_or_default().to_owned();
        assert!(!words("error").is_empty() && error["issues"].is_array(), "{error}");
        assert_eq!(words("kind"), kind, "{error}");
        let issues = error["issues"].to_string();
        assert!(words("message").contains(message) || issues.contains(message), "{args:?}: {error}");
        assert!(words("hint").contains(hint), "{args:?}: {error}");
        assert!(!words("message").contains('\n') && !words("hint").contains('\n'), "{error}");
    }
}

#[test]
fn invalid_arguments_are_usage_errors() {
    let folder = Folder::demo("");
    for (args, message, hint) in [
        (&[][..], "", "Usage: agentnative"),
        (&["chekc"], "chekc", "'check'"),
        (&["list", "--outptu", "json"], "--outptu", "'--output'"),
        (&["check", "--princple", "2"], "--princple", "'--principle'"),
        (&["list", "--output", "xml"], "text, json, jsonl", ""),
        (&["list", "--color", "sometimes"], "auto, always, never", ""),
        (&["list", "--principle", "two"], "expected a whole number from 1 to 255", ""),
        (&["check", "--principle", "two"], "expected a whole number from 1 to 255", ""),
        (&["list", "--principle", "9"], "no checks for principle 9; expected 1, 2", "agentnative list"),
        (&["check", "--principle", "2,9"], "no checks for principle 9", "agentnative list"),
        (&["contract"], "missing subcommand", "Usage: agentnative contract"),
        (&["list", "--layer", "sauce"], "behavioral, source, project", "'source'"),
        (&["explain"], "<ID>", "Usage: agentnative explain"),
        (&["explain", "p2-output-jsno"], "`p2-output-jsno`", "did you mean `p2-output-json`?"),
        (&["explain", "target.lacks"], "`target.lacks`", "agentnative explain config target.lacks"),
        (&["explain", "something-else"], "`something-else`", "agentnative list"),
        (&["schema", "reports"], "reports", "'report'"),
        (&["completions", "cmd"], "cmd", ""),
        (&["check", "--check", "p2-envelop"], "`p2-envelop`", "`p2-envelope`"),
        (&["check", "--skip", "p2-envelop"], "`p2-envelop`", "`p2-envelope`"),
        (&["check", "--check", "p2-raw,p2-envelop"], "`p2-envelop`", "`p2-envelope`"),
        (&["check", "--check", "p2-raw", "--skip", "p2-raw"], "select no check", "agentnative list"),
        (&["check", "--layer", "project", "--check", "p2-raw"], "select no check", "agentnative list"),
        (&["check", "--jobs", "0"], "expected a whole number of at least 1", ""),
        (&["validate", "--jobs", "65"], "expected a whole number from 1 to 64", ""),
        (&["validate", "--exit-code", "256"], "expected a whole number from 0 to 255", ""),
        (&["validate", "--max-errors", "x"], "expected a whole number of at least 0", ""),
        (&["outcome", "--exit-code", "x"], "expected a whole number", ""),
        (&["outcome", "--attempt", "x"], "expected a whole number of at least 1", ""),
        (&["contract", "infer", "--enum-threshold", "x"], "expected a whole number of at least 0", ""),
        (&["check", "--timeout", "0"], "above 0", ""),
        (&["check", "--timeout=-1"], "above 0", ""),
        (&["check", "--timeout", "nan"], "above 0", ""),
        (&["check", "--timeout", "soon"], "number of seconds", ""),
        (&["check", "--timeout", "1e300"], "at most 86400", ""),
        (&["check", "--report", "xml=file"], "expected one of text, json, jsonl", ""),
        (&["check", "--report", "json"], "FORMAT=FILE", ""),
        (&["check", "--report", "json="], "FORMAT=FILE", ""),
        (&["check", "--report", "json=r", "--report", "text=./r"], "two outputs are written to ./r", ""),
        (&["check", "--report", "json=r", "--record", "r"], "two outputs are written to r", ""),
        (&["check", "--report", "json=-", "--report", "text=-"], "two outputs are written to -", ""),
        (&["check", "--command", "sh", "."], "--command", ""),
        (&["check", "--record", "a", "--replay", "b"], "--record", ""),
        (&["check", "--replay", "b", "."], "--replay", ""),
        (&["check", "./cli", "--probe", "300:x"], "300", "[EXIT:]ARGS"),
        (&["check", "./cli", "--probe", "say 'x"], "unclosed quote", "[EXIT:]ARGS"),
        (&["check", "./cli", "--probe", "list", "--probe", "0:list"], "duplicate --probe", ""),
        (&["check", "./cli", "--", "./cli"], "", ""),
    ] {
        assert_error(&folder, args, 2, message, hint);
    }
}

#[test]
fn a_missing_or_invalid_target_or_configuration_exits_with_78() {
    let folder = Folder::demo("");
    folder.write("broken.toml", "[target]\ncommand = 7\nschmea = []\n\n[[probe]]\nname = 'a'\n");
    folder.write("two.toml", "[target.one]\ncommand = ['./cli']\n[target.two]\ncommand = ['./cli']\n");
    folder.write("gone.toml", "[target]\ncommand = ['./not-built']\n");
    for (args, message, hint) in [
        (&["check", "nothing-here"][..], "nothing-here", ""),
        (&["check", "--command", "agentnative-no-such-program"], "agentnative-no-such-program", "path"),
        (&["check", "--", "agentnative-no-such-program"], "agentnative-no-such-program", ""),
        (&["check", "--", "./nothing-here"], "nothing-here", ""),
        (&["check", "."], "no project", "pass the program: a file such as `./tool.py`"),
        (&["init", "."], "no project", "pass the program: a file such as `./tool.py`"),
        (&["check", "--config", "nothing.toml", "./cli"], "nothing.toml", ""),
        (&["check", "--config", "broken.toml", "./cli"], "`schmea`", ""),
        (&["check", "--config", "two.toml", "."], "several targets: one, two", "--bin NAME"),
        (&["check", "--config", "gone.toml", "."], "not-built", "build it"),
        (&["check", "--replay", "broken.toml"], "is not a recording", "--record"),
        (&["check", "--replay", "broken.toml"], "expected one JSON object, the header of a recording", ""),
    ] {
        assert_error(&folder, args, 78, message, hint);
    }
    // All errors of a file are reported, each with its position.
    let text = folder.run(&["check", "--config", "broken.toml", "./cli"]);
    let places: Vec<&str> = text.err.lines().filter(|line| line.starts_with("  broken.toml:")).collect();
    let has_position =
        |place: &str| places.iter().any(|line| line.starts_with(&format!("  broken.toml:{place}: ")));
    assert!(
        places.len() == 3 && has_position("2:11") && has_position("3:1") && has_position("5:1"),
        "{}",
        text.err
    );
    let error = folder.run(&["check", "--json", "--config", "broken.toml", "./cli"]).error();
    let issues = error["issues"].as_array().unwrap();
    assert_eq!(issues.len(), 3, "{error}");
    assert!(issues.iter().all(|issue| keys(issue) == ["column", "file", "line", "message"]), "{error}");
}

#[test]
fn missing_permissions_exit_with_77() {
    let folder = Folder::new();
    let path = folder.write("data", "not a program");
    assert_error(&folder, &["check", "./data"], 77, "cannot be executed", "chmod +x");
    assert_error(&folder, &["check", "--", path.to_str().unwrap()], 77, "cannot be executed", "chmod +x");
    // No user can create a file in /sys.
    let one = ["check", "./data", "--check", "p2-output-json"];
    for flags in [["--report", "json=/sys/report"], ["--record", "/sys/recording"]] {
        assert_error(&folder, &[&one[..], &flags].concat(), 77, "cannot write /sys/", "");
    }
}

#[test]
fn other_errors_exit_with_1() {
    let folder = Folder::demo("");
    for flags in [&["--report", "json=no-folder/report"][..], &["--record", "no-folder/recording"]] {
        let args = [&["check", "./cli", "--check", "p2-exit-success"], flags].concat();
        assert_error_of_kind(&folder, &args, (1, "write"), "cannot write no-folder/", "");
    }
    // A missing interpreter: the file is executable, but cannot be run.
    let path = folder.script("no-interpreter", "");
    std::fs::write(&path, "#!/no/such/interpreter\n").unwrap();
    assert_error_of_kind(
        &folder,
        &["check", "./no-interpreter"],
        (1, "nothing-run"),
        "nothing could be run",
        "",
    );
    // A file that the kernel cannot execute is not passed to a shell, so no check passes on the errors of a shell.
    std::fs::write(&path, "exit 2\n").unwrap();
    let check = ["check", "./no-interpreter", "--check", "p2-exit-usage"];
    assert_error_of_kind(&folder, &check, (1, "nothing-run"), "Exec format error", "`#!/bin/sh`");
    // An interpreter that may not be executed.
    folder.write("interpreter", "");
    std::fs::write(&path, format!("#!{}/interpreter\n", folder.path().display())).unwrap();
    assert_error(&folder, &["check", "./no-interpreter"], 77, "nothing could be run", "");
    // A check that no run can decide never passes.
    let args = ["check", "./cli", "--check", "p2-exit-auth", "--probe", "list"];
    assert_eq!(folder.run(&args).code, Some(0));
    assert_eq!(folder.run(&[&args[..], &["--strict"]].concat()).code, Some(1));
    let args = ["check", "./cli", "--check", "p2-exit-auth"];
    assert_error_of_kind(&folder, &args, (1, "nothing-run"), "nothing was run", "--probe");
}

#[test]
fn arguments_that_are_not_utf_8_are_usage_errors_unless_they_name_the_target() {
    let bytes = OsStr::from_bytes;
    for args in [
        &[bytes(b"\xff")][..],
        &[bytes(b"explain"), bytes(b"\xff")],
        &[bytes(b"list"), bytes(b"--output"), bytes(b"\xff")],
        &[bytes(b"check"), bytes(b"--probe"), bytes(b"\xff"), bytes(b"--"), bytes(b"true")],
    ] {
        let text = run(args);
        assert_eq!((text.code, text.out.as_str()), (Some(2), ""), "{args:?}: {}", text.err);
        let json = run(&[args, &[bytes(b"--json")][..]].concat()[..]);
        assert_eq!((json.code, json.out.as_str()), (Some(2), ""), "{args:?}: {}", json.err);
    }
    let folder = Folder::new();
    let name = bytes(b"./\xff-cli");
    folder.script(name, "echo '{\"ok\":true}'\n");
    let args = ["check", "--json", "--check", "p2-output-json", "--probe", "list"].map(OsStr::new);
    let checked = output_of(folder.command().args(args).arg(name));
    assert_eq!(checked.code, Some(0), "{}", checked.err);
    let target = &checked.data()["target"];
    assert!(target["command"][0].as_str().unwrap().ends_with(r"/\xff-cli"), "{target}");
    // A configuration cannot contain that name, so none is written.
    let refused = output_of(folder.command().arg("init").arg(name));
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(!folder.path().join("agentnative.toml").exists());
}

#[test]
fn help_and_version_are_printed_as_text_in_every_format() {
    for flags in [&[][..], &["--json"], &["--jsonl"]] {
        for (args, start) in [
            (&["--version"][..], concat!("agentnative ", env!("CARGO_PKG_VERSION"), "\n")),
            (&["--help"], "Checks whether"),
            (&["check", "--help"], "Run a command-line tool"),
            (&["help", "check"], "Run a command-line tool"),
        ] {
            let output = run(&[args, if args[0] == "help" { &[] } else { flags }].concat());
            assert_eq!((output.code, output.err.as_str()), (Some(0), ""), "{args:?}");
            assert!(output.out.starts_with(start), "{}", output.out);
        }
    }
    let help = run(&["--help"]).out;
    for code in ["0 ", "1 ", "2 ", "77 ", "78 "] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(code)), "{code}");
    }
}
