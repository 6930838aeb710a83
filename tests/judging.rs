//! Verdicts on simulated targets: what counts as evidence, and what does not.

use crate::simulated_target::{
    Call, CallResult, PROBES, conforming, exited, failure, record, records, success, verdict,
};
use agentnative::catalogue::{Check, checks};
use agentnative::check::{Recording, judge};
use agentnative::facts::ProjectDocuments;
use agentnative::model::{CheckId, CheckResult, Layer, OutputFormat, Status, Variant};
use agentnative::probe::{UNKNOWN_COMMAND, UNKNOWN_FLAG};
use agentnative::run::RunEnd;
use agentnative_diff::lock::{Lock, OutputInference};
use std::collections::BTreeSet;

/// Returns the configuration of a linter, whose command `lint` exits with 1 if it has findings.
fn linter_config(result: bool) -> String {
    format!("{PROBES}\n[[probe]]\nname = 'lint'\nargs = ['lint']\nexit = 1\nresult = {result}\n")
}

/// A linter that prints `findings` in its JSON formats, and conforms otherwise.
fn linter<'a>(findings: impl Fn(&Call) -> String + 'a) -> impl Fn(&Call) -> CallResult + 'a {
    move |call| match call.args.first().map(String::as_str) {
        Some("lint") if call.args.iter().any(|arg| arg.contains("unknown-format")) => {
            failure(call, 2, "unknown format")
        }
        Some("lint") if call.format == OutputFormat::Text => exited(1, "two findings\n", ""),
        Some("lint") => exited(1, findings(call), ""),
        _ => conforming(call),
    }
}

