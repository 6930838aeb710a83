//! Explores the tools of `fixtures/explore`: each fault is reported by exactly the check in its name, and only if the
//! tool is explored; honest tools have no other faults than those that they name.

use agentnative::catalogue::check;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tempfile::TempDir;

/// Maximum number of explored calls of a tool, which is enough for all calls of these tools.
const CALLS: &str = "150";

/// Tools whose plain runs do not show what is wrong or unusual. The others are explored with `--fast`.
const UNDER_CONDITIONS: [&str; 7] = [
    "p1-no-prompt.question",
    "p2-broken-pipe.crash",
    "p2-output-parity.lost",
    "p2-output-pure.force-color",
    "calc",
    "pages",
    "upper",
];

/// Returns a copy of the tools, in a folder without a configuration and outside of any project.
fn copied_tools() -> TempDir {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/explore");
    let copy = tempfile::tempdir().unwrap();
    for folder in ["", "faults", "honest"] {
        fs::create_dir_all(copy.path().join(folder)).unwrap();
        for file in files(&from.join(folder)) {
            fs::copy(&file, copy.path().join(folder).join(name(&file))).unwrap();
        }
    }
    copy
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.is_file());
    files.sort();
    assert!(!files.is_empty(), "nothing in {}", folder.display());
    files
}

fn name(path: &Path) -> &str {
    path.file_name().unwrap().to_str().unwrap()
}

/// Returns the checks that fail, and with `warns` also those that warn.
fn problems(tool: &Path, args: &[&str], warns: bool) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_agentnative"))
        .args(["check", "--output", "json", "--command"])
        .arg(tool)
        .args(args)
        .current_dir(tool.parent().unwrap())
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| {
        panic!("{} {args:?}: {}", tool.display(), String::from_utf8_lossy(&output.stderr))
    });
    let results = report["data"]["results"].as_array().unwrap().iter();
    let bad = results.filter(|result| result["status"] == "fail" || warns && result["status"] == "warn");
    bad.map(|result| result["id"].as_str().unwrap().to_owned()).collect()
}

fn explore_args(tool: &Path) -> Vec<&'static str> {
    let fast = (!UNDER_CONDITIONS.contains(&name(tool))).then_some("--fast");
    ["--explore", "--explore-calls", CALLS].into_iter().chain(fast).collect()
}

/// Calls `verify` for each tool, two at a time, and fails with all problems that it returns.
fn for_each_tool(tools: Vec<PathBuf>, verify: impl Fn(&Path) -> Option<String> + Sync) {
    let queue = Mutex::new(tools.into_iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().unwrap().next();
                    let Some(tool) = next else { break };
                    let found = verify(&tool).map(|found| format!("{}: {found}", name(&tool)));
                    wrong.lock().unwrap().extend(found);
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} tools:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn each_fault_is_reported_by_its_check() {
    let copy = copied_tools();
    for_each_tool(files(&copy.path().join("faults")), |tool| {
        let id = name(tool).split('.').next().unwrap();
        let found = problems(tool, &explore_args(tool), true);
        (found != BTreeSet::from([id.to_owned()])).then(|| format!("found {found:?}"))
    });
}

#[test]
fn no_fault_is_reported_without_exploration() {
    let copy = copied_tools();
    for_each_tool(files(&copy.path().join("faults")), |tool| {
        let found = problems(tool, &["--fast"], true);
        (!found.is_empty()).then(|| format!("found {found:?}"))
    });
}

/// Returns the checks that an honest tool violates, as its third line lists them: `# Real faults: p2-output-format`.
fn real_faults(tool: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(tool).unwrap();
    let line = text.lines().nth(2).and_then(|line| line.strip_prefix("# Real faults: "));
    line.into_iter().flat_map(str::split_whitespace).map(str::to_owned).collect()
}

#[test]
#[ignore = "it takes a minute; `.ci/more` runs it"]
fn long_an_honest_tool_has_no_other_faults_than_those_that_it_names() {
    let copy = copied_tools();
    for_each_tool(files(&copy.path().join("honest")), |tool| {
        let found = problems(tool, &explore_args(tool), false);
        let real = real_faults(tool);
        (!found.is_subset(&real)).then(|| format!("found {found:?}, expected {real:?}"))
    });
}

/// Projects of `fixtures/frameworks` that run without an installation, the names of their programs, and the check of a
/// fault that only explored calls show: a crash on a name that is not UTF-8, a raw control character in an error object,
/// an unknown option that one command accepts. Without a configuration, the schema and the completion scripts are also
/// missing.
const WITHOUT_INSTALLATION: [(&str, &str, &str); 4] = [
    ("argparse/tutorial", "todo.py", "p4-no-traceback"),
    ("getopts/conforming", "todo", "p2-error-json"),
    ("getopts/tutorial", "todo", "p4-unknown-flag"),
    ("plain/conforming", "todo", "p2-error-json"),
];

/// Returns the checks that fail according to `expected.txt` of a project.
fn expected_failures(project: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(project.join("expected.txt")).unwrap();
    text.lines().filter_map(|line| line.strip_prefix("fail ")).map(str::to_owned).collect()
}

#[test]
fn exploration_finds_no_fault_of_a_framework_that_its_project_does_not_have() {
    let frameworks = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/frameworks");
    for (project, program, only_explored) in WITHOUT_INSTALLATION {
        let project = frameworks.join(project);
        let copy = tempfile::tempdir().unwrap();
        for file in files(&frameworks.join("shared")).into_iter().chain(files(&project)) {
            fs::copy(&file, copy.path().join(name(&file))).unwrap();
        }
        fs::remove_file(copy.path().join("agentnative.toml")).unwrap();
        let explore = ["--explore", "--explore-calls", "60", "--fast"];
        let found = problems(&copy.path().join(program), &explore, false);
        let mut expected = expected_failures(&project);
        expected.extend([only_explored, "p2-schema-print", "p6-completions"].map(str::to_owned));
        assert!(found.is_subset(&expected), "{}: found {found:?}, expected {expected:?}", project.display());
    }
}

#[test]
fn each_tool_describes_itself_and_names_existing_checks() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/explore");
    for tool in ["faults", "honest"].into_iter().flat_map(|folder| files(&root.join(folder))) {
        let text = fs::read_to_string(&tool).unwrap();
        let about = text.lines().nth(1).and_then(|line| line.strip_prefix("# "));
        assert!(about.is_some_and(|about| about.ends_with('.')), "{}: no description", tool.display());
        let named = match tool.parent().unwrap().ends_with("faults") {
            true => BTreeSet::from([name(&tool).split('.').next().unwrap().to_owned()]),
            false => real_faults(&tool),
        };
        for id in named {
            assert!(check(&id).is_some(), "{}: there is no check {id}", tool.display());
        }
    }
    for tool in UNDER_CONDITIONS {
        assert!(["faults", "honest"].iter().any(|folder| root.join(folder).join(tool).is_file()), "{tool}");
    }
}
