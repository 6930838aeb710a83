//! The language and argument parser of a target, and the fix hints for them.

use agentnative::catalogue::{FixHint, checks};
use agentnative::model::{ArgumentParser, HelpLanguage, Toolkit};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Words that only the hints for one parser may contain: parsers that manifests name, then those of standard libraries.
const PARSER_WORDS: [(&str, &[&str]); 12] = [
    (
        "clap",
        &["clap", "ValueEnum", "try_parse", "#[arg", "#[command", "trailing_var_arg", "FalseyValueParser"],
    ),
    ("click", &["click", "@cli.command"]),
    ("typer", &["typer", "@app.command", "--show-completion"]),
    ("docopt", &["docopt", "DocoptExit", "options_first"]),
    ("fire", &["fire", "FireExit"]),
    (
        "cobra",
        &[
            "cobra",
            "pflag",
            "PersistentFlags",
            "PersistentPreRunE",
            "SilenceErrors",
            "cmd.Flags",
            "SetFlagErrorFunc",
        ],
    ),
    (
        "commander",
        &["commander", "addHelpText", "exitOverride", "configureOutput", "allowUnknownOption", "new Option"],
    ),
    ("yargs", &["yargs", "demandCommand", "epilogue"]),
    ("oclif", &["oclif", "baseFlags", "Flags.string", "logToStderr"]),
    (
        "argparse",
        &[
            "argparse",
            "ArgumentParser",
            "add_parser",
            "RawDescriptionHelpFormatter",
            "parse_args",
            "parents=[common]",
        ],
    ),
    ("flag", &["`flag`", "flag.Value", "flag.Int", "flag.Usage", "FlagSet", "flag set", "ContinueOnError"]),
    ("parseArgs", &["parseArgs"]),
];

/// Returns the parsers whose words a line contains.
fn parsers_in(line: &str) -> Vec<&'static str> {
    let is_word = |word: &str| {
        line.match_indices(word).any(|(index, _)| {
            let is_boundary = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
            let starts = word.starts_with(|c: char| c.is_ascii_alphanumeric());
            let ends = word.ends_with(|c: char| c.is_ascii_alphanumeric());
            (!starts || is_boundary(line[..index].chars().next_back()))
                && (!ends || is_boundary(line[index + word.len()..].chars().next()))
        })
    };
    let names = PARSER_WORDS.iter().filter(|(_, words)| words.iter().any(|word| is_word(word)));
    names.map(|(name, _)| *name).collect()
}