const FINDINGS: [&str; 2] = [r#"{"id":7,"name":"unused"}"#, r#"{"id":8,"name":"unreachable"}"#];

fn assert_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// Asserts that the check failed or warned with evidence of the probe `lint`.
fn assert_problem_of_lint(result: &CheckResult) {
    assert!(matches!(result.status, Status::Fail | Status::Warn), "{}: {}", result.id, result.message);
    assert_eq!(result.evidence[0].probe.as_deref(), Some("lint"), "{}", result.id);
}

#[test]
fn the_output_of_a_declared_result_is_judged_by_all_data_checks() {
    let config = linter_config(true);
    let in_json = |json: &'static str| {
        move |call: &Call| {
            if call.format == OutputFormat::Json { json.to_owned() } else { records(call, &FINDINGS) }
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
        let result = verdict(id, &config, linter(in_json(json)));
        match id {
            CheckId::P2OutputParity => {
                assert_status(&result, Status::Fail);
                assert!(
                    result.message.contains("the number of records differs: 1 in json at /data, 2 in jsonl"),
                    "{}",
                    result.message
                );
            }
            _ => assert_problem_of_lint(&result),
        }
        assert_status(&verdict(id, &config, linter(|call| records(call, &FINDINGS))), Status::Pass);
    }
    let with_key_per_variant = |call: &Call| {
        let key = if call.variant == Variant::File { "b" } else { "a" };
        records(call, &[&format!("{{\"{key}\":1}}")])
    };
    assert_problem_of_lint(&verdict(CheckId::P2OutputStable, &config, linter(with_key_per_variant)));
    let truncated_for_a_slow_reader = |call: &Call| {
        let complete = records(call, &FINDINGS);
        if call.variant == Variant::SlowReader { complete[..20].to_owned() } else { complete }
    };
    assert_problem_of_lint(&verdict(CheckId::P2OutputComplete, &config, linter(truncated_for_a_slow_reader)));
    let without_newline = |call: &Call| records(call, &FINDINGS).trim_end().to_owned();
    assert_problem_of_lint(&verdict(CheckId::P2JsonlNewline, &config, linter(without_newline)));
    let panics = |call: &Call| match call.variant {
        Variant::ClosedPipe if call.args[0] == "lint" => {
            exited(101, "", "thread 'main' panicked at src/main.rs:1:1:\nfailed printing to stdout\n")
        }
        _ => linter(|call| records(call, &FINDINGS))(call),
    };
    assert_problem_of_lint(&verdict(CheckId::P2BrokenPipe, &config, panics));
}

#[test]
fn a_declared_result_is_not_an_error_and_its_exit_code_is_judged() {
    let silent = linter(|call| records(call, &FINDINGS));
    for id in
        [CheckId::P2StderrDiagnostics, CheckId::P2ErrorJson, CheckId::P2ExitError, CheckId::P2ExitConsistent]
    {
        assert_status(&verdict(id, &linter_config(true), &silent), Status::Pass);
    }
    let other_code = |call: &Call| match &*call.args[0] {
        "lint" => exited(3, records(call, &FINDINGS), ""),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2ExitError, &linter_config(true), other_code);
    assert_problem_of_lint(&result);
    assert!(result.message.starts_with("exited with 3, expected 1"), "{}", result.message);
}

#[test]
fn a_rejected_format_is_not_a_declared_result() {
    // This target exits with 1 for an unknown format, as it does for findings.
    let config = "[[probe]]\nname = 'lint'\nargs = ['lint']\nexit = 1\nresult = true\n";
    let rejects_jsonl = |call: &Call| match call.format {
        OutputFormat::Jsonl => exited(1, "", "demo: error: unknown format\n"),
        _ => linter(|call| records(call, &FINDINGS))(call),
    };
    let result = verdict(CheckId::P2OutputFormat, config, rejects_jsonl);
    assert_status(&result, Status::Fail);
    assert!(result.message.contains("`--output jsonl` is rejected"), "{}", result.message);
    let accepts_any_format = |call: &Call| match call.args.iter().any(|arg| arg.contains("unknown-format")) {
        true => exited(1, "two findings\n", ""),
        false => linter(|call| records(call, &FINDINGS))(call),
    };
    let result = verdict(CheckId::P2OutputFormat, config, accepts_any_format);
    assert_status(&result, Status::Fail);
    assert!(result.message.contains("an invalid format is accepted"), "{}", result.message);
}

#[test]
fn a_failing_run_that_prints_data_gets_a_hint_on_the_key_result() {
    let hint = "if exit code 1 is an outcome and not an error, declare `result = true` for `lint`";
    for id in [CheckId::P2StderrDiagnostics, CheckId::P2ErrorJson] {
        let with_stderr = |call: &Call| match (call.format, id) {
            (OutputFormat::Json | OutputFormat::Jsonl, CheckId::P2ErrorJson) if call.args[0] == "lint" => {
                exited(1, records(call, &FINDINGS), "2 problems\n")
            }
            _ => linter(|call| records(call, &FINDINGS))(call),
        };
        let result = verdict(id, &linter_config(false), with_stderr);
        assert_status(&result, Status::Fail);
        assert!(result.message.contains(hint), "{id}: {}", result.message);
        let other_object = |call: &Call| match &*call.args[0] {
            "lint" => {
                exited(1, "{\"reason\":\"lost\"}\n", if call.format == OutputFormat::Text { "" } else { "x" })
            }
            _ => conforming(call),
        };
        let result = verdict(id, &linter_config(false), other_object);
        assert_status(&result, Status::Fail);
        assert!(!result.message.contains("result = true"), "{id}: {}", result.message);
    }
}

#[test]
fn checks_of_errors_require_a_declared_probe_that_fails() {
    let without_failure = "[target]\nexit_codes = [0, 1, 2]\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    for id in [CheckId::P2StderrDiagnostics, CheckId::P2ErrorJson] {
        let result = verdict(id, without_failure, conforming);
        assert_status(&result, Status::Unverified);
        assert!(result.message.contains("no probe fails: declare one"), "{}", result.message);
        // A problem of an invalid call is reported nevertheless.
        let on_stdout = |call: &Call| match call.args.iter().any(|arg| arg.contains("agentnative-unknown")) {
            true => exited(2, "Error: unknown word\n", ""),
            false => conforming(call),
        };
        let result = verdict(id, without_failure, on_stdout);
        let status = if id == CheckId::P2ErrorJson { Status::Unverified } else { Status::Fail };
        assert_status(&result, status);
        // The probe does not run in one of the formats.
        let lost = "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\nformats = ['text', 'json']\n";
        let result = verdict(id, &format!("{without_failure}{lost}"), conforming);
        assert_status(&result, Status::Unverified);
        assert!(result.message.contains("fails in jsonl: "), "{}", result.message);
        assert_status(&verdict(id, PROBES, conforming), Status::Pass);
    }
}

