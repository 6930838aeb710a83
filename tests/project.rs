//! The project checks: documented exit codes and the schema in the repository.

use agentnative::judge::project_files::{Help, ProjectFiles};
use agentnative::model::{CheckId, CheckResult, Status, Stream};
use agentnative::source::Project;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const CODES: [i32; 5] = [0, 1, 2, 77, 78];

fn project(files: &[(&str, &str)]) -> (TempDir, Project) {
    let folder = TempDir::new().unwrap();
    for (file, text) in files {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let project = Project::read(folder.path(), folder.path());
    (folder, project)
}

fn documented(readme: &str, help: Option<&str>, codes: &[i32]) -> CheckResult {
    let (_folder, project) = project(&[("README.md", readme)]);
    let help = help.map(|text| Help { probe: "help", stream: Stream::Stdout, text: text.to_owned() });
    let files = ProjectFiles { project: Some(&project), help, exit_codes: codes, printed: None };
    files.exit_documented().result(CheckId::P2ExitDocumented.check())
}

fn schema(files: &[(&str, &str)], printed: Option<&Value>) -> CheckResult {
    let (_folder, project) = project(files);
    schema_file(Some(&project), printed)
}

fn schema_file(project: Option<&Project>, printed: Option<&Value>) -> CheckResult {
    let files = ProjectFiles { project, help: None, exit_codes: &CODES, printed: printed.cloned() };
    files.schema_file().result(CheckId::P2SchemaFile.check())
}

const HELP: &str = "Usage: tool\n\nOptions:\n  --retries 77  how often\n";
const TABLE: &str = "# Tool\n\nSee 77 examples.\n\n## Exit codes\n\n| Code | Meaning |\n| ---: | --- |\n| 0 | Success |\n\
                     | 1 | General error |\n| 2 | Usage |\n| 77 | Permission |\n| 78 | Configuration |\n\n## Licence\n\n99 words\n";

#[test]
fn a_table_a_list_and_sentences_document_exit_codes() {
    let result = documented(TABLE, Some(HELP), &CODES);
    assert_eq!((result.status, result.message.as_str()), (Status::Pass, "documented in README.md, line 5"));
    let help = "Usage: tool\n\nEXIT STATUS\n    0      all went well\n    1      it failed\n    2      wrong arguments\n    77     no permission\n    78     bad configuration\n";
    assert_eq!(documented("", Some(help), &CODES).status, Status::Pass);
    let sentence = "It exits with status 0 on success and 1 when nothing matched.\n";
    assert_eq!(documented(sentence, Some(HELP), &[0, 1]).status, Status::Pass);
    // Help and README together.
    let readme = "Exit codes: 77 is a refused key, 78 a bad configuration.\n";
    let help = "Exit codes: 0 success, 1 failure, 2 usage\n";
    assert_eq!(documented(readme, Some(help), &CODES).status, Status::Pass);
    // What the README says suffices, whether the help was seen or not.
    assert_eq!(documented(TABLE, None, &CODES).status, Status::Pass);
}

#[test]
fn missing_codes_are_named() {
    let result = documented(&TABLE.replace("| 77 | Permission |\n", ""), Some(HELP), &CODES);
    assert_eq!(result.status, Status::Fail);
    assert_eq!(result.message, "neither help nor README tells the meaning of exit code 77");
    let evidence = &result.evidence[0];
    assert_eq!((evidence.file.as_deref(), evidence.line), (Some("README.md"), Some(5)));

    let bare =
        "# Tool\n\nExit codes: 0 1 2 77 78\n\n## More\n\n0 success 1 failure 2 usage 77 auth 78 config\n";
    assert_eq!(documented(bare, Some(HELP), &CODES).status, Status::Fail, "numbers without words");
    assert_eq!(documented("", Some("Exits with a non-zero exit code.\n"), &CODES).status, Status::Fail);
    let unseen = documented("# Tool\n", None, &CODES);
    assert_eq!(unseen.status, Status::Unverified, "{}", unseen.message);
}

#[test]
fn the_repositorys_readme_counts_for_a_package_in_it() {
    let (folder, _) = project(&[("README.md", TABLE), (".git/HEAD", ""), ("crates/tool/src/main.rs", "")]);
    let tool = folder.path().join("crates/tool");
    for (project, name) in [(folder.path(), "README.md"), (&tool, "../../README.md")] {
        let read = Project::read(project, &tool);
        assert_eq!(read.readmes.iter().map(|readme| &readme.file[..]).collect::<Vec<_>>(), [name]);
    }
    assert!(Project::read(Path::new("/nowhere/at/all"), Path::new("/nowhere/at/all")).readmes.is_empty());
}

#[test]
fn a_schema_file_is_found_compiled_and_compared() {
    let text = r#"{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["ok"]}"#;
    let printed: Value = serde_json::from_str(text).unwrap();
    let files =
        [("schemas/tool.json", text), ("package.json", "{\"$schema\": \"https://json.example/package\"}")];
    let result = schema(&files, Some(&printed));
    assert_eq!(
        (result.status, result.message.as_str()),
        (Status::Pass, "schemas/tool.json is the schema that is printed")
    );
    assert_eq!(schema(&files, None).status, Status::Unverified);

    let other = json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": ["id"]});
    let result = schema(&files, Some(&other));
    assert_eq!(result.status, Status::Warn);
    assert!(result.message.ends_with("they differ at /required/0"), "{}", result.message);

    for wrong in ["{\"type\": \"objekt\"}", "{\"type\": "] {
        let result = schema(&[("tool.schema.json", wrong)], None);
        assert_eq!(result.status, Status::Warn, "{wrong}");
        assert_eq!(result.evidence[0].file.as_deref(), Some("tool.schema.json"));
    }
    let none = schema(
        &[("tests/fixtures/a.schema.json", text), ("node_modules/a/a.schema.json", text)],
        Some(&printed),
    );
    assert_eq!(
        (none.status, none.message.as_str()),
        (Status::Warn, "no JSON Schema was found in the repository")
    );
    assert_eq!(schema_file(None, None).status, Status::NotApplicable);
}
