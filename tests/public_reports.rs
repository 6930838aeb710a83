//! Faults of tools from public reports, as made-up targets, each with a control beside it that has to stay as it is.

use crate::made_up::{
    Answer, Call, PROBES, conforming, data, ended, failure, records, seen, seen_with_help, verdict,
};
use agentnative::catalogue::Check;
use agentnative::check::judge;
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status, Variant};

fn is(result: &CheckResult, status: Status, part: &str) {
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
fn a_crash_in_json_is_not_a_format_that_the_target_rejects() {
    let crashes = |call: &Call| match call.format {
        OutputFormat::Text => conforming(call),
        _ if is_list(call) => ended(1, "", CRASH),
        _ => conforming(call),
    };
    is(&verdict(CheckId::P2ExitConsistent, PROBES, crashes), Status::Fail, "exit code 1 here, but 0 in");
    assert_ne!(verdict(CheckId::P2OutputFormat, PROBES, crashes).status, Status::Fail);
    let rejects = |call: &Call| match call.format {
        OutputFormat::Text => conforming(call),
        _ if is_list(call) => ended(1, "", "demo: unknown option --output\n"),
        _ => conforming(call),
    };
    is(&verdict(CheckId::P2OutputFormat, PROBES, rejects), Status::Fail, "is rejected: exit code 1");
    assert_ne!(verdict(CheckId::P2ExitConsistent, PROBES, rejects).status, Status::Fail);
}

/// pypa/twine, and each tool of argparse with a required positional argument
#[test]
fn a_call_that_lacks_an_argument_is_not_blamed_for_the_flag_that_it_does_not_name() {
    const HELP: &[u8] = b"usage: demo [-h] file\n";
    let config = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    let judged = |answer: &dyn Fn(&Call) -> Answer| {
        let checks = [CheckId::P4NamesCulprit.check()];
        let recording = seen_with_help(HELP, config, &checks, answer);
        judge(&recording, &checks).unwrap().results.remove(0)
    };
    let bare = |call: &Call| !is_list(call) && has(call, "--agentnative-unknown-flag");
    let argparse = |call: &Call| match bare(call) {
        true => ended(2, "", "demo: error: the following arguments are required: file\n"),
        false => conforming(call),
    };
    is(&judged(&argparse), Status::Pass, "");
    let vague = |call: &Call| match has(call, "--agentnative-unknown-flag") {
        true => ended(2, "", "demo: bad usage\n"),
        false => conforming(call),
    };
    is(&judged(&vague), Status::Fail, "does not contain the refused word");
}

/// RSeidelsohn/license-checker-rseidelsohn#9
#[test]
fn a_quiet_option_that_may_be_ignored_shows_nothing() {
    let ignores = |call: &Call| match is_list(call) {
        true => data(records(call, &[r#"{"id":1}"#])),
        false => conforming(call),
    };
    is(
        &verdict(CheckId::P7Quiet, PROBES, ignores),
        Status::Unverified,
        "an unknown flag is accepted as well",
    );
    is(&verdict(CheckId::P7Quiet, PROBES, conforming_with_quiet), Status::Pass, "");
}

/// `conforming`, which knows `--quiet`.
fn conforming_with_quiet(call: &Call) -> Answer {
    let args = call.args.iter().filter(|arg| *arg != "--quiet").cloned().collect();
    conforming(&Call { args, ..call.clone() })
}

/// teng-lin/notebooklm-py#453
#[test]
fn an_error_object_with_exit_0_is_a_contradiction() {
    let says = |document: &'static str| {
        move |call: &Call| match call.format {
            OutputFormat::Json if is_list(call) && call.args.len() < 4 => data(format!("{document}\n")),
            _ => conforming(call),
        }
    };
    let error = says(r#"{"error":"not_found","kind":"general","message":"no note 9"}"#);
    is(&verdict(CheckId::P2ExitConsistent, PROBES, error), Status::Fail, "the payload is an error object");
    for fine in [
        r#"{"error":null,"kind":"note","message":"milk"}"#,
        r#"{"error":"","kind":"note","message":"milk"}"#,
        r#"[{"error":"a","kind":"b","message":"c"}]"#,
    ] {
        is(&verdict(CheckId::P2ExitConsistent, PROBES, says(fine)), Status::Pass, "");
    }
}

/// stylelint/stylelint#8384
#[test]
fn a_document_on_stderr_is_one_fault() {
    let moved = |call: &Call| match conforming_with_quiet(call) {
        Answer(stdout, _, end) if is_list(call) && call.format == OutputFormat::Json => {
            Answer(String::new(), stdout, end)
        }
        answer => answer,
    };
    is(&verdict(CheckId::P2OutputJson, PROBES, moved), Status::Fail, "the JSON document is on stderr");
    let quiet = verdict(CheckId::P7Quiet, PROBES, moved);
    assert_eq!(quiet.status, Status::Unverified, "{}", quiet.message);
    let empty = |call: &Call| match is_list(call) && call.format == OutputFormat::Json {
        true => ended(0, "", "working\n"),
        false => conforming(call),
    };
    is(&verdict(CheckId::P2OutputJson, PROBES, empty), Status::Fail, "expected a JSON value, found nothing");
}

/// knip, `dot`: text that ends with the capacity of a pipe
#[test]
fn text_that_is_longer_than_a_pipe_arrives_whole() {
    let text = "0123456789abcde\n".repeat(10_000);
    let config = "[target]\nformats = { text = [], json = false, jsonl = false }\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let judged = |variant: Variant, length: usize| {
        let answer = |call: &Call| match is_list(call) {
            true => data(if call.variant == variant { &text[..length] } else { &text }),
            false => conforming(call),
        };
        let checks: [&Check; 1] = [CheckId::P2OutputComplete.check()];
        judge(&seen(config, &checks, answer), &checks).unwrap().results.remove(0)
    };
    is(&judged(Variant::SlowReader, 65_536), Status::Fail, "stdout is truncated after 65536 of 160000 bytes");
    is(&judged(Variant::Plain, 65_536), Status::Fail, "stdout is truncated after 65536 of 160000 bytes");
    assert_eq!(judged(Variant::SlowReader, 160_000).status, Status::NotApplicable);
    assert_eq!(
        judged(Variant::Plain, 1_000).status,
        Status::NotApplicable,
        "shorter than a pipe: it is not tried"
    );
}

#[test]
fn what_a_target_lacks_by_declaration_is_not_asked_for() {
    let lacking = format!("[target]\nlacks = ['long-running']\n{PROBES}");
    for id in [CheckId::P6Sigterm, CheckId::P6Sigint] {
        is(&verdict(id, &lacking, conforming), Status::NotApplicable, "no call works for a while");
        is(&verdict(id, PROBES, conforming), Status::Unverified, "or `lacks = [\"long-running\"]`");
    }
    let changing = |idempotent: &str| {
        let config = format!(
            "[[probe]]\nname = 'add'\nargs = ['add']\nworkspace = true\nchanges = true\n{idempotent}\n"
        );
        verdict(CheckId::P5Idempotent, &config, |call| match call.args.first() {
            Some(word) if word == "add" => data("added\n"),
            _ => failure(call, 2, "no"),
        })
    };
    is(&changing("idempotent = false"), Status::NotApplicable, "has `idempotent = false`");
    is(&changing(""), Status::Unverified, "declare `idempotent = true` if it does not, `false` if it does");
}

/// A line that comes in every third run, and a pipe that is not ready
#[test]
fn what_comes_by_chance_is_no_fault_of_a_condition() {
    let config = "[target]\nformats.jsonl = false\n[[probe]]\nname = 'list'\nargs = ['list']\n";
    let disturbs = |call: &Call, by_chance: bool| {
        let is_tty = matches!(call.variant, Variant::Tty | Variant::HostileEnv);
        let again = by_chance && call.variant == Variant::Repeat;
        is_list(call) && call.format == OutputFormat::Json && (is_tty || again)
    };
    let judged = |id: CheckId, by_chance: bool, answer: &dyn Fn(&Call) -> Answer| {
        let checks = [id.check()];
        let target = |call: &Call| match disturbs(call, by_chance) {
            true => answer(call),
            false => conforming(call),
        };
        judge(&seen(config, &checks, target), &checks).unwrap().results.remove(0)
    };
    let line = |call: &Call| data(format!("update available\n{}", records(call, &["{}"])));
    is(&judged(CheckId::P2OutputPure, false, &line), Status::Fail, "stdout");
    let by_chance = judged(CheckId::P2OutputPure, true, &line);
    is(&by_chance, Status::Unverified, "see p2-output-json");
    let busy = |call: &Call| ended(1, records(call, &["{}"]), "demo: write EAGAIN\n");
    is(
        &judged(CheckId::P2ExitConsistent, false, &busy),
        Status::Fail,
        "exit code 1 here, but 0 in list · text",
    );
    let by_chance = judged(CheckId::P2ExitConsistent, true, &busy);
    assert_eq!(by_chance.status, Status::Fail, "{}", by_chance.message);
}

#[test]
fn a_list_without_items_shows_no_item() {
    let of = |items: &'static str| {
        verdict(CheckId::P2OutputJson, PROBES, move |call| {
            match is_list(call) && call.format == OutputFormat::Json {
                true => data(format!("{{\"ok\":true,\"data\":[{items}]}}\n")),
                false => conforming(call),
            }
        })
    };
    is(&of(""), Status::Pass, "no item was seen: each list is empty");
    assert!(!of("{\"id\":1}").message.contains("no item"));
}

/// A hand-written parser: each command has its own options
#[test]
fn a_format_that_one_command_rejects_is_rejected() {
    let config = format!("{PROBES}\n[[probe]]\nname = 'status'\nargs = ['status']\n");
    let target = |call: &Call| match call.args.first().map(String::as_str) {
        Some("status") if call.format == OutputFormat::Text => data("fine\n"),
        Some("status") => ended(2, "", "demo: unknown option --output\n"),
        _ => conforming(call),
    };
    is(
        &verdict(CheckId::P2OutputFormat, &config, target),
        Status::Fail,
        "is rejected: exit code 2, but 0 without it",
    );
    let consistent = verdict(CheckId::P2ExitConsistent, &config, target);
    assert_ne!(consistent.status, Status::Fail, "{}", consistent.message);
}