#[test]
fn one_line_about_the_closed_pipe_is_not_a_traceback() {
    let ends = |code: i32, stderr: &'static str| {
        move |call: &Call| match call.variant {
            Variant::ClosedPipe => exited(code, "", stderr),
            _ => conforming(call),
        }
    };
    let allowed = [
        "demo: BrokenPipeError: [Errno 32] Broken pipe\n",
        "demo: cannot write: the writer panicked\n",
        "error: the reader is gone, at byte 10\n",
    ];
    for stderr in allowed {
        assert_status(&verdict(CheckId::P2BrokenPipe, PROBES, ends(1, stderr)), Status::Pass);
    }
    let tracebacks = [
        "Traceback (most recent call last):\n  File \"demo\", line 1\nBrokenPipeError: [Errno 32] Broken pipe\n",
        "Exception ignored in: <_io.TextIOWrapper name='<stdout>' mode='w' encoding='utf-8'>\nBrokenPipeError: [Errno 32] Broken pipe\n",
        "thread 'main' panicked at library/std/src/io/stdio.rs:1021:9:\nfailed printing to stdout: Broken pipe (os error 32)\n",
        "\nthread 'main' (4711) panicked at library/std/src/io/stdio.rs:1165:9:\nfailed printing to stdout\n",
        "panic: write /dev/stdout: broken pipe\n\ngoroutine 1 [running]:\nmain.main()\n",
        "node:events:497\n      throw er; // Unhandled 'error' event\n      ^\n\nError: write EPIPE\n    at afterWriteDispatched (node:internal/stream_base_commons:161:15)\n",
        "Exception in thread \"main\" java.io.IOException: Broken pipe\n\tat Main.main(Main.java:3)\n",
    ];
    for stderr in tracebacks {
        assert_status(&verdict(CheckId::P2BrokenPipe, PROBES, ends(1, stderr)), Status::Fail);
    }
    // Output that every run prints is not caused by the closed pipe.
    let in_every_run = |call: &Call| match conforming(call) {
        CallResult(stdout, _, end) if call.args[0] == "list" => {
            CallResult(stdout, "    at start-up\n".into(), end)
        }
        other => other,
    };
    assert_status(&verdict(CheckId::P2BrokenPipe, PROBES, in_every_run), Status::Pass);
}

