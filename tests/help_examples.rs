//! Verdicts on the help of simulated targets: the lines that are examples, invalid examples, and what counts as help.

use crate::simulated_target::{Call, CallResult, conforming, exited, success, verdict};
use agentnative::model::{CheckId, Status};
use agentnative::run::RunEnd;

const LIST_CONFIG: &str = "[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['text']\n";

/// Returns the status and message of a check on a target with this help, and with `list_help` for `list`.
fn status_of(id: CheckId, help: &str, list_help: &str) -> (Status, String) {
    let result = verdict(id, LIST_CONFIG, |call: &Call| match call.args.join(" ").as_str() {
        "--help" => success(help),
        "list --help" => success(list_help),
        _ => conforming(call),
    });
    (result.status, result.message)
}

fn assert_status(id: CheckId, help: &str, list_help: &str, expected: Status) {
    let (status, message) = status_of(id, help, list_help);
    assert_eq!(status, expected, "{id}: {message}\n{help}\n{list_help}");
}

/// Returns a help page with commands, options and these lines.
fn page(lines: &str) -> String {
    format!(
        "demo, a tool\n\nUsage: demo [OPTIONS] COMMAND\n\nCommands:\n  list, ls  List\n  show ID   Show [aliases: get]\n\n\
         Options:\n  --json  JSON\n  --[no-]color  Colour\n\n{lines}\n"
    )
}

const LIST_HELP: &str =
    "Usage: demo list [OPTIONS]\n\nOptions:\n  --size N  At most N\n\nExample:\n  demo list --size 3\n";

#[test]
fn lines_with_calls_of_the_target_are_examples() {
    for lines in [
        "Examples:\n  demo list\n  demo show 1",
        "EXAMPLES\n  $ demo list\n  % demo show 1",
        "  demo list --json\n  DEBUG=1 demo ls | head",
        "- demo list\n- demo show 1",
        "Examples:\n  List all of them:\n\n      demo list\n\n  And one:\n\n      ./demo show 1",
        "For example:\n  demo list all of them\n  demo list none of them",
        "Examples:\n  demo list    what there is\n  demo show 1  one of it",
        "Examples:\n  demo list \\\n    --json\n  demo show 1",
        "Examples:\n  seq 3 | demo list -\n\n  $ seq 3 | ./demo show 1",
        "For example: demo list --json\n\nFor instance: demo show 1",
        "COMMON COMMANDS\n\n  demo\n  Print all.\n\n  demo list --json\n  Print JSON.\n\n  demo show ./1\n  Print one.",
        "The list command lists all commands:\n\n    demo list\n\nThe commands of a namespace:\n\n    demo list test",
    ] {
        assert_status(CheckId::P3Examples, &page(lines), LIST_HELP, Status::Pass);
    }
    for lines in [
        "",
        "Examples:\n  demo list\n  demo list",
        "Examples:\n  demo list\n  demo COMMAND [OPTIONS] <FILE> ARGS...",
        "demo prints what there is and more\ndemo reads files.",
        "demo 1.2.3\ndemo v2.0",
        "NAME:\n   demo - Lists things\n   demo - List manager",
        "Examples:\n  other list\n  demolish it",
        "Usage:\n  demo list --json\n  demo show --json",
        "More commands:\n  demo list  Print all\n  demo show  Print one",
        "More commands:\n\n  demo list\n  demo show",
        "More commands:\n  demo list --size N\n  demo show [--json] ID\n  demo list --json  Print all\n  demo show ./1  Print one",
    ] {
        assert_status(CheckId::P3Examples, &page(lines), LIST_HELP, Status::Fail);
    }
    let without_commands = "Usage: demo [FILE]\n\nExample:\n  demo notes.txt\n";
    assert_status(CheckId::P3Examples, without_commands, LIST_HELP, Status::Pass);
    assert_status(CheckId::P3CommandExamples, &page(""), LIST_HELP, Status::Pass);
    assert_status(CheckId::P3CommandExamples, &page(""), "Usage: demo list [OPTIONS]\n", Status::Fail);
}

