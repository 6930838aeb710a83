//! The project checks: documented exit codes, and the schema in the repository.

use agentnative::facts::{ProjectDocument, ProjectDocuments};
use agentnative::judge::project_files::{Help, ProjectEvidence};
use agentnative::model::{CheckId, CheckResult, Status, Stream};
use agentnative::source::read_project;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const CODES: [i32; 5] = [0, 1, 2, 77, 78];

fn project(files: &[(&str, &str)]) -> (TempDir, ProjectDocuments) {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let project = read_project(folder.path(), folder.path());
    (folder, project)
}

fn judge_exit_codes(readme: &str, help: Option<&str>, codes: &[i32]) -> CheckResult {
    let (_folder, project) = project(&[("README.md", readme)]);
    let help = help.map(|text| Help {
        probe: "help",
        argv: Some("tool --help".into()),
        stream: Stream::Stdout,
        text: text.to_owned(),
    });
    let files = ProjectEvidence {
        project: Some(&project),
        manual: None,
        help,
        exit_codes: codes.to_vec(),
        printed: None,
        no_runs: false,
    };
    files.exit_documented().result(CheckId::P2ExitDocumented.check())
}

fn judge_schema(files: &[(&str, &str)], printed: Option<&Value>) -> CheckResult {
    let (_folder, project) = project(files);
    judge_schema_file(Some(&project), printed)
}

fn judge_schema_file(project: Option<&ProjectDocuments>, printed: Option<&Value>) -> CheckResult {
    let files = ProjectEvidence {
        project,
        manual: None,
        help: None,
        exit_codes: CODES.to_vec(),
        printed: printed.cloned(),
        no_runs: false,
    };
    files.schema_file().result(CheckId::P2SchemaFile.check())
}

const HELP: &str = "Usage: tool\n\nOptions:\n  --retries 77  how often\n";
const TABLE: &str = "# Tool\n\nSee 77 examples.\n\n## Exit codes\n\n| Code | Meaning |\n| ---: | --- |\n| 0 | Success |\n\
                     | 1 | General error |\n| 2 | Usage |\n| 77 | Permission |\n| 78 | Configuration |\n\n## Licence\n\n99 words\n";

#[test]
fn tables_lists_and_sentences_document_exit_codes() {
    let result = judge_exit_codes(TABLE, Some(HELP), &CODES);
    assert_eq!((result.status, result.message.as_str()), (Status::Pass, "documented in README.md, line 5"));
    let help = "Usage: tool\n\nEXIT STATUS\n    0      all went well\n    1      it failed\n    2      wrong arguments\n    77     no permission\n    78     bad configuration\n";
    assert_eq!(judge_exit_codes("", Some(help), &CODES).status, Status::Pass);
    let sentence = "It exits with status 0 on success and 1 when nothing matched.\n";
    assert_eq!(judge_exit_codes(sentence, Some(HELP), &[0, 1]).status, Status::Pass);
    // The help and the README together document all codes.
    let readme = "Exit codes: 77 is a refused key, 78 a bad configuration.\n";
    let help = "Exit codes: 0 success, 1 failure, 2 usage\n";
    assert_eq!(judge_exit_codes(readme, Some(help), &CODES).status, Status::Pass);
    // The README is sufficient without the help.
    assert_eq!(judge_exit_codes(TABLE, None, &CODES).status, Status::Pass);
}

#[test]
fn missing_exit_codes_are_reported() {
    let result = judge_exit_codes(&TABLE.replace("| 77 | Permission |\n", ""), Some(HELP), &CODES);
    assert_eq!(result.status, Status::Fail);
    assert_eq!(result.message, "neither help nor README documents exit code 77");
    let evidence = &result.evidence[0];
    assert_eq!((evidence.file.as_deref(), evidence.line), (Some("README.md"), Some(5)));

    let bare =
        "# Tool\n\nExit codes: 0 1 2 77 78\n\n## More\n\n0 success 1 failure 2 usage 77 auth 78 config\n";
    assert_eq!(judge_exit_codes(bare, Some(HELP), &CODES).status, Status::Fail, "numbers without words");
    assert_eq!(judge_exit_codes("", Some("Exits with a non-zero exit code.\n"), &CODES).status, Status::Fail);
    let without_help = judge_exit_codes("# Tool\n", None, &CODES);
    assert_eq!(without_help.status, Status::Unverified, "{}", without_help.message);
}

