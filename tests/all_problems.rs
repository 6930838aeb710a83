//! Verdicts on simulated targets: a result reports every problem of a run, and every run is considered.

use crate::simulated_target::{Call, CallResult, PROBES, conforming, exited, record, success, verdict};
use agentnative::model::{CheckId, CheckResult, Evidence, OutputFormat, Status, Variant};
use agentnative::probe::UNKNOWN_FLAG;
use agentnative::run::RunEnd;

fn assert_status(result: &CheckResult, status: Status) {
    assert_eq!(result.status, status, "{}: {} {:?}", result.id, result.message, result.evidence);
}

/// A conforming target, except that `changed` transforms the output of `list` in one format and variant.
fn with_changed_list(
    variant: Variant,
    format: OutputFormat,
    changed: impl Fn(String) -> CallResult,
) -> impl Fn(&Call) -> CallResult {
    move |call| {
        let is_changed_call = call.args.first().is_some_and(|arg| arg == "list") && call.variant == variant;
        let CallResult(stdout, stderr, end) = conforming(call);
        if is_changed_call && call.format == format {
            changed(stdout)
        } else {
            CallResult(stdout, stderr, end)
        }
    }
}

/// Returns the kinds of the evidence on a probe in json, sorted, and the details of that evidence, a line each.
fn json_evidence<'a>(result: &'a CheckResult, probe: &str) -> (Vec<&'a str>, String) {
    let is_json_run = |evidence: &&Evidence| {
        evidence.probe.as_deref() == Some(probe) && evidence.format == Some(OutputFormat::Json)
    };
    let evidence: Vec<&Evidence> = result.evidence.iter().filter(is_json_run).collect();
    let mut kinds: Vec<&str> = evidence.iter().map(|evidence| evidence.kind.as_str()).collect();
    kinds.sort_unstable();
    (kinds, evidence.iter().map(|evidence| format!("{}\n", evidence.detail)).collect())
}

#[test]
fn all_runs_that_must_print_the_same_are_compared() {
    use Variant::{File, HostileEnv, OpenStdin, SlowReader, Tty};
    let other = |stdout: String| success(stdout.replace("1,", "\"1\",").replace("name", "title"));
    for variant in [SlowReader, File] {
        let changes = with_changed_list(variant, OutputFormat::Json, other);
        let result = verdict(CheckId::P2OutputStable, PROBES, &changes);
        assert_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].variant, Some(variant));
        // Output that differs between runs is not a problem of another format or flag.
        for id in [CheckId::P2OutputComplete, CheckId::P2JsonAlias, CheckId::P2OutputPure] {
            assert_ne!(verdict(id, PROBES, &changes).status, Status::Fail, "{id} {variant:?}");
        }
        let fails = with_changed_list(variant, OutputFormat::Jsonl, |stdout| exited(3, stdout, ""));
        assert_status(&verdict(CheckId::P2ExitConsistent, PROBES, fails), Status::Fail);
        let notice =
            with_changed_list(variant, OutputFormat::Jsonl, |stdout| success(format!("{stdout}Done.\n")));
        assert_status(&verdict(CheckId::P2OutputJsonl, PROBES, notice), Status::Fail);
        let colour =
            with_changed_list(variant, OutputFormat::Json, |stdout| success(format!("{stdout}\u{1b}[0m")));
        assert_status(&verdict(CheckId::P2OutputPure, PROBES, colour), Status::Fail);
    }
    // A terminal and the environment may change the data, but not the exit code.
    for variant in [Tty, HostileEnv, OpenStdin] {
        let changes = with_changed_list(variant, OutputFormat::Json, other);
        assert_status(&verdict(CheckId::P2OutputStable, PROBES, changes), Status::Pass);
    }
    let fails = |format| with_changed_list(Tty, format, |stdout| exited(3, stdout, ""));
    assert_status(&verdict(CheckId::P2ExitConsistent, PROBES, fails(OutputFormat::Json)), Status::Fail);
    assert_status(&verdict(CheckId::P2ExitConsistent, PROBES, fails(OutputFormat::Text)), Status::Pass);
    // Truncated output is a problem of another check.
    let cut = with_changed_list(File, OutputFormat::Json, |stdout| success(&stdout[..stdout.len() / 2]));
    let result = verdict(CheckId::P2OutputStable, PROBES, cut);
    assert_status(&result, Status::Unverified);
    assert!(result.message.contains("see p2-output-complete"), "{}", result.message);
}

