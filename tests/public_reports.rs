//! Problems from public reports on tools, as simulated targets. Each has a control: a similar target without the
//! problem.

use crate::simulated_target::{
    Call, CallResult, PROBES, conforming, exited, failure, record, record_with_help, records, success,
    verdict,
};
use agentnative::catalogue::Check;
use agentnative::check::judge;
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status, Variant};

/// Asserts the status of a result and a part of its message.
fn expect(result: &CheckResult, status: Status, part: &str) {
    assert_eq!(result.status, status, "{part}: {} {:?}", result.message, result.evidence);
    assert!(result.message.contains(part), "{part}: {}", result.message);
}

fn has(call: &Call, word: &str) -> bool {
    call.args.iter().any(|arg| arg == word)
}

fn is_list(call: &Call) -> bool {
    call.args.first().is_some_and(|word| word == "list") && !has(call, "--help")
}

const CRASH: &str = "Traceback (most recent call last):\n  File \"/srv/demo.py\", line 3, in <module>\n    x()\nTypeError: Object of type date is not JSON serializable\n";

/// flyteorg/flyte-sdk#1289
#[test]
fn a_crash_in_json_is_not_a_rejected_format() {
    let crashes = |call: &Call| match call.format {
        OutputFormat::Text => conforming(call),
        _ if is_list(call) => exited(1, "", CRASH),
        _ => conforming(call),
    };
    expect(
        &verdict(CheckId::P2ExitConsistent, PROBES, crashes),
        Status::Fail,
        "exited with 1, but with 0 in",
    );
    assert_ne!(verdict(CheckId::P2OutputFormat, PROBES, crashes).status, Status::Fail);
    let rejects = |call: &Call| match call.format {
        OutputFormat::Text => conforming(call),
        _ if is_list(call) => exited(1, "", "demo: unknown option --output\n"),
        _ => conforming(call),
    };
    expect(&verdict(CheckId::P2OutputFormat, PROBES, rejects), Status::Fail, "is rejected: exit code 1");
    assert_ne!(verdict(CheckId::P2ExitConsistent, PROBES, rejects).status, Status::Fail);
}

/// pypa/twine, and each tool of argparse with a required positional argument
#[test]
fn a_call_without_a_required_argument_may_omit_the_unknown_flag_from_its_error() {
    const HELP: &[u8] = b"usage: demo [-h] file\n";
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let judged = |answer: &dyn Fn(&Call) -> CallResult| {
        let checks = [CheckId::P4NamesCulprit.check()];
        let recording = record_with_help(HELP, config, &checks, answer);
        judge(&recording, &checks).unwrap().results.remove(0)
    };
    let has_no_command = |call: &Call| !is_list(call) && has(call, "--agentnative-unknown-flag");
    let argparse = |call: &Call| match has_no_command(call) {
        true => exited(2, "", "demo: error: the following arguments are required: file\n"),
        false => conforming(call),
    };
    expect(&judged(&argparse), Status::Pass, "");
    let omits_flag = |call: &Call| match has(call, "--agentnative-unknown-flag") {
        true => exited(2, "", "demo: bad usage\n"),
        false => conforming(call),
    };
    expect(&judged(&omits_flag), Status::Fail, "does not contain the rejected word");
}

