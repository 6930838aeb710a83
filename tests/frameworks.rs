//! Help pages of tools that are written with the libraries that people use: what is read from them is what the tool
//! has.

use agentnative::targets::Commands;
use agentnative::targets::help::{CliOption, HelpPage, Interface, Operand};
use flate2::read::GzDecoder;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `interface.toml` of a project states.
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

/// The folders of the projects: one for each kind of each framework.
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

/// An option as `interface.toml` writes it: `-o, --output <text|json>`.
fn written(option: &CliOption) -> String {
    let names = option.names.join(", ");
    match (&option.value, option.values.is_empty()) {
        (_, false) => format!("{names} <{}>", option.values.join("|")),
        (Some(value), true) => format!("{names} <{value}>"),
        (None, true) => names,
    }
}

fn name(operand: &Operand) -> &str {
    &operand.name
}

/// The pages in `pages.txt`, which are set apart as `head` and `tail` do it for several files.
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
fn the_pages_of_each_framework_are_read_as_the_tool_is() {
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
        let mut ask = |calls: &[Vec<String>]| -> Vec<Option<Vec<u8>>> {
            let command = |call: &Vec<String>| {
                call.iter().find(|word| !word.starts_with('-') && *word != "help").cloned()
            };
            calls.iter().map(|call| page(&command(call)?)).collect()
        };
        let commands = Commands::explore(&root, &mut ask);
        let names: Vec<String> =
            expected.commands.iter().map(|name| name.split('|').next().unwrap().to_owned()).collect();
        let found: Vec<String> = commands.help.commands.iter().map(|command| command.name.clone()).collect();
        check("commands".to_owned(), names.join(" "), found.join(" "));
        let formats = || commands.calls.iter().filter_map(|call| call.formats.as_ref());
        let wanted = |format: &str| expected.formats.get(format).cloned().unwrap_or_default().join(" ");
        let json = formats().find_map(|formats| formats.json.clone()).unwrap_or_default();
        check("json".to_owned(), wanted("json"), json.join(" "));
        let jsonl = formats().find_map(|formats| formats.jsonl.clone()).unwrap_or_default();
        check("jsonl".to_owned(), wanted("jsonl"), jsonl.join(" "));
        for (name_of_page, expected) in &expected.pages {
            let Some(bytes) = page(name_of_page) else { panic!("{}: {name_of_page}", project.display()) };
            let path: &[&str] = if name_of_page == "root" { &[] } else { &[name_of_page] };
            let found = Interface::of_command(&HelpPage::read(&bytes), path);
            let options: Vec<String> = found.options.iter().map(written).collect();
            check(format!("options of {name_of_page}"), expected.options.join("; "), options.join("; "));
            let positionals: Vec<&str> = expected.positionals.iter().map(String::as_str).collect();
            let own: Vec<String> = found
                .operands
                .iter()
                .filter(|operand| operand.option.is_none())
                .map(|operand| match operand.required {
                    true => name(operand).to_owned(),
                    false => format!("[{}]", name(operand)),
                })
                .collect();
            let plain: Vec<String> = positionals.iter().map(|word| word.replace("...", "")).collect();
            check(format!("positional arguments of {name_of_page}"), plain.join(" "), own.join(" "));
            let variables: BTreeMap<String, String> =
                found.env_flags().into_iter().map(|pair| (pair.flag, pair.variable)).collect();
            check(
                format!("variables of {name_of_page}"),
                format!("{:?}", expected.variables),
                format!("{variables:?}"),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The checks that fail or warn in a replay of the recording of a project, as lines of `expected.txt`.
fn reported(project: &Path) -> Vec<String> {
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

/// The runs were recorded by `fixtures/frameworks/check.py --record`, which `.ci/more` repeats live.
#[test]
fn the_recorded_runs_of_each_framework_give_the_verdicts_that_are_true() {
    let mut wrong = Vec::new();
    for project in projects() {
        let expected = fs::read_to_string(project.join("expected.txt")).unwrap();
        let (expected, found) = (expected.lines().collect::<Vec<_>>(), reported(&project));
        if expected != found {
            wrong.push(format!("{}:\n  expected {expected:?}\n  found    {found:?}", project.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
