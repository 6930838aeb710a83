//! Verdicts on made-up targets: the quiet option, and options after subcommands.

use crate::made_up::{
    Answer, Call, PROBES, conforming, data, ended, failure, records, seen_with_help, verdict,
};
use agentnative::check::judge;
use agentnative::model::{CheckId, CheckResult, OutputFormat, Status, Variant};
use agentnative::run::End;

const QUIET: CheckId = CheckId::P7Quiet;
const GLOBAL: CheckId = CheckId::P6GlobalFlags;

fn is(result: &CheckResult, status: Status, part: &str) {
    assert_eq!(result.status, status, "{part}: {} {:?}", result.message, result.evidence);
    assert!(result.message.contains(part), "{part}: {}", result.message);
}

fn is_blocked_by(result: &CheckResult, id: CheckId) {
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    assert!(result.blocked_by.iter().any(|cause| cause.id == id), "{id}: {}", result.message);
}

fn has(call: &Call, word: &str) -> bool {
    call.args.iter().any(|arg| arg == word)
}

/// A target that takes `--quiet` in front as well.
fn anywhere(call: &Call) -> Answer {
    let args = call.args.iter().filter(|arg| *arg != "--quiet").cloned().collect();
    conforming(&Call { args, ..call.clone() })
}

/// What conforms, but for the calls with `--quiet`.
fn with_quiet(answer: impl Fn(&Call) -> Answer) -> impl Fn(&Call) -> Answer {
    move |call| if has(call, "--quiet") { answer(call) } else { conforming(call) }
}

#[test]
fn what_conforms_passes() {
    for id in [QUIET, GLOBAL] {
        for target in [conforming, anywhere] {
            assert_eq!(verdict(id, PROBES, target).status, Status::Pass, "{id}");
        }
    }
    let spelt = format!("[target]\nflags.quiet = ['-s']\n{PROBES}");
    let silent =
        |call: &Call| if has(call, "--quiet") { failure(call, 2, "unknown") } else { conforming(call) };
    assert_eq!(verdict(QUIET, &spelt, silent).status, Status::Pass);
}

#[test]
fn an_option_that_is_taken_in_front_alone_is_the_affair_of_one_check() {
    let in_front = |call: &Call| match call.args.iter().position(|arg| arg == "--quiet") {
        Some(1..) => failure(call, 2, "unknown flag"),
        _ => anywhere(call),
    };
    is(&verdict(GLOBAL, PROBES, in_front), Status::Fail, "accepted before the subcommand");
    is_blocked_by(&verdict(QUIET, PROBES, in_front), GLOBAL);
    // What it does there is another matter.
    let drops = |call: &Call| match call.args.iter().position(|arg| arg == "--quiet") {
        Some(1..) => failure(call, 2, "unknown flag"),
        Some(0) if has(call, "list") => data(""),
        _ => anywhere(call),
    };
    is(&verdict(GLOBAL, PROBES, drops), Status::Fail, "accepted before the subcommand");
    is(&verdict(QUIET, PROBES, drops), Status::Fail, "but not without it");

    let nowhere = with_quiet(|call| failure(call, 2, "unknown flag"));
    is_blocked_by(&verdict(GLOBAL, PROBES, &nowhere), QUIET);
    is(
        &verdict(QUIET, PROBES, nowhere),
        Status::Fail,
        "`--quiet` is rejected: exit code 2, but 0 without it",
    );
}

#[test]
fn one_subcommand_may_be_the_one_that_lacks_an_option() {
    let config = format!("{PROBES}\n[[probe]]\nname = 'more'\nargs = ['list', 'more']\n");
    let lacks =
        with_quiet(
            |call| if has(call, "more") { failure(call, 2, "unknown flag") } else { conforming(call) },
        );
    is(&verdict(GLOBAL, &config, &lacks), Status::Fail, "accepted by `list`");
    is_blocked_by(&verdict(QUIET, &config, &lacks), GLOBAL);

    let config = format!("[target]\nflags.no_input = ['--batch']\n{config}");
    let asks = |call: &Call| {
        if has(call, "--batch") && has(call, "more") { failure(call, 2, "x") } else { conforming(call) }
    };
    is(&verdict(GLOBAL, &config, asks), Status::Fail, "`--batch` is rejected after the arguments");
    let never = |call: &Call| if has(call, "--batch") { failure(call, 2, "x") } else { conforming(call) };
    is(&verdict(GLOBAL, &config, never), Status::Unverified, "correct `flags.no_input`");
}

#[test]
fn a_target_without_subcommands_has_one_place_for_options() {
    let config = PROBES.replace("args = ['list']", "args = ['list']\nformats = ['text']");
    let in_front = |call: &Call| match call.args.iter().position(|arg| arg == "--quiet") {
        Some(1..) => failure(call, 2, "unknown file"),
        _ => anywhere(call),
    };
    for (id, status) in [(GLOBAL, Status::NotApplicable), (QUIET, Status::Pass)] {
        let recording = seen_with_help(b"usage: demo FILE\n", &config, &[id.check()], in_front);
        let result = judge(&recording, &[id.check()]).unwrap().results.remove(0);
        assert_eq!(result.status, status, "{id}: {}", result.message);
    }
}