#[test]
fn all_differences_of_a_run_are_reported() {
    let other = |stdout: String| {
        success(stdout.replace("1,", "\"1\",").replace("true", "1").replace("name", "title"))
    };
    let result =
        verdict(CheckId::P2OutputStable, PROBES, with_changed_list(Variant::File, OutputFormat::Json, other));
    let (kinds, details) = json_evidence(&result, "list");
    assert_eq!(kinds, ["keys", "types"]);
    for part in [
        "the key `name` of /data/0",
        "the key `title` of /data/0",
        "/ok is boolean",
        "from that of list · json",
    ] {
        assert!(details.contains(part), "{part}: {details}");
    }
}

#[test]
fn all_problems_of_an_error_are_reported_together() {
    const VALID_ERROR: &str = "{\"error\":\"e\",\"kind\":\"k\",\"message\":\"m\"}\n";
    const PARTIAL_DOCUMENT: &str = "{\"ok\":true,\"data\":[\n";
    let progress = |error: &str| format!("Loading ...\n{error}");
    let cases: [(&str, String, &[&str], &[&str]); 12] = [
        ("", VALID_ERROR.into(), &[], &[]),
        ("", progress(VALID_ERROR), &["not-json"], &["print no progress and no log lines"]),
        ("", format!("{VALID_ERROR}Done.\n"), &["not-json"], &["text in addition to the error object"]),
        (
            "",
            progress("{\"message\":\"m\"}\n"),
            &["key-missing", "not-json"],
            &["no non-empty strings `error` and `kind`", "text in addition to the error object"],
        ),
        (
            "",
            progress("{\n  \"error\": \"e\",\n  \"kind\": 2,\n  \"message\": \"m\"\n}\n"),
            &["key-missing", "not-json"],
            &["no non-empty string `kind`"],
        ),
        ("", "{}\n".into(), &["key-missing"], &["strings `error`, `kind` and `message`"]),
        (
            "",
            "no such record\n".into(),
            &["not-json"],
            &["not one JSON object with `error`, `kind` and `message`"],
        ),
        ("", format!("{VALID_ERROR}{VALID_ERROR}"), &["not-json"], &["stderr is not one JSON object: "]),
        (
            PARTIAL_DOCUMENT,
            "{\"error\":\"e\"}\n".into(),
            &["half-document", "key-missing"],
            &["`kind` and `message`"],
        ),
        (PARTIAL_DOCUMENT, String::new(), &["half-document", "silent"], &["stderr is empty"]),
        // Text on stdout is the subject of another check; stderr is judged nevertheless.
        ("Loading ...\n", "no such record\n".into(), &["not-json"], &[]),
        (
            "Loading ...\n",
            "{\"error\":\"e\",\"message\":\"m\"}\n".into(),
            &["key-missing"],
            &["string `kind`"],
        ),
    ];
    for (stdout, stderr, kinds, parts) in cases {
        let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
            true if call.format == OutputFormat::Json => exited(1, stdout, stderr.clone()),
            _ => conforming(call),
        };
        let result = verdict(CheckId::P2ErrorJson, PROBES, target);
        assert_status(&result, if kinds.is_empty() { Status::Pass } else { Status::Fail });
        let (found, details) = json_evidence(&result, "lost");
        assert_eq!(found, kinds, "{stdout:?} {stderr:?}: {details}");
        for part in parts {
            assert!(details.contains(part), "{part}: {details}");
        }
    }
    // The evidence is on the line of the object, not on the text around it.
    let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
        true if call.format == OutputFormat::Json => exited(1, "", "Loading ...\n{\"error\":\"e\"}\n"),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2ErrorJson, PROBES, target);
    let keys = result.evidence.iter().find(|evidence| evidence.kind == "key-missing").unwrap();
    assert_eq!(keys.line, Some(2));
    // An error on the wrong stream, or on both, is one problem.
    for stderr in ["", "no such record\n"] {
        let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
            true if call.format.is_json() => exited(1, "no such record\n", stderr),
            _ => conforming(call),
        };
        assert_status(&verdict(CheckId::P2ErrorJson, PROBES, target), Status::Unverified);
        let result = verdict(CheckId::P2StderrDiagnostics, PROBES, target);
        assert_status(&result, Status::Fail);
        assert!(result.message.contains("expected its diagnostics on stderr"), "{}", result.message);
    }
    // Progress on stdout, an error on stderr.
    let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "lost") {
        true if call.format.is_json() => exited(1, "Loading ...\n", VALID_ERROR),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2StderrDiagnostics, PROBES, target);
    assert_status(&result, Status::Fail);
    assert!(result.message.contains("print no progress and no log lines"), "{}", result.message);
}