#[test]
fn examples_with_unknown_commands_or_options_are_invalid() {
    let assert_example_status = |line: &str, expected| {
        assert_status(CheckId::P3ExamplesValid, &page(&format!("Examples:\n  {line}")), LIST_HELP, expected);
    };
    for line in [
        "demo list --size=3 --json",
        "demo list --no-color",
        "demo --json list --size 3",
        "demo ls --json",
        "demo get 1",
        "demo help list",
        "demo list -x --size 3",
        "demo list -- --any",
        "demo list | other --any",
        "demo list && other --any",
        "demo list >--any",
        "demo list  --any is a description",
        "demo list # --any",
        "demo --json",
        "demo list --help",
        "demo --color always list",
        "demo .",
        "demo '*.txt'",
        "demo list --size:large=3",
    ] {
        assert_example_status(line, Status::Pass);
    }
    for line in
        ["demo lost", "demo list --any", "demo --any list", "demo ls list --no-such", "$ demo lists --json"]
    {
        let expected = if line.contains("ls list") { Status::Unverified } else { Status::Warn };
        assert_example_status(line, expected);
    }
    // The options of a command that no probe calls are unknown.
    assert_example_status("demo show 1 --any", Status::Unverified);
    // Commands that the help does not list, and arguments for other programs.
    let with_plugins = page("Examples:\n  demo lost --any\n\nPlugins add commands.");
    assert_status(CheckId::P3ExamplesValid, &with_plugins, LIST_HELP, Status::Pass);
    let forwards_arguments = "Usage: demo list [OPTIONS] [ARGS]...\n\nExample:\n  demo list ls --any\n";
    assert_status(CheckId::P3ExamplesValid, &page(""), forwards_arguments, Status::Pass);
    let with_files = "Usage: demo list [OPTIONS] [FILE]...\n\nExample:\n  demo list ls --any\n";
    assert_status(CheckId::P3ExamplesValid, &page(""), with_files, Status::Warn);
    // Missing examples are reported by another check.
    assert_status(CheckId::P3ExamplesValid, &page(""), "Usage: demo list\n", Status::Unverified);
}

#[test]
fn an_example_that_is_the_call_of_a_probe_has_its_exit_code() {
    let fails = |call: &Call| match call.args.join(" ").as_str() {
        "list" => exited(3, "", "demo: failed\n"),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P3ExamplesValid, LIST_CONFIG, fails);
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    assert_eq!(result.blocked_by[0].id, CheckId::P2ExitSuccess);
}

#[test]
fn help_is_printed_to_stdout() {
    const PAGE: &str = "Usage: demo COMMAND\n\nCommands:\n  list  List\n";
    type Case = (&'static str, fn() -> CallResult, fn() -> CallResult, Status);
    let cases: [Case; 8] = [
        ("both", || success(PAGE), || success("Usage: demo COMMAND\n"), Status::Pass),
        ("-h is refused", || success(PAGE), || exited(2, "", "unknown -h\n"), Status::Pass),
        ("-h is refused with a usage", || success(PAGE), || exited(2, "", PAGE), Status::Pass),
        ("-h is something else", || success(PAGE), || exited(0, "1 alpha\n", "warning\n"), Status::Pass),
        ("-h on stderr", || success(PAGE), || exited(0, "", PAGE), Status::Fail),
        ("on stderr", || exited(0, "", PAGE), || exited(0, "", PAGE), Status::Fail),
        ("refused", || exited(2, "", "unknown --help\n"), || success(PAGE), Status::Fail),
        (
            "hangs",
            || CallResult(String::new(), String::new(), RunEnd::TimedOut),
            || success(PAGE),
            Status::Unverified,
        ),
    ];
    for (case, long, short, expected) in cases {
        let answer = |call: &Call| match call.args.join(" ").as_str() {
            "--help" => long(),
            "-h" => short(),
            _ => conforming(call),
        };
        let result = verdict(CheckId::P3Help, LIST_CONFIG, answer);
        assert_eq!(result.status, expected, "{case}: {}", result.message);
        if expected != Status::Pass {
            for id in [CheckId::P3Examples, CheckId::P3CommandExamples, CheckId::P3CommandHelp] {
                let blocked = verdict(id, LIST_CONFIG, answer);
                let is_blocked = blocked.status == Status::Unverified && !blocked.blocked_by.is_empty();
                assert!(is_blocked || case.starts_with('-'), "{case}: {id}: {}", blocked.message);
            }
        }
    }
    let result =
        verdict(CheckId::P3CommandHelp, LIST_CONFIG, |call: &Call| match call.args.join(" ").as_str() {
            "list --help" => exited(0, "", "Usage: demo list\n"),
            _ => conforming(call),
        });
    assert_eq!(result.status, Status::Fail, "{}", result.message);
    assert_eq!(result.evidence[0].kind, "nothing");
    let without_subcommand =
        verdict(CheckId::P3CommandHelp, "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n", conforming);
    assert_eq!(without_subcommand.status, Status::Unverified);
    assert!(
        without_subcommand.message.contains("no probe begins with a subcommand"),
        "{}",
        without_subcommand.message
    );
}
