//! Verdicts on made-up targets: what counts as evidence, and what does not.

use crate::made_up::{Answer, Call, PROBES, conforming, data, ended, failure, records, seen, verdict};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{Recording, judge};
use agentnative::facts::Project;
use agentnative::model::{CheckId, CheckResult, Layer, OutputFormat, Status, Variant};
use agentnative::probe::{UNKNOWN_COMMAND, UNKNOWN_FLAG};
use agentnative::run::End;
use agentnative_diff::lock::{Learner, Lock};
use std::collections::BTreeSet;

/// The configuration of a linter: `lint` ends with 1 when it finds something.
fn linter(result: bool) -> String {
    format!("{PROBES}\n[[probe]]\nname = 'lint'\nargs = ['lint']\nexit = 1\nresult = {result}\n")
}

/// A linter that prints `found` in its JSON modes, and conforms otherwise.
fn lints<'a>(found: impl Fn(&Call) -> String + 'a) -> impl Fn(&Call) -> Answer + 'a {
    move |call| match call.args.first().map(String::as_str) {
        Some("lint") if call.args.iter().any(|arg| arg.contains("unknown-format")) => {
            failure(call, 2, "unknown format")
        }
        Some("lint") if call.format == OutputFormat::Text => ended(1, "two findings\n", ""),
        Some("lint") => ended(1, found(call), ""),
        _ => conforming(call),
    }
}

