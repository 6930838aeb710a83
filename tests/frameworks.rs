//! Help pages of tools that use common libraries: the interface that is read from them is that of the tool.

use agentnative::targets::help::{Argument, CliOption, HelpPage, Interface};
use agentnative::targets::{CommandTree, TreeLimits};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The contents of `interface.toml` of a project.
#[derive(Deserialize)]
struct Expected {
    commands: Vec<String>,
    formats: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    pages: BTreeMap<String, ExpectedPage>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedPage {
    positionals: Vec<String>,
    options: Vec<String>,
    #[serde(default)]
    variables: BTreeMap<String, String>,
}

/// Returns the folders of the projects, one for each kind of each framework.
fn projects() -> Vec<PathBuf> {
    let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/frameworks");
    let folders = |folder: &Path| {
        let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
        folders.sort();
        folders
    };
    let projects: Vec<PathBuf> =
        folders(&frameworks).iter().flat_map(|framework| folders(framework)).collect();
    assert!(projects.len() >= 24, "{projects:?}");
    projects
}

/// Formats an option as in `interface.toml`: `-o, --output <text|json>`.
fn format_option(option: &CliOption) -> String {
    let names = option.names.join(", ");
    match (&option.value, option.values.is_empty()) {
        (_, false) => format!("{names} <{}>", option.values.join("|")),
        (Some(value), true) => format!("{names} <{value}>"),
        (None, true) => names,
    }
}

fn name(operand: &Argument) -> &str {
    &operand.name
}

/// Returns the pages in `pages.txt` by name. Each begins with a header like those of `head` and `tail`.
fn pages(project: &Path) -> BTreeMap<String, String> {
    let text = fs::read_to_string(project.join("pages.txt")).unwrap();
    let mut pages: BTreeMap<String, String> = BTreeMap::new();
    let mut name = None;
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("==> ").and_then(|rest| rest.strip_suffix(" <==\n")) {
            Some(page) => name = Some(page.to_owned()),
            None => pages.entry(name.clone().unwrap()).or_default().push_str(line),
        }
    }
    pages
}

#[test]
fn the_interface_of_each_framework_is_read_from_its_pages() {
    let mut wrong = Vec::new();
    for project in projects() {
        let expected: Expected =
            toml::from_str(&fs::read_to_string(project.join("interface.toml")).unwrap()).unwrap();
        let pages = pages(&project);
        let page = |name: &str| pages.get(name).map(|page| page.clone().into_bytes());
        let mut check = |what: String, expected: String, found: String| {
            if expected != found {
                wrong.push(format!(
                    "{} {what}:\n  expected {expected}\n  found    {found}",
                    project.display()
                ));
            }
        };
        let root = page("root").unwrap();
        let mut make_calls = |calls: &[Vec<String>]| -> Vec<Option<Vec<u8>>> {
            let command = |call: &Vec<String>| {
                call.iter().find(|word| !word.starts_with('-') && *word != "help").cloned()
            };
            calls.iter().map(|call| page(&command(call)?)).collect()
        };
        let commands = CommandTree::explore(&root, &TreeLimits::default(), &mut make_calls);
        let names: Vec<String> =
            expected.commands.iter().map(|name| name.split('|').next().unwrap().to_owned()).collect();
        let found: Vec<String> = commands.help.commands.iter().map(|command| command.name.clone()).collect();
        check("commands".to_owned(), names.join(" "), found.join(" "));
        let formats = || commands.leaves.iter().filter_map(|call| call.formats.as_ref());
        let expected_args =
            |format: &str| expected.formats.get(format).cloned().unwrap_or_default().join(" ");
        let json = formats().find_map(|formats| formats.json.clone()).unwrap_or_default();
        check("json".to_owned(), expected_args("json"), json.join(" "));
        let jsonl = formats().find_map(|formats| formats.jsonl.clone()).unwrap_or_default();
        check("jsonl".to_owned(), expected_args("jsonl"), jsonl.join(" "));
        for (page_name, expected) in &expected.pages {
            let Some(bytes) = page(page_name) else { panic!("{}: {page_name}", project.display()) };
            let path: &[&str] = if page_name == "root" { &[] } else { &[page_name] };
            let found = Interface::of_command(&HelpPage::parse(&bytes), path);
            let options: Vec<String> = found.options.iter().map(format_option).collect();
            check(format!("options of {page_name}"), expected.options.join("; "), options.join("; "));
            let positionals: Vec<&str> = expected.positionals.iter().map(String::as_str).collect();
            let found_positionals: Vec<String> = found
                .arguments
                .iter()
                .filter(|operand| operand.option.is_none())
                .map(|operand| match operand.required {
                    true => name(operand).to_owned(),
                    false => format!("[{}]", name(operand)),
                })
                .collect();
            let expected_positionals: Vec<String> =
                positionals.iter().map(|word| word.replace("...", "")).collect();
            check(
                format!("positional arguments of {page_name}"),
                expected_positionals.join(" "),
                found_positionals.join(" "),
            );
            let variables: BTreeMap<String, String> =
                found.env_flags().into_iter().map(|pair| (pair.flag, pair.variable)).collect();
            check(
                format!("variables of {page_name}"),
                format!("{:?}", expected.variables),
                format!("{variables:?}"),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Replays the recording of a project and returns the checks that fail or warn, as lines of `expected.txt`.
fn replayed_problems(project: &Path) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let recording = folder.path().join("recording.jsonl");
    let packed = File::open(project.join("recording.jsonl.gz")).unwrap();
    io::copy(&mut GzDecoder::new(packed), &mut File::create(&recording).unwrap()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--json", "--replay"])
        .arg(&recording)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}"));
    let results = report["data"]["results"].as_array().unwrap().iter();
    let problems = results.filter(|result| result["status"] == "fail" || result["status"] == "warn");
    let line =
        |result: &Value| format!("{} {}", result["status"].as_str().unwrap(), result["id"].as_str().unwrap());
    let mut lines: Vec<String> = problems.map(line).collect();
    lines.sort();
    lines
}

/// `fixtures/frameworks/check.py --record` recorded the runs; `.ci/more` repeats them live.
#[test]
fn the_recorded_runs_of_each_framework_have_the_expected_verdicts() {
    let mut wrong = Vec::new();
    for project in projects() {
        let expected = fs::read_to_string(project.join("expected.txt")).unwrap();
        let (expected, found) = (expected.lines().collect::<Vec<_>>(), replayed_problems(&project));
        if expected != found {
            wrong.push(format!("{}:\n  expected {expected:?}\n  found    {found:?}", project.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
