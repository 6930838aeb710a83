//! What a target is written with, and the line of help that follows from it.

use agentnative::catalogue::{Help, checks};
use agentnative::model::{ArgumentParser, HelpLanguage, Toolkit};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

/// Words that only help for one parser has: those that manifests name, then those of standard libraries.
const WORDS: [(&str, &[&str]); 12] = [
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

/// The parsers that a line names by their words.
fn named(line: &str) -> Vec<&'static str> {
    let is_word = |word: &str| {
        line.match_indices(word).any(|(at, _)| {
            let apart = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
            let starts = word.starts_with(|c: char| c.is_ascii_alphanumeric());
            let ends = word.ends_with(|c: char| c.is_ascii_alphanumeric());
            (!starts || apart(line[..at].chars().next_back()))
                && (!ends || apart(line[at + word.len()..].chars().next()))
        })
    };
    let names = WORDS.iter().filter(|(_, words)| words.iter().any(|word| is_word(word)));
    names.map(|(name, _)| *name).collect()
}

#[test]
fn the_help_for_a_parser_names_no_other_one() {
    let mut wrong = Vec::new();
    let mut own = 0;
    for check in checks() {
        let mut hold = |help: &Help, toolkit: Toolkit, allowed: &[&str]| {
            let line = help.of(toolkit);
            let others: Vec<&str> = named(line).into_iter().filter(|name| !allowed.contains(name)).collect();
            own += usize::from(!named(line).is_empty());
            if !others.is_empty() {
                wrong.push(format!("{} {toolkit:?} names {others:?}: {line}", check.id));
            }
        };
        for parser in ArgumentParser::all() {
            hold(
                &check.help,
                Toolkit { language: parser.language(), parser: Some(parser) },
                &[parser.name()],
            );
        }
        // Where a manifest names none, only the standard library of the language has one.
        for (language, standard) in [
            (Some(HelpLanguage::Rust), ""),
            (Some(HelpLanguage::Python), "argparse"),
            (Some(HelpLanguage::Go), "flag"),
            (Some(HelpLanguage::Node), "parseArgs"),
            (Some(HelpLanguage::Shell), ""),
            (None, ""),
        ] {
            hold(&check.help, Toolkit { language, parser: None }, &[standard]);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(own > 100, "{own}");
}

/// The parser in the recording of a project whose code is read.
fn of_code(folder: &Path) -> Option<String> {
    recorded(folder, &["--layer", "source,project", "."])
}

/// The parser in the recording of a call.
fn recorded(folder: &Path, args: &[&str]) -> Option<String> {
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

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
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
        let found = of_code(folder(&files).path());
        assert_eq!(found.as_deref(), parser, "{framework}");
    }
}

#[test]
fn each_kind_of_manifest_is_read() {
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
        // typer is built on click; other two are a choice that nobody can make here.
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
        assert_eq!(of_code(folder(&names).path()).as_deref(), parser, "{files:?}");
    }
}

/// The manifest of the program counts: that of the package of a workspace, and that beside a script.
#[test]
fn the_manifest_of_the_program_counts() {
    let script = "#!/usr/bin/env python3\nprint('x 1.0')\n";
    let beside = folder(&[("tool/x.py", script), ("tool/requirements.txt", "typer==0.29.2\n")]);
    assert_eq!(recorded(beside.path(), &["tool/x.py"]).as_deref(), Some("typer"));
    // Of what is installed, the project around it says nothing.
    let installed = folder(&[
        (".venv/bin/x", script),
        ("pyproject.toml", "[project]\nname = 'y'\ndependencies = ['typer']\n"),
    ]);
    assert_eq!(recorded(installed.path(), &[".venv/bin/x"]), None);
    let workspace = folder(&[
        ("package.json", "{\"name\": \"y\", \"private\": true, \"workspaces\": [\"packages/*\"]}"),
        (
            "packages/x/package.json",
            "{\"name\": \"x\", \"bin\": \"x.js\", \"dependencies\": {\"yargs\": \"18\"}}",
        ),
        ("packages/x/x.js", "#!/usr/bin/env node\nconsole.log('x 1.0')\n"),
    ]);
    assert_eq!(recorded(workspace.path(), &["."]).as_deref(), Some("yargs"));
}

#[test]
fn a_report_has_the_help_for_the_parser() {
    let shown = |dependencies: &str| {
        let script = "#!/usr/bin/env python3\nprint('usage: x\\n\\nNothing.')\n";
        let folder = folder(&[
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