const FOUND: [&str; 2] = [r#"{"id":7,"name":"unused"}"#, r#"{"id":8,"name":"unreachable"}"#];

fn is_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// The check fails, and at the probe `lint`.
fn fails_at_lint(result: &CheckResult) {
    assert!(matches!(result.status, Status::Fail | Status::Warn), "{}: {}", result.id, result.message);
    assert_eq!(result.evidence[0].probe.as_deref(), Some("lint"), "{}", result.id);
}

#[test]
fn the_output_of_an_outcome_is_held_to_all_data_checks() {
    let config = linter(true);
    let in_json = |json: &'static str| {
        move |call: &Call| {
            if call.format == OutputFormat::Json { json.to_owned() } else { records(call, &FOUND) }
        }
    };
    let cases: [(CheckId, &'static str); 6] = [
        (CheckId::P2OutputJson, "found 2\n"),
        (
            CheckId::P2OutputPure,
            "\u{1b}[1m{\"ok\":true,\"data\":[{\"id\":7,\"name\":\"unused\"},{\"id\":8,\"name\":\"x\"}]}\n",
        ),
        (
            CheckId::P2JsonStrict,
            "{\"ok\":true,\"data\":[{\"id\":7,\"name\":\"unused\"},{\"id\":8,\"name\":\"unreachable\",\"name\":\"\"}]}\n",
        ),
        (
            CheckId::P2JsonInterop,
            "{\"ok\":true,\"data\":[{\"id\":7,\"name\":\"unused\"},{\"id\":90071992547409930,\"name\":\"x\"}]}\n",
        ),
        (CheckId::P2OutputParity, "{\"ok\":true,\"data\":[{\"id\":7,\"name\":\"unused\"}]}\n"),
        (
            CheckId::P2Envelope,
            "{\"found\":[{\"id\":7,\"name\":\"unused\"},{\"id\":8,\"name\":\"unreachable\"}]}\n",
        ),
    ];
    for (id, json) in cases {
        let result = verdict(id, &config, lints(in_json(json)));
        match id {
            CheckId::P2OutputParity => {
                is_status(&result, Status::Fail);
                assert!(
                    result.message.contains("the number of records differs: 1 in json at /data, 2 in jsonl"),
                    "{}",
                    result.message
                );
            }
            _ => fails_at_lint(&result),
        }
        is_status(&verdict(id, &config, lints(|call| records(call, &FOUND))), Status::Pass);
    }
    let by_run = |call: &Call| {
        let key = if call.variant == Variant::File { "b" } else { "a" };
        records(call, &[&format!("{{\"{key}\":1}}")])
    };
    fails_at_lint(&verdict(CheckId::P2OutputStable, &config, lints(by_run)));
    let at_a_slow_reader = |call: &Call| {
        let whole = records(call, &FOUND);
        if call.variant == Variant::SlowReader { whole[..20].to_owned() } else { whole }
    };
    fails_at_lint(&verdict(CheckId::P2OutputComplete, &config, lints(at_a_slow_reader)));
    let without_newline = |call: &Call| records(call, &FOUND).trim_end().to_owned();
    fails_at_lint(&verdict(CheckId::P2JsonlNewline, &config, lints(without_newline)));
    let panics = |call: &Call| match call.variant {
        Variant::ClosedPipe if call.args[0] == "lint" => {
            ended(101, "", "thread 'main' panicked at src/main.rs:1:1:\nfailed printing to stdout\n")
        }
        _ => lints(|call| records(call, &FOUND))(call),
    };
    fails_at_lint(&verdict(CheckId::P2BrokenPipe, &config, panics));
}

#[test]
fn an_outcome_is_no_error_and_its_code_is_still_judged() {
    let silent = lints(|call| records(call, &FOUND));
    for id in
        [CheckId::P2StderrDiagnostics, CheckId::P2ErrorJson, CheckId::P2ExitError, CheckId::P2ExitConsistent]
    {
        is_status(&verdict(id, &linter(true), &silent), Status::Pass);
    }
    let other_code = |call: &Call| match &*call.args[0] {
        "lint" => ended(3, records(call, &FOUND), ""),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2ExitError, &linter(true), other_code);
    fails_at_lint(&result);
    assert!(result.message.starts_with("exit code 3 instead of 1"), "{}", result.message);
}

#[test]
fn a_refused_format_is_not_taken_for_an_outcome() {
    // This one ends with 1 for what it does not know, as it does when it finds something.
    let config = "[[probe]]\nname = 'lint'\nargs = ['lint']\nexit = 1\nresult = true\n";
    let knows_no_jsonl = |call: &Call| match call.format {
        OutputFormat::Jsonl => ended(1, "", "demo: error: unknown format\n"),
        _ => lints(|call| records(call, &FOUND))(call),
    };
    let result = verdict(CheckId::P2OutputFormat, config, knows_no_jsonl);
    is_status(&result, Status::Fail);
    assert!(result.message.contains("`--output jsonl` is rejected"), "{}", result.message);
    let takes_any = |call: &Call| match call.args.iter().any(|arg| arg.contains("unknown-format")) {
        true => ended(1, "two findings\n", ""),
        false => lints(|call| records(call, &FOUND))(call),
    };
    let result = verdict(CheckId::P2OutputFormat, config, takes_any);
    is_status(&result, Status::Fail);
    assert!(result.message.contains("an invalid format is accepted"), "{}", result.message);
}

#[test]
fn a_failing_run_that_prints_data_is_told_of_the_key() {
    let hint = "if exit code 1 is an outcome and not an error, declare `result = true` for `lint`";
    for id in [CheckId::P2StderrDiagnostics, CheckId::P2ErrorJson] {
        let words = |call: &Call| match (call.format, id) {
            (OutputFormat::Json | OutputFormat::Jsonl, CheckId::P2ErrorJson) if call.args[0] == "lint" => {
                ended(1, records(call, &FOUND), "2 problems\n")
            }
            _ => lints(|call| records(call, &FOUND))(call),
        };
        let result = verdict(id, &linter(false), words);
        is_status(&result, Status::Fail);
        assert!(result.message.contains(hint), "{id}: {}", result.message);
        let of_its_own = |call: &Call| match &*call.args[0] {
            "lint" => {
                ended(1, "{\"reason\":\"lost\"}\n", if call.format == OutputFormat::Text { "" } else { "x" })
            }
            _ => conforming(call),
        };
        let result = verdict(id, &linter(false), of_its_own);
        is_status(&result, Status::Fail);
        assert!(!result.message.contains("result = true"), "{id}: {}", result.message);
    }
}

#[test]
fn how_errors_are_told_takes_a_declared_probe_that_fails() {
    let alone = "[target]\nexit_codes = [0, 1, 2]\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    for id in [CheckId::P2StderrDiagnostics, CheckId::P2ErrorJson] {
        let result = verdict(id, alone, conforming);
        is_status(&result, Status::Unverified);
        assert!(result.message.contains("no probe fails: declare one"), "{}", result.message);
        // A fault of a wrong call is one all the same.
        let on_stdout = |call: &Call| match call.args.iter().any(|arg| arg.contains("agentnative-unknown")) {
            true => ended(2, "Error: unknown word\n", ""),
            false => conforming(call),
        };
        let result = verdict(id, alone, on_stdout);
        let status = if id == CheckId::P2ErrorJson { Status::Unverified } else { Status::Fail };
        is_status(&result, status);
        // In one format it was not seen.
        let lost = "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\nformats = ['text', 'json']\n";
        let result = verdict(id, &format!("{alone}{lost}"), conforming);
        is_status(&result, Status::Unverified);
        assert!(result.message.contains("fails in jsonl: "), "{}", result.message);
        is_status(&verdict(id, PROBES, conforming), Status::Pass);
    }
}