#[test]
fn data_are_compared_where_plain_runs_agree() {
    const RECORD: &str = r#"{"id":1,"name":"a"}"#;
    let cases: [(&str, &str, &str, Status); 5] = [
        // Plain, again, quiet.
        (RECORD, RECORD, RECORD, Status::Pass),
        (RECORD, RECORD, r#"{"id":2,"name":"a"}"#, Status::Fail),
        (RECORD, r#"{"id":3,"name":"a"}"#, r#"{"id":2,"name":"a"}"#, Status::Pass),
        (RECORD, r#"{"id":3,"name":"a"}"#, r#"{"id":2,"name":"b"}"#, Status::Fail),
        (RECORD, RECORD, r#"{"id":1}"#, Status::Fail),
    ];
    for (plain, again, quiet, status) in cases {
        for only in [OutputFormat::Json, OutputFormat::Text] {
            let target = |call: &Call| {
                if has(call, "--agentnative-unknown-flag") {
                    return conforming(call);
                }
                if call.format != only || !has(call, "list") {
                    return anywhere(call);
                }
                let quiet_run = has(call, "--quiet");
                let again_run = matches!(call.variant, Variant::Repeat | Variant::File | Variant::SlowReader);
                data(records(
                    call,
                    &[if quiet_run {
                        quiet
                    } else if again_run {
                        again
                    } else {
                        plain
                    }],
                ))
            };
            // Text that changes by itself is not compared.
            let expected = if only == OutputFormat::Text && again != plain { Status::Pass } else { status };
            let result = verdict(QUIET, PROBES, target);
            assert_eq!(result.status, expected, "{only:?} {quiet}: {}", result.message);
        }
    }
}

#[test]
fn errors_are_left_and_nothing_else() {
    let noisy = with_quiet(|call| match conforming(call) {
        Answer(stdout, _, End::Exited(0)) => ended(0, stdout, "working\n"),
        other => other,
    });
    is(&verdict(QUIET, PROBES, &noisy), Status::Fail, "stderr is not empty with `--quiet`");
    let blank = with_quiet(|call| match conforming(call) {
        Answer(stdout, _, End::Exited(0)) => ended(0, stdout, "\n"),
        other => other,
    });
    assert_eq!(verdict(QUIET, PROBES, blank).status, Status::Pass);
    let silent = with_quiet(|call| match conforming(call) {
        Answer(stdout, _, End::Exited(code)) => ended(code, stdout, ""),
        other => other,
    });
    is(&verdict(QUIET, PROBES, silent), Status::Fail, "the failure has no message");
    let empty = with_quiet(|call| match conforming(call) {
        Answer(_, stderr, end) => Answer(String::new(), stderr, end),
    });
    is(&verdict(QUIET, PROBES, empty), Status::Fail, "stdout is empty with `--quiet`");
    // A result may be told on stderr, and another end says that the option was taken for something else.
    let linter = format!("{PROBES}\n[[probe]]\nname = 'lint'\nargs = ['lint']\nexit = 1\nresult = true\n");
    let lints = |call: &Call| match () {
        () if has(call, "lint") => ended(1, records(call, &[r#"{"id":7,"name":"x"}"#]), "1 finding\n"),
        () if has(call, "login") && has(call, "--quiet") => failure(call, 2, "unknown"),
        () => conforming(call),
    };
    assert_eq!(verdict(QUIET, &linter, lints).status, Status::Pass);
}

#[test]
fn what_could_not_be_told_says_why() {
    let no_json = |call: &Call| match call.format {
        OutputFormat::Json if has(call, "list") => data("reading\n"),
        _ => anywhere(call),
    };
    is_blocked_by(&verdict(QUIET, PROBES, no_json), CheckId::P2OutputJson);
    let hangs = with_quiet(|_| Answer(String::new(), String::new(), End::TimedOut));
    for id in [QUIET, GLOBAL] {
        is_blocked_by(&verdict(id, PROBES, &hangs), CheckId::P2Completes);
    }
    let mute = |call: &Call| if has(call, "lost") { ended(1, "", "") } else { conforming(call) };
    is_blocked_by(&verdict(QUIET, PROBES, mute), CheckId::P2StderrDiagnostics);
    let list = "[[probe]]\nname = 'list'\nargs = ['list']\n";
    is(&verdict(QUIET, list, conforming), Status::Unverified, "no probe fails");
    let lost = "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
    is(&verdict(QUIET, lost, conforming), Status::Unverified, "declare a probe that succeeds");
    is(&verdict(GLOBAL, lost, conforming), Status::Unverified, "no common option was tried");
}

#[test]
fn the_configuration_may_say_that_there_is_no_option() {
    let target = format!("[target]\nflags.quiet = false\n{PROBES}");
    is(&verdict(QUIET, &target, conforming), Status::Fail, "the configuration has `flags.quiet = false`");
    let probe = PROBES.replace("args = ['list']", "args = ['list']\nflags.quiet = false");
    let result = verdict(QUIET, &probe, conforming);
    is(&result, Status::Fail, "the probe list has `flags.quiet = false`");
    assert_eq!(result.evidence[0].probe.as_deref(), Some("list"));
}

#[test]
fn records_are_compared_where_there_is_no_document() {
    let config = "[target]\nformats.json = false\nformats.text = false\nformats.jsonl = ['--jsonl']\n\
                  [[probe]]\nname = 'list'\nargs = ['list']\n[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n";
    assert_eq!(verdict(QUIET, config, conforming).status, Status::Pass);
    let fewer = with_quiet(|call| match has(call, "list") {
        true => data("{\"id\":1,\"name\":\"a\"}\n"),
        false => conforming(call),
    });
    is(&verdict(QUIET, config, fewer), Status::Fail, "the document differs");
}
