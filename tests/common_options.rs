//! Verdicts on simulated targets: the quiet option, and the position of options.

use crate::simulated_target::{
    Call, CallResult, PROBES, conforming, exited, failure, record_with_help, records, success, verdict,
};
use agentnative::check::judge;
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status, Variant};
use agentnative::run::RunEnd;

const QUIET: CheckId = CheckId::P7Quiet;
const GLOBAL: CheckId = CheckId::P6GlobalFlags;

/// Asserts the status of a result and a part of its message.
fn expect(result: &CheckResult, status: Status, part: &str) {
    assert_eq!(result.status, status, "{part}: {} {:?}", result.message, result.evidence);
    assert!(result.message.contains(part), "{part}: {}", result.message);
}

fn assert_blocked_by(result: &CheckResult, id: CheckId) {
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    assert!(result.blocked_by.iter().any(|cause| cause.id == id), "{id}: {}", result.message);
}

fn has(call: &Call, word: &str) -> bool {
    call.args.iter().any(|arg| arg == word)
}

/// A conforming target that accepts `--quiet` before the subcommand too.
fn accepts_quiet_anywhere(call: &Call) -> CallResult {
    let args = call.args.iter().filter(|arg| *arg != "--quiet").cloned().collect();
    conforming(&Call { args, ..call.clone() })
}

/// A conforming target, except for calls with `--quiet`.
fn with_quiet(answer: impl Fn(&Call) -> CallResult) -> impl Fn(&Call) -> CallResult {
    move |call| if has(call, "--quiet") { answer(call) } else { conforming(call) }
}

#[test]
fn a_conforming_target_passes() {
    for id in [QUIET, GLOBAL] {
        for target in [conforming, accepts_quiet_anywhere] {
            assert_eq!(verdict(id, PROBES, target).status, Status::Pass, "{id}");
        }
    }
    let other_spelling = format!("[target]\nflags.quiet = ['-s']\n{PROBES}");
    let rejects_quiet =
        |call: &Call| if has(call, "--quiet") { failure(call, 2, "unknown") } else { conforming(call) };
    assert_eq!(verdict(QUIET, &other_spelling, rejects_quiet).status, Status::Pass);
}

#[test]
fn an_option_that_is_accepted_only_before_the_subcommand_is_reported_by_one_check() {
    let in_front = |call: &Call| match call.args.iter().position(|arg| arg == "--quiet") {
        Some(1..) => failure(call, 2, "unknown flag"),
        _ => accepts_quiet_anywhere(call),
    };
    expect(&verdict(GLOBAL, PROBES, in_front), Status::Fail, "accepted before the subcommand");
    assert_blocked_by(&verdict(QUIET, PROBES, in_front), GLOBAL);
    // The effect of the option there is the subject of the other check.
    let drops_data = |call: &Call| match call.args.iter().position(|arg| arg == "--quiet") {
        Some(1..) => failure(call, 2, "unknown flag"),
        Some(0) if has(call, "list") => success(""),
        _ => accepts_quiet_anywhere(call),
    };
    expect(&verdict(GLOBAL, PROBES, drops_data), Status::Fail, "accepted before the subcommand");
    expect(&verdict(QUIET, PROBES, drops_data), Status::Fail, "but not without it");

    let nowhere = with_quiet(|call| failure(call, 2, "unknown flag"));
    assert_blocked_by(&verdict(GLOBAL, PROBES, &nowhere), QUIET);
    expect(
        &verdict(QUIET, PROBES, nowhere),
        Status::Fail,
        "`--quiet` is rejected: exit code 2, but 0 without it",
    );
}

