//! The interfaces that help pages of real tools describe: what a page states, and what it does not.

use agentnative::targets::described_command;
use agentnative_diff::interface::{CommandInterface, OptionInterface};

fn read(page: &str) -> CommandInterface {
    described_command(page.as_bytes(), &["tool"])
}

fn keys(command: &CommandInterface) -> Vec<&str> {
    command.options.keys().map(String::as_str).collect()
}

/// Returns the option of a cobra command that this line describes.
fn cobra(line: &str) -> (String, OptionInterface) {
    let page = format!("Usage:\n  tool [flags]\n\nFlags:\n  -h, --help   help for tool\n  {line}\n");
    read(&page).options.into_iter().find(|(key, _)| key != "--help").unwrap()
}

#[test]
fn an_option_in_a_paragraph_is_not_listed() {
    let page = read(
        "Serves files.\n\n--bwlimit will be respected for transfers.  Use --stats to\ncontrol the printing, or add the\n--localtime flag.\n\n--offset -1 --count 1 is the same as --tail 1.\n\nUsage:\n  tool [flags]\n\nFlags:\n      --addr string   Address\n  -h, --help          help for tool\n",
    );
    assert_eq!(keys(&page), ["--addr", "--help"]);
    // The options of this page begin at the margin.
    let page = read("usage: tool [options]\n\n--addr ADDR  Address\n--help       Show help\n");
    assert_eq!(keys(&page), ["--addr", "--help"]);
}

#[test]
fn an_option_as_the_placeholder_of_another_one_is_not_its_name() {
    let page = read(
        "Usage:\n  tool [flags]\n\nFlags:\n  -h, --help                 help for tool\n      --iinclude --include   same as --include, ignoring the case\n  -i, --include pattern      include a pattern\n",
    );
    assert_eq!(keys(&page), ["--help", "--iinclude", "--include"]);
    let option = &page.options["--iinclude"];
    assert!(option.short.is_empty() && option.value.is_some());
}

#[test]
fn a_value_with_a_fallback_is_optional() {
    let (name, option) = cobra("-c, --commit string[=\"last\"]   Select a commit");
    assert_eq!((&*name, option.value.as_deref(), option.value_optional), ("--commit", Some("string"), true));
    let (_, option) = cobra("-v, --verbose   be verbose (specify a level using --verbose=n)");
    assert_eq!((option.value.as_deref(), option.value_optional), (Some("n"), true));
    let (_, option) = cobra("--foo   same as --foo-bar=1");
    assert_eq!(option.value, None);
}

#[test]
fn an_option_is_repeatable_if_its_type_or_its_description_states_it() {
    let repeatable = |line: &str| cobra(line).1.repeatable;
    assert_eq!(repeatable("--tag stringArray   Tags"), Some(true));
    assert_eq!(repeatable("--host host   Hosts (can be specified multiple times)"), Some(true));
    assert_eq!(repeatable("--limit int   Limit"), Some(false));
    // The name of the value may be that of a list.
    assert_eq!(repeatable("--size SizeSuffix   Size"), None);
}

#[test]
fn alternatives_of_several_words_are_no_positional_arguments() {
    let arguments = |usage: &str| read(&format!("Usage:\n  tool [flags] {usage}\n")).arguments;
    assert_eq!(arguments("[config|pack ID|blob ID|tree snapshot:folder]"), None);
    let [choice] = &arguments("[pack|blob]").unwrap()[..] else { panic!() };
    assert_eq!(choice.values.len(), 2);
}

#[test]
fn a_default_in_words_is_a_part_of_the_description() {
    let read = |note: &str| {
        let (_, option) = cobra(&format!("--branch name   The branch {note}"));
        (option.default, option.description)
    };
    let with = |default: &str| (Some(default.to_owned()), "The branch".to_owned());
    assert_eq!(read("(default \"main\")"), with("main"));
    assert_eq!(read("(default \"a b\")"), with("a b"));
    assert_eq!(read("(default 10 MB)"), with("10 MB"));
    assert_eq!(read("(default [a, b])"), with("[a, b]"));
    for note in ["(default: the current branch)", "(default [the current branch])"] {
        assert_eq!(read(note), (None, format!("The branch {note}")));
    }
}

#[test]
fn the_name_of_a_number_is_no_default() {
    let default = |line: &str| cobra(line).1.default;
    assert_eq!(default("--reqs INTEGER   Requirements  [default: 2]").as_deref(), Some("2"));
    assert_eq!(default("--reqs INTEGER   Requirements  [default: CERT_REQUIRED]"), None);
    assert_eq!(
        default("--reqs NAME   Requirements  [default: CERT_REQUIRED]").as_deref(),
        Some("CERT_REQUIRED")
    );
}

#[test]
fn a_usage_without_arguments_that_its_author_wrote_states_none() {
    let arguments = |flags: &str| read(&format!("Usage: tool [flags]\n\nFlags:\n{flags}\n")).arguments;
    assert_eq!(arguments("  -h, --help   help for tool"), None);
    assert_eq!(arguments("  -h, --help  show this help message and exit"), Some(Vec::new()));
}