#[test]
fn a_number_counts_only_as_an_exit_code() {
    let is_documented = |text: &str, codes: &[i32]| {
        let result = judge_exit_codes("", Some(text), codes);
        match result.status {
            Status::Pass => true,
            Status::Fail => false,
            status => panic!("{status:?}: {}", result.message),
        }
    };
    let good: &[(&str, &[i32])] = &[
        ("EXIT STATUS\n    0   if OK,\n    1   if minor problems\n    >1  if serious trouble\n", &[0, 1]),
        (
            "Normally the exit status is 0 if a line is selected, 1 if no lines were\nselected, and 2 if an error occurred.\n",
            &[0, 1, 2],
        ),
        (
            "Exit status is 0 if any line matches, 1 otherwise;\nif an error occurs, the exit status is 2.\n",
            &[0, 1, 2],
        ),
        ("Exit codes:\n  - 0: success\n  - `1`: failure\n  * **2** - wrong arguments\n", &[0, 1, 2]),
        ("## Exit codes\n\n`0`\n  It worked.\n\n`77`\n  No permission.\n", &[0, 77]),
        ("Exit Codes\n----------\n0\n    It worked.\n2\n    It did not.\n", &[0, 2]),
        ("| Exit code | When |\n|---|---|\n| `0` | all is well |\n| 1, 2 | something is not |\n", &[0, 1, 2]),
        (
            "Return codes\n\n  ┌─────┬─────────┐\n  │Code │ Meaning │\n  ├─────┼─────────┤\n  │0    │ success │\n  \
             ├─────┼─────────┤\n  │2    │ a file  │\n  │     │ is lost │\n  └─────┴─────────┘\n",
            &[0, 2],
        ),
        ("| Name | Exit status |\n|---|---|\n| success | 0 |\n| usage | 2 |\n", &[0, 2]),
        (
            "Exit codes:\n  1-5  the number of failures\n  EXIT_USAGE (64)  wrong call\n  EXIT_CONFIG = 78\n",
            &[1, 4, 64, 78],
        ),
        (
            "Sets the exit status of the tool to 0 if the last value was true, 1 if not, or 4 if there was none.\n",
            &[0, 1, 4],
        ),
        ("Returns 0 if it is there, 1 if it is not.\n", &[0, 1]),
        ("  --exit-on-fatal-error  Exit with exit code 2 in case of fatal error\n", &[2]),
        ("It exits with 3 when nothing was found.\n", &[3]),
        ("  --exit-zero  return 0 whether or not there are findings\n", &[0]),
        (
            "  --check  Print nothing. Exit with 3 if something\n           would change, and return\n           0 if not\n",
            &[0, 3],
        ),
    ];
    for (text, codes) in good {
        assert!(is_documented(text, codes), "{text}");
    }
    let bad: &[(&str, i32)] = &[
        ("  --max-warnings Int  Number of warnings to trigger nonzero exit code - default: -1\n", 1),
        ("  --max-warnings Int  Number of warnings to trigger nonzero exit code - default: 1\n", 1),
        ("  -max_error_rate <n>  above it the exit status is an error (from 0 to INT_MAX) (default 1)\n", 0),
        ("  --limit N  stop there and exit with an exit code (0=unlimited)\n", 0),
        ("  --exit-code  Exit with an error\n  --retries N  how often (0 for never, 1 if unset)\n", 0),
        ("  --exit-code  Exit with an error\n  --retries N  how often (0 for never, 1 if unset)\n", 1),
        ("Exit codes: 0 success, 1 failure\n\nOptions:\n  --level N  2 is the most\n", 2),
        ("Exit codes:\n  0  success\n\nLevels:\n  2  the most\n", 2),
        ("## Exit codes\n\n1. Look at the log.\n2. Mend it.\n", 1),
        ("The exit code tells it.\n\nThe server returns 2 records.\n", 2),
        ("Exit codes are for scripts. Wait 2 seconds, then ask again, 1 time.\n", 2),
        ("The HTTP status code 0 is not an exit code.\n", 0),
        ("It exits with 77.\n", 77),
        ("Each call is a return\n2 records are printed.\n", 2),
    ];
    for (text, code) in bad {
        assert!(!is_documented(text, &[*code]), "{code}: {text}");
    }
}

#[test]
fn the_places_of_documented_exit_codes_are_reported() {
    let (_folder, project) = project(&[("README.md", "Exit codes: 0 success, 2 usage\n")]);
    let manual = ProjectDocument {
        file: "/usr/share/man/man1/tool.1.gz".into(),
        text: "EXIT STATUS\n    77  no key\n".into(),
    };
    let help = || Help {
        probe: "--help",
        argv: Some("tool --help".into()),
        stream: Stream::Stdout,
        text: "exits with 1 if it fails\n".into(),
    };
    let judge = |project, manual, codes: &[i32]| {
        let files = ProjectEvidence {
            project,
            manual,
            help: Some(help()),
            exit_codes: codes.to_vec(),
            printed: None,
            no_runs: false,
        };
        let result = files.exit_documented().result(CheckId::P2ExitDocumented.check());
        (result.status, result.message)
    };
    assert_eq!(
        judge(Some(&project), Some(&manual), &[0, 1, 2, 77]),
        (Status::Pass, "documented: 1 in the help, line 1; 77 in /usr/share/man/man1/tool.1.gz, line 1; 0, 2 in README.md, line 1".to_owned())
    );
    let (status, message) = judge(Some(&project), Some(&manual), &[78]);
    assert_eq!(
        (status, message.as_str()),
        (Status::Fail, "neither help, manual nor README documents exit code 78")
    );
    let (status, message) = judge(None, Some(&manual), &[78]);
    assert_eq!((status, message.as_str()), (Status::Fail, "help and manual document exit codes, but not 78"));
}