#[test]
fn a_quiet_line_about_the_pipe_is_no_traceback() {
    let ends = |code: i32, stderr: &'static str| {
        move |call: &Call| match call.variant {
            Variant::ClosedPipe => ended(code, "", stderr),
            _ => conforming(call),
        }
    };
    let quiet = [
        "demo: BrokenPipeError: [Errno 32] Broken pipe\n",
        "demo: cannot write: the writer panicked\n",
        "error: the reader is gone, at byte 10\n",
    ];
    for stderr in quiet {
        is_status(&verdict(CheckId::P2BrokenPipe, PROBES, ends(1, stderr)), Status::Pass);
    }
    let loud = [
        "Traceback (most recent call last):\n  File \"demo\", line 1\nBrokenPipeError: [Errno 32] Broken pipe\n",
        "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='utf-8'>\nBrokenPipeError: [Errno 32] Broken pipe\n",
        "thread 'main' panicked at library/std/src/io/stdio.rs:1021:9:\nfailed printing to stdout: Broken pipe (os error 32)\n",
        "\nthread 'main' (4711) panicked at library/std/src/io/stdio.rs:1165:9:\nfailed printing to stdout\n",
        "panic: write /dev/stdout: broken pipe\n\ngoroutine 1 [running]:\nmain.main()\n",
        "node:events:497\n      throw er; // Unhandled 'error' event\n      ^\n\nError: write EPIPE\n    at afterWriteDispatched (node:internal/stream_base_commons:161:15)\n",
        "Exception in thread \"main\" java.io.IOException: Broken pipe\n\tat Main.main(Main.java:3)\n",
    ];
    for stderr in loud {
        is_status(&verdict(CheckId::P2BrokenPipe, PROBES, ends(1, stderr)), Status::Fail);
    }
    // What it prints to every reader says nothing of this one.
    let always = |call: &Call| match conforming(call) {
        Answer(stdout, _, end) if call.args[0] == "list" => Answer(stdout, "    at start-up\n".into(), end),
        other => other,
    };
    is_status(&verdict(CheckId::P2BrokenPipe, PROBES, always), Status::Pass);
}