#[test]
fn records_are_found_at_any_depth_of_the_document() {
    let list = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let prints = |json: &'static str, jsonl: &'static str| {
        move |call: &Call| match call.format {
            OutputFormat::Text => success("text\n"),
            OutputFormat::Json => success(format!("{json}\n")),
            OutputFormat::Jsonl => success(format!("{jsonl}\n")),
        }
    };
    let document = r#"{"id":"x","title":"t","ext":"mp4","url":"u","_version":{"v":1},"requested":[{"ext":"mp4","url":"u"},{"ext":"m4a","url":"v"}]}"#;
    let record = r#"{"id":"x","title":"t","ext":"mp4","url":"u","requested":[{"ext":"mp4","url":"u"},{"ext":"m4a","url":"v"}],"n":1,"m":1}"#;
    let result = verdict(CheckId::P2OutputParity, list, prints(document, record));
    assert_status(&result, Status::Fail);
    assert!(!result.message.contains("/requested"), "{}", result.message);
    assert!(result.message.contains("`_version` is missing in jsonl"), "{}", result.message);
    assert_status(&verdict(CheckId::P2OutputParity, list, prints(document, document)), Status::Pass);
    let nested = r#"{"ok":true,"data":{"id":1,"name":"a","tags":[{"id":3}]}}"#;
    let result = verdict(CheckId::P2OutputParity, list, prints(nested, r#"{"id":1,"tags":[{"id":3}]}"#));
    assert_status(&result, Status::Fail);
    assert!(result.message.contains("from /data in json: `name` is missing in jsonl"), "{}", result.message);
    // A missing record of a list is reported even if the records contain lists.
    let listed = r#"{"ok":true,"data":[{"id":1,"tags":[{"id":3}]},{"id":2,"tags":[{"id":4}]}]}"#;
    let result = verdict(CheckId::P2OutputParity, list, prints(listed, r#"{"id":1,"tags":[{"id":3}]}"#));
    assert!(
        result.message.contains("the number of records differs: 2 in json at /data, 1 in jsonl"),
        "{}",
        result.message
    );
    // The events of a stream are not compared with the members of a result.
    let events = "{\"type\":\"init\",\"session\":1}\n{\"type\":\"result\",\"text\":\"x\",\"session\":1}";
    let result =
        verdict(CheckId::P2OutputParity, list, prints(r#"{"type":"result","text":"x","session":1}"#, events));
    assert_status(&result, Status::Unverified);
}

#[test]
fn malformed_json_of_a_failing_run_is_not_prose() {
    let prints = |json: &'static str| {
        move |call: &Call| match (&*call.args[0], call.format) {
            ("lost", OutputFormat::Json) => {
                exited(1, json, "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\"}\n")
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
    for (json, position) in broken {
        let result = verdict(CheckId::P2ErrorJson, PROBES, prints(json));
        assert_status(&result, Status::Fail);
        let evidence = &result.evidence[0];
        assert_eq!(evidence.kind, "half-document", "{json}");
        assert_eq!((evidence.line, evidence.column), (Some(position.0), Some(position.1)), "{json}");
        assert_status(&verdict(CheckId::P2StderrDiagnostics, PROBES, prints(json)), Status::Pass);
    }
    let prose = [
        ("Error: lost\n", (1, 1)),
        ("[error] lost\n", (1, 2)),
        ("[1/3] building\n", (1, 3)),
        ("{record} not found\n", (1, 2)),
        ("{\"ok\":false}\nlost\n", (2, 1)),
        ("caf\u{e9}: lost\n", (1, 1)),
    ];
    for (json, position) in prose {
        let result = verdict(CheckId::P2StderrDiagnostics, PROBES, prints(json));
        assert_status(&result, Status::Fail);
        let evidence = &result.evidence[0];
        assert_eq!((evidence.line, evidence.column), (Some(position.0), Some(position.1)), "{json}");
        assert_status(&verdict(CheckId::P2ErrorJson, PROBES, prints(json)), Status::Unverified);
    }
    for nothing in ["", "\n", "  \n"] {
        for id in [CheckId::P2ErrorJson, CheckId::P2StderrDiagnostics] {
            assert_status(&verdict(id, PROBES, prints(nothing)), Status::Pass);
        }
    }
    let silent = |call: &Call| match &*call.args[0] {
        "lost" => exited(1, "", ""),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2ErrorJson, PROBES, silent);
    assert!(result.message.contains("prints nothing to stderr in any format"), "{}", result.message);
}

#[test]
fn evidence_of_an_exit_code_is_the_line_with_the_reason() {
    let fails = |stderr: &'static str| {
        move |call: &Call| match &*call.args[0] {
            "list" => exited(3, "", stderr),
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
        let result = verdict(CheckId::P2ExitSuccess, PROBES, fails(stderr));
        assert_eq!(result.evidence[0].excerpt.as_deref(), Some(line));
    }
    let result = verdict(CheckId::P2ExitSuccess, PROBES, fails(""));
    let evidence = &result.evidence[0];
    assert_eq!((evidence.line, evidence.offset, &evidence.excerpt), (None, None, &None));
}

/// A target whose `list` prints `screen` and waits for a key on a terminal: in text, and with `in_json` in json too.
fn waiting_list(screen: &'static str, stderr: &'static str, in_json: bool) -> impl Fn(&Call) -> CallResult {
    move |call| match (call.variant, call.format) {
        (Variant::Tty, OutputFormat::Text) if call.args[0] == "list" => {
            CallResult(screen.into(), stderr.into(), RunEnd::Waited)
        }
        (Variant::Tty, OutputFormat::Json) if call.args[0] == "list" && in_json => {
            CallResult("{\"ok\":true}\n(END)".into(), String::new(), RunEnd::Waited)
        }
        (_, OutputFormat::Text) if call.args[0] == "list" => success("line one\nline two\n\nline three\n"),
        _ => conforming(call),
    }
}

#[test]
fn a_pager_is_allowed_for_text_on_a_terminal() {
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
        assert_status(
            &verdict(CheckId::P2Completes, PROBES, waiting_list(screen, stderr, false)),
            Status::Pass,
        );
        let result = verdict(CheckId::P2Completes, PROBES, waiting_list(screen, stderr, true));
        assert_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].format, Some(OutputFormat::Json));
    }
    let questions = [
        ("", "Press enter "),
        ("Loading\n", "Go on? [y/N] "),
        ("line one\nline two\n\nline three\nDelete it? [y/N] ", ""),
    ];
    for (screen, stderr) in questions {
        assert_status(
            &verdict(CheckId::P2Completes, PROBES, waiting_list(screen, stderr, false)),
            Status::Fail,
        );
    }
}

#[test]
fn missing_runs_are_reported_as_not_recorded_by_every_check() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer != Layer::Source).collect();
    let config = format!(
        "[target]\nschema = ['schema']\n{PROBES}\n[[probe]]\nname = 'wrong'\nargs = ['agentnative-unknown']\nexit = 2\n\
         [[probe]]\nname = 'held'\nargs = ['list']\ncontract = {{ json = 'dexter-flat' }}\n"
    );
    // A problem that blocks other checks.
    let faulty = |call: &Call| match (&*call.args[0], call.format) {
        ("schema", _) => success("{\"type\":\"object\"}\n"),
        ("list", OutputFormat::Jsonl) => success("one\n"),
        _ => conforming(call),
    };
    let mut full_recording = record(&config, &checks, faulty);
    full_recording.target.project = Some("/demo".into());
    let verdict_of = |result: &CheckResult| (result.status, result.message.clone());
    let without_files = judge(&full_recording, &checks).unwrap().results;
    full_recording.around = Some(ProjectDocuments::default());
    let all = judge(&full_recording, &checks).unwrap().results;
    for (result, complete) in without_files.iter().zip(&all) {
        if result.layer == Layer::Project && verdict_of(result) != verdict_of(complete) {
            assert_eq!(result.status, Status::Unverified, "{result:?}");
            assert!(result.message.starts_with("the recording contains no project files"), "{result:?}");
        }
    }
    // Recordings of each check alone, of half of the runs, and of no runs.
    let mut parts: Vec<Recording> = checks.iter().map(|check| record(&config, &[check], faulty)).collect();
    for interval in [0, 2] {
        let mut part = full_recording.clone();
        let mut count = 0;
        part.observations.retain(|_| {
            count += 1;
            interval != 0 && count % interval == 0
        });
        parts.push(part);
    }
    for mut part in parts {
        part.target.project = Some("/demo".into());
        for (result, complete) in judge(&part, &checks).unwrap().results.iter().zip(&all) {
            let is_not_recorded = ["were not recorded", "contains no project files"]
                .iter()
                .any(|words| result.message.contains(words));
            let is_blocked = !result.blocked_by.is_empty();
            let is_same = verdict_of(result) == verdict_of(complete);
            let fails = [Status::Fail, Status::Warn];
            let is_allowed = match result.status {
                Status::Unverified | Status::NotApplicable => is_not_recorded || is_blocked || is_same,
                Status::Pass => complete.status == Status::Pass,
                status => fails.contains(&status) && fails.contains(&complete.status),
            };
            let suggests_declaration = is_not_recorded && result.message.contains("declare");
            assert!(
                is_allowed && !suggests_declaration,
                "{}: {:?}, from all runs {:?}",
                result.id,
                verdict_of(result),
                verdict_of(complete)
            );
        }
    }
    full_recording.interrupted = true;
    full_recording.observations.clear();
    let result = judge(&full_recording, &[CheckId::P2OutputJson.check()]).unwrap().results.remove(0);
    assert!(result.message.ends_with("were not made: the check was interrupted"), "{}", result.message);
}

#[test]
fn few_checks_pass_without_a_declared_probe() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let results = judge(&record("", &checks, conforming), &checks).unwrap().results;
    let passed: Vec<CheckId> =
        results.iter().filter(|result| result.status == Status::Pass).map(|result| result.id).collect();
    // Invalid calls, help and version are run without a declared probe.
    use CheckId::{P2ExitUsage, P3Examples, P3ExamplesValid, P3Help, P3Version, P6BareEnvironment};
    assert_eq!(passed, [P2ExitUsage, P3Help, P3Examples, P3ExamplesValid, P3Version, P6BareEnvironment]);
}

/// The answer of a target with one defect; `None` if the defect does not affect the call.
type Defect = fn(&Call) -> Option<CallResult>;

#[test]
fn a_check_has_the_same_verdict_alone_and_with_all_for_any_defect() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let defects: [(&str, Defect); 6] = [
        ("prose before the document", |call| {
            (call.args[0] == "list" && call.format == OutputFormat::Json)
                .then(|| success(format!("Loading\n{}", conforming(call).0)))
        }),
        ("no words in any format", |call| (call.args[0] == "lost").then(|| exited(1, "", ""))),
        ("no jsonl", |call| (call.format == OutputFormat::Jsonl).then(|| exited(2, "", "unknown format\n"))),
        ("colour", |call| {
            (call.args[0] == "list" && call.format.is_json())
                .then(|| success(format!("\u{1b}[1m{}", conforming(call).0)))
        }),
        ("a hang", |call| {
            (call.args[0] == "sync").then(|| CallResult(String::new(), String::new(), RunEnd::TimedOut))
        }),
        ("a signal", |call| {
            (call.args[0] == "list" && call.format == OutputFormat::Json)
                .then(|| CallResult(String::new(), String::new(), RunEnd::Signaled(11)))
        }),
    ];
    let mut wrong = Vec::new();
    for (name, defect) in defects {
        let target = |call: &Call| defect(call).unwrap_or_else(|| conforming(call));
        for with_all in judge(&record(PROBES, &checks, target), &checks).unwrap().results {
            let alone = verdict(with_all.id, PROBES, target);
            if alone.status != with_all.status {
                wrong.push(format!(
                    "{name}: {}: alone {:?} ({}), with all checks {:?} ({})",
                    with_all.id, alone.status, alone.message, with_all.status, with_all.message
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn exit_codes_that_a_target_uses_or_declares_have_to_be_documented() {
    let check = [CheckId::P2ExitDocumented.check()];
    let help = "Usage: demo list\n\nExit codes:\n  0  success\n  1  failure\n  2  usage\n";
    let target = |call: &Call| match call.args.iter().any(|arg| arg == "--help") {
        true => success(help),
        false => conforming(call),
    };
    let verdict_with = |settings: &str| {
        let probes = "[[probe]]\nname = 'list'\nargs = ['list']\n[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
        let mut recording = record(&format!("{settings}{probes}"), &check, target);
        recording.target.project = Some("/demo".into());
        recording.around = Some(ProjectDocuments::default());
        let result = judge(&recording, &check).unwrap().results.remove(0);
        (result.status, result.message)
    };
    assert_eq!(verdict_with("").0, Status::Pass);
    let (status, message) = verdict_with("[target]\nexit_codes = [0, 1, 2, 77]\n");
    assert!(status == Status::Fail && message.contains("documents exit code 77"), "{message}");
    let (status, message) = verdict_with("[[probe]]\nname = 'login'\nargs = ['login']\nexit = 77\n");
    assert!(status == Status::Fail && message.contains("documents exit code 77"), "{message}");
}

#[test]
fn a_failure_of_each_call_is_one_problem() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let broken = |_: &Call| {
        exited(
            1,
            "",
            "Traceback (most recent call last):\n  File \"a\", line 1\nModuleNotFoundError: No module named 'x'\n",
        )
    };
    let results = judge(&record(PROBES, &checks, broken), &checks).unwrap().results;
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
    // If the help works and only calls that should succeed fail, these failures let no check of errors pass.
    let is_valid_call = |call: &Call| call.args.iter().all(|arg| !arg.contains("unknown") && arg != "--help");
    let list_fails = |call: &Call| match call.args[0] == "list" && is_valid_call(call) {
        true => broken(call),
        false => conforming(call),
    };
    let result = verdict(CheckId::P4NoTraceback, PROBES, list_fails);
    assert_status(&result, Status::Unverified);
    assert!(result.message.contains("list · text prints a traceback"), "{}", result.message);
}

/// Returns the lock of a probe that succeeded with this output.
fn lock_of(format: OutputFormat, printed: &'static str) -> Lock {
    let mut learner = OutputInference::new("list", format);
    let nothing = || Box::new(std::io::empty()) as Box<dyn std::io::Read + Send>;
    learner.add_run(0, &|| Box::new(printed.as_bytes()), &nothing).unwrap();
    Lock::new("demo", None, vec![learner.spec()])
}

/// Missing output breaks the lock or is reported as not compared. `pairs.txt` of the contract crate has all pairs of
/// outputs.
#[test]
fn missing_output_does_not_satisfy_a_lock() {
    use OutputFormat::{Json, Jsonl};
    const DOCUMENT: &str = "{\"data\":[{\"id\":1}]}\n";
    const RECORDS: &str = "{\"id\":1}\n{\"id\":2}\n";
    const EVENTS: &str = "{\"type\":\"start\",\"id\":1}\n{\"type\":\"end\"}\n";
    let check = [CheckId::P2ContractLocked.check()];
    for (format, old, new, status, words) in [
        (Json, DOCUMENT, exited(0, DOCUMENT, ""), Status::Pass, ""),
        (Json, DOCUMENT, exited(0, "", ""), Status::Fail, "diff-stdout-changed"),
        (Json, DOCUMENT, exited(0, "", DOCUMENT), Status::Fail, "diff-stdout-changed"),
        (Json, DOCUMENT, exited(0, "words\n", ""), Status::Unverified, "see p2-output-json"),
        (Json, DOCUMENT, exited(127, "", "no such file\n"), Status::Unverified, "fails with `no such file`"),
        (Json, "", exited(0, DOCUMENT, ""), Status::Pass, ""),
        (Jsonl, RECORDS, exited(0, "", ""), Status::Pass, ""),
        (Jsonl, EVENTS, exited(0, "", ""), Status::Unverified, "the new stream has no records"),
        (Jsonl, EVENTS, exited(0, RECORDS, ""), Status::Fail, "diff-discriminator-removed"),
        (Jsonl, RECORDS, exited(0, EVENTS, ""), Status::Fail, "diff-discriminator-added"),
    ] {
        let config = format!("[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['{}']\n", format.name());
        let CallResult(stdout, stderr, end) = &new;
        let answer = |_: &Call| CallResult(stdout.clone(), stderr.clone(), end.clone());
        let mut recording = record(&config, &check, answer);
        recording.lock = Some(lock_of(format, old));
        let result = judge(&recording, &check).unwrap().results.remove(0);
        assert_status(&result, status);
        let text = format!("{} {:?}", result.message, result.evidence);
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_check_that_concerns_no_probe_is_not_applicable_without_the_format() {
    let config = |of_list: &str| {
        let probes = PROBES.replacen("args = ['list']", &format!("args = ['list']\n{of_list}"), 1);
        format!("[target]\nformats.json = ['--json']\n{probes}")
    };
    for id in [CheckId::P2JsonlPrompt, CheckId::P2ContractStream] {
        assert_status(&verdict(id, &config(""), conforming), Status::NotApplicable);
    }
    let streams = verdict(CheckId::P2JsonlPrompt, &config("stream = true"), conforming);
    assert_status(&streams, Status::Unverified);
    assert!(streams.message.contains("formats.jsonl"), "{}", streams.message);
}

/// If 1 is the exit code of every failure, the reason of a failure may be another than the unknown word.
#[test]
fn a_general_failure_code_is_evidence_of_invalid_usage_only_if_the_word_is_named() {
    let config_with = |more: &str| {
        format!("[target]\nusage = 1\nexit_codes = [0, 1]\n[[probe]]\nname = 'list'\nargs = ['list']\n{more}")
    };
    let lost = "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
    let has_no_command = |call: &Call| call.args.iter().all(|arg| arg != "list" && arg != "lost");
    let is_invalid_call = |call: &Call| call.args.iter().any(|arg| arg.contains("agentnative-unknown"));
    let usage_verdict =
        |config: &str, target: &dyn Fn(&Call) -> CallResult| verdict(CheckId::P2ExitUsage, config, target);
    let names_word = |call: &Call| match is_invalid_call(call) {
        true => failure(call, 1, "unknown option -agentnative-unknown-flag or agentnative-unknown-command"),
        false => conforming(call),
    };
    assert_status(&usage_verdict(&config_with(""), &names_word), Status::Pass);
    // The target ignores unknown flags, and fails because there is nothing to do.
    let ignores_flags = |call: &Call| match is_invalid_call(call) && has_no_command(call) {
        true => failure(call, 1, "No test files found"),
        false if call.args[0] == "lost" => failure(call, 1, "lost"),
        false => success("one\n"),
    };
    let result = usage_verdict(&config_with(lost), &ignores_flags);
    assert_status(&result, Status::Fail);
    assert_eq!(
        (&*result.evidence[0].kind, result.evidence[0].probe.as_deref()),
        ("accepted", Some("list, unknown flag"))
    );
    // The target rejects the call and prints only its usage.
    let prints_usage = |call: &Call| match is_invalid_call(call) {
        true => failure(call, 1, "usage: demo list"),
        false => conforming(call),
    };
    let result = usage_verdict(&config_with(""), &prints_usage);
    assert_status(&result, Status::Unverified);
    assert!(result.message.contains("with `exit = 1`"), "{}", result.message);
    assert!(
        result.message.contains(UNKNOWN_COMMAND) && !result.message.contains("flag"),
        "{}",
        result.message
    );
    assert_status(&usage_verdict(&config_with(lost), &prints_usage), Status::Pass);
    // A call that prints its arguments is no evidence.
    let echoes = |call: &Call| match is_invalid_call(call) && !has_no_command(call) {
        true => success(call.args.join(" ")),
        false => prints_usage(call),
    };
    let result = usage_verdict(&config_with(""), &echoes);
    assert_status(&result, Status::Unverified);
    assert!(result.message.contains(UNKNOWN_FLAG), "{}", result.message);
    // The problem of a declared probe is reported by its own check.
    let lost_exits_with_3 =
        |call: &Call| if call.args[0] == "lost" { exited(3, "", "lost") } else { prints_usage(call) };
    let result = usage_verdict(&config_with(lost), &lost_exits_with_3);
    assert_status(&result, Status::Unverified);
    assert_eq!(result.blocked_by[0].id, CheckId::P2ExitError);
    // The exit code 2 is sufficient evidence.
    let exits_with_2 = |call: &Call| {
        if is_invalid_call(call) { failure(call, 2, "usage: demo list") } else { conforming(call) }
    };
    assert_status(&usage_verdict(PROBES, &exits_with_2), Status::Pass);
}

#[test]
fn a_check_has_the_same_verdict_alone_and_with_all_for_a_defect_in_any_run() {
    let checks: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let variants: BTreeSet<Variant> =
        record(PROBES, &checks, conforming).observations.iter().map(|run| run.key.variant).collect();
    let defects: [fn(String) -> CallResult; 4] = [
        |_| CallResult(String::new(), String::new(), RunEnd::TimedOut),
        |_| CallResult(String::new(), String::new(), RunEnd::Signaled(11)),
        |stdout| success(&stdout[..stdout.len() / 2]),
        |stdout| success(stdout.replace("id", "key")),
    ];
    let defects_of_list = variants
        .into_iter()
        .flat_map(|variant| (0..4).map(move |defect| ("list", OutputFormat::Json, variant, defect)));
    let others = [
        ("list", OutputFormat::Text, Variant::Plain, 1),
        ("list", OutputFormat::Jsonl, Variant::Plain, 2),
        ("--version", OutputFormat::Text, Variant::Plain, 0),
        ("--json", OutputFormat::Json, Variant::Plain, 1),
        ("--raw", OutputFormat::Text, Variant::Plain, 1),
        (UNKNOWN_FLAG, OutputFormat::Jsonl, Variant::Plain, 0),
    ];
    let mut wrong = Vec::new();
    for (word, format, variant, defect) in defects_of_list.chain(others) {
        let target = |call: &Call| {
            let has_defect =
                call.args.iter().any(|arg| arg == word) && (call.format, call.variant) == (format, variant);
            if has_defect { defects[defect](conforming(call).0) } else { conforming(call) }
        };
        for with_all in judge(&record(PROBES, &checks, target), &checks).unwrap().results {
            let alone = verdict(with_all.id, PROBES, target);
            if (alone.status, &alone.blocked_by) != (with_all.status, &with_all.blocked_by) {
                wrong.push(format!(
                    "{word} {format:?} {variant:?} {defect}: {}: alone {:?} ({}), with all checks {:?} ({})",
                    with_all.id, alone.status, alone.message, with_all.status, with_all.message
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An additional run here is several for each fixture, so a check should use the runs of other checks if it can.
#[test]
fn the_number_of_runs_is_stable() {
    let behavioral: Vec<&Check> = checks().iter().filter(|check| check.layer == Layer::Behavioral).collect();
    let runs = |checks: &[&Check]| record(PROBES, checks, conforming).observations.len();
    assert_eq!((runs(&behavioral), runs(&[CheckId::P2OutputJson.check()])), (85, 8));
}

/// A violation of a rule between events is reported after any number of violations of the schema.
#[test]
fn violations_of_one_kind_do_not_hide_those_of_another() {
    let config =
        "[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['jsonl']\ncontract = 'opencode-events'\n";
    let invalid = "{\"type\":\"session.status\",\"properties\":{}}\n".repeat(1500);
    let events = include_str!("../contracts/opencode-events/examples/invalid/part-before-message.jsonl");
    let answer = |_: &Call| success(format!("{invalid}{events}"));
    for (id, kind, line, words) in [
        (CheckId::P2ContractSchema, "invalid", 1, "more in this run"),
        (CheckId::P2ContractStream, "rule-broken", 1502, "message-first"),
    ] {
        let result = verdict(id, config, answer);
        assert_status(&result, Status::Fail);
        let first = &result.evidence[0];
        assert_eq!((&*first.kind, first.line), (kind, Some(line)), "{first:?}");
        assert!(first.detail.contains(words), "{first:?}");
    }
}
