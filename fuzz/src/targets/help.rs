//! Help pages: parsed names are single words without control characters, and parsing takes linear time.

use crate::{Target, corpus};
use agentnative::targets::help::{CommandPage, HelpPage, Interface, TargetNames};
use cpu_time::ThreadTime;
use std::time::Duration;

pub const TARGET: Target = Target {
    name: "help",
    run,
    seeds,
    words: &[
        "Usage: a [OPTIONS] <COMMAND>",
        "Commands:",
        "Options:",
        "  -h, --help  Print help",
        "  --json",
        "  --output <FORMAT>  [possible values: text, json]",
        "{json,jsonl}",
        "[prompt]",
        "<file>...",
        "[env: A=]",
        "Examples:",
        "  $ a list --json",
        "  a list | jq .",
        "(default: \"a\")",
        "  list, ls  List",
    ],
};

pub(super) fn seeds() -> Vec<Vec<u8>> {
    // Help pages are in the fixtures and in the tests.
    let mut seeds =
        corpus::texts(&["fixtures/clis", "docs", "tests/snapshots"], &["cli", ".md", ".py", ".sh", ".txt"]);
    let tests = corpus::texts(&["tests"], &["help.rs", "help_examples.rs", "help_pages.rs", "skeleton.rs"]);
    let strings = tests.iter().flat_map(|text| text.split(|byte| *byte == b'"').skip(1).step_by(2));
    seeds.extend(strings.filter(|text| text.len() > 60).map(<[u8]>::to_vec));
    seeds
}

/// One of this number of inputs is repeated to a long input.
const LONG_INPUT_INTERVAL: usize = 64;
/// Length of a long input, in bytes.
const LONG_INPUT: usize = 128 << 10;
/// Maximum time for a long input, about a hundred times the usual time.
const MAX_TIME: Duration = Duration::from_secs(20);

fn run(bytes: &[u8]) {
    parse(bytes);
    let sum: usize = bytes.iter().map(|byte| usize::from(*byte)).sum();
    if sum.is_multiple_of(LONG_INPUT_INTERVAL) && !bytes.is_empty() {
        let long = bytes.repeat(LONG_INPUT.div_ceil(bytes.len()));
        let start = ThreadTime::now();
        parse(&long[..LONG_INPUT]);
        assert!(start.elapsed() < MAX_TIME, "{:?}", start.elapsed());
    }
}

fn parse(bytes: &[u8]) {
    let layout = HelpPage::parse(bytes);
    let help = Interface::of_command(&layout, &["list"]);
    let names = TargetNames::new(&layout, &help.commands, &["a".to_owned()]);
    let page = CommandPage::new(&layout, &["list"], &names, &help.commands);
    assert_eq!(help, page.interface);
    assert_eq!(Interface::parse(bytes), Interface::of_command(&layout, &[]));
    for command in &help.commands {
        let is_word =
            !command.name.is_empty() && !command.name.contains(|c: char| c.is_control() || c.is_whitespace());
        assert!(is_word && page.has_command(&command.name), "{command:?}");
        assert!(!command.about.contains(char::is_control), "{command:?}");
    }
    for flag in &help.option_names() {
        assert!(flag.starts_with('-') && !flag.contains(char::is_control), "{flag:?}");
    }
    let lines = bytes.split(|byte| *byte == b'\n').count();
    for example in &page.examples {
        assert!(example.line <= lines, "{} of {lines}", example.line);
        let _complete = example.is_complete();
    }
    for choices in &help.choices() {
        assert!(choices.values.len() > 1, "{choices:?}");
    }
    let _ = (page.lists_all_commands(), page.forwards_arguments());
}