#[test]
fn records_are_looked_for_where_they_are() {
    let list = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let prints = |json: &'static str, jsonl: &'static str| {
        move |call: &Call| match call.format {
            OutputFormat::Text => data("text\n"),
            OutputFormat::Json => data(format!("{json}\n")),
            OutputFormat::Jsonl => data(format!("{jsonl}\n")),
        }
    };
    let whole = r#"{"id":"x","title":"t","ext":"mp4","url":"u","_version":{"v":1},"requested":[{"ext":"mp4","url":"u"},{"ext":"m4a","url":"v"}]}"#;
    let record = r#"{"id":"x","title":"t","ext":"mp4","url":"u","requested":[{"ext":"mp4","url":"u"},{"ext":"m4a","url":"v"}],"n":1,"m":1}"#;
    let result = verdict(CheckId::P2OutputParity, list, prints(whole, record));
    is_status(&result, Status::Fail);
    assert!(!result.message.contains("/requested"), "{}", result.message);
    assert!(result.message.contains("`_version` is missing in jsonl"), "{}", result.message);
    is_status(&verdict(CheckId::P2OutputParity, list, prints(whole, whole)), Status::Pass);
    let nested = r#"{"ok":true,"data":{"id":1,"name":"a","tags":[{"id":3}]}}"#;
    let result = verdict(CheckId::P2OutputParity, list, prints(nested, r#"{"id":1,"tags":[{"id":3}]}"#));
    is_status(&result, Status::Fail);
    assert!(result.message.contains("from /data in json: `name` is missing in jsonl"), "{}", result.message);
    // A lost record of a list is told as before, whatever lists are in the records.
    let listed = r#"{"ok":true,"data":[{"id":1,"tags":[{"id":3}]},{"id":2,"tags":[{"id":4}]}]}"#;
    let result = verdict(CheckId::P2OutputParity, list, prints(listed, r#"{"id":1,"tags":[{"id":3}]}"#));
    assert!(
        result.message.contains("the number of records differs: 2 in json at /data, 1 in jsonl"),
        "{}",
        result.message
    );
    // Events are not the members of a result.
    let events = "{\"type\":\"init\",\"session\":1}\n{\"type\":\"result\",\"text\":\"x\",\"session\":1}";
    let result =
        verdict(CheckId::P2OutputParity, list, prints(r#"{"type":"result","text":"x","session":1}"#, events));
    is_status(&result, Status::Unverified);
}

#[test]
fn malformed_json_of_a_failing_run_is_no_prose() {
    let prints = |json: &'static str| {
        move |call: &Call| match (&*call.args[0], call.format) {
            ("lost", OutputFormat::Json) => {
                ended(1, json, "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\"}\n")
            }
            _ => conforming(call),
        }
    };
    let broken = [
        ("[\n,\n{\"type\":\"report\"}\n]\n", (2, 1)),
        ("{\"ok\":true,\"data\":[}\n", (1, 20)),
        ("{\"ok\":true,\"data\":[", (1, 20)),
        ("{'ok': True}\n", (1, 2)),
        ("{\"a\":1}\n{\"b\":2}\n", (2, 1)),
    ];
    for (json, place) in broken {
        let result = verdict(CheckId::P2ErrorJson, PROBES, prints(json));
        is_status(&result, Status::Fail);
        let evidence = &result.evidence[0];
        assert_eq!(evidence.kind, "half-document", "{json}");
        assert_eq!((evidence.line, evidence.column), (Some(place.0), Some(place.1)), "{json}");
        is_status(&verdict(CheckId::P2StderrDiagnostics, PROBES, prints(json)), Status::Pass);
    }
    let prose = [
        ("Error: lost\n", (1, 1)),
        ("[error] lost\n", (1, 2)),
        ("[1/3] building\n", (1, 3)),
        ("{record} not found\n", (1, 2)),
        ("{\"ok\":false}\nlost\n", (2, 1)),
        ("caf\u{e9}: lost\n", (1, 1)),
    ];
    for (json, place) in prose {
        let result = verdict(CheckId::P2StderrDiagnostics, PROBES, prints(json));
        is_status(&result, Status::Fail);
        let evidence = &result.evidence[0];
        assert_eq!((evidence.line, evidence.column), (Some(place.0), Some(place.1)), "{json}");
        is_status(&verdict(CheckId::P2ErrorJson, PROBES, prints(json)), Status::Unverified);
    }
    for nothing in ["", "\n", "  \n"] {
        for id in [CheckId::P2ErrorJson, CheckId::P2StderrDiagnostics] {
            is_status(&verdict(id, PROBES, prints(nothing)), Status::Pass);
        }
    }
    let silent = |call: &Call| match &*call.args[0] {
        "lost" => ended(1, "", ""),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2ErrorJson, PROBES, silent);
    assert!(result.message.contains("prints nothing to stderr in any format"), "{}", result.message);
}

#[test]
fn evidence_of_an_exit_code_is_the_line_that_gives_the_reason() {
    let dies = |stderr: &'static str| {
        move |call: &Call| match &*call.args[0] {
            "list" => ended(3, "", stderr),
            _ => conforming(call),
        }
    };
    let cases = [
        (
            "usage: demo [-h]\n            [--x]\ndemo: error: unrecognized arguments: --y\n",
            "demo: error: unrecognized arguments: --y",
        ),
        (
            "Usage: demo [OPTIONS]\nTry 'demo --help' for help.\n\nError: No such option: --y\n",
            "Error: No such option: --y",
        ),
        (
            "error: unexpected argument '--y' found\n\nUsage: demo\n\nFor more information, try '--help'.\n",
            "error: unexpected argument '--y' found",
        ),
        ("Usage: demo\n\nunknown word: y\n", "unknown word: y"),
        ("demo: unrecognized option '--y'\nTry 'demo --help'\n", "demo: unrecognized option '--y'"),
        ("Traceback (most recent call last):\n  File \"demo\", line 3\nKeyError: 'y'\n", "KeyError: 'y'"),
        ("reading\nfatal: there is no such folder\n", "fatal: there is no such folder"),
        ("\n╷\n│ --y is no flag\n╵\n", "│ --y is no flag"),
        ("Usage: demo\n\nunknown word: y\n----\n", "unknown word: y"),
    ];
    for (stderr, line) in cases {
        let result = verdict(CheckId::P2ExitSuccess, PROBES, dies(stderr));
        assert_eq!(result.evidence[0].excerpt.as_deref(), Some(line));
    }
    let result = verdict(CheckId::P2ExitSuccess, PROBES, dies(""));
    let evidence = &result.evidence[0];
    assert_eq!((evidence.line, evidence.offset, &evidence.excerpt), (None, None, &None));
}

/// What `list` gives on a terminal in text mode where it waits for a key, having shown `screen` of its lines.
fn waits(screen: &'static str, stderr: &'static str, in_json: bool) -> impl Fn(&Call) -> Answer {
    move |call| match (call.variant, call.format) {
        (Variant::Tty, OutputFormat::Text) if call.args[0] == "list" => {
            Answer(screen.into(), stderr.into(), End::Waited)
        }
        (Variant::Tty, OutputFormat::Json) if call.args[0] == "list" && in_json => {
            Answer("{\"ok\":true}\n(END)".into(), String::new(), End::Waited)
        }
        (_, OutputFormat::Text) if call.args[0] == "list" => data("line one\nline two\n\nline three\n"),
        _ => conforming(call),
    }
}

#[test]
fn a_pager_is_for_people() {
    let pagers = [
        (
            "\u{1b}[?1049h\u{1b}[?1h\u{1b}=\rline one\r\nline two\r\n\r\nline three\r\n\u{1b}[7m(END)\u{1b}[27m\u{1b}[K",
            "",
        ),
        ("\u{1b}[?1h\u{1b}=\r\u{1b}[33mline\u{1b}[m one\r\nline two\r\n:\u{1b}[K", ""),
        ("line one\nline two\n\u{1b}[7m--More--\u{1b}[27m", ""),
        ("line one\nline two\n\nline three\n", "--More--"),
    ];
    for (screen, stderr) in pagers {
        is_status(&verdict(CheckId::P2Completes, PROBES, waits(screen, stderr, false)), Status::Pass);
        let result = verdict(CheckId::P2Completes, PROBES, waits(screen, stderr, true));
        is_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].format, Some(OutputFormat::Json));
    }
    let questions = [
        ("", "Press enter "),
        ("Loading\n", "Go on? [y/N] "),
        ("line one\nline two\n\nline three\nDelete it? [y/N] ", ""),
    ];
    for (screen, stderr) in questions {
        is_status(&verdict(CheckId::P2Completes, PROBES, waits(screen, stderr, false)), Status::Fail);
    }
}

#[test]
fn what_was_not_recorded_is_told_as_that_in_every_check() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer != Layer::Source).collect();
    let config = format!(
        "[target]\nschema = ['schema']\n{PROBES}\n[[probe]]\nname = 'wrong'\nargs = ['agentnative-unknown']\nexit = 2\n\
         [[probe]]\nname = 'held'\nargs = ['list']\ncontract = {{ json = 'dexter-flat' }}\n"
    );
    // A fault, for what waits for it.
    let faulty = |call: &Call| match (&*call.args[0], call.format) {
        ("schema", _) => data("{\"type\":\"object\"}\n"),
        ("list", OutputFormat::Jsonl) => data("one\n"),
        _ => conforming(call),
    };
    let mut whole = seen(&config, &checks, faulty);
    whole.target.project = Some("/demo".into());
    let told = |result: &CheckResult| (result.status, result.message.clone());
    let without_files = judge(&whole, &checks).unwrap().results;
    whole.around = Some(Project::default());
    let all = judge(&whole, &checks).unwrap().results;
    for (result, complete) in without_files.iter().zip(&all) {
        if result.layer == Layer::Project && told(result) != told(complete) {
            assert_eq!(result.status, Status::Unverified, "{result:?}");
            assert!(result.message.starts_with("the recording contains no project files"), "{result:?}");
        }
    }
    // The recording of each check alone, of half of the runs, and of none.
    let mut parts: Vec<Recording> = checks.iter().map(|check| seen(&config, &[check], faulty)).collect();
    for keep in [0, 2] {
        let mut part = whole.clone();
        let mut at = 0;
        part.observations.retain(|_| {
            at += 1;
            keep != 0 && at % keep == 0
        });
        parts.push(part);
    }
    for mut part in parts {
        part.target.project = Some("/demo".into());
        for (result, complete) in judge(&part, &checks).unwrap().results.iter().zip(&all) {
            let is_lack = ["were not recorded", "contains no project files"]
                .iter()
                .any(|words| result.message.contains(words));
            let waits = !result.blocked_by.is_empty();
            let as_told = told(result) == told(complete);
            let fails = [Status::Fail, Status::Warn];
            let fine = match result.status {
                Status::Unverified | Status::NotApplicable => is_lack || waits || as_told,
                Status::Pass => complete.status == Status::Pass,
                status => fails.contains(&status) && fails.contains(&complete.status),
            };
            let declares = is_lack && result.message.contains("declare");
            assert!(
                fine && !declares,
                "{}: {:?}, and of all runs {:?}",
                result.id,
                told(result),
                told(complete)
            );
        }
    }
    whole.interrupted = true;
    whole.observations.clear();
    let result = judge(&whole, &[CheckId::P2OutputJson.check()]).unwrap().results.remove(0);
    assert!(result.message.ends_with("were not made: the check was interrupted"), "{}", result.message);
}