/// RSeidelsohn/license-checker-rseidelsohn#9
#[test]
fn a_quiet_option_that_may_be_ignored_is_no_evidence() {
    let ignores = |call: &Call| match is_list(call) {
        true => success(records(call, &[r#"{"id":1}"#])),
        false => conforming(call),
    };
    expect(
        &verdict(CheckId::P7Quiet, PROBES, ignores),
        Status::Unverified,
        "an unknown flag is accepted as well",
    );
    expect(&verdict(CheckId::P7Quiet, PROBES, conforming_with_quiet), Status::Pass, "");
}

/// A conforming target that accepts `--quiet` anywhere.
fn conforming_with_quiet(call: &Call) -> CallResult {
    let args = call.args.iter().filter(|arg| *arg != "--quiet").cloned().collect();
    conforming(&Call { args, ..call.clone() })
}

/// teng-lin/notebooklm-py#453
#[test]
fn an_error_object_with_exit_code_0_fails() {
    let with_document = |document: &'static str| {
        move |call: &Call| match call.format {
            OutputFormat::Json if is_list(call) && call.args.len() < 4 => success(format!("{document}\n")),
            _ => conforming(call),
        }
    };
    let error = with_document(r#"{"error":"not_found","kind":"general","message":"no note 9"}"#);
    expect(
        &verdict(CheckId::P2ExitConsistent, PROBES, error),
        Status::Fail,
        "the payload is an error object",
    );
    for valid in [
        r#"{"error":null,"kind":"note","message":"milk"}"#,
        r#"{"error":"","kind":"note","message":"milk"}"#,
        r#"[{"error":"a","kind":"b","message":"c"}]"#,
    ] {
        expect(&verdict(CheckId::P2ExitConsistent, PROBES, with_document(valid)), Status::Pass, "");
    }
}

/// stylelint/stylelint#8384
#[test]
fn a_document_on_stderr_is_one_problem() {
    let moved = |call: &Call| match conforming_with_quiet(call) {
        CallResult(stdout, _, end) if is_list(call) && call.format == OutputFormat::Json => {
            CallResult(String::new(), stdout, end)
        }
        answer => answer,
    };
    expect(&verdict(CheckId::P2OutputJson, PROBES, moved), Status::Fail, "the JSON document is on stderr");
    let quiet = verdict(CheckId::P7Quiet, PROBES, moved);
    assert_eq!(quiet.status, Status::Unverified, "{}", quiet.message);
    let empty = |call: &Call| match is_list(call) && call.format == OutputFormat::Json {
        true => exited(0, "", "working\n"),
        false => conforming(call),
    };
    expect(
        &verdict(CheckId::P2OutputJson, PROBES, empty),
        Status::Fail,
        "expected a JSON value, found nothing",
    );
}

/// knip, `dot`: text that is truncated at the capacity of a pipe
#[test]
fn text_that_is_longer_than_a_pipe_is_complete() {
    let text = "0123456789abcde\n".repeat(10_000);
    let config = "[target]\nformats = { text = [], json = false, jsonl = false }\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let judged = |variant: Variant, length: usize| {
        let answer = |call: &Call| match is_list(call) {
            true => success(if call.variant == variant { &text[..length] } else { &text }),
            false => conforming(call),
        };
        let checks: [&Check; 1] = [CheckId::P2OutputComplete.check()];
        judge(&record(config, &checks, answer), &checks).unwrap().results.remove(0)
    };
    expect(
        &judged(Variant::SlowReader, 65_536),
        Status::Fail,
        "stdout is truncated after 65536 of 160000 bytes",
    );
    expect(&judged(Variant::Plain, 65_536), Status::Fail, "stdout is truncated after 65536 of 160000 bytes");
    assert_eq!(judged(Variant::SlowReader, 160_000).status, Status::NotApplicable);
    assert_eq!(
        judged(Variant::Plain, 1_000).status,
        Status::NotApplicable,
        "shorter than the capacity of a pipe: not judged"
    );
}

#[test]
fn probes_for_declared_gaps_are_not_required() {
    let lacking = format!("[target]\nlacks = ['long-running']\n{PROBES}");
    for id in [CheckId::P6Sigterm, CheckId::P6Sigint] {
        expect(
            &verdict(id, &lacking, conforming),
            Status::NotApplicable,
            "the target has no long-running call",
        );
        expect(&verdict(id, PROBES, conforming), Status::Unverified, "or `lacks = [\"long-running\"]`");
    }
    let verdict_with = |idempotent: &str| {
        let config = format!(
            "[[probe]]\nname = 'add'\nargs = ['add']\nworkspace = true\nchanges = true\n{idempotent}\n"
        );
        verdict(CheckId::P5Idempotent, &config, |call| match call.args.first() {
            Some(word) if word == "add" => success("added\n"),
            _ => failure(call, 2, "no"),
        })
    };
    expect(&verdict_with("idempotent = false"), Status::NotApplicable, "has `idempotent = false`");
    expect(
        &verdict_with(""),
        Status::Unverified,
        "declare `idempotent = true` if it does not, `false` if it does",
    );
}

/// A line that appears in every third run, and a pipe that is not ready
#[test]
fn random_output_is_not_attributed_to_a_condition() {
    let config = "[target]\nformats.jsonl = false\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let is_affected = |call: &Call, random: bool| {
        let is_tty = matches!(call.variant, Variant::Tty | Variant::HostileEnv);
        let is_repeated = random && call.variant == Variant::Repeat;
        is_list(call) && call.format == OutputFormat::Json && (is_tty || is_repeated)
    };
    let judged = |id: CheckId, random: bool, answer: &dyn Fn(&Call) -> CallResult| {
        let checks = [id.check()];
        let target = |call: &Call| match is_affected(call, random) {
            true => answer(call),
            false => conforming(call),
        };
        judge(&record(config, &checks, target), &checks).unwrap().results.remove(0)
    };
    let line = |call: &Call| success(format!("update available\n{}", records(call, &["{}"])));
    expect(&judged(CheckId::P2OutputPure, false, &line), Status::Fail, "stdout");
    let random = judged(CheckId::P2OutputPure, true, &line);
    expect(&random, Status::Unverified, "see p2-output-json");
    let busy = |call: &Call| exited(1, records(call, &["{}"]), "demo: write EAGAIN\n");
    expect(
        &judged(CheckId::P2ExitConsistent, false, &busy),
        Status::Fail,
        "exited with 1, but with 0 in list · text",
    );
    let random = judged(CheckId::P2ExitConsistent, true, &busy);
    assert_eq!(random.status, Status::Fail, "{}", random.message);
}

#[test]
fn an_empty_list_is_reported_as_no_evidence_on_items() {
    let verdict_of = |items: &'static str| {
        verdict(CheckId::P2OutputJson, PROBES, move |call| {
            match is_list(call) && call.format == OutputFormat::Json {
                true => success(format!("{{\"ok\":true,\"data\":[{items}]}}\n")),
                false => conforming(call),
            }
        })
    };
    expect(&verdict_of(""), Status::Pass, "no run printed an item: each list is empty");
    assert!(!verdict_of("{\"id\":1}").message.contains("no item"));
}

/// A hand-written parser: each command has its own options
#[test]
fn a_format_that_one_command_rejects_is_reported() {
    let config = format!("{PROBES}\n[[probe]]\nname = 'status'\nargs = ['status']\n");
    let target = |call: &Call| match call.args.first().map(String::as_str) {
        Some("status") if call.format == OutputFormat::Text => success("fine\n"),
        Some("status") => exited(2, "", "demo: unknown option --output\n"),
        _ => conforming(call),
    };
    expect(
        &verdict(CheckId::P2OutputFormat, &config, target),
        Status::Fail,
        "is rejected: exit code 2, but 0 without it",
    );
    let consistent = verdict(CheckId::P2ExitConsistent, &config, target);
    assert_ne!(consistent.status, Status::Fail, "{}", consistent.message);
}
