//! Verdicts of principle 4 on simulated targets: tracebacks, the rejected word, remedies, and lists of valid values.

use crate::simulated_target::{Call, CallResult, PROBES, conforming, exited, failure, verdict};
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status};

fn assert_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// A conforming target, except for calls that begin with `word`.
fn with_command(word: &'static str, answer: impl Fn(&Call) -> CallResult) -> impl Fn(&Call) -> CallResult {
    move |call| if call.args.first().is_some_and(|arg| arg == word) { answer(call) } else { conforming(call) }
}

#[test]
fn the_output_of_runtimes_for_an_unhandled_error_is_a_traceback() {
    let verdict_of = |stderr: &str| {
        let stderr = stderr.to_owned();
        verdict(CheckId::P4NoTraceback, PROBES, with_command("lost", move |_| exited(1, "", stderr.clone())))
    };
    for (runtime, line, stderr) in [
        (
            "Python",
            1,
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\n    f()\nKeyError: 7\n",
        ),
        (
            "Python",
            2,
            "starting\nTraceback (most recent call last):\n  File \"a.py\", line 1, in f\nValueError\n",
        ),
        ("Rust", 1, "thread 'main' panicked at src/main.rs:2:5:\nno such record\n"),
        (
            "Rust",
            2,
            "\nthread 'main' (4711) panicked at src/main.rs:2:5:\nno such record\nnote: run with `RUST_BACKTRACE=1`\n",
        ),
        ("Rust", 1, "thread '<unnamed>' panicked at 'boom', src/lib.rs:4:9\n"),
        (
            "Go",
            1,
            "panic: runtime error: index out of range\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/main.go:4 +0x1d\nexit status 2\n",
        ),
        (
            "Java",
            1,
            "Exception in thread \"main\" java.lang.IllegalStateException: no\n\tat a.B.main(B.java:3)\n",
        ),
        (
            ".NET",
            1,
            "Unhandled exception. System.Exception: no\n   at Program.Main(String[] args) in /a/P.cs:line 3\n",
        ),
        ("Ruby", 1, "a.rb:3:in 'Object#show': no such record (RuntimeError)\n\tfrom a.rb:7:in '<main>'\n"),
        ("Ruby", 1, "/srv/a.rb:3:in `show': no such record (RuntimeError)\n"),
        (
            "PHP",
            1,
            "PHP Fatal error:  Uncaught Exception: no in /a.php:3\nStack trace:\n#0 {main}\n  thrown in /a.php on line 3\n",
        ),
        (
            "Node.js",
            5,
            "/srv/a.js:3\n    throw new Error('no');\n    ^\n\nError: no\n    at show (/srv/a.js:3:9)\n    at node:internal/main:1:1\n",
        ),
        ("Node.js", 1, "TypeError: x is not a function\n    at file:///srv/a.mjs:3:9\n"),
    ] {
        let result = verdict_of(stderr);
        assert_status(&result, Status::Fail);
        assert!(result.message.starts_with(runtime), "{}: {stderr}", result.message);
        assert_eq!(result.evidence[0].line, Some(line), "{stderr}");
    }
    for stderr in [
        "demo: the record panicked at noon\n",
        "demo: Traceback (most recent call last) is the title of a song\n",
        "Traceback (most recent call last) is a word alone\n",
        "panic: is what it says\n",
        "Error: no such record\n    at line 3 of notes.txt\n",
        "error: no such record\nnote: run with `DEMO_BACKTRACE=1` environment variable to display a backtrace\n",
        "Error: notes.rb:3: no such record\n",
        "Exception in thread \"main\" is what you asked for\n",
    ] {
        assert_status(&verdict_of(stderr), Status::Pass);
    }
    // Invalid calls are no evidence of how the target prints other errors.
    let list = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let result = verdict(CheckId::P4NoTraceback, list, conforming);
    assert_status(&result, Status::Unverified);
    assert!(result.message.starts_with("no probe fails: declare one"), "{}", result.message);
}

