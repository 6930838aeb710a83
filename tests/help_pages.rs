//! The help of this program fits on a terminal of any width and groups its options, and its examples run.

use crate::playground::{Playground, assert_line_holds};
use crate::programs::program;
use agentnative::targets::help::Interface;
use std::process::Command;

fn help(name: &str, command: &[String], columns: usize) -> String {
    let mut call = Command::new(program(name));
    call.args(command).arg("--help").env("COLUMNS", columns.to_string());
    let output = call.output().unwrap();
    assert!(output.status.success(), "{name} {command:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the subcommands of a program at any depth, after the program itself (an empty path).
fn commands(name: &str) -> Vec<Vec<String>> {
    let mut found = vec![Vec::new()];
    let mut next = 0;
    while let Some(command) = found.get(next).cloned() {
        for subcommand in Interface::parse(help(name, &command, 100).as_bytes()).commands {
            if subcommand.name != "help" {
                found.push([&command[..], &[subcommand.name]].concat());
            }
        }
        next += 1;
    }
    found
}

fn pages(columns: usize) -> Vec<(String, String)> {
    let page = |name: &str, command: &[String]| {
        (format!("{name} {}", command.join(" ")), help(name, command, columns))
    };
    let own = commands("agentnative");
    assert!(own.contains(&vec!["contract".to_owned(), "diff".to_owned()]), "{own:?}");
    let mut pages: Vec<_> = own.iter().map(|command| page("agentnative", command)).collect();
    pages.push(page("reference-agent", &[]));
    pages
}

#[test]
fn help_fits_on_terminals_of_50_80_and_120_columns() {
    for columns in [50, 80, 120] {
        for (name, page) in pages(columns) {
            for line in page.lines() {
                // clap does not wrap a usage line without options.
                let fits = line.chars().count() <= columns || line.starts_with("Usage: ");
                assert!(fits, "{name} at {columns}: {line}");
            }
            assert!(
                !page.contains("Possible values:"),
                "{name}: a list of values makes every option use several lines"
            );
        }
    }
}

#[test]
fn options_are_under_the_heading_of_their_group() {
    let check = help("agentnative", &["check".into()], 80);
    let headings: Vec<&str> = check
        .lines()
        .filter_map(|line| line.strip_suffix(':'))
        .filter(|line| !line.starts_with(' '))
        .collect();
    let groups = ["Target", "Selection", "Runs", "Report", "Output", "Examples"];
    assert_eq!(headings, [&["Arguments", "Options"][..], &groups].concat());
    // The help option is the only one without a group.
    let (_, options) = check.split_once("Options:\n").unwrap();
    let options = options.split("\n\n").next().unwrap();
    assert_eq!(options.trim(), "-h, --help  Print help");
}

#[test]
fn each_command_has_examples_that_run() {
    for (name, page) in pages(100) {
        let examples = page.split_once("Examples:\n").unwrap_or_else(|| panic!("{name}: no examples")).1;
        let examples = examples.split("\n\n").next().unwrap();
        let playground = Playground::new();
        for line in examples.lines() {
            assert_line_holds(&name, line, |command| playground.run(command));
        }
    }
}
