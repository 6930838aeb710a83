//! The man pages: there is one for each subcommand, with all of its options and with the end of its help.

use clap::Command;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use xtask::man::pages;

static PAGES: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| pages("2026-01-02").unwrap().into_iter().map(|page| (page.file, page.text)).collect());

/// The text as a reader sees it, one space between words.
fn read(page: &str) -> String {
    let plain =
        ["\\fB", "\\fI", "\\fR", "\\&"].iter().fold(page.to_owned(), |text, code| text.replace(code, ""));
    let plain = plain.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\(aq", "'").replace("\\\\", "\\");
    let lines = plain.lines().filter(|line| !line.starts_with('.') || line.starts_with(".SH"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn assert_pages(command: &Command, name: &str, seen: &mut Vec<String>) {
    let file = format!("{name}.1");
    let page = PAGES.get(&file).unwrap_or_else(|| panic!("there is no {file}"));
    let page = read(page);
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        if let Some(long) = argument.get_long() {
            assert!(page.contains(&format!("--{long}")), "{file}: --{long}");
        }
        let help = argument.get_help().unwrap().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&help), "{file}: {help}\n{page}");
    }
    let end = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    for line in end.lines().filter(|line| line.starts_with("  ")) {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&line), "{file}: {line}\n{page}");
    }
    assert_eq!(end.contains("Examples:"), page.contains(".SH EXAMPLES"), "{file}");
    assert_eq!(page.matches(".SH \"EXIT STATUS\"").count(), 1, "{file}");
    seen.push(file);
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        assert_pages(subcommand, &format!("{name}-{}", subcommand.get_name()), seen);
    }
}

#[test]
fn each_subcommand_has_a_page_with_its_options_examples_and_exit_codes() {
    let mut seen = Vec::new();
    for mut program in [agentnative::cli::command(), reference_agent::command()] {
        program.build();
        let name = program.get_name().to_owned();
        assert_pages(&program, &name, &mut seen);
    }
    seen.sort();
    assert_eq!(seen, PAGES.keys().cloned().collect::<Vec<_>>());
    assert!(seen.contains(&"agentnative-contract-diff.1".to_owned()));
}

#[test]
fn a_page_says_which_version_it_is_for_and_what_files_and_variables_are_read() {
    let page = &PAGES["agentnative.1"];
    let version = env!("CARGO_PKG_VERSION");
    let head = format!(".TH AGENTNATIVE 1 2026-01-02 \"agentnative {version}\" \"User Commands\"");
    assert!(page.contains(&head), "{page}");
    for part in [".SH FILES", ".SH ENVIRONMENT", "GITHUB_STEP_SUMMARY", "agentnative.toml"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(PAGES["agentnative-check.1"].contains("agentnative check"));
    // A subcommand without exit codes of its own has those of the program.
    assert!(read(&PAGES["agentnative-check.1"]).contains("78 target or configuration invalid or missing"));
    assert!(!read(&PAGES["agentnative-validate.1"]).contains("78 target"));
}
