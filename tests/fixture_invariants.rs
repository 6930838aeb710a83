//! Invariants of `checks/` and `fixtures/clis/`: names, examples, expectations, file modes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn table(path: &Path) -> Table {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn strings(table: &Table, key: &str) -> Vec<String> {
    let items = table.get(key).and_then(Value::as_array).into_iter().flatten();
    items.map(|item| item.as_str().expect("a string").to_owned()).collect()
}

/// Returns the files of the catalogue by stem.
fn checks() -> BTreeMap<String, Table> {
    let files = fs::read_dir(root().join("checks")).unwrap().map(|entry| entry.unwrap().path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), table(&path)))
        .collect()
}

/// Returns the fixtures of one kind with their names.
fn fixtures(kind: &str) -> Vec<(String, PathBuf)> {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    crate::fixtures::fixtures(kind).into_iter().map(|path| (name(&path), path)).collect()
}

#[test]
fn each_check_has_the_name_of_its_file_and_all_texts_of_explain() {
    let mut orders = BTreeSet::new();
    for (stem, check) in checks() {
        assert_eq!(text(&check, "id"), stem);
        for key in ["level", "layer", "title", "what", "why", "fix"] {
            assert!(!text(&check, key).trim().is_empty(), "{stem}: {key} is missing");
        }
        assert!(!text(&check, "title").contains('\n'), "{stem}: the title is one line");
        let order = check["order"].as_integer().expect("a number");
        assert!(orders.insert(order), "{stem}: another check has the order {order}");
    }
    assert!(!orders.is_empty());
}

#[test]
fn each_requirement_of_the_standard_has_checks_or_a_reason_for_their_absence() {
    let standard = table(&root().join("crates/core/src/catalogue/standard.toml"));
    let requirements =
        standard["requirement"].as_array().unwrap().iter().map(|value| value.as_table().unwrap());
    let requirements: BTreeMap<&str, &Table> =
        requirements.map(|requirement| (text(requirement, "id"), requirement)).collect();
    let mut decided = BTreeSet::new();
    for (stem, check) in checks() {
        let ids = strings(&check, "standard");
        assert!(!ids.is_empty() || check.contains_key("standard_part"), "{stem}: decides no requirement");
        for id in ids {
            assert!(requirements.contains_key(&*id), "{stem}: {id} is no requirement");
            decided.insert(id);
        }
    }
    let count_of = |level: &str| requirements.keys().filter(|id| id.split('-').nth(1) == Some(level)).count();
    assert_eq!((count_of("must"), count_of("should"), count_of("may")), (28, 22, 10));
    for (id, requirement) in requirements {
        assert!(!text(requirement, "says").is_empty(), "{id}");
        assert_eq!(decided.contains(id), text(requirement, "without").is_empty(), "{id}");
    }
}

#[test]
fn each_check_has_a_good_and_a_bad_example() {
    // Source checks have snippets instead.
    for (stem, check) in checks().into_iter().filter(|(_, check)| text(check, "layer") != "source") {
        let examples = check["example"].as_array().expect("a list of examples");
        let verdicts: BTreeSet<&str> =
            examples.iter().map(|example| text(example.as_table().unwrap(), "verdict")).collect();
        let bad = match text(&check, "level") {
            "must" => "fail",
            "should" => "warn",
            _ => "not-applicable",
        };
        assert_eq!(verdicts, BTreeSet::from(["pass", bad]), "{stem}");
    }
}

#[test]
fn each_behavioral_check_requires_runs_and_has_a_violating_fixture() {
    let violating = fixtures("violating");
    for (stem, check) in checks() {
        if text(&check, "layer") != "behavioral" {
            continue;
        }
        let runs = check["runs"].as_table().expect("a table of runs");
        assert!(!strings(runs, "formats").is_empty(), "{stem}: no formats");
        assert!(!strings(runs, "variants").is_empty(), "{stem}: no variants");
        let has_fixture = violating.iter().any(|(name, _)| name.split('.').next() == Some(&stem));
        assert!(has_fixture, "{stem}: no violating fixture");
    }
}

#[test]
fn the_checks_that_a_fixture_expects_exist() {
    let checks = checks();
    for (name, _) in fixtures("violating") {
        let id = name.split('.').next().unwrap();
        assert!(checks.contains_key(id), "{name}: there is no check {id}");
    }
    let incidents = table(&root().join("fixtures/clis/incidents/expected.toml"));
    let named: BTreeSet<String> = fixtures("incidents").into_iter().map(|(name, _)| name).collect();
    assert_eq!(incidents.keys().cloned().collect::<BTreeSet<_>>(), named);
    for (name, expect) in &incidents {
        let expect = expect.as_table().unwrap();
        let fires = strings(expect, "fires");
        assert!(!fires.is_empty(), "{name}: no check is expected");
        for id in &fires {
            assert!(checks.contains_key(id), "{name}: there is no check {id}");
        }
        let number = expect["incident"].as_integer().expect("the incident's number");
        assert!(name.starts_with(&format!("{number:02}-")), "{name}");
        assert!(!text(expect, "what").trim().is_empty(), "{name}: `what` is empty");
    }
}

#[test]
fn each_configuration_declares_probes_and_differs_from_the_default() {
    for kind in ["conforming", "violating", "incidents", "traps"] {
        let folder = root().join("fixtures/clis").join(kind);
        let mut defaults = folder.ancestors().map(|ancestor| ancestor.join("agentnative.toml"));
        let default = table(&defaults.find(|path| path.exists()).expect("a default"));
        let folders = fixtures(kind).into_iter().map(|(_, path)| path);
        let folders = folders.flat_map(|path| [path.parent().unwrap().to_owned(), path]);
        let own: BTreeSet<PathBuf> = folders.filter(|path| *path != folder).collect();
        let own = own.into_iter().map(|path| path.join("agentnative.toml"));
        for path in own.filter(|path| path.exists()) {
            let config = table(&path);
            assert!(config["probe"].as_array().is_some_and(|all| !all.is_empty()), "{}", path.display());
            // The default names no program; the tests pass it as an argument.
            let target = config.get("target").and_then(|target| target.as_table());
            let has_other_keys = target.is_some_and(|target| !target.keys().eq(["command"]));
            let repeats = config["probe"] == default["probe"] && !has_other_keys;
            assert!(!repeats, "{}: it only repeats the default", path.display());
        }
    }
}

#[test]
fn each_fixture_is_executable_and_has_a_description() {
    for kind in ["conforming", "violating", "incidents", "traps"] {
        for (name, path) in fixtures(kind) {
            let cli = path.join("cli");
            let mode =
                fs::metadata(&cli).unwrap_or_else(|error| panic!("{name}: {error}")).permissions().mode();
            assert_eq!(mode & 0o111, 0o111, "{name}: cli is not executable");
            let script = fs::read_to_string(&cli).unwrap();
            let mut lines = script.lines();
            assert!(lines.next().is_some_and(|line| line.starts_with("#!")), "{name}: no interpreter");
            let about = lines.next().unwrap_or_default().trim_start_matches(['#', '"', ' ']);
            assert!(!about.is_empty(), "{name}: the second line has no description");
        }
    }
}
