//! Help, examples and version on made-up targets: which lines are examples, which of them are wrong, what a page is.

use crate::made_up::{Answer, Call, conforming, data, ended, verdict};
use agentnative::model::{CheckId, Status};
use agentnative::run::End;

const LIST: &str = "[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['text']\n";

/// The status of a check of a target that prints this as its help, and this as that of `list`.
fn status_of(id: CheckId, help: &str, list: &str) -> (Status, String) {
    let result = verdict(id, LIST, |call: &Call| match call.args.join(" ").as_str() {
        "--help" => data(help),
        "list --help" => data(list),
        _ => conforming(call),
    });
    (result.status, result.message)
}

fn holds(id: CheckId, help: &str, list: &str, expected: Status) {
    let (status, message) = status_of(id, help, list);
    assert_eq!(status, expected, "{id}: {message}\n{help}\n{list}");
}

/// A page with commands and these lines.
fn page(lines: &str) -> String {
    format!(
        "demo, a tool\n\nUsage: demo [OPTIONS] COMMAND\n\nCommands:\n  list, ls  List\n  show ID   Show [aliases: get]\n\n\
         Options:\n  --json  JSON\n  --[no-]color  Colour\n\n{lines}\n"
    )
}

const OF_LIST: &str =
    "Usage: demo list [OPTIONS]\n\nOptions:\n  --size N  At most N\n\nExample:\n  demo list --size 3\n";

#[test]
fn what_is_an_example() {
    for lines in [
        "Examples:\n  demo list\n  demo show 1",
        "EXAMPLES\n  $ demo list\n  % demo show 1",
        "  demo list --json\n  DEBUG=1 demo ls | head",
        "- demo list\n- demo show 1",
        "Examples:\n  List all of them:\n\n      demo list\n\n  And one:\n\n      ./demo show 1",
        "For example:\n  demo list all of them\n  demo list none of them",
        "Examples:\n  demo list    what there is\n  demo show 1  one of it",
        "Examples:\n  demo list \\\n    --json\n  demo show 1",
    ] {
        holds(CheckId::P3Examples, &page(lines), OF_LIST, Status::Pass);
    }
    for lines in [
        "",
        "Examples:\n  demo list\n  demo list",
        "Examples:\n  demo list\n  demo COMMAND [OPTIONS] <FILE> ARGS...",
        "demo prints what there is and more\ndemo reads files.",
        "demo 1.2.3\ndemo v2.0",
        "Examples:\n  other list\n  demolish it",
        "Usage:\n  demo list --json\n  demo show --json",
        "More commands:\n  demo list  Print all\n  demo show  Print one",
    ] {
        holds(CheckId::P3Examples, &page(lines), OF_LIST, Status::Fail);
    }
    let alone = "Usage: demo [FILE]\n\nExample:\n  demo notes.txt\n";
    holds(CheckId::P3Examples, alone, OF_LIST, Status::Pass);
    holds(CheckId::P3CommandExamples, &page(""), OF_LIST, Status::Pass);
    holds(CheckId::P3CommandExamples, &page(""), "Usage: demo list [OPTIONS]\n", Status::Fail);
}

#[test]
fn which_examples_are_wrong() {
    let judged = |line: &str, expected| {
        holds(CheckId::P3ExamplesValid, &page(&format!("Examples:\n  {line}")), OF_LIST, expected);
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
    ] {
        judged(line, Status::Pass);
    }
    for line in
        ["demo lost", "demo list --any", "demo --any list", "demo ls list --no-such", "$ demo lists --json"]
    {
        let expected = if line.contains("ls list") { Status::Unverified } else { Status::Warn };
        judged(line, expected);
    }
    // Whether a command that no probe calls has an option is not known.
    judged("demo show 1 --any", Status::Unverified);
    // Commands that the help does not list, and options of other programs.
    let more = page("Examples:\n  demo lost --any\n\nPlugins add commands.");
    holds(CheckId::P3ExamplesValid, &more, OF_LIST, Status::Pass);
    let passes_on = "Usage: demo list [OPTIONS] [ARGS]...\n\nExample:\n  demo list ls --any\n";
    holds(CheckId::P3ExamplesValid, &page(""), passes_on, Status::Pass);
    let own = "Usage: demo list [OPTIONS] [FILE]...\n\nExample:\n  demo list ls --any\n";
    holds(CheckId::P3ExamplesValid, &page(""), own, Status::Warn);
    // No example at all is the matter of another check.
    holds(CheckId::P3ExamplesValid, &page(""), "Usage: demo list\n", Status::Unverified);
}

#[test]
fn an_example_that_is_the_call_of_a_probe_has_to_end_as_declared() {
    let fails = |call: &Call| match call.args.join(" ").as_str() {
        "list" => ended(3, "", "demo: failed\n"),
        _ => conforming(call),
    };
    let result = verdict(CheckId::P3ExamplesValid, LIST, fails);
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    assert_eq!(result.blocked_by[0].id, CheckId::P2ExitSuccess);
}

#[test]
fn what_is_help() {
    const PAGE: &str = "Usage: demo COMMAND\n\nCommands:\n  list  List\n";
    type Case = (&'static str, fn() -> Answer, fn() -> Answer, Status);
    let cases: [Case; 8] = [
        ("both", || data(PAGE), || data("Usage: demo COMMAND\n"), Status::Pass),
        ("-h is refused", || data(PAGE), || ended(2, "", "unknown -h\n"), Status::Pass),
        ("-h is refused with a usage", || data(PAGE), || ended(2, "", PAGE), Status::Pass),
        ("-h is something else", || data(PAGE), || ended(0, "1 alpha\n", "warning\n"), Status::Pass),
        ("-h on stderr", || data(PAGE), || ended(0, "", PAGE), Status::Fail),
        ("on stderr", || ended(0, "", PAGE), || ended(0, "", PAGE), Status::Fail),
        ("refused", || ended(2, "", "unknown --help\n"), || data(PAGE), Status::Fail),
        ("hangs", || Answer(String::new(), String::new(), End::TimedOut), || data(PAGE), Status::Unverified),
    ];
    for (what, long, short, expected) in cases {
        let answer = |call: &Call| match call.args.join(" ").as_str() {
            "--help" => long(),
            "-h" => short(),
            _ => conforming(call),
        };
        let result = verdict(CheckId::P3Help, LIST, answer);
        assert_eq!(result.status, expected, "{what}: {}", result.message);
        if expected != Status::Pass {
            for id in [CheckId::P3Examples, CheckId::P3CommandExamples, CheckId::P3CommandHelp] {
                let open = verdict(id, LIST, answer);
                let waits = open.status == Status::Unverified && !open.blocked_by.is_empty();
                assert!(waits || what.starts_with('-'), "{what}: {id}: {}", open.message);
            }
        }
    }
    let result = verdict(CheckId::P3CommandHelp, LIST, |call: &Call| match call.args.join(" ").as_str() {
        "list --help" => ended(0, "", "Usage: demo list\n"),
        _ => conforming(call),
    });
    assert_eq!(result.status, Status::Fail, "{}", result.message);
    assert_eq!(result.evidence[0].kind, "nothing");
    let none =
        verdict(CheckId::P3CommandHelp, "[[probe]]\nname = 'lost'\nargs = ['lost']\nexit = 1\n", conforming);
    assert_eq!(none.status, Status::Unverified);
    assert!(none.message.contains("no probe begins with a subcommand"), "{}", none.message);
}
