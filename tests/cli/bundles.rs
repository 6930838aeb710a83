//! Instructions for agents: their presence, and whether their calls match the target.

use super::support::Folder;
use serde_json::Value;
use std::fs;
use std::path::Path;

const HEAD: &str = "---\nname: demo\ndescription: Lists records\n---\n\n";
const CONFIG: &str =
    "[target]\ncommand = ['./cli']\n[[probe]]\nname = 'list'\nargs = ['list']\nformats = ['text']\n";

/// Result of a check of principle 8 on a project with these files.
fn result(id: &str, files: &[(&str, String)]) -> Value {
    let folder = Folder::demo("");
    folder.write("agentnative.toml", CONFIG);
    for (path, text) in files {
        let parent = Path::new(path).parent().unwrap();
        fs::create_dir_all(folder.path().join(parent)).unwrap();
        folder.write(path, text);
    }
    let document = folder.run(&["check", ".", "--json", "--check", id]).json();
    document["data"]["results"][0].clone()
}

/// Status, and `file:line kind` of each piece of evidence.
fn findings(id: &str, files: &[(&str, String)]) -> (String, Vec<String>) {
    let result = result(id, files);
    let places = result["evidence"].as_array().unwrap().iter();
    let places = places.map(|place| {
        let word = |key: &str| place[key].as_str().unwrap_or("-").to_owned();
        format!("{}:{} {}", word("file"), place["line"], word("kind"))
    });
    (result["status"].as_str().unwrap().to_owned(), places.collect())
}

#[test]
fn one_instruction_file_begins_with_a_name_and_a_description() {
    let findings_of = |files: &[(&str, &str)]| {
        let files: Vec<_> = files.iter().map(|(path, text)| (*path, (*text).to_owned())).collect();
        findings("p8-bundle", &files)
    };
    let warns = |place: &str| ("warn".to_owned(), vec![place.to_owned()]);
    assert_eq!(findings_of(&[("AGENTS.md", HEAD)]), ("pass".to_owned(), vec![]));
    assert_eq!(findings_of(&[("AGENTS.md", "# demo\n"), (".claude/skills/demo/SKILL.md", HEAD)]).0, "pass");
    assert_eq!(findings_of(&[]), warns("-:null missing"));
    assert_eq!(findings_of(&[("SKILL.md", "# demo\n")]), warns("SKILL.md:1 no-frontmatter"));
    assert_eq!(findings_of(&[("SKILL.md", "---\nname: [\n---\n")]), warns("SKILL.md:1 invalid"));
    assert_eq!(
        findings_of(&[("skills/a/SKILL.md", "---\nname: a\n---\n")]),
        warns("skills/a/SKILL.md:1 incomplete")
    );
}

#[test]
fn calls_in_the_instructions_are_checked_against_this_version() {
    let findings_of = |text: &str| findings("p8-bundle-current", &[("AGENTS.md", format!("{HEAD}{text}"))]);
    let passes = ("pass".to_owned(), vec![]);
    let warns =
        |places: &[&str]| ("warn".to_owned(), places.iter().map(|place| (*place).to_owned()).collect());
    assert_eq!(findings_of("Call `demo list --output json`.\n"), passes);
    assert_eq!(
        findings_of("```sh\n$ demo list \\\n    --limit 2 | jq .\nother list --nothing\n```\n"),
        passes
    );
    assert_eq!(
        findings_of("Call `demo list --size 2`, then `demo move 1`.\n"),
        warns(&["AGENTS.md:6 unknown-flag", "AGENTS.md:6 unknown-command",])
    );
    assert_eq!(
        findings_of("Text.\n\n```\ndemo list\nDEBUG=1 demo list \\\n  --size 2\n```\n\n    demo rename a\n"),
        warns(&["AGENTS.md:10 unknown-flag", "AGENTS.md:14 unknown-command"])
    );
    // Prose contains no calls, and the options of `show` are unknown.
    assert_eq!(findings_of("demo move 1 was removed.\n").0, "not-applicable");
    assert_eq!(findings_of("`demo show 1 --deep`\n").0, "unverified");
    assert_eq!(findings("p8-bundle-current", &[]).0, "not-applicable");
    let second = [("AGENTS.md", HEAD.to_owned()), ("skills/demo/SKILL.md", format!("{HEAD}`demo ls`\n"))];
    assert_eq!(findings("p8-bundle-current", &second), warns(&["skills/demo/SKILL.md:6 unknown-command"]));
}

#[test]
fn a_project_with_a_skill_documents_its_installation() {
    let result_of = |files: &[(&str, String)]| result("p8-bundle-install", files);
    let skill = result_of(&[("skills/demo/SKILL.md", HEAD.to_owned())]);
    assert_eq!(skill["status"], "unverified");
    assert!(skill["message"].as_str().unwrap().starts_with("the project contains skills/demo/SKILL.md"));
    assert_eq!(result_of(&[("AGENTS.md", HEAD.to_owned())])["status"], "not-applicable");
}

#[test]
fn a_recording_contains_the_calls_of_the_instructions() {
    let folder = Folder::demo("");
    folder.write("agentnative.toml", CONFIG);
    folder.write("AGENTS.md", format!("{HEAD}`demo move 1`\n"));
    let check = ["check", "--json", "--check", "p8-bundle-current"];
    let output = folder.run(&[&check[..], &["--record", "runs", "."]].concat());
    fs::remove_file(folder.path().join("AGENTS.md")).unwrap();
    let again = folder.run(&[&check[..], &["--replay", "runs"]].concat());
    assert_eq!(output.status("p8-bundle-current"), "warn");
    assert_eq!(again.data()["results"], output.data()["results"]);
}