#[test]
fn the_check_of_exit_codes_is_not_applicable_without_a_project() {
    let help = Help {
        probe: "--help",
        argv: Some("tool --help".into()),
        stream: Stream::Stdout,
        text: "Usage: tool [FILE]\n".into(),
    };
    let files = ProjectEvidence {
        project: None,
        manual: None,
        help: Some(help),
        exit_codes: vec![0, 2],
        printed: None,
        no_runs: false,
    };
    let result = files.exit_documented().result(CheckId::P2ExitDocumented.check());
    assert_eq!(
        (result.status, result.message.as_str()),
        (Status::NotApplicable, "the help names no exit code, and the target has no project with a README")
    );
}

#[test]
fn the_readme_of_the_repository_counts_for_its_packages() {
    let (folder, _) = project(&[("README.md", TABLE), (".git/HEAD", ""), ("crates/tool/src/main.rs", "")]);
    let tool = folder.path().join("crates/tool");
    for (project, name) in [(folder.path(), "README.md"), (&tool, "../../README.md")] {
        let read = read_project(project, &tool);
        assert_eq!(read.readmes.iter().map(|readme| &readme.file[..]).collect::<Vec<_>>(), [name]);
    }
    assert!(read_project(Path::new("/nowhere/at/all"), Path::new("/nowhere/at/all")).readmes.is_empty());
}

#[test]
fn a_schema_of_settings_is_not_a_schema_of_the_output_and_references_are_not_fetched() {
    let settings = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "The tool's config", "type": "object"}"#;
    let broken = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "nothing"}"#;
    for files in [[("schemas/tool.json", settings)], [("tool-config.schema.json", broken)]] {
        for printed in [None, Some(json!({"type": "array"}))] {
            let result = judge_schema(&files, printed.as_ref());
            assert_eq!(result.status, Status::Warn, "{}", result.message);
            let expected = format!(
                "the repository contains no JSON Schema of the output (only of settings: {})",
                files[0].0
            );
            assert_eq!(result.message, expected);
        }
    }
    // The printed schema describes the output, whatever its title is.
    let printed = serde_json::from_str(settings).unwrap();
    assert_eq!(judge_schema(&[("schemas/tool.json", settings)], Some(&printed)).status, Status::Pass);
    // A reference to another document is not a problem.
    let remote = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "$ref": "https://example.com/a.json"}"#;
    let result = judge_schema(&[("tool.schema.json", remote)], None);
    assert_eq!(result.status, Status::Unverified, "{}", result.message);
    let printed = serde_json::from_str(remote).unwrap();
    let result = judge_schema(&[("tool.schema.json", remote)], Some(&printed));
    assert_eq!(result.status, Status::Unverified);
    assert!(result.message.contains("refers to https://example.com/a.json"), "{}", result.message);
}

#[test]
fn a_schema_file_is_found_compiled_and_compared() {
    let text = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["ok"]}"#;
    let printed: Value = serde_json::from_str(text).unwrap();
    let files =
        [("schemas/tool.json", text), ("package.json", "{\"$schema\": \"https://json.example/package\"}")];
    let result = judge_schema(&files, Some(&printed));
    assert_eq!(
        (result.status, result.message.as_str()),
        (Status::Pass, "schemas/tool.json equals the printed schema")
    );
    assert_eq!(judge_schema(&files, None).status, Status::Unverified);

    let other = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["id"]});
    let result = judge_schema(&files, Some(&other));
    assert_eq!(result.status, Status::Warn);
    assert!(result.message.ends_with("differs from the printed schema at /required/0"), "{}", result.message);

    for wrong in ["{\"type\": \"objekt\"}", "{\"type\": "] {
        let result = judge_schema(&[("tool.schema.json", wrong)], None);
        assert_eq!(result.status, Status::Warn, "{wrong}");
        assert_eq!(result.evidence[0].file.as_deref(), Some("tool.schema.json"));
    }
    let none = judge_schema(
        &[("tests/fixtures/a.schema.json", text), ("node_modules/a/a.schema.json", text)],
        Some(&printed),
    );
    assert_eq!(
        (none.status, none.message.as_str()),
        (Status::Warn, "the repository contains no JSON Schema")
    );
    assert_eq!(judge_schema_file(None, None).status, Status::NotApplicable);
}

#[test]
fn exit_codes_in_descriptions_of_options_are_documented() {
    let help = "Usage: lint [FILE]\n\nOptions:\n  --max-warnings Int      Number of warnings to trigger nonzero exit code - default: -1\n  \
                --exit-on-fatal-error   Exit with exit code 2 in case of fatal error - default: false\n  \
                --no-patterns           Exit with exit code 0 in case no file patterns are passed\n  \
                --strict                Treat warnings as errors, and exits with 1 on any\n";
    let result = judge_exit_codes("", Some(help), &[0, 1, 2]);
    assert_eq!((result.status, result.message.as_str()), (Status::Pass, "documented in the help, line 5"));
    let result = judge_exit_codes("", Some(&help.replace("exits with 1", "fails")), &[0, 1, 2]);
    assert_eq!(result.status, Status::Fail);
    assert!(result.message.ends_with("documents exit code 1"), "{}", result.message);
}