#[test]
fn the_hint_for_a_parser_names_no_other_parser() {
    let mut wrong = Vec::new();
    let mut hint_count = 0;
    for check in checks() {
        let mut verify = |help: &FixHint, toolkit: Toolkit, allowed: &[&str]| {
            let line = help.for_toolkit(toolkit);
            let others: Vec<&str> =
                parsers_in(line).into_iter().filter(|name| !allowed.contains(name)).collect();
            hint_count += usize::from(!parsers_in(line).is_empty());
            if !others.is_empty() {
                wrong.push(format!("{} {toolkit:?} names {others:?}: {line}", check.id));
            }
        };
        for parser in ArgumentParser::all() {
            verify(
                &check.help,
                Toolkit { language: parser.language(), parser: Some(parser) },
                &[parser.name()],
            );
        }
        // If no manifest names a parser, the hint may name that of the standard library.
        for (language, standard) in [
            (Some(HelpLanguage::Rust), ""),
            (Some(HelpLanguage::Python), "argparse"),
            (Some(HelpLanguage::Go), "flag"),
            (Some(HelpLanguage::Node), "parseArgs"),
            (Some(HelpLanguage::Shell), ""),
            (None, ""),
        ] {
            verify(&check.help, Toolkit { language, parser: None }, &[standard]);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(hint_count > 100, "{hint_count}");
}

/// Checks a project and returns the parser in the recording.
fn parser_of_project(folder: &Path) -> Option<String> {
    recorded_parser(folder, &["--layer", "source,project", "."])
}

/// Runs `check` with these arguments and returns the parser in the recording.
fn recorded_parser(folder: &Path, args: &[&str]) -> Option<String> {
    let out = folder.join("recording.jsonl");
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--check", "p3-version,p2-src-exit-codes,p8-bundle", "--record"])
        .arg(&out)
        .args(args)
        .current_dir(folder)
        .output()
        .unwrap();
    let text = fs::read_to_string(&out).unwrap_or_else(|_| panic!("{output:?}"));
    let head: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    head["parser"].as_str().map(str::to_owned)
}

fn create_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    folder
}

#[test]
fn the_manifest_of_each_framework_names_its_parser() {
    let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/frameworks");
    for (framework, parser) in [
        ("argparse", None),
        ("clap", Some("clap")),
        ("click", Some("click")),
        ("cobra", Some("cobra")),
        ("commander", Some("commander")),
        ("docopt", Some("docopt")),
        ("fire", Some("fire")),
        ("oclif", Some("oclif")),
        ("typer", Some("typer")),
        ("yargs", Some("yargs")),
    ] {
        let project = frameworks.join(framework).join("conforming");
        let names = ["Cargo.toml", "go.mod", "package.json", "pyproject.toml"];
        let read = |name: &'static str| Some((name, fs::read_to_string(project.join(name)).ok()?));
        let files: Vec<(&str, String)> = names.into_iter().filter_map(read).collect();
        assert!(!files.is_empty(), "{framework}");
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
        let found = parser_of_project(create_folder(&files).path());
        assert_eq!(found.as_deref(), parser, "{framework}");
    }
}

#[test]
fn the_parser_is_read_from_each_kind_of_manifest() {
    let python = "[project]\nname = 'x'\n[project.scripts]\nx = 'x:main'\n";
    let npm = |rest: &str| format!("{{\"name\": \"x\", \"bin\": \"./x.js\", {rest}}}");
    let cargo = "[package]\nname = 'x'\nedition = '2024'\n[dependencies]\nclap.workspace = true\n\
        [workspace.dependencies]\nclap = '4'\n";
    let go = |rest: &str| format!("module x\n\ngo 1.22\n\n{rest}");
    for (files, parser) in [
        (
            vec![(
                "pyproject.toml",
                format!("{python}[project.optional-dependencies]\ncli = ['Typer[all]>=0.9']"),
            )],
            Some("typer"),
        ),
        (
            vec![(
                "pyproject.toml",
                "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\nclick = '^8'".to_owned(),
            )],
            Some("click"),
        ),
        // typer depends on click; with any other two parsers, the parser is unknown.
        (
            vec![("pyproject.toml", format!("{python}[tool.poetry.dependencies]\nclick = '8'\ntyper = '1'"))],
            Some("typer"),
        ),
        (
            vec![
                ("pyproject.toml", python.to_owned()),
                ("requirements.txt", "-r x\n# click\ndocopt_ng ~= 0.9\n".to_owned()),
            ],
            Some("docopt"),
        ),
        (
            vec![
                ("pyproject.toml", python.to_owned()),
                ("setup.cfg", "[options]\ninstall_requires =\n    fire>=0.5\n".to_owned()),
            ],
            Some("fire"),
        ),
        (
            vec![
                ("pyproject.toml", python.to_owned()),
                ("setup.py", "setup(install_requires=['click>=8', \"rich\"], x=1)".to_owned()),
            ],
            Some("click"),
        ),
        (vec![("package.json", npm("\"devDependencies\": {\"commander\": \"14\"}"))], Some("commander")),
        (vec![("package.json", npm("\"dependencies\": {\"commander\": \"14\", \"yargs\": \"18\"}"))], None),
        (vec![("Cargo.toml", cargo.to_owned())], Some("clap")),
        (
            vec![(
                "go.mod",
                go("require (\n\tgithub.com/spf13/pflag v1.0.5\n\tgithub.com/spf13/cobra v1.8.0\n)"),
            )],
            Some("cobra"),
        ),
        (vec![("go.mod", go("require github.com/spf13/cobra v1.8.0 // indirect"))], None),
    ] {
        let names: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
        assert_eq!(parser_of_project(create_folder(&names).path()).as_deref(), parser, "{files:?}");
    }
}

/// This is the manifest of the package in a workspace, or the one next to a script.
#[test]
fn the_manifest_of_the_program_determines_the_parser() {
    let script = "#!/usr/bin/env python3\nprint('x 1.0')\n";
    let with_script = create_folder(&[("tool/x.py", script), ("tool/requirements.txt", "typer==0.29.2\n")]);
    assert_eq!(recorded_parser(with_script.path(), &["tool/x.py"]).as_deref(), Some("typer"));
    // The manifest of the surrounding project does not apply to an installed program.
    let installed = create_folder(&[
        (".venv/bin/x", script),
        ("pyproject.toml", "[project]\nname = 'y'\ndependencies = ['typer']\n"),
    ]);
    assert_eq!(recorded_parser(installed.path(), &[".venv/bin/x"]), None);
    let workspace = create_folder(&[
        ("package.json", "{\"name\": \"y\", \"private\": true, \"workspaces\": [\"packages/*\"]}"),
        (
            "packages/x/package.json",
            "{\"name\": \"x\", \"bin\": \"x.js\", \"dependencies\": {\"yargs\": \"18\"}}",
        ),
        ("packages/x/x.js", "#!/usr/bin/env node\nconsole.log('x 1.0')\n"),
    ]);
    assert_eq!(recorded_parser(workspace.path(), &["."]).as_deref(), Some("yargs"));
}

#[test]
fn a_report_has_the_hint_for_the_parser() {
    let shown = |dependencies: &str| {
        let script = "#!/usr/bin/env python3\nprint('usage: x\\n\\nNothing.')\n";
        let folder = create_folder(&[
            ("x.py", script),
            ("pyproject.toml", &format!("[project]\nname = 'x'\ndependencies = [{dependencies}]\n")),
        ]);
        let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
            .args(["check", "--check", "p3-examples", "--color", "never", "./x.py"])
            .env("COLUMNS", "200")
            .current_dir(folder.path())
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let typer = shown("'typer'");
    assert!(typer.contains("Set `epilog` of `typer.Typer`"), "{typer}");
    let none = shown("");
    assert!(none.contains("RawDescriptionHelpFormatter"), "{none}");
}