#[test]
fn all_problems_of_the_data_are_reported_together() {
    let json = |changed: fn(String) -> String| {
        with_changed_list(Variant::Plain, OutputFormat::Json, move |stdout| success(changed(stdout)))
    };
    let result = verdict(CheckId::P2JsonStrict, PROBES, json(|stdout| stdout.replace("1,", "NaN,\"id\":2,")));
    assert_eq!(json_evidence(&result, "list").0, ["duplicate-key", "non-finite"]);
    let lines = |call: &Call| match call.format {
        OutputFormat::Jsonl => success(conforming(call).0.replace("id", "no").replace("name", "title")),
        _ => conforming(call),
    };
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let result = verdict(CheckId::P2OutputParity, config, |call: &Call| match call.args.first() {
        Some(first) if first == "list" => {
            let CallResult(stdout, stderr, end) = lines(call);
            let more = |stdout: String| stdout.replace("{\"", "{\"kept\":1,\"");
            match call.format {
                OutputFormat::Text => CallResult(stdout, stderr, end),
                OutputFormat::Json => success(more(stdout).replacen("{\"kept\":1,", "{", 1)),
                OutputFormat::Jsonl => success(more(stdout)),
            }
        }
        _ => conforming(call),
    });
    let part = "`id` is missing in jsonl; `name` is missing in jsonl; `no` is only in jsonl";
    assert!(result.message.contains(part), "{:?} {}", result.status, result.message);
}

#[test]
fn all_violations_of_a_printed_schema_are_reported() {
    const SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
        "required":["version"],"properties":{"ok":{"type":"string"},"data":{"type":"object"}}}"#;
    let target = |call: &Call| match call.args.first().is_some_and(|arg| arg == "schema") {
        true => success(SCHEMA),
        false => conforming(call),
    };
    let config = format!("[target]\nschema = ['schema']\n{PROBES}");
    let result = verdict(CheckId::P2SchemaPrint, &config, target);
    assert_status(&result, Status::Fail);
    for part in ["version", "/ok", "/data"] {
        assert!(result.message.contains(part), "{part}: {}", result.message);
    }
}

#[test]
fn an_invalid_format_has_evidence_of_both_of_its_problems() {
    let target = |call: &Call| match call.args.iter().any(|arg| arg == "agentnative-unknown-format") {
        true => exited(1, "Error: unknown format\n", ""),
        false => conforming(call),
    };
    let result = verdict(CheckId::P2OutputFormat, PROBES, target);
    let kinds: Vec<&str> = result.evidence.iter().map(|evidence| evidence.kind.as_str()).collect();
    assert_eq!(kinds, ["invalid-exit-code", "invalid-on-stdout"]);
}

#[test]
fn a_call_without_a_format_has_the_exit_code_of_text() {
    let target = |call: &Call| match call.args == ["list"] {
        true => exited(3, "", "no format\n"),
        false => conforming(call),
    };
    let result = verdict(CheckId::P2OutputFormat, PROBES, target);
    assert_status(&result, Status::Fail);
    assert!(
        result.message.contains("the command exits with 3, expected 0 as with that of `text`"),
        "{}",
        result.message
    );
}