#[test]
fn an_option_that_one_subcommand_rejects_is_reported() {
    let config = format!("{PROBES}\n[[probe]]\nname = 'more'\nargs = ['list', 'more']\n");
    let rejects_quiet_after_more =
        with_quiet(
            |call| if has(call, "more") { failure(call, 2, "unknown flag") } else { conforming(call) },
        );
    expect(&verdict(GLOBAL, &config, &rejects_quiet_after_more), Status::Fail, "accepted by `list`");
    assert_blocked_by(&verdict(QUIET, &config, &rejects_quiet_after_more), GLOBAL);

    let config = format!("[target]\nflags.no_input = ['--batch']\n{config}");
    let rejects_after_more = |call: &Call| {
        if has(call, "--batch") && has(call, "more") { failure(call, 2, "x") } else { conforming(call) }
    };
    expect(
        &verdict(GLOBAL, &config, rejects_after_more),
        Status::Fail,
        "`--batch` is rejected after the arguments",
    );
    let rejects_everywhere =
        |call: &Call| if has(call, "--batch") { failure(call, 2, "no batch") } else { conforming(call) };
    expect(
        &verdict(GLOBAL, &config, rejects_everywhere),
        Status::Unverified,
        "no probe accepts `--batch`: \"demo: no batch\"; accept it, or correct `flags.no_input`",
    );
}

#[test]
fn a_target_without_subcommands_has_one_position_for_options() {
    let config = PROBES.replace("args = ['list']", "args = ['list']\nformats = ['text']");
    let in_front = |call: &Call| match call.args.iter().position(|arg| arg == "--quiet") {
        Some(1..) => failure(call, 2, "unknown file"),
        _ => accepts_quiet_anywhere(call),
    };
    for (id, status) in [(GLOBAL, Status::NotApplicable), (QUIET, Status::Pass)] {
        let recording = record_with_help(b"usage: demo FILE\n", &config, &[id.check()], in_front);
        let result = judge(&recording, &[id.check()]).unwrap().results.remove(0);
        assert_eq!(result.status, status, "{id}: {}", result.message);
    }
}