#[test]
fn what_no_declared_probe_shows_passes_in_few_checks() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let results = judge(&seen("", &checks, conforming), &checks).unwrap().results;
    let passed: Vec<CheckId> =
        results.iter().filter(|result| result.status == Status::Pass).map(|result| result.id).collect();
    // How a wrong call ends is shown by a wrong call, and help and version are asked for in any case.
    use CheckId::{P2ExitUsage, P3Examples, P3ExamplesValid, P3Help, P3Version, P6BareEnvironment};
    assert_eq!(passed, [P2ExitUsage, P3Help, P3Examples, P3ExamplesValid, P3Version, P6BareEnvironment]);
}

/// What a target with one fault gives where it shows.
type Fault = fn(&Call) -> Option<Answer>;

#[test]
fn a_check_alone_gives_the_verdict_that_it_gives_among_all_on_any_fault() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let faults: [(&str, Fault); 6] = [
        ("prose before the document", |call| {
            (call.args[0] == "list" && call.format == OutputFormat::Json)
                .then(|| data(format!("Loading\n{}", conforming(call).0)))
        }),
        ("no words in any format", |call| (call.args[0] == "lost").then(|| ended(1, "", ""))),
        ("no jsonl", |call| (call.format == OutputFormat::Jsonl).then(|| ended(2, "", "unknown format\n"))),
        ("colour", |call| {
            (call.args[0] == "list" && call.format.is_json())
                .then(|| data(format!("\u{1b}[1m{}", conforming(call).0)))
        }),
        ("a hang", |call| {
            (call.args[0] == "sync").then(|| Answer(String::new(), String::new(), End::TimedOut))
        }),
        ("a signal", |call| {
            (call.args[0] == "list" && call.format == OutputFormat::Json)
                .then(|| Answer(String::new(), String::new(), End::Signaled(11)))
        }),
    ];
    let mut wrong = Vec::new();
    for (name, fault) in faults {
        let target = |call: &Call| fault(call).unwrap_or_else(|| conforming(call));
        for among in judge(&seen(PROBES, &checks, target), &checks).unwrap().results {
            let alone = verdict(among.id, PROBES, target);
            if alone.status != among.status {
                wrong.push(format!(
                    "{name}: {}: alone {:?} ({}), among all {:?} ({})",
                    among.id, alone.status, alone.message, among.status, among.message
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_exit_codes_that_a_target_shows_or_declares_are_to_be_documented() {
    let check = [CheckId::P2ExitDocumented.check()];
    let help = "Usage: demo list\n\nExit codes:\n  0  success\n  1  failure\n  2  usage\n";
    let target = |call: &Call| match call.args.iter().any(|arg| arg == "--help") {
        true => data(help),
        false => conforming(call),
    };
    let of = |declared: &str| {
        let probes = "[[probe]]\nname = 'list'\nargs = ['list']\n[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
        let mut recording = seen(&format!("{declared}{probes}"), &check, target);
        recording.target.project = Some("/demo".into());
        recording.around = Some(Project::default());
        let result = judge(&recording, &check).unwrap().results.remove(0);
        (result.status, result.message)
    };
    assert_eq!(of("").0, Status::Pass);
    let (status, message) = of("[target]\nexit_codes = [0, 1, 2, 77]\n");
    assert!(status == Status::Fail && message.contains("documents exit code 77"), "{message}");
    let (status, message) = of("[[probe]]\nname = 'login'\nargs = ['login']\nexit = 77\n");
    assert!(status == Status::Fail && message.contains("documents exit code 77"), "{message}");
}

#[test]
fn a_failure_of_each_call_is_one_problem() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let broken = |_: &Call| {
        ended(
            1,
            "",
            "Traceback (most recent call last):\n  File \"a\", line 1\nModuleNotFoundError: No module named 'x'\n",
        )
    };
    let results = judge(&seen(PROBES, &checks, broken), &checks).unwrap().results;
    let problems: Vec<_> =
        results.iter().filter(|result| [Status::Fail, Status::Warn].contains(&result.status)).collect();
    let ids: Vec<CheckId> = problems.iter().map(|result| result.id).collect();
    assert_eq!(ids, [CheckId::P2ExitSuccess]);
    assert!(
        problems[0].message.contains("ModuleNotFoundError: No module named 'x'"),
        "{}",
        problems[0].message
    );
    let passed = results.iter().filter(|result| result.status == Status::Pass);
    assert_eq!(passed.map(|result| result.id).collect::<Vec<_>>(), []);
    // Where the help works, and only what should succeed fails, no check of errors passes for that.
    let is_right = |call: &Call| call.args.iter().all(|arg| !arg.contains("unknown") && arg != "--help");
    let data_fail = |call: &Call| match call.args[0] == "list" && is_right(call) {
        true => broken(call),
        false => conforming(call),
    };
    let result = verdict(CheckId::P4NoTraceback, PROBES, data_fail);
    is_status(&result, Status::Unverified);
    assert!(result.message.contains("list · text ends in a traceback"), "{}", result.message);
}

/// The lock of one probe that printed this and succeeded.
fn locked(format: OutputFormat, printed: &'static str) -> Lock {
    let mut learner = Learner::new("list", format);
    let nothing = || Box::new(std::io::empty()) as Box<dyn std::io::Read + Send>;
    learner.run(0, &|| Box::new(printed.as_bytes()), &nothing).unwrap();
    Lock::new("demo", None, vec![learner.promise()])
}

/// What vanished is a break or is named as not compared: it never keeps a lock. All pairs of sides are in
/// `pairs.txt` of the contract crate.
#[test]
fn a_lock_is_not_kept_by_what_was_not_seen() {
    use OutputFormat::{Json, Jsonl};
    const DOCUMENT: &str = "{\"data\":[{\"id\":1}]}\n";
    const RECORDS: &str = "{\"id\":1}\n{\"id\":2}\n";
    const EVENTS: &str = "{\"type\":\"start\",\"id\":1}\n{\"type\":\"end\"}\n";
    let check = [CheckId::P2ContractLocked.check()];
    for (format, old, new, status, words) in [
        (Json, DOCUMENT, ended(0, DOCUMENT, ""), Status::Pass, ""),
        (Json, DOCUMENT, ended(0, "", ""), Status::Fail, "diff-stdout-changed"),
        (Json, DOCUMENT, ended(0, "", DOCUMENT), Status::Fail, "diff-stdout-changed"),
        (Json, DOCUMENT, ended(0, "words\n", ""), Status::Unverified, "see p2-output-json"),
        (Json, DOCUMENT, ended(127, "", "no such file\n"), Status::Unverified, "ends with `no such file`"),
        (Json, "", ended(0, DOCUMENT, ""), Status::Pass, ""),
        (Jsonl, RECORDS, ended(0, "", ""), Status::Pass, ""),
        (Jsonl, EVENTS, ended(0, "", ""), Status::Unverified, "the new stream has no records"),
        (Jsonl, EVENTS, ended(0, RECORDS, ""), Status::Fail, "diff-discriminator-removed"),
        (Jsonl, RECORDS, ended(0, EVENTS, ""), Status::Fail, "diff-discriminator-added"),
    ] {
        let config = format!("[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['{}']\n", format.name());
        let Answer(stdout, stderr, end) = &new;
        let answer = |_: &Call| Answer(stdout.clone(), stderr.clone(), end.clone());
        let mut recording = seen(&config, &check, answer);
        recording.lock = Some(locked(format, old));
        let result = judge(&recording, &check).unwrap().results.remove(0);
        is_status(&result, status);
        let said = format!("{} {:?}", result.message, result.evidence);
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn what_concerns_no_probe_is_not_open_for_want_of_a_format() {
    let config = |of_list: &str| {
        let probes = PROBES.replacen("args = ['list']", &format!("args = ['list']\n{of_list}"), 1);
        format!("[target]\nformats.json = ['--json']\n{probes}")
    };
    for id in [CheckId::P2JsonlPrompt, CheckId::P2ContractStream] {
        is_status(&verdict(id, &config(""), conforming), Status::NotApplicable);
    }
    let streams = verdict(CheckId::P2JsonlPrompt, &config("stream = true"), conforming);
    is_status(&streams, Status::Unverified);
    assert!(streams.message.contains("formats.jsonl"), "{}", streams.message);
}

/// A target whose calls fail with 1 for any reason may fail of another than the wrong word.
#[test]
fn a_code_of_any_failure_shows_a_wrong_call_only_where_the_word_is_named() {
    let with = |more: &str| {
        format!("[target]\nusage = 1\nexit_codes = [0, 1]\n[[probe]]\nname = 'list'\nargs = ['list']\n{more}")
    };
    let lost = "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
    let is_bare = |call: &Call| call.args.iter().all(|arg| arg != "list" && arg != "lost");
    let wrong = |call: &Call| call.args.iter().any(|arg| arg.contains("agentnative-unknown"));
    let usage =
        |config: &str, target: &dyn Fn(&Call) -> Answer| verdict(CheckId::P2ExitUsage, config, target);
    let named = |call: &Call| match wrong(call) {
        true => failure(call, 1, "unknown option -agentnative-unknown-flag or agentnative-unknown-command"),
        false => conforming(call),
    };
    is_status(&usage(&with(""), &named), Status::Pass);
    // Unknown flags are ignored, and nothing is left to be done.
    let ignores = |call: &Call| match wrong(call) && is_bare(call) {
        true => failure(call, 1, "No test files found"),
        false if call.args[0] == "lost" => failure(call, 1, "lost"),
        false => data("one\n"),
    };
    let result = usage(&with(lost), &ignores);
    is_status(&result, Status::Fail);
    assert_eq!(
        (&*result.evidence[0].kind, result.evidence[0].probe.as_deref()),
        ("accepted", Some("list, unknown flag"))
    );
    // It is refused, with the usage alone.
    let refuses = |call: &Call| match wrong(call) {
        true => failure(call, 1, "usage: demo list"),
        false => conforming(call),
    };
    let result = usage(&with(""), &refuses);
    is_status(&result, Status::Unverified);
    assert!(result.message.contains("declare a probe with `exit = 1`"), "{}", result.message);
    assert!(
        result.message.contains(UNKNOWN_COMMAND) && !result.message.contains("flag"),
        "{}",
        result.message
    );
    is_status(&usage(&with(lost), &refuses), Status::Pass);
    // What is printed back is data, and decides nothing.
    let echoes = |call: &Call| match wrong(call) && !is_bare(call) {
        true => data(call.args.join(" ")),
        false => refuses(call),
    };
    let result = usage(&with(""), &echoes);
    is_status(&result, Status::Unverified);
    assert!(result.message.contains(UNKNOWN_FLAG), "{}", result.message);
    // The fault of a declared probe is told by its own check.
    let fails = |call: &Call| if call.args[0] == "lost" { ended(3, "", "lost") } else { refuses(call) };
    let result = usage(&with(lost), &fails);
    is_status(&result, Status::Unverified);
    assert_eq!(result.blocked_by[0].id, CheckId::P2ExitError);
    // Where 2 is the code, the code is enough.
    let two = |call: &Call| if wrong(call) { failure(call, 2, "usage: demo list") } else { conforming(call) };
    is_status(&usage(PROBES, &two), Status::Pass);
}

#[test]
fn a_check_alone_gives_the_verdict_that_it_gives_among_all_in_any_run() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let variants: BTreeSet<Variant> =
        seen(PROBES, &checks, conforming).observations.iter().map(|seen| seen.key.variant).collect();
    let ways: [fn(String) -> Answer; 4] = [
        |_| Answer(String::new(), String::new(), End::TimedOut),
        |_| Answer(String::new(), String::new(), End::Signaled(11)),
        |stdout| data(&stdout[..stdout.len() / 2]),
        |stdout| data(stdout.replace("id", "key")),
    ];
    let listed = variants
        .into_iter()
        .flat_map(|variant| (0..4).map(move |way| ("list", OutputFormat::Json, variant, way)));
    let others = [
        ("list", OutputFormat::Text, Variant::Plain, 1),
        ("list", OutputFormat::Jsonl, Variant::Plain, 2),
        ("--version", OutputFormat::Text, Variant::Plain, 0),
        ("--json", OutputFormat::Json, Variant::Plain, 1),
        ("--raw", OutputFormat::Text, Variant::Plain, 1),
        (UNKNOWN_FLAG, OutputFormat::Jsonl, Variant::Plain, 0),
    ];
    let mut wrong = Vec::new();
    for (word, format, variant, way) in listed.chain(others) {
        let target = |call: &Call| {
            let here =
                call.args.iter().any(|arg| arg == word) && (call.format, call.variant) == (format, variant);
            if here { ways[way](conforming(call).0) } else { conforming(call) }
        };
        for among in judge(&seen(PROBES, &checks, target), &checks).unwrap().results {
            let alone = verdict(among.id, PROBES, target);
            if (alone.status, &alone.blocked_by) != (among.status, &among.blocked_by) {
                wrong.push(format!(
                    "{word} {format:?} {variant:?} {way}: {}: alone {:?} ({}), among all {:?} ({})",
                    among.id, alone.status, alone.message, among.status, among.message
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A run more here is some for each fixture: what one check needs is best found among what others need.
#[test]
fn how_many_runs_are_made() {
    let behavioral: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let runs = |checks: &[&Check]| seen(PROBES, checks, conforming).observations.len();
    assert_eq!((runs(&behavioral), runs(&[CheckId::P2OutputJson.check()])), (83, 8));
}

/// What breaks a rule between events is described, however many events break their schema before.
#[test]
fn violations_of_one_kind_do_not_hide_those_of_another() {
    let config =
        "[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['jsonl']\ncontract = 'opencode-events'\n";
    let wrong = "{\"type\":\"session.status\",\"properties\":{}}\n".repeat(1500);
    let events = include_str!("../contracts/opencode-events/examples/invalid/part-before-message.jsonl");
    let answer = |_: &Call| data(format!("{wrong}{events}"));
    for (id, kind, line, words) in [
        (CheckId::P2ContractSchema, "invalid", 1, "more in this run"),
        (CheckId::P2ContractStream, "rule-broken", 1502, "message-first"),
    ] {
        let result = verdict(id, config, answer);
        is_status(&result, Status::Fail);
        let first = &result.evidence[0];
        assert_eq!((&*first.kind, first.line), (kind, Some(line)), "{first:?}");
        assert!(first.detail.contains(words), "{first:?}");
    }
}
