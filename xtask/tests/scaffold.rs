//! Scaffolds in a copy of the files that they change.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use xtask::{ScaffoldKind, scaffold};

const CHANGES: &str = "crates/diff/src/changes.toml";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Returns a folder with a copy of the tables and of the checks.
fn copy_tables() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut files: Vec<PathBuf> =
        ["crates/judge/src/lib.rs", "crates/judge/src/p2/mod.rs", "src/output/mod.rs", CHANGES]
            .map(PathBuf::from)
            .into();
    let checks = fs::read_dir(repository().join("checks")).unwrap();
    files.extend(checks.map(|entry| Path::new("checks").join(entry.unwrap().file_name())));
    for file in files {
        let to = folder.path().join(&file);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(repository().join(&file), to).unwrap();
    }
    folder
}

fn read(folder: &TempDir, path: &str) -> String {
    fs::read_to_string(folder.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn table(folder: &TempDir, path: &str) -> toml::Table {
    read(folder, path).parse().unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[test]
fn a_check_is_a_file_a_function_a_row_and_a_fixture() {
    let folder = copy_tables();
    let made = scaffold(folder.path(), ScaffoldKind::Check, "p2-exit-clean").unwrap();
    assert_eq!(made.len(), 5, "{made:?}");
    let check = table(&folder, "checks/p2-exit-clean.toml");
    assert_eq!((check["id"].as_str(), check["principle"].as_integer()), (Some("p2-exit-clean"), Some(2)));
    assert_eq!(check["title"].as_str(), Some(""), "an empty title is what the catalogue's test is red for");
    let others = fs::read_dir(repository().join("checks")).unwrap().map(|entry| entry.unwrap().path());
    let others = others.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    for other in others {
        let other: toml::Table = fs::read_to_string(other).unwrap().parse().unwrap();
        assert_ne!(other["order"], check["order"]);
    }
    let module = read(&folder, "crates/judge/src/p2/mod.rs");
    assert!(module.contains("mod errors;\nmod exit_clean;\nmod exits;\n"), "{module}");
    assert!(module.contains("    (CheckId::P2ExitClean, exit_clean::exit_clean),\n];"), "{module}");
    assert!(
        read(&folder, "crates/judge/src/p2/exit_clean.rs")
            .contains("pub fn exit_clean(context: &CheckContext)")
    );
    let cli = folder.path().join("fixtures/clis/violating/p2-exit-clean/cli");
    assert_eq!(
        std::os::unix::fs::PermissionsExt::mode(&cli.metadata().unwrap().permissions()) & 0o111,
        0o111
    );

    let again = scaffold(folder.path(), ScaffoldKind::Check, "p2-exit-clean").unwrap_err();
    assert_eq!(again, "checks/p2-exit-clean.toml is there already");
}

#[test]
fn the_first_check_of_a_principle_makes_its_folder() {
    let folder = copy_tables();
    // Removes the checks of a principle; the copy has no folder of the principle.
    fs::remove_file(folder.path().join("checks/p5-dry-run.toml")).unwrap();
    let without =
        read(&folder, "crates/judge/src/lib.rs").replace("mod p5;\n", "").replace("p5::CHECKS, ", "");
    fs::write(folder.path().join("crates/judge/src/lib.rs"), without).unwrap();
    scaffold(folder.path(), ScaffoldKind::Check, "p5-dry-run").unwrap();
    let judge = read(&folder, "crates/judge/src/lib.rs");
    assert!(judge.contains("mod p4;\nmod p5;\n"), "{judge}");
    assert!(judge.contains("p4::CHECKS, p5::CHECKS, p6::CHECKS"), "{judge}");
    let module = read(&folder, "crates/judge/src/p5/mod.rs");
    assert!(module.contains("mod dry_run;\n"), "{module}");
    assert!(module.contains("(CheckId::P5DryRun, dry_run::dry_run),\n];"), "{module}");
    let head = |module: &str| {
        module
            .lines()
            .skip_while(|line| !line.starts_with("use "))
            .take_while(|line| !line.contains("(Check"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let real = fs::read_to_string(repository().join("crates/judge/src/p5/mod.rs")).unwrap();
    assert_eq!(head(&module), head(&real));
}

#[test]
fn a_source_check_is_one_file() {
    let folder = copy_tables();
    let made = scaffold(folder.path(), ScaffoldKind::Check, "p2-src-new").unwrap();
    assert_eq!(made, [Path::new("checks/p2-src-new.toml")]);
    let check = table(&folder, "checks/p2-src-new.toml");
    assert_eq!(check["layer"].as_str(), Some("source"));
    assert!(check["source"]["languages"]["rust"]["bad"].is_array());
}

#[test]
fn a_contract_is_a_folder_without_enough_examples() {
    let folder = copy_tables();
    scaffold(folder.path(), ScaffoldKind::Contract, "my-events").unwrap();
    assert_eq!(table(&folder, "contracts/my-events/contract.toml")["name"].as_str(), Some("my-events"));
    let expected = table(&folder, "contracts/my-events/examples/expected.toml");
    assert_eq!(expected["valid"].as_table().unwrap().len(), 1, "the test of contracts asks for three");
}

#[test]
fn a_renderer_is_a_file_and_a_row() {
    let folder = copy_tables();
    scaffold(folder.path(), ScaffoldKind::Renderer, "my-format").unwrap();
    let module = read(&folder, "src/output/mod.rs");
    assert!(module.contains("mod my_format;\n"), "{module}");
    assert!(module.contains("Renderer { name: \"my-format\", render: my_format::render },\n];"), "{module}");
    assert!(read(&folder, "src/output/my_format.rs").contains("not written yet"));
}

#[test]
fn a_change_is_a_rule_sorted_by_id() {
    let folder = copy_tables();
    for id in ["diff-aaa", "diff-new", "diff-zzz"] {
        scaffold(folder.path(), ScaffoldKind::Change, id).unwrap();
        assert!(scaffold(folder.path(), ScaffoldKind::Change, id).is_err(), "it is there already");
    }
    let changes = table(&folder, CHANGES);
    let rules = changes["rule"].as_array().unwrap();
    let ids: Vec<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert!(ids.is_sorted() && ids.contains(&"diff-new"), "{ids:?}");
    let made = &rules[ids.iter().position(|id| *id == "diff-new").unwrap()];
    assert_eq!(made["classes"].as_array().map(Vec::len), Some(0), "the test of the rules asks for one");
    assert_eq!(made["example"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_invalid_name_is_rejected_and_nothing_is_written() {
    let folder = copy_tables();
    for (kind, name) in [
        (ScaffoldKind::Check, "output-json"),
        (ScaffoldKind::Check, "p2-"),
        (ScaffoldKind::Check, "P2-Output"),
        (ScaffoldKind::Check, "p2-../x"),
        (ScaffoldKind::Contract, ""),
        (ScaffoldKind::Change, "key-added"),
    ] {
        assert!(scaffold(folder.path(), kind, name).is_err(), "{name}");
    }
    assert!(!folder.path().join("contracts").exists());
    assert!(ScaffoldKind::parse("principle").is_err());
}
