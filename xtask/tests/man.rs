//! The man pages: one per subcommand, with all its options and the end of its help.

use clap::Command;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use xtask::man::{end_of_help, pages};

static PAGES: LazyLock<BTreeMap<String, String>> =
    LazyLock::new(|| pages("2026-01-02").unwrap().into_iter().map(|page| (page.file, page.text)).collect());

/// Returns the rendered text with single spaces between words.
fn plain_text(page: &str) -> String {
    let unescaped =
        ["\\fB", "\\fI", "\\fR", "\\&"].iter().fold(page.to_owned(), |text, code| text.replace(code, ""));
    let unescaped =
        unescaped.replace("\\-", "-").replace("\\*(Aq", "'").replace("\\(aq", "'").replace("\\\\", "\\");
    let lines = unescaped.lines().filter(|line| !line.starts_with('.') || line.starts_with(".SH"));
    lines.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

fn assert_pages(command: &Command, name: &str, files: &mut Vec<String>) {
    let file = format!("{name}.1");
    let page = PAGES.get(&file).unwrap_or_else(|| panic!("there is no {file}"));
    let page = plain_text(page);
    for argument in command.get_arguments().filter(|argument| !argument.is_hide_set()) {
        if let Some(long) = argument.get_long() {
            assert!(page.contains(&format!("--{long}")), "{file}: --{long}");
        }
        let help = argument.get_long_help().or(argument.get_help()).unwrap().to_string();
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&help), "{file}: {help}\n{page}");
    }
    let after_help = end_of_help(command);
    for line in after_help.lines().filter(|line| line.starts_with("  ")) {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(&line), "{file}: {line}\n{page}");
    }
    assert_eq!(after_help.contains("Examples:"), page.contains(".SH EXAMPLES"), "{file}");
    assert_eq!(page.matches(".SH \"EXIT STATUS\"").count(), 1, "{file}");
    files.push(file);
    for subcommand in command.get_subcommands().filter(|command| command.get_name() != "help") {
        assert_pages(subcommand, &format!("{name}-{}", subcommand.get_name()), files);
    }
}

#[test]
fn each_subcommand_has_a_page_with_its_options_examples_and_exit_codes() {
    let mut files = Vec::new();
    for mut program in [agentnative::cli::command(), reference_agent::command()] {
        program.build();
        let name = program.get_name().to_owned();
        assert_pages(&program, &name, &mut files);
    }
    files.sort();
    assert_eq!(files, PAGES.keys().cloned().collect::<Vec<_>>());
    assert!(files.contains(&"agentnative-contract-diff.1".to_owned()));
}

#[test]
fn a_page_has_the_version_the_files_and_the_environment_variables() {
    let page = &PAGES["agentnative.1"];
    let version = env!("CARGO_PKG_VERSION");
    let head = format!(".TH AGENTNATIVE 1 2026-01-02 \"agentnative {version}\" \"User Commands\"");
    assert!(page.contains(&head), "{page}");
    for part in [".SH FILES", ".SH ENVIRONMENT", "GITHUB_STEP_SUMMARY", "agentnative.toml"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(PAGES["agentnative-check.1"].contains("agentnative check"));
    // A subcommand without exit codes in its help has those of the program.
    assert!(
        plain_text(&PAGES["agentnative-check.1"]).contains("78 target or configuration invalid or missing")
    );
    assert!(!plain_text(&PAGES["agentnative-validate.1"]).contains("78 target"));
}
