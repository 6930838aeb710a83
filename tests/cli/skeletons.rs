//! `init --skeleton`: the files that it writes, and their checks without a library. `.ci/more` checks the skeletons that
//! need one.

use super::support::{Folder, keys, run};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

const NAMES: [&str; 6] = ["clap", "typer", "argparse", "yargs", "cobra", "bash"];
/// Maximum length of a file of a skeleton.
const MAX_LINES: usize = 250;

/// Returns the files below a folder of `examples/skeletons`, by their relative paths.
fn sources(folder: &str) -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/skeletons").join(folder);
    let files = walkdir::WalkDir::new(&root).into_iter().map(Result::unwrap);
    let files = files.filter(|entry| entry.file_type().is_file());
    let file = |entry: walkdir::DirEntry| {
        let path = entry.path().strip_prefix(&root).unwrap().to_str().unwrap().replace(".template.", ".");
        (path, fs::read_to_string(entry.path()).unwrap())
    };
    files.map(file).collect()
}

#[test]
fn a_skeleton_is_written_with_all_its_files() {
    for name in NAMES {
        let folder = Folder::new();
        let output = folder.run(&["init", "--skeleton", name, "new/tool", "--json"]);
        let data = output.data();
        assert_eq!(keys(&data), ["commands", "file", "files", "next", "probes", "text"]);
        assert_eq!(data["file"], "new/tool/agentnative.toml");
        let mut expected = sources("common");
        expected.extend(sources(name));
        let files = data["files"].as_array().unwrap();
        let reported: Vec<&str> = files.iter().map(|file| file["path"].as_str().unwrap()).collect();
        let paths: Vec<String> = expected.keys().map(|path| format!("new/tool/{path}")).collect();
        assert_eq!(reported, paths);
        for (path, text) in expected {
            let path = format!("new/tool/{path}");
            assert_eq!(folder.read(&path), text, "{path}");
            assert!(text.lines().count() <= MAX_LINES, "{name}: {path}");
            let mode = fs::metadata(folder.path().join(&path)).unwrap().permissions().mode();
            assert_eq!(mode & 0o100 != 0, text.starts_with("#!"), "{path}");
        }
        assert!(data["probes"].as_array().unwrap().iter().any(|probe| probe == "remove"), "{data}");
        let next = data["next"].to_string();
        assert!(next.contains("agentnative check --strict new/tool"), "{next}");
    }
}

#[test]
fn a_skeleton_overwrites_only_with_force() {
    let folder = Folder::new();
    folder.write("todo", "mine");
    let refused = folder.run(&["init", "--skeleton", "bash", "--json"]);
    assert_eq!(refused.code, Some(78));
    let message = refused.error()["message"].to_string();
    assert!(message.contains("todo: File exists"), "{message}");
    assert_eq!(folder.read("todo"), "mine");
    assert!(!folder.path().join("agentnative.toml").exists(), "a refused call writes nothing");
    assert_eq!(folder.run(&["init", "--skeleton", "bash", "--force"]).code, Some(0));
    assert_eq!(folder.read("todo"), sources("bash")["todo"]);
}

#[test]
fn a_printed_skeleton_writes_nothing() {
    let folder = Folder::new();
    let entries = || fs::read_dir(folder.path()).unwrap().count();
    let before = entries();
    let printed = folder.run(&["init", "--skeleton", "argparse", "--print"]);
    assert_eq!((printed.code, entries()), (Some(0), before));
    for (path, text) in sources("argparse").into_iter().chain(sources("common")) {
        assert!(printed.out.contains(&format!("==> {path} <==\n{text}")), "{path}\n{}", printed.out);
    }
    let data = folder.run(&["init", "--skeleton", "argparse", "--print", "--json"]).data();
    assert!(data.get("file").is_none() && data["files"].is_array(), "{data}");
}

#[test]
fn an_unknown_skeleton_is_a_usage_error_that_lists_the_names() {
    let refused = run(&["init", "--skeleton", "agrparse"]);
    assert_eq!(refused.code, Some(2));
    for name in NAMES {
        assert!(refused.err.contains(name), "{}", refused.err);
    }
    for other in [&["--command", "x"][..], &["--yes"], &["--safe", "list"], &["--explore"]] {
        let refused = run(&[&["init", "--skeleton", "bash"], other].concat());
        assert_eq!(refused.code, Some(2), "{other:?}");
    }
}

#[track_caller]
fn assert_passes_every_check(name: &str) {
    let folder = Folder::new();
    assert_eq!(folder.run(&["init", "--skeleton", name]).code, Some(0));
    let checked = folder.run(&["check", "--strict", "--deny", "should", "--json"]);
    assert_eq!(checked.code, Some(0), "{}{}", checked.out, checked.err);
    let data = checked.data();
    let results = data["results"].as_array().unwrap();
    let undecided: Vec<&str> = results
        .iter()
        .filter(|result| !["pass", "not-applicable"].contains(&result["status"].as_str().unwrap()))
        .map(|result| result["id"].as_str().unwrap())
        .collect();
    assert_eq!(undecided, [""; 0]);
}

#[test]
fn the_skeleton_with_argparse_passes_every_check() {
    assert_passes_every_check("argparse");
}

#[test]
fn the_skeleton_in_bash_passes_every_check() {
    assert_passes_every_check("bash");
}