#[test]
fn quiet_data_is_compared_with_data_that_is_the_same_in_plain_runs() {
    const RECORD: &str = r#"{"id":1,"name":"a"}"#;
    let cases: [(&str, &str, &str, Status); 5] = [
        // Data of the plain run, of its repetition and of the quiet run.
        (RECORD, RECORD, RECORD, Status::Pass),
        (RECORD, RECORD, r#"{"id":2,"name":"a"}"#, Status::Fail),
        (RECORD, r#"{"id":3,"name":"a"}"#, r#"{"id":2,"name":"a"}"#, Status::Pass),
        (RECORD, r#"{"id":3,"name":"a"}"#, r#"{"id":2,"name":"b"}"#, Status::Fail),
        (RECORD, RECORD, r#"{"id":1}"#, Status::Fail),
    ];
    for (plain, repeated, quiet, status) in cases {
        for format in [OutputFormat::Json, OutputFormat::Text] {
            let target = |call: &Call| {
                if has(call, "--agentnative-unknown-flag") {
                    return conforming(call);
                }
                if call.format != format || !has(call, "list") {
                    return accepts_quiet_anywhere(call);
                }
                let is_quiet = has(call, "--quiet");
                let is_repeated =
                    matches!(call.variant, Variant::Repeat | Variant::File | Variant::SlowReader);
                success(records(
                    call,
                    &[if is_quiet {
                        quiet
                    } else if is_repeated {
                        repeated
                    } else {
                        plain
                    }],
                ))
            };
            // Text that differs between plain runs is not compared.
            let expected =
                if format == OutputFormat::Text && repeated != plain { Status::Pass } else { status };
            let result = verdict(QUIET, PROBES, target);
            assert_eq!(result.status, expected, "{format:?} {quiet}: {}", result.message);
        }
    }
}

#[test]
fn a_quiet_run_prints_errors_and_data_only() {
    let noisy = with_quiet(|call| match conforming(call) {
        CallResult(stdout, _, RunEnd::Exited(0)) => exited(0, stdout, "working\n"),
        other => other,
    });
    expect(&verdict(QUIET, PROBES, &noisy), Status::Fail, "stderr is not empty with `--quiet`");
    let blank = with_quiet(|call| match conforming(call) {
        CallResult(stdout, _, RunEnd::Exited(0)) => exited(0, stdout, "\n"),
        other => other,
    });
    assert_eq!(verdict(QUIET, PROBES, blank).status, Status::Pass);
    let without_message = with_quiet(|call| match conforming(call) {
        CallResult(stdout, _, RunEnd::Exited(code)) => exited(code, stdout, ""),
        other => other,
    });
    expect(&verdict(QUIET, PROBES, without_message), Status::Fail, "the failure has no message");
    let without_data = with_quiet(|call| match conforming(call) {
        CallResult(_, stderr, end) => CallResult(String::new(), stderr, end),
    });
    expect(&verdict(QUIET, PROBES, without_data), Status::Fail, "stdout is empty with `--quiet`");
    // A result may be described on stderr. Another exit code means that the option was not understood as quiet.
    let linter = format!("{PROBES}\n[[probe]]\nname = 'lint'\nargs = ['lint']\nexit = 1\nresult = true\n");
    let lints = |call: &Call| match () {
        () if has(call, "lint") => exited(1, records(call, &[r#"{"id":7,"name":"x"}"#]), "1 finding\n"),
        () if has(call, "login") && has(call, "--quiet") => failure(call, 2, "unknown"),
        () => conforming(call),
    };
    assert_eq!(verdict(QUIET, &linter, lints).status, Status::Pass);
}

#[test]
fn an_unverified_result_names_the_reason() {
    let no_json = |call: &Call| match call.format {
        OutputFormat::Json if has(call, "list") => success("reading\n"),
        _ => accepts_quiet_anywhere(call),
    };
    assert_blocked_by(&verdict(QUIET, PROBES, no_json), CheckId::P2OutputJson);
    let hangs = with_quiet(|_| CallResult(String::new(), String::new(), RunEnd::TimedOut));
    for id in [QUIET, GLOBAL] {
        assert_blocked_by(&verdict(id, PROBES, &hangs), CheckId::P2Completes);
    }
    let without_message = |call: &Call| if has(call, "lost") { exited(1, "", "") } else { conforming(call) };
    assert_blocked_by(&verdict(QUIET, PROBES, without_message), CheckId::P2StderrDiagnostics);
    let list = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    expect(&verdict(QUIET, list, conforming), Status::Unverified, "no probe fails");
    let lost = "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
    expect(&verdict(QUIET, lost, conforming), Status::Unverified, "declare a probe that succeeds");
    expect(&verdict(GLOBAL, lost, conforming), Status::Unverified, "no run used a common option");
}

#[test]
fn the_configuration_may_declare_that_there_is_no_option() {
    let target = format!("[target]\nflags.quiet = false\n{PROBES}");
    expect(&verdict(QUIET, &target, conforming), Status::Fail, "the configuration has `flags.quiet = false`");
    let probe = PROBES.replace("args = ['list']", "args = ['list']\nflags.quiet = false");
    let result = verdict(QUIET, &probe, conforming);
    expect(&result, Status::Fail, "the probe list has `flags.quiet = false`");
    assert_eq!(result.evidence[0].probe.as_deref(), Some("list"));
}

#[test]
fn records_are_compared_if_there_is_no_document() {
    let config = "[target]\nformats.json = false\nformats.text = false\nformats.jsonl = ['--jsonl']\n\
                  [[probe]]\nname = 'list'\nargs = ['list']\n[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
    assert_eq!(verdict(QUIET, config, conforming).status, Status::Pass);
    let fewer = with_quiet(|call| match has(call, "list") {
        true => success("{\"id\":1,\"name\":\"a\"}\n"),
        false => conforming(call),
    });
    expect(&verdict(QUIET, config, fewer), Status::Fail, "the document differs");
}