#[test]
fn every_call_that_succeeds_has_to_reject_an_unknown_flag() {
    assert_status(&verdict(CheckId::P4UnknownFlag, PROBES, conforming), Status::Pass);
    // The second probe that succeeds is tried as well.
    let two_probes = format!("{PROBES}[[probe]]\nname = 'get'\nargs = ['get', '7']\n");
    let accepts_any_flag = with_command("get", |call| exited(0, format!("7 {}\n", call.args.len()), ""));
    let result = verdict(CheckId::P4UnknownFlag, &two_probes, accepts_any_flag);
    assert_status(&result, Status::Fail);
    let probes: Vec<_> = result.evidence.iter().filter_map(|evidence| evidence.probe.as_deref()).collect();
    assert_eq!(probes, ["get, unknown flag"]);
    // A target that prints its arguments treats flags as data, and so does any target after `--`.
    let prints_arguments = with_command("get", |call| exited(0, call.args.join(" ") + "\n", ""));
    assert_status(&verdict(CheckId::P4UnknownFlag, &two_probes, prints_arguments), Status::Pass);
    let dashes = "[[probe]]\nname = 'get'\nargs = ['get', '--', '7']\n";
    let result = verdict(CheckId::P4UnknownFlag, dashes, with_command("get", |_| exited(0, "7\n", "")));
    assert_status(&result, Status::Unverified);
    // A target that ignores all unknown flags fails.
    let result = verdict(CheckId::P4UnknownFlag, PROBES, |call| {
        let known = call.args.iter().filter(|arg| !arg.contains("agentnative-unknown-flag"));
        conforming(&Call { args: known.cloned().collect(), ..call.clone() })
    });
    assert_status(&result, Status::Fail);
}

#[test]
fn the_message_contains_the_rejected_word_in_each_format() {
    assert_status(&verdict(CheckId::P4NamesCulprit, PROBES, conforming), Status::Pass);
    let without = |format: OutputFormat| {
        move |call: &Call| {
            let is_invalid_call = call.args.iter().any(|arg| arg.contains("agentnative-unknown-command"));
            if is_invalid_call && call.format == format {
                failure(call, 2, "invalid arguments")
            } else {
                conforming(call)
            }
        }
    };
    for format in OutputFormat::ALL {
        let result = verdict(CheckId::P4NamesCulprit, PROBES, without(format));
        assert_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].format, Some(format));
    }
}

#[test]
fn a_remedy_may_be_anywhere_in_the_error() {
    let config = PROBES.replace("exit = 77\n", "exit = 77\n    remedy = ['demo \"login\"', 'DEMO_TOKEN']\n");
    let login_error = |message: &'static str| {
        move |call: &Call| match call.format {
            OutputFormat::Text => exited(77, "", format!("demo: {message}\n")),
            _ => {
                let hint = message.replace('"', "\\u0022");
                let object = "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\",\"hints\":[\"H\"]}\n";
                exited(77, "", object.replace('H', &hint))
            }
        }
    };
    for message in ["set DEMO_TOKEN", "run demo \"login\""] {
        assert_status(
            &verdict(CheckId::P4Remedy, &config, with_command("login", login_error(message))),
            Status::Pass,
        );
    }
    let result = verdict(CheckId::P4Remedy, &config, with_command("login", login_error("not signed in")));
    assert_status(&result, Status::Fail);
    assert!(result.message.contains("`demo \"login\"` or `DEMO_TOKEN`"), "{}", result.message);
    let result = verdict(CheckId::P4Remedy, PROBES, conforming);
    assert_status(&result, Status::Unverified);
    assert!(result.message.contains("has a `remedy`"), "{}", result.message);
    // A run with another exit code is not judged.
    let result = verdict(CheckId::P4Remedy, &config, with_command("login", |_| exited(0, "", "")));
    assert_status(&result, Status::Unverified);
}

#[test]
fn the_error_of_an_invalid_format_lists_the_valid_formats() {
    let format_error = |message: &'static str| {
        move |call: &Call| {
            let invalid = call.args.iter().any(|arg| arg.contains("unknown-format"));
            if invalid { exited(2, "", message) } else { conforming(call) }
        }
    };
    assert_status(
        &verdict(CheckId::P4ValidSet, PROBES, format_error("one of text, json, jsonl\n")),
        Status::Pass,
    );
    let result = verdict(CheckId::P4ValidSet, PROBES, format_error("one of text, json\n"));
    assert_status(&result, Status::Warn);
    assert!(result.message.ends_with("jsonl missing"), "{}", result.message);
    // A format that the target lacks does not have to be listed.
    let no_jsonl = format!("[target]\nformats.json = ['--output', 'json']\nformats.jsonl = false\n{PROBES}");
    assert_status(&verdict(CheckId::P4ValidSet, &no_jsonl, format_error("text or json\n")), Status::Pass);
    // An accepted invalid format is reported by another check.
    let result = verdict(CheckId::P4ValidSet, PROBES, |call| {
        let known = call.args.iter().filter(|arg| !arg.contains("unknown-format"));
        conforming(&Call { args: known.cloned().collect(), ..call.clone() })
    });
    assert_status(&result, Status::Unverified);
    assert_eq!(result.blocked_by[0].id, CheckId::P2OutputFormat);
    let flag = format!("[target]\nformats.json = ['--json']\nformats.jsonl = ['--jsonl']\n{PROBES}");
    assert_status(&verdict(CheckId::P4ValidSet, &flag, conforming), Status::NotApplicable);
}