#[test]
fn evidence_of_an_exit_code_shows_the_stream_that_has_output() {
    const HELP: &str = "usage: demo COMMAND\n";
    let bare = format!("{PROBES}\n[[probe]]\nname = 'bare'\nargs = []\nexit = 2\n");
    for (config, invalid_arg, id) in [
        (PROBES, UNKNOWN_FLAG, CheckId::P2ExitUsage),
        (bare.as_str(), "", CheckId::P2ExitUsage),
        (PROBES, "login", CheckId::P2ExitAuth),
    ] {
        let target = |call: &Call| {
            let is_matching_call = match invalid_arg {
                "" => call.args.first().is_none_or(|arg| arg == "--output"),
                word => call.args.iter().any(|arg| arg == word),
            };
            if is_matching_call { success(HELP) } else { conforming(call) }
        };
        let result = verdict(id, config, target);
        assert_status(&result, Status::Fail);
        assert_eq!(result.evidence[0].excerpt.as_deref(), Some(HELP.trim_end()), "{invalid_arg}");
    }
}

#[test]
fn the_top_level_keys_that_most_commands_have_are_expected() {
    let probes = "[[probe]]\nname = 'all'\nargs = ['all']\n[[probe]]\nname = 'one'\nargs = ['one']\n\
                  [[probe]]\nname = 'two'\nargs = ['two']\n";
    let target = |call: &Call| match call.args.first().map(String::as_str) {
        Some("all") => success("{\"items\":[]}\n"),
        Some("one" | "two") => success("{\"ok\":true,\"data\":{}}\n"),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P2Envelope, probes, target);
    assert_status(&result, Status::Warn);
    assert_eq!(
        result.message,
        "commands have different top-level keys: expected `data`, `ok` as in `one`, found `items`"
    );
}

/// The check that is named as the cause fails or is itself blocked; it never passes.
#[test]
fn a_blocked_verdict_names_a_check_that_reports_the_problem() {
    use agentnative::catalogue::{Check, checks};
    let checks: Vec<&Check> =
        checks().iter().filter(|check| check.layer == agentnative::model::Layer::Behavioral).collect();
    let defects: [fn(String) -> CallResult; 6] = [
        |_| CallResult(String::new(), String::new(), RunEnd::TimedOut),
        |_| CallResult(String::new(), String::new(), RunEnd::Signaled(11)),
        |stdout| exited(3, stdout, ""),
        |stdout| success(format!("Loading\n{stdout}")),
        |stdout| success(format!("{stdout}\u{1b}[0m")),
        |stdout| success(&stdout[..stdout.len() / 2]),
    ];
    let mut wrong = Vec::new();
    for variant in [
        Variant::Plain,
        Variant::Repeat,
        Variant::File,
        Variant::SlowReader,
        Variant::Tty,
        Variant::HostileEnv,
        Variant::OpenStdin,
        Variant::ClosedPipe,
    ] {
        for (format, defect) in [OutputFormat::Json, OutputFormat::Jsonl, OutputFormat::Text]
            .into_iter()
            .flat_map(|format| (0..defects.len()).map(move |defect| (format, defect)))
        {
            let target = with_changed_list(variant, format, defects[defect]);
            let results =
                agentnative::check::judge(&record(PROBES, &checks, target), &checks).unwrap().results;
            let result_of = |id: CheckId| results.iter().find(|result| result.id == id).unwrap();
            let leads_to_problem = |id: CheckId| {
                let cause = result_of(id);
                let failed = matches!(cause.status, Status::Fail | Status::Warn);
                failed || cause.status == Status::Unverified && !cause.blocked_by.is_empty()
            };
            for result in &results {
                for cause in result.blocked_by.iter().filter(|cause| !leads_to_problem(cause.id)) {
                    let cause = result_of(cause.id);
                    wrong.push(format!(
                        "{format:?} {variant:?} {defect}: {} is blocked by {}, which is {:?} ({})",
                        result.id, cause.id, cause.status, result.message
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
